//! The way in: [`parse`] reads a whole file at once and splits it only when that fails.

use crate::ast::Module;
use crate::limits;
use crate::lower::Lower;
use crate::patch::Patched;
use crate::problem::Problem;
use crate::recover;
use crate::source::SourceFile;
use crate::syntax::{Grammar, Rule};
use crate::trivia::{Trivia, trivia};
use pest::Parser;
use pest::iterators::Pairs;
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
    read(source).0
}

/// Reads a file and says which parts of it were read as they stand.
pub(crate) fn read(source: &SourceFile) -> (Parsed, Vec<Part>) {
    if let Some(problem) = limits::too_large(source) {
        return (Parsed { problems: vec![problem], ..Parsed::default() }, Vec::new());
    }
    let trivia = trivia(source);
    let text = source.text.as_str();
    let doc = trivia.module_doc(text);
    let start = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    let whole = Patched::part(text, start..text.len());
    let pairs = Some(&whole.text).filter(|text| limits::nesting(text).is_none());
    let pairs = pairs.and_then(|text| Grammar::parse(Rule::file, text).ok());
    let written = |pairs: &Pairs<'_, Rule>| {
        let mut all = pairs.clone().flatten();
        text.contains(recover::HOLE) && all.any(|pair| pair.as_rule() == Rule::hole)
    };
    let pairs = pairs.filter(|pairs| !written(pairs));
    let (items, mut problems, parts) = match pairs {
        Some(mut pairs) => {
            let mut lower = Lower::new(source.id, text, &trivia, &whole);
            let items = pairs.next().map(|file| lower.items(file)).unwrap_or_default();
            let parts = (0..items.len()).map(Part::Item).collect();
            (items, lower.problems, parts)
        }
        None => recover::items(source, start, &trivia),
    };
    problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
    (Parsed { module: Module { doc, items }, problems, trivia }, parts)
}
