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

    /// The text under `span` (empty when it does not fit).
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}
