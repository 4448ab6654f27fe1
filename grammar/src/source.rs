//! Where text comes from and how to point into it.
//!
//! A [`Span`] is a byte range in one file; [`SourceFile`] turns it into lines and columns.

use serde::{Deserialize, Serialize};

/// Number of a source file in one compilation.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct FileId(pub u16);

/// A byte range `start..end` in the file `file`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span {
    /// The file the range lies in.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end` of `file`.
    #[must_use]
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// The smallest span that holds `self` and `other` (of one file).
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A place as people count it: line and column from 1, column in Unicode scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in Unicode scalars.
    pub column: u32,
}

/// A position as editors count it: line and character from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 0.
    pub line: u32,
    /// [`Units`] before it on its line.
    pub character: u32,
}

/// What editors count the characters of a line in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// Bytes.
    Utf8,
    /// UTF-16 code units: what editors use unless something else is agreed on.
    Utf16,
    /// Unicode scalars.
    Utf32,
}

impl Units {
    /// How many units a letter takes.
    #[must_use]
    pub fn size(self, letter: char) -> u32 {
        match self {
            Self::Utf8 => letter.len_utf8() as u32,
            Self::Utf16 => letter.len_utf16() as u32,
            Self::Utf32 => 1,
        }
    }

    /// How many units a text takes.
    #[must_use]
    pub fn count(self, text: &str) -> u32 {
        match self {
            Self::Utf8 => text.len() as u32,
            _ if text.is_ascii() => text.len() as u32,
            _ => text.chars().map(|letter| self.size(letter)).sum(),
        }
    }
}

/// One file of source text with its line index.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Number used in spans.
    pub id: FileId,
    /// Name as messages show it (a path relative to the project's root).
    pub name: String,
    /// The text.
    pub text: String,
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// Index the lines of `text`.
    #[must_use]
    pub fn new(id: FileId, name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1)).collect();
        Self { id, name: name.into(), text, line_starts }
    }

    /// The place of byte `offset` (clamped to the text).
    #[must_use]
    pub fn place(&self, offset: u32) -> Place {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.line_starts.get(line).copied().unwrap_or(0);
        let column =
            self.text.get(start as usize..offset as usize).map_or(0, |t| t.chars().count());
        Place { line: line as u32 + 1, column: column as u32 + 1 }
    }

    /// The position of byte `offset` as editors count it, in `units` (clamped to the text).
    #[must_use]
    pub fn position(&self, offset: u32, units: Units) -> Position {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.line_starts.get(line).copied().unwrap_or(0) as usize;
        let offset = self.text.floor_char_boundary(offset as usize);
        let before = self.text.get(start..offset).unwrap_or("");
        Position { line: line as u32, character: units.count(before) }
    }

    /// The byte at a position. Beyond the end of a line it is the line's end, beyond the last line the text's.
    #[must_use]
    pub fn offset(&self, position: Position, units: Units) -> u32 {
        let Some(start) = self.line_starts.get(position.line as usize).copied() else {
            return self.text.len() as u32;
        };
        let next = self.line_starts.get(position.line as usize + 1).copied();
        let end = next.map_or(self.text.len(), |next| next as usize - 1);
        let line = self.text.get(start as usize..end).unwrap_or("");
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut left = position.character;
        let mut at = start;
        for letter in line.chars() {
            let size = units.size(letter);
            if size > left {
                break;
            }
            left -= size;
            at += letter.len_utf8() as u32;
        }
        at
    }

    /// The text under `span` (empty when it does not fit).
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_bytes_agree_in_all_units() {
        let text = "let a = \"ü𝄞\"\r\nlet b = 2\n";
        let file = SourceFile::new(FileId(0), "a.pipe", text);
        for units in [Units::Utf8, Units::Utf16, Units::Utf32] {
            for (at, _) in text.char_indices().filter(|(_, letter)| !matches!(letter, '\r' | '\n'))
            {
                let position = file.position(at as u32, units);
                assert_eq!(file.offset(position, units), at as u32, "{units:?} {at}");
            }
        }
        let clef = text.find('𝄞').map_or(0, |at| at as u32);
        assert_eq!(file.position(clef + 4, Units::Utf16), Position { line: 0, character: 12 });
        assert_eq!(file.offset(Position { line: 0, character: 11 }, Units::Utf16), clef);
    }

    #[test]
    fn positions_outside_the_text_are_its_ends() {
        let file = SourceFile::new(FileId(0), "a.pipe", "ab\r\ncd");
        let at = |line, character| file.offset(Position { line, character }, Units::Utf16);
        assert_eq!((at(0, 99), at(1, 99), at(7, 0), at(u32::MAX, u32::MAX)), (2, 6, 6, 6));
        assert_eq!(file.position(99, Units::Utf16), Position { line: 1, character: 2 });
    }
}
