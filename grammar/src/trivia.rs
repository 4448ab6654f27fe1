//! Comments: what the tree does not hold and the formatter must keep.

use crate::scan::{Kind, Scanner};
use crate::source::{SourceFile, Span};

/// The comments of a file, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trivia {
    /// Every `#` comment outside strings.
    pub comments: Vec<Comment>,
}

/// One comment.
#[derive(Clone, Debug, PartialEq)]
pub struct Comment {
    /// From `#` to the end of its line, without the line break.
    pub span: Span,
    /// Nothing but blanks stands before it on its line.
    pub own_line: bool,
    /// Starts with `##`: documentation, when it stands above a declaration or a parameter.
    pub doc: bool,
}

/// Collects the comments of `source`.
#[must_use]
pub(crate) fn trivia(source: &SourceFile) -> Trivia {
    let text = source.text.as_str();
    let tokens = Scanner::new(text).filter(|token| token.kind == Kind::Comment);
    let comments = tokens.map(|token| {
        let before = text.get(..token.start).unwrap_or("");
        let line = before.rfind('\n').map_or(before, |at| before.get(at + 1..).unwrap_or(""));
        Comment {
            span: Span::new(source.id, token.start as u32, token.end as u32),
            own_line: line.trim_start_matches('\u{FEFF}').trim().is_empty(),
            doc: token.text(text).starts_with("##"),
        }
    });
    Trivia { comments: comments.collect() }
}

impl Trivia {
    /// The `##` lines that stand directly above byte `at`, joined; plain comments between them are passed over.
    pub(crate) fn doc_above(&self, text: &str, at: u32) -> Option<String> {
        let mut lines = Vec::new();
        let mut below = at;
        for index in (0..self.before(at)).rev() {
            let comment = self.comments.get(index)?;
            if !comment.own_line || !adjacent(text, comment.span.end, below) {
                break;
            }
            if comment.doc {
                lines.push(doc_text(text, comment.span));
            }
            below = comment.span.start;
        }
        lines.reverse();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// The `##` lines at the top of the file, when a blank line or nothing follows them.
    pub(crate) fn module_doc(&self, text: &str) -> Option<String> {
        let first = self.comments.first()?;
        let start = first.span.start as usize;
        if !first.doc || !text.get(..start)?.trim_start_matches('\u{FEFF}').trim().is_empty() {
            return None;
        }
        let mut lines = Vec::new();
        let mut end = first.span.start;
        for comment in &self.comments {
            if !comment.doc || (end > first.span.start && !adjacent(text, end, comment.span.start))
            {
                break;
            }
            lines.push(doc_text(text, comment.span));
            end = comment.span.end;
        }
        let rest = text.get(end as usize..)?;
        let blank = rest.len() - rest.trim_start().len();
        let apart = rest.get(..blank)?.matches('\n').count() > 1 || rest.trim().is_empty();
        apart.then(|| lines.join("\n"))
    }

    /// How many comments end at or before byte `at`.
    pub(crate) fn before(&self, at: u32) -> usize {
        self.comments.partition_point(|comment| comment.span.end <= at)
    }
}

/// Whether only blanks with at most one line break lie between. The comma of a list may follow them: the formatter moves it up.
fn adjacent(text: &str, from: u32, to: u32) -> bool {
    let Some(gap) = text.get(from as usize..to as usize) else { return false };
    let rest = gap.trim_start();
    let blanks = gap.get(..gap.len() - rest.len()).unwrap_or_default();
    let rest = rest.strip_prefix(',').unwrap_or(rest);
    blanks.matches('\n').count() <= 1 && rest.trim().is_empty()
}

fn doc_text(text: &str, span: Span) -> String {
    let line = text.get(span.start as usize..span.end as usize).unwrap_or("");
    let line = line.strip_prefix("##").unwrap_or(line);
    line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()
}
