//! The place of the cursor: in which token it is, and the program with a name put there.

use crate::place;
use crate::server::State;
use lsp_types::{Position, Range};
use pipe_compiler::Analysis;
use pipe_compiler::analysis::Surroundings;
use pipe_grammar::ast::ItemKind;
use pipe_grammar::scan::{Kind, Scanner, Token, interpolation_around};
use pipe_grammar::{FileId, SourceFile, Span, Units};
use std::path::Path;

/// The name that is put at the cursor. No program has it.
pub(crate) const MARK: &str = "pipe_cursor_0";

/// What the cursor stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A comment.
    Comment,
    /// Behind the digits of a number, whose unit begins at this byte.
    Number { unit: usize },
    /// The beginning of a declaration.
    Declaration,
    /// A text, of which this much stands before the cursor.
    Text { before: String },
    /// A name, perhaps without a letter yet.
    Word,
}

/// The cursor in an open document.
pub(crate) struct Cursor<'a> {
    pub(crate) file: &'a SourceFile,
    pub(crate) units: Units,
    /// The cursor.
    pub(crate) at: usize,
    /// Where that begins which is being written.
    pub(crate) start: usize,
    pub(crate) place: Place,
    /// The program with [`MARK`] in the place of what is being written.
    pub(crate) analysis: Analysis,
    /// The tokens before what is being written, the nearest first.
    before: Vec<String>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(state: &'a State<'_>, path: &Path, position: Position) -> Option<Self> {
        let document = state.documents.get(path)?;
        let (file, units) = (&document.file, state.abilities.units);
        let at = place::offset(file, position, units) as usize;
        let text = file.text.as_str();
        let (mut tokens, mut current) = split(Scanner::new(text), at);
        if let Some(token) = current
            && matches!(token.kind, Kind::Str { .. })
            && let Some(inside) = interpolation_around(text, token.start, at)
        {
            (tokens, current) = split(Scanner::from(text, inside.start), at);
        }
        let (place, start, end) = written(text, current, at, tokens.is_empty());
        let analysis = marked(state, path, text, &place, start, end)?;
        let before = tokens.iter().rev().take(4).map(|token| token.text(text).to_owned());
        Some(Self { file, units, at, start, place, analysis, before: before.collect() })
    }

    /// What surrounds the name that was put at the cursor.
    pub(crate) fn surroundings(&self) -> Surroundings<'_> {
        self.analysis.surroundings(FileId(0), self.start as u32 + 1)
    }

    /// The word before a dot before the cursor.
    pub(crate) fn dotted(&self) -> Option<String> {
        match self.before.as_slice() {
            [dot, word, ..] if dot == "." => Some(word.clone()),
            _ => None,
        }
    }

    /// Whether what is being written receives something through `|>`.
    pub(crate) fn is_piped(&self) -> bool {
        match self.before.as_slice() {
            [dot, _, pipe, ..] if dot == "." => pipe == "|>",
            [pipe, ..] => pipe == "|>",
            [] => false,
        }
    }

    /// Whether a call's bracket follows already.
    pub(crate) fn is_called(&self) -> bool {
        let rest = self.file.text.get(self.at..).unwrap_or_default();
        rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').starts_with('(')
    }

    /// The range from a byte to the cursor.
    pub(crate) fn range_from(&self, start: usize) -> Range {
        let span = Span::new(FileId(0), start as u32, self.at as u32);
        place::range(self.file, span, self.units)
    }
}

/// The tokens that end before byte `at`, and the one that `at` is in or directly behind.
fn split(scanner: Scanner<'_>, at: usize) -> (Vec<Token>, Option<Token>) {
    let mut before = Vec::new();
    for token in scanner {
        if token.start >= at {
            break;
        }
        let inside = match token.kind {
            Kind::Comment | Kind::Word | Kind::Number => at <= token.end,
            Kind::Str { closed: true, .. } => at < token.end,
            Kind::Str { closed: false, .. } => at <= token.end,
            _ => false,
        };
        if inside {
            return (before, Some(token));
        }
        if token.kind != Kind::Comment {
            before.push(token);
        }
    }
    (before, None)
}

/// What is being written: its place, and the bytes that [`MARK`] stands for.
fn written(text: &str, current: Option<Token>, at: usize, first: bool) -> (Place, usize, usize) {
    let begins = |start: usize| {
        let line = text.get(..start).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
        line.is_empty() || (first && line.trim().is_empty())
    };
    match current {
        None if begins(at) => (Place::Declaration, at, at),
        None => (Place::Word, at, at),
        Some(token) => match token.kind {
            Kind::Comment => (Place::Comment, at, at),
            Kind::Number => {
                let digits = token.text(text).find(|c: char| c.is_ascii_alphabetic());
                let unit = digits.map_or(token.end, |digits| token.start + digits);
                (Place::Number { unit: unit.min(at) }, at, at)
            }
            Kind::Str { closed, triple } => {
                let quotes = if triple { 3 } else { 1 };
                let before = text.get(token.start + quotes..at).unwrap_or_default().to_owned();
                let end = if closed { token.end } else { unclosed_end(text, at, token.end) };
                (Place::Text { before }, token.start, end)
            }
            _ if begins(token.start) => (Place::Declaration, token.start, token.end),
            _ => (Place::Word, token.start, token.end),
        },
    }
}

/// A text that is not closed swallows the brackets behind it; they are left where they are.
fn unclosed_end(text: &str, at: usize, end: usize) -> usize {
    let rest = text.get(at..end).unwrap_or_default();
    let kept = rest.len() - rest.trim_end_matches([')', ']', '}', ',', ' ']).len();
    end - kept
}

/// The program with [`MARK`] at the cursor; where the declaration cannot be read even so, without what follows in it.
fn marked(
    state: &State<'_>,
    path: &Path,
    text: &str,
    place: &Place,
    start: usize,
    end: usize,
) -> Option<Analysis> {
    let mark = match place {
        Place::Text { .. } => format!("\"{MARK}\""),
        Place::Word => MARK.to_owned(),
        Place::Comment | Place::Number { .. } | Place::Declaration => String::new(),
    };
    let (head, tail) = (text.get(..start)?, text.get(end..)?);
    if mark.is_empty() {
        return analyse(state, path, text.to_owned());
    }
    let analysis = analyse(state, path, format!("{head}{mark}{tail}"))?;
    let around = analysis.surroundings(FileId(0), start as u32 + 1);
    let read = around.item.is_some_and(|item| !matches!(item.kind, ItemKind::Broken { .. }));
    if read {
        return Some(analysis);
    }
    let next = next_declaration(tail);
    let closers = closers(head);
    analyse(state, path, format!("{head}{mark}{closers}\n{}", tail.get(next..)?))
}

fn analyse(state: &State<'_>, path: &Path, text: String) -> Option<Analysis> {
    let documents = state.documents.with_text(path, text);
    Some(state.programs.analyse(path, &documents, state.outside, &|| false)?.0)
}

/// The first byte of the next line that begins at its first column.
fn next_declaration(tail: &str) -> usize {
    let breaks = tail.match_indices('\n').map(|(at, _)| at + 1);
    let mut lines = breaks.filter(|at| {
        let next = tail.get(*at..).and_then(|rest| rest.chars().next());
        next.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '@' | '#'))
    });
    lines.next().unwrap_or(tail.len())
}

/// The brackets that close what the last declaration of a text has open.
fn closers(head: &str) -> String {
    let mut open = Vec::new();
    for token in Scanner::new(head) {
        let line_start = token.start == 0 || head.as_bytes().get(token.start - 1) == Some(&b'\n');
        match token.kind {
            Kind::Word if line_start => open.clear(),
            Kind::Open(b'(') => open.push(')'),
            Kind::Open(b'[') => open.push(']'),
            Kind::Open(_) => open.push('}'),
            Kind::Close(_) => drop(open.pop()),
            _ => {}
        }
    }
    open.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> (Place, usize, usize) {
        let at = text.find('|').unwrap_or(text.len());
        let text = text.replacen('|', "", 1);
        let (tokens, current) = split(Scanner::new(&text), at);
        written(&text, current, at, tokens.is_empty())
    }

    #[test]
    fn places() {
        assert_eq!(place("le|"), (Place::Declaration, 0, 2));
        assert_eq!(place("let a = 1\n|"), (Place::Declaration, 10, 10));
        assert_eq!(place("let a = da|ta"), (Place::Word, 8, 12));
        assert_eq!(place("let a = row.|"), (Place::Word, 12, 12));
        assert_eq!(place("let a = 10m|"), (Place::Number { unit: 10 }, 11, 11));
        assert_eq!(place("let a = 1 # so|"), (Place::Comment, 14, 14));
        let text = |before: &str| Place::Text { before: before.into() };
        assert_eq!(place("f(\"in|ner\")"), (text("in"), 2, 9));
        assert_eq!(place("f(\"in|)\nlet b = 1"), (text("in"), 2, 5));
    }

    #[test]
    fn open_brackets_are_closed() {
        assert_eq!(closers("let a = f(\nlet b = g([{ a: h(1), b: "), "}])");
    }
}
