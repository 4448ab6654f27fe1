//! Places as the protocol writes them: URIs and ranges, from and to paths and spans.

use lsp_types::{Position, Range, Uri};
use pipe_grammar::{FileId, SourceFile, Span, Units};
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

/// Scheme of the documents that show library modules.
const LIBRARY: &str = "pipe-library:/";

/// The path of a document. A document without a file gets a path that no file has.
pub(crate) fn path_of(uri: &Uri) -> PathBuf {
    let text = uri.as_str();
    let Some(rest) = text.strip_prefix("file://") else { return PathBuf::from(text) };
    let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/");
    normal(Path::new(&decoded(path)))
}

/// The URI of a path.
pub(crate) fn uri_of(path: &Path) -> Option<Uri> {
    let text = path.to_str()?;
    if !path.is_absolute() {
        return Uri::from_str(text).ok();
    }
    Uri::from_str(&format!("file://{}", encoded(text))).ok()
}

/// The URI of the document that shows a library module.
pub(crate) fn library_uri(module: &str) -> Option<Uri> {
    Uri::from_str(&format!("{LIBRARY}{module}.pipe")).ok()
}

/// The library module that a document shows.
pub(crate) fn library_module(uri: &str) -> Option<&str> {
    uri.strip_prefix(LIBRARY)?.strip_suffix(".pipe")
}

/// `path` without `.` and `..`, by name.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            other => out.push(other),
        }
    }
    out
}

fn decoded(text: &str) -> String {
    let hex = |at: usize| {
        let digits = text.get(at + 1..at + 3)?;
        u8::from_str_radix(digits, 16)
            .ok()
            .filter(|_| digits.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        match hex(at).filter(|_| *byte == b'%') {
            Some(value) => {
                bytes.push(value);
                at += 3;
            }
            None => {
                bytes.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The range of a span.
pub(crate) fn range(file: &SourceFile, span: Span, units: Units) -> Range {
    Range {
        start: position(file, span.start, units),
        end: position(file, span.end.max(span.start), units),
    }
}

/// The position of a byte.
pub(crate) fn position(file: &SourceFile, offset: u32, units: Units) -> Position {
    let at = file.position(offset, units);
    Position { line: at.line, character: at.character }
}

/// The byte at a position.
pub(crate) fn offset(file: &SourceFile, at: Position, units: Units) -> u32 {
    file.offset(pipe_grammar::Position { line: at.line, character: at.character }, units)
}

/// The span of a range; the end is never before the start.
pub(crate) fn span(file: &SourceFile, range: Range, units: Units) -> Span {
    let start = offset(file, range.start, units);
    Span::new(FileId(0), start, offset(file, range.end, units).max(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_uris_agree() {
        for path in ["/a/b.pipe", "/with space/ü%41.pipe", "/c:/x#y?.pipe"] {
            let uri = uri_of(Path::new(path)).map(|uri| path_of(&uri));
            assert_eq!(uri.as_deref(), Some(Path::new(path)));
        }
        let uri = Uri::from_str("file://localhost/a/./b/../c%20d.pipe").map(|uri| path_of(&uri));
        assert_eq!(uri.ok().as_deref(), Some(Path::new("/a/c d.pipe")));
        let uri = Uri::from_str("untitled:Untitled-1").map(|uri| uri_of(&path_of(&uri)));
        assert_eq!(
            uri.ok().flatten().as_ref().map(|uri| uri.as_str()),
            Some("untitled:Untitled-1")
        );
    }
}
