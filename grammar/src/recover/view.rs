//! The tokens of a declaration, and the neighbourhood of the point where reading failed.

use super::failure::Failure;
use crate::patch::Patched;
use crate::scan::{Kind, Scanner, Token, interpolation_around};
use crate::source::{FileId, Span};
use crate::words;
use std::ops::Range;

/// Strings in strings that are looked into.
const MAX_OPENED: usize = 4;

/// A declaration as tokens, without comments.
pub(super) struct View<'a> {
    file: FileId,
    pub(super) patched: &'a Patched,
    pub(super) tokens: Vec<Token>,
}

impl<'a> View<'a> {
    pub(super) fn new(file: FileId, patched: &'a Patched) -> Self {
        let tokens =
            Scanner::new(&patched.text).filter(|token| token.kind != Kind::Comment).collect();
        Self { file, patched, tokens }
    }

    /// Looks into the string around byte `at`: the tokens of its interpolation take its place.
    pub(super) fn opened(mut self, at: usize) -> Self {
        for _ in 0..MAX_OPENED {
            let index = self.tokens.partition_point(|token| token.end <= at);
            let Some(string) =
                self.token(index).filter(|t| matches!(t.kind, Kind::Str { .. }) && t.start < at)
            else {
                break;
            };
            let Some(inside) = interpolation_around(self.text(), string.start, at) else { break };
            let shift = |token: Token| Token {
                start: token.start + inside.start,
                end: token.end + inside.start,
                ..token
            };
            let open = Token { kind: Kind::Open(b'$'), start: inside.start - 2, end: inside.start };
            let close = Token { kind: Kind::Close(b'}'), start: inside.end, end: inside.end + 1 };
            let part = self.slice(inside.clone());
            let inner = Scanner::new(part).filter(|token| token.kind != Kind::Comment).map(shift);
            let spliced: Vec<Token> =
                std::iter::once(open).chain(inner).chain(std::iter::once(close)).collect();
            self.tokens.splice(index..=index, spliced);
        }
        self
    }

    pub(super) fn text(&self) -> &'a str {
        &self.patched.text
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'a str {
        self.text().get(range).unwrap_or("")
    }

    /// The place in the file of a range of the parsed text.
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        let start = self.patched.origin(range.start);
        let end = self.patched.origin(range.end).max(start);
        Span::new(self.file, start as u32, end as u32)
    }

    pub(super) fn span_of(&self, token: Token) -> Span {
        self.span(token.start..token.end)
    }

    pub(super) fn token(&self, index: usize) -> Option<Token> {
        self.tokens.get(index).copied()
    }

    pub(super) fn word(&self, index: usize) -> &'a str {
        self.token(index).map_or("", |token| token.text(self.text()))
    }

    /// Whether the token is the first on its line.
    pub(super) fn leads_line(&self, index: usize) -> bool {
        let Some(token) = self.token(index) else { return false };
        let before = index.checked_sub(1).and_then(|i| self.token(i)).map_or(0, |token| token.end);
        index == 0 || self.slice(before..token.start).contains('\n')
    }

    /// The indices of the brackets that are open before token `index`, outermost first.
    pub(super) fn open_before(&self, index: usize) -> Vec<usize> {
        let mut open = Vec::new();
        for (at, token) in self.tokens.iter().enumerate().take(index) {
            match token.kind {
                Kind::Open(_) => open.push(at),
                Kind::Close(_) => drop(open.pop()),
                _ => {}
            }
        }
        open
    }

    /// The neighbourhood of a failure.
    pub(super) fn at<'v>(&'v self, failure: &'v Failure) -> At<'v> {
        let index = self.tokens.partition_point(|token| token.end <= failure.at);
        At { view: self, failure, index }
    }
}

/// The point where reading failed.
pub(super) struct At<'v> {
    pub(super) view: &'v View<'v>,
    pub(super) failure: &'v Failure,
    /// The first token that was not read.
    pub(super) index: usize,
}

impl<'v> At<'v> {
    /// The first token that was not read.
    pub(super) fn token(&self) -> Option<Token> {
        self.view.token(self.index)
    }

    /// Its text.
    pub(super) fn word(&self) -> &'v str {
        self.view.word(self.index)
    }

    /// The last token that was read.
    pub(super) fn before(&self) -> Option<Token> {
        self.index.checked_sub(1).and_then(|index| self.view.token(index))
    }

    /// Its text.
    pub(super) fn word_before(&self) -> &'v str {
        self.index.checked_sub(1).map_or("", |index| self.view.word(index))
    }

    /// The end of the last token that was read.
    pub(super) fn end_before(&self) -> usize {
        self.before().map_or(0, |token| token.end)
    }

    /// The token ahead has the kind `Word` and is not an operator or clause word.
    pub(super) fn starts_value(&self) -> bool {
        let Some(token) = self.token() else { return false };
        match token.kind {
            Kind::Word => {
                !matches!(self.word(), "and" | "or" | "in" | "else" | "where")
                    && !self.starts_declaration()
            }
            Kind::Number | Kind::Str { .. } | Kind::Open(_) => true,
            _ => false,
        }
    }

    /// The token before can end a value.
    pub(super) fn ended_value(&self) -> bool {
        let Some(token) = self.before() else { return false };
        match token.kind {
            Kind::Word => {
                let word = self.word_before();
                !words::is_reserved(word) || matches!(word, "true" | "false" | "none")
            }
            Kind::Number | Kind::Str { .. } | Kind::Close(_) => true,
            _ => self.word_before() == HOLE_TEXT,
        }
    }

    /// The token ahead starts a declaration on a line of its own.
    pub(super) fn starts_declaration(&self) -> bool {
        words::DECLARATIONS.contains(&self.word())
            && self.view.leads_line(self.index)
            && self.view.token(self.index + 1).is_some_and(|token| token.kind == Kind::Word)
    }

    /// The bracket around the point, with the index of its token.
    pub(super) fn bracket(&self) -> Option<(u8, usize)> {
        let index = self.view.open_before(self.index).last().copied()?;
        match self.view.token(index)?.kind {
            Kind::Open(byte) => Some((byte, index)),
            _ => None,
        }
    }

    /// The keyword of the declaration around the point, with its index.
    pub(super) fn keyword(&self) -> Option<(&'v str, usize)> {
        (0..self.index).rev().find_map(|index| {
            let word = self.view.word(index);
            let declares = words::DECLARATIONS.contains(&word)
                && self.view.word(index + 1) != ":"
                && index.checked_sub(1).is_none_or(|before| self.view.word(before) != ".");
            declares.then_some((word, index))
        })
    }

    /// The point is between the parentheses of a function's parameters.
    pub(super) fn in_parameters(&self) -> bool {
        let Some((b'(', open)) = self.bracket() else { return false };
        let Some(("fn", keyword)) = self.keyword() else { return false };
        self.view.open_before(open).is_empty() && (keyword..open).all(|i| self.view.word(i) != "=")
    }

    /// An empty place right after what was read.
    pub(super) fn gap(&self) -> crate::source::Span {
        self.view.span(self.end_before()..self.end_before())
    }

    /// The place of the token ahead; at the end, right after what was read.
    pub(super) fn here(&self) -> crate::source::Span {
        self.token().map_or_else(|| self.gap(), |token| self.view.span_of(token))
    }

    /// The token ahead, for a message.
    pub(super) fn described(&self) -> String {
        match self.token().map(|token| token.kind) {
            None => "the end of the declaration".to_owned(),
            Some(Kind::Str { .. }) => "a string".to_owned(),
            Some(_) => format!("`{}`", self.word()),
        }
    }
}

const HOLE_TEXT: &str = super::finding::HOLE;
