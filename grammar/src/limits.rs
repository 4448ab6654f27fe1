//! Limits that turn hostile input into a problem instead of a crash.

use crate::problem::Problem;
use crate::scan::{Kind, Scanner};
use crate::source::{SourceFile, Span};

/// Largest file that is read.
pub const MAX_BYTES: usize = 16 << 20;

/// Deepest nesting of brackets.
pub const MAX_NESTING: usize = 128;

/// The problem of brackets or operators that nest too deep.
pub(crate) fn too_deep(span: Span) -> Problem {
    Problem::error("syntax::too_deep", span, "this is nested too deeply to be read")
        .label("too many levels")
        .help("give inner parts a name with `let` and use the names here")
}

/// The problem of a file that is too large, if it is.
pub(crate) fn too_large(source: &SourceFile) -> Option<Problem> {
    (source.text.len() > MAX_BYTES).then(|| {
        let megabytes = source.text.len() >> 20;
        Problem::error(
            "syntax::too_large",
            Span::new(source.id, 0, 0),
            format!("the file has {megabytes} MiB; at most {} MiB are read", MAX_BYTES >> 20),
        )
        .help("keep data in data files and read them with `data.read`")
    })
}

/// Where brackets first nest deeper than [`MAX_NESTING`], if they do.
pub(crate) fn nesting(text: &str) -> Option<usize> {
    let mut open = 0usize;
    for token in Scanner::new(text) {
        match token.kind {
            Kind::Open(_) => open += 1,
            Kind::Close(_) => open = open.saturating_sub(1),
            _ => {}
        }
        if open > MAX_NESTING {
            return Some(token.start);
        }
    }
    None
}
