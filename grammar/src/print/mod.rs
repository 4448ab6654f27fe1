//! Tree to text: the one layout of a program.
//!
//! Lines have at most 88 columns where they can be broken; what is broken has one element per line with a comma at the
//! end; a broken pipe has one step per line, `|>` first. Comments and single blank lines stay. What could not be read is
//! printed as it was written. The output depends on the tree and its comments alone, never on the old layout.

mod comments;
mod doc;
mod expr;
mod item;
mod text;
mod ty;

use crate::parse::{Part, read};
use crate::problem::Problem;
use crate::scan::{Kind, Scanner};
use crate::source::SourceFile;
use comments::Comments;
use doc::{Doc, blank, concat, hard, nil, render};
pub(crate) use expr::operator;

/// A program in the one layout.
#[derive(Clone, Debug)]
pub struct Formatted {
    /// The text.
    pub text: String,
    /// What is wrong with the program; the declarations concerned were left as they are.
    pub problems: Vec<Problem>,
}

/// Sets a program in the one layout. Never fails: what could not be read stays as it is.
#[must_use]
pub fn format(source: &SourceFile) -> Formatted {
    let (parsed, parts) = read(source, None);
    let unclosed = Scanner::new(&source.text)
        .any(|token| matches!(token.kind, Kind::Str { closed: false, triple: true }));
    let unread = parts.is_empty() && !parsed.problems.is_empty();
    if unclosed || unread {
        return Formatted { text: source.text.clone(), problems: parsed.problems };
    }
    let mut printer =
        Printer { source: &source.text, comments: Comments::new(&source.text, &parsed.trivia) };
    let mut docs = Vec::new();
    let mut end = 0;
    for part in &parts {
        let first = end == 0;
        let (start, doc) = match part {
            Part::Item(index) => {
                let Some(item) = parsed.module.items.get(*index) else { continue };
                let broken = parsed.problems.iter().any(|problem| {
                    problem.is_error()
                        && problem.span.start >= item.span.start
                        && problem.span.start <= item.span.end
                });
                let between = printer.between(end, item.span.start, first);
                end = item.span.end;
                let doc = if broken {
                    printer.verbatim(item.span.start, end)
                } else {
                    printer.item_or_verbatim(item)
                };
                (between, doc)
            }
            Part::Unread(range) => {
                let (start, stop) = (range.start as u32, range.end as u32);
                let between = printer.between(end, start, first);
                end = stop;
                (between, printer.verbatim(start, stop))
            }
        };
        docs.push(start);
        docs.push(doc);
    }
    let (ending, own) = printer.comments.closing(end, source.text.len() as u32);
    let mut tail = concat(own);
    if end == 0 {
        tail = printer.only_comments(&parsed.trivia);
    }
    docs.extend([ending, tail]);
    let mut text = render(&concat(docs)).replace("\r\n", "\n");
    text.truncate(text.trim_end().len());
    if !text.is_empty() {
        text.push('\n');
    }
    Formatted { text, problems: parsed.problems }
}

/// Turns nodes into documents.
struct Printer<'a> {
    source: &'a str,
    comments: Comments<'a>,
}

impl Printer<'_> {
    /// What stands between two declarations.
    fn between(&mut self, end: u32, start: u32, first: bool) -> Doc {
        let before = self.comments.before(end, start);
        if first {
            return concat([before.ending, before.own]);
        }
        let gap = if before.apart { blank() } else { nil() };
        concat([before.ending, gap, hard(), before.own])
    }

    /// A file of comments alone.
    fn only_comments(&mut self, trivia: &crate::trivia::Trivia) -> Doc {
        let end = trivia.comments.last().map_or(0, |comment| comment.span.end);
        self.comments.rewind(0);
        let before = self.comments.before(0, end.max(1));
        concat([before.ending, before.own])
    }

    fn verbatim(&mut self, start: u32, end: u32) -> Doc {
        self.comments.skip_to(end);
        let words = self.slice(start, end);
        let lines = words.trim_end().split('\n').map(|line| line.trim_end_matches('\r'));
        doc::text(lines.collect::<Vec<_>>().join("\n"))
    }

    fn slice(&self, start: u32, end: u32) -> &str {
        self.source.get(start as usize..end as usize).unwrap_or("")
    }

    /// The start of the first token at or after `at`.
    fn token_from(&self, at: u32) -> u32 {
        let token =
            Scanner::from(self.source, at as usize).find(|token| token.kind != Kind::Comment);
        token.map_or(at, |token| token.start as u32)
    }

    /// The first closing bracket after `at`, where only commas and comments lie between.
    fn close_after(&self, at: u32) -> u32 {
        let mut tokens = Scanner::from(self.source, at as usize);
        tokens
            .find(|token| matches!(token.kind, Kind::Close(_)))
            .map_or(at, |token| token.start as u32)
    }
}
