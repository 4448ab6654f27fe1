//! A flat walk over the tokens of a text: strings whole, comments apart, brackets in between.
//!
//! It never fails and never allocates per token. Comments (for documentation and the formatter), the limits that keep
//! the parser from recursing too deep, and error recovery all read it; the grammar proper is `pipe.pest`.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Letters, digits and `_`, not starting with a digit.
    Word,
    /// Starts with a digit; includes the unit.
    Number,
    /// A whole string with its quotes; `closed` says whether the last quote is there.
    Str {
        /// Its last quote is there.
        closed: bool,
        /// It is a `"""` string.
        triple: bool,
    },
    /// `(`, `[` or `{`, and `$` for the `${` of a string that recovery looks into.
    Open(u8),
    /// `)`, `]` or `}`.
    Close(u8),
    /// Any other character of the language, two-character operators as one.
    Symbol,
    /// From `#` to before the line break.
    Comment,
    /// A character that no program contains outside strings and comments.
    Odd(char),
}

/// A token with its byte range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its first byte.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
}

impl Token {
    /// The token's text.
    #[must_use]
    pub fn text<'t>(&self, source: &'t str) -> &'t str {
        source.get(self.start..self.end).unwrap_or("")
    }
}

/// Walks over the tokens of a text.
pub struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
}

const PAIRS: [&[u8; 2]; 14] = [
    b"|>", b"??", b"==", b"!=", b"<=", b">=", b"..", b"=>", b"->", b"&&", b"||", b"<>", b"**",
    b":=",
];

impl<'t> Scanner<'t> {
    /// Walks `text` from its beginning.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0 }
    }

    /// Walks on from byte `at`, which has to be outside strings and comments.
    #[must_use]
    pub fn from(text: &'t str, at: usize) -> Self {
        Self { text, bytes: text.as_bytes(), at }
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn run_while(&self, mut at: usize, keep: impl Fn(u8) -> bool) -> usize {
        while at < self.bytes.len() && keep(self.byte(at)) {
            at += 1;
        }
        at
    }

    fn number_end(&self, start: usize) -> usize {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let mut at = self.run_while(start, word);
        if self.byte(at) == b'.' && self.byte(at + 1).is_ascii_digit() {
            at = self.run_while(at + 1, word);
        }
        let exponent = self.byte(at.wrapping_sub(1)).eq_ignore_ascii_case(&b'e');
        let digits = self.bytes.get(start..at.saturating_sub(1)).unwrap_or_default();
        let plain = digits.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'_'));
        if exponent
            && plain
            && matches!(self.byte(at), b'+' | b'-')
            && self.byte(at + 1).is_ascii_digit()
        {
            at = self.run_while(at + 1, word);
        }
        at
    }

    fn one(&self, start: usize) -> Option<Token> {
        let byte = *self.bytes.get(start)?;
        let (kind, end) = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let end = self.run_while(start, |b| b.is_ascii_alphanumeric() || b == b'_');
                (Kind::Word, end)
            }
            b'0'..=b'9' => (Kind::Number, self.number_end(start)),
            b'"' => {
                let triple = self.bytes.get(start..start + 3) == Some(b"\"\"\"");
                let (end, closed) = string_end(self.bytes, start, 0);
                (Kind::Str { closed, triple }, end)
            }
            b'(' | b'[' | b'{' => (Kind::Open(byte), start + 1),
            b')' | b']' | b'}' => (Kind::Close(byte), start + 1),
            b'#' => {
                let end = self.run_while(start, |b| b != b'\n');
                (Kind::Comment, if self.byte(end.wrapping_sub(1)) == b'\r' { end - 1 } else { end })
            }
            b'=' | b':' | b',' | b'.' | b'?' | b'|' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/'
            | b'%' | b'@' | b'!' | b'&' => {
                let two = PAIRS
                    .iter()
                    .any(|pair| self.bytes.get(start..start + 2) == Some(pair.as_slice()));
                (Kind::Symbol, start + if two { 2 } else { 1 })
            }
            _ => {
                let odd = self.text.get(start..).and_then(|rest| rest.chars().next());
                let odd = odd.unwrap_or(char::REPLACEMENT_CHARACTER);
                (Kind::Odd(odd), start + odd.len_utf8())
            }
        };
        Some(Token { kind, start, end })
    }
}

impl Iterator for Scanner<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.at = self.run_while(self.at, |b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'));
        let token = self.one(self.at)?;
        self.at = token.end;
        Some(token)
    }
}

/// Nesting of strings inside interpolations inside strings that is still followed.
const STRING_NESTING: usize = 32;

/// The end of the string that starts at `start`, and whether it is closed. A `"` string ends, unclosed, at a line break.
fn string_end(bytes: &[u8], start: usize, depth: usize) -> (usize, bool) {
    let triple = bytes.get(start..start + 3) == Some(b"\"\"\"");
    let mut at = start + if triple { 3 } else { 1 };
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' if !triple => return (at + 1, true),
            b'"' if bytes.get(at..at + 3) == Some(b"\"\"\"") => return (at + 3, true),
            b'\n' if !triple => return (line_end(bytes, at), false),
            b'\\' if !triple && bytes.get(at + 1).is_some_and(|b| *b != b'\n') => at += 2,
            b'$' if bytes.get(at + 1) == Some(&b'{') => {
                match interpolation_end(bytes, at + 2, triple, depth) {
                    Ok(end) => at = end,
                    Err(end) => return (end, false),
                }
            }
            _ => at += 1,
        }
    }
    (bytes.len(), false)
}

/// Past the `}` that closes an interpolation, or where reading had to stop.
fn interpolation_end(
    bytes: &[u8],
    start: usize,
    lines: bool,
    depth: usize,
) -> Result<usize, usize> {
    let (mut at, mut open) = (start, 0usize);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'}' if open == 0 => return Ok(at + 1),
            b'}' => (at, open) = (at + 1, open - 1),
            b'{' => (at, open) = (at + 1, open + 1),
            b'\n' if !lines => return Err(line_end(bytes, at)),
            b'#' => {
                while bytes.get(at).is_some_and(|b| *b != b'\n') {
                    at += 1;
                }
            }
            b'"' if depth < STRING_NESTING => match string_end(bytes, at, depth + 1) {
                (end, true) => at = end,
                (end, false) => return Err(end),
            },
            _ => at += 1,
        }
    }
    Err(bytes.len())
}

/// The interpolation around byte `inside` of the string that starts at `start`: from after `${` to before `}`.
#[must_use]
pub fn interpolation_around(text: &str, start: usize, inside: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let triple = bytes.get(start..start + 3) == Some(b"\"\"\"");
    let mut at = start + if triple { 3 } else { 1 };
    while at <= inside {
        match bytes.get(at)? {
            b'\\' if !triple => at += 2,
            b'$' if bytes.get(at + 1) == Some(&b'{') => {
                let end = interpolation_end(bytes, at + 2, triple, 0).ok()?;
                if (at + 2..end).contains(&inside) {
                    return Some(at + 2..end - 1);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    None
}

/// The interpolations of a string, each from after `${` to before `}`.
pub(crate) fn interpolations(text: &str, string: Token) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let Kind::Str { triple, .. } = string.kind else { return Vec::new() };
    let mut found = Vec::new();
    let mut at = string.start + if triple { 3 } else { 1 };
    while at < string.end {
        match bytes.get(at) {
            Some(b'\\') if !triple => at += 2,
            Some(b'$') if bytes.get(at + 1) == Some(&b'{') => {
                let Ok(end) = interpolation_end(bytes, at + 2, triple, 0) else { return found };
                found.push(at + 2..end - 1);
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

/// The end of the line whose break is at `at`, without a carriage return.
fn line_end(bytes: &[u8], at: usize) -> usize {
    if at > 0 && bytes.get(at - 1) == Some(&b'\r') { at - 1 } else { at }
}

/// The bracket that closes `open`.
pub(crate) fn closer(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}
