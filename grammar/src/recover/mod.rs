//! What happens to a file that does not parse as a whole.

use crate::ast::Item;
use crate::problem::Problem;
use crate::source::{SourceFile, Span};
use crate::trivia::Trivia;

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

/// Reads the declarations of a file one by one.
pub(crate) fn items(
    source: &SourceFile,
    start: usize,
    _trivia: &Trivia,
) -> (Vec<Item>, Vec<Problem>) {
    let span = Span::new(source.id, start as u32, start as u32);
    (Vec::new(), vec![Problem::error("syntax::unexpected", span, "the file cannot be read")])
}
