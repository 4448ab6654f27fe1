//! The way in: [`parse`] reads a file, [`parse_again`] one that was read before and changed a little since.

use crate::ast::Module;
use crate::earlier::Earlier;
use crate::limits;
use crate::problem::Problem;
use crate::recover;
use crate::source::SourceFile;
use crate::trivia::{Trivia, trivia};
use std::ops::Range;

/// What a file says, what is wrong with it, and its comments.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The tree; what could not be read stands in it as broken.
    pub module: Module,
    /// Everything that is wrong, in file order.
    pub problems: Vec<Problem>,
    /// The comments.
    pub trivia: Trivia,
}

impl Parsed {
    /// Whether the file has no error.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        !self.problems.iter().any(Problem::is_error)
    }
}

/// A part of a file, for the formatter.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// The declaration with this index was read as it stands.
    Item(usize),
    /// These bytes were not, or not without repairs.
    Unread(Range<usize>),
}

/// Reads a file. Never fails and never panics: whatever the text is, there is a tree and a list of problems.
#[must_use]
pub fn parse(source: &SourceFile) -> Parsed {
    read(source, None).0
}

/// Reads a file as [`parse`] does. Declarations that stand in `earlier` are taken from there, and those of this file
/// take their place.
#[must_use]
pub fn parse_again(source: &SourceFile, earlier: &mut Earlier) -> Parsed {
    if let Some(parsed) = earlier.unchanged(source) {
        return parsed;
    }
    let parsed = read(source, Some(earlier)).0;
    earlier.turn(source, &parsed);
    parsed
}

/// Reads a file and says which parts of it were read as they stand.
pub(crate) fn read(source: &SourceFile, earlier: Option<&mut Earlier>) -> (Parsed, Vec<Part>) {
    if let Some(problem) = limits::too_large(source) {
        return (Parsed { problems: vec![problem], ..Parsed::default() }, Vec::new());
    }
    let trivia = trivia(source);
    let text = source.text.as_str();
    let doc = trivia.module_doc(text);
    let start = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    let (items, mut problems, parts) = recover::items(source, start, &trivia, earlier);
    problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
    (Parsed { module: Module { doc, items }, problems, trivia }, parts)
}
