//! A problem together with the repair that lets reading go on.

use crate::problem::Problem;
use crate::source::Span;
use std::ops::Range;

/// Text that stands for a value nobody wrote; the grammar reads it as a hole.
pub(crate) const HOLE: &str = "\u{1A}";

/// A problem and the repair of the parsed text behind it.
pub(super) struct Finding {
    pub(super) problem: Problem,
    /// Replacements in the parsed text, ascending. None: the declaration cannot be read further.
    pub(super) repairs: Vec<(Range<usize>, String)>,
    /// The repair's place is a guess, so that later failures may be its fault.
    pub(super) guess: bool,
}

impl Finding {
    /// A problem after which the declaration cannot be read.
    pub(super) fn fatal(problem: Problem) -> Self {
        Self { problem, repairs: Vec::new(), guess: false }
    }

    /// A problem with a repair.
    pub(super) fn repaired(
        problem: Problem,
        range: Range<usize>,
        replacement: impl Into<String>,
    ) -> Self {
        Self { problem, repairs: vec![(range, replacement.into())], guess: false }
    }

    /// Says that the place of the repair is a guess.
    pub(super) fn guess(mut self) -> Self {
        self.guess = true;
        self
    }
}

/// The problem of a reserved word where a name is bound.
pub(crate) fn reserved_word(word: &str, span: Span) -> Problem {
    Problem::error("syntax::reserved_word", span, format!("`{word}` is a reserved word"))
        .label("a name is expected here")
        .help(format!("choose another name, such as `{word}_`"))
}

/// The problem of a string that its line does not close.
pub(crate) fn unclosed_string(open: Span, end: Span) -> Problem {
    Problem::error("syntax::unclosed_string", open, "the string is never closed")
        .label("opened here")
        .also(end, "the line ends here")
        .help("close it with `\"`; text of several lines goes between `\"\"\"` and `\"\"\"`")
}
