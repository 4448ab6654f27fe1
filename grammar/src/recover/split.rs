//! Finds where declarations start, before anything is parsed.
//!
//! A reserved word cannot stand in a value, so outside brackets a declaration's keyword always starts one. Inside
//! brackets it does so only at the first column with the shape of a declaration behind it: then a bracket before it was
//! probably never closed. [`reaches`] names the neighbours that should be tried together again.

use crate::scan::{Kind, Scanner, Token};
use crate::words;
use std::ops::Range;

/// About one declaration.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    /// From its first token to the first of the next chunk.
    pub(super) range: Range<usize>,
    /// Where its last token ends.
    pub(super) end: usize,
    /// It ends inside brackets or behind an attribute, or a string in it may be cut: perhaps it goes on.
    pub(super) open: bool,
}

/// Splits a part of `text` into chunks that hold about one declaration each.
pub(super) fn split(text: &str, part: Range<usize>) -> Vec<Chunk> {
    let text = text.get(..part.end).unwrap_or(text);
    let tokens = tokens(text, part.start);
    let mut splitter =
        Splitter { text, tokens: &tokens, depth: 0, attributes: false, chunks: Vec::new() };
    for index in 0..tokens.len() {
        splitter.step(index);
    }
    splitter.end(tokens.len(), text.len());
    splitter.chunks
}

/// All tokens but comments; a `"""` string that swallows a declaration ends before it.
fn tokens(text: &str, start: usize) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut scanner = Scanner::from(text, start);
    while let Some(mut token) = scanner.next() {
        if let Kind::Str { triple: true, .. } = token.kind
            && let Some(end) = declaration_line(text, token.start..token.end)
        {
            token = Token { kind: Kind::Str { closed: false, triple: true }, end, ..token };
            scanner = Scanner::from(text, end);
        }
        if token.kind != Kind::Comment {
            tokens.push(token);
        }
    }
    tokens
}

/// The first line in `range` that looks like a declaration.
fn declaration_line(text: &str, range: Range<usize>) -> Option<usize> {
    let part = text.get(range.clone())?;
    let breaks = part.match_indices('\n').map(|(at, _)| range.start + at + 1);
    breaks.into_iter().find(|at| {
        let line: Vec<Token> = Scanner::from(text, *at).take(3).collect();
        let [keyword, name, sign] = line.as_slice() else { return false };
        keyword.start == *at
            && words::DECLARATIONS.contains(&keyword.text(text))
            && name.kind == Kind::Word
            && matches!(sign.text(text), "=" | ":" | "(" | "<")
    })
}

struct Splitter<'a> {
    text: &'a str,
    tokens: &'a [Token],
    depth: usize,
    /// The chunk so far holds attributes alone.
    attributes: bool,
    chunks: Vec<Chunk>,
}

impl Splitter<'_> {
    fn step(&mut self, index: usize) {
        let Some(token) = self.tokens.get(index).copied() else { return };
        if self.chunks.is_empty() || self.is_start(index, token) {
            self.end(index, token.start);
            self.chunks.push(Chunk { range: token.start..token.end, end: token.end, open: false });
            self.depth = 0;
            self.attributes = self.word(index) == "@";
        } else if self.depth == 0 && self.is_attribute(index, token) {
            self.attributes = true;
        } else if self.attributes && self.depth == 0 && self.ends_attributes(index) {
            self.attributes = false;
        }
        if let (Kind::Str { closed: false, .. }, Some(chunk)) = (token.kind, self.chunks.last_mut())
        {
            chunk.open = true;
        }
        match token.kind {
            Kind::Open(_) => self.depth += 1,
            Kind::Close(_) => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// The chunk so far ends before the token with this index, which starts at byte `next`.
    fn end(&mut self, index: usize, next: usize) {
        let last = index.checked_sub(1).and_then(|last| self.tokens.get(last));
        if let (Some(chunk), Some(last)) = (self.chunks.last_mut(), last) {
            chunk.range.end = next;
            chunk.end = last.end;
            chunk.open |= self.depth > 0 || self.attributes;
        }
    }

    fn word(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| token.text(self.text))
    }

    /// `@word` on the line of another declaration.
    fn is_attribute(&self, index: usize, token: Token) -> bool {
        let named = self.tokens.get(index + 1);
        self.word(index) == "@"
            && named.is_some_and(|next| next.kind == Kind::Word && next.start == token.end)
    }

    /// A token that is not part of `@word(args)` or of the next attribute.
    fn ends_attributes(&self, index: usize) -> bool {
        let before = index.checked_sub(1);
        let named = before.is_some_and(|before| self.word(before) == "@");
        let touching = |open: &Token| {
            before
                .and_then(|before| self.tokens.get(before))
                .is_some_and(|last| last.end == open.start)
        };
        let opens = self
            .tokens
            .get(index)
            .is_some_and(|token| token.kind == Kind::Open(b'(') && touching(token));
        let closes = self.word(index) == ")";
        !(named || opens || closes || self.word(index) == "@")
    }

    fn is_start(&self, index: usize, token: Token) -> bool {
        let Some(before) = index.checked_sub(1).and_then(|before| self.tokens.get(before)) else {
            return true;
        };
        let gap = self.text.get(before.end..token.start).unwrap_or("");
        let leads = gap.contains('\n');
        let first_column = leads
            && (token.start == 0 || self.text.as_bytes().get(token.start - 1) == Some(&b'\n'));
        let word = token.text(self.text);
        let named = self.tokens.get(index + 1).is_some_and(|next| next.kind == Kind::Word);
        if self.attributes && self.depth == 0 {
            return false;
        }
        if words::DECLARATIONS.contains(&word) {
            let shaped = matches!(self.word(index + 2), "=" | ":" | "(" | "<");
            return match self.depth {
                0 => leads || (named && ends_value(*before, self.text)),
                _ => first_column && named && shaped,
            };
        }
        match token.kind {
            Kind::Symbol if word == "@" => first_column || (leads && self.depth == 0),
            Kind::Word => {
                self.depth == 0
                    && first_column
                    && !words::RESERVED.contains(&word)
                    && ends_value(*before, self.text)
            }
            _ => false,
        }
    }
}

fn ends_value(token: Token, text: &str) -> bool {
    match token.kind {
        Kind::Word => {
            let word = token.text(text);
            !words::is_reserved(word) || matches!(word, "true" | "false" | "none")
        }
        Kind::Number | Kind::Str { .. } | Kind::Close(_) => true,
        Kind::Odd(odd) => matches!(odd, ';' | '\'' | '`'),
        _ => token.text(text) == "?",
    }
}

/// How many of the chunks, from the first on, balance their brackets together or close its string: the shortest first.
pub(super) fn reaches(text: &str, chunks: &[Chunk]) -> Vec<usize> {
    let Some(first) = chunks.first() else { return Vec::new() };
    let part = |chunk: &Chunk| text.get(chunk.range.clone()).unwrap_or("");
    let unclosed = Scanner::new(part(first))
        .any(|token| matches!(token.kind, Kind::Str { closed: false, triple: true }));
    if unclosed {
        return (2..=chunks.len().min(4)).collect();
    }
    let mut open = balance(part(first));
    let mut counts = Vec::new();
    for (index, chunk) in chunks.iter().enumerate().skip(1) {
        if open <= 0 {
            break;
        }
        open += balance(part(chunk));
        if open == 0 {
            counts.push(index + 1);
        }
    }
    counts
}

/// Opening minus closing brackets.
fn balance(text: &str) -> isize {
    Scanner::new(text).fold(0, |open, token| match token.kind {
        Kind::Open(_) => open + 1,
        Kind::Close(_) => open - 1,
        _ => open,
    })
}
