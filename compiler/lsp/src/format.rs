//! Formatting: the lines that change, as one edit.

use crate::place;
use lsp_types::TextEdit;
use pipe_grammar::{FileId, SourceFile, Span, Units};

/// The edit that formats a file; none when it has its one layout already.
pub(crate) fn edits(file: &SourceFile, units: Units) -> Vec<TextEdit> {
    let formatted = pipe_grammar::format(file).text;
    let (old, new) = (file.text.as_str(), formatted.as_str());
    if old == new {
        return Vec::new();
    }
    let head = shared_lines(old, new);
    let (old_rest, new_rest) = (old.get(head..).unwrap_or(""), new.get(head..).unwrap_or(""));
    let tail = shared_end(old_rest, new_rest);
    let end = old.len() - tail;
    let span = Span::new(FileId(0), head as u32, end as u32);
    let text = new_rest.get(..new_rest.len() - tail).unwrap_or(new_rest);
    vec![TextEdit { range: place::range(file, span, units), new_text: text.to_owned() }]
}

/// Bytes of the whole lines that both texts begin with.
fn shared_lines(old: &str, new: &str) -> usize {
    let lines = old.split_inclusive('\n').zip(new.split_inclusive('\n'));
    lines.take_while(|(a, b)| a == b && a.ends_with('\n')).map(|(a, _)| a.len()).sum()
}

/// Bytes of the whole lines that both texts end with.
fn shared_end(old: &str, new: &str) -> usize {
    let mut shared = 0;
    let lines = old.split_inclusive('\n').rev().zip(new.split_inclusive('\n').rev());
    for (a, b) in lines {
        if a != b {
            break;
        }
        shared += a.len();
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(text: &str) -> (usize, String) {
        let file = SourceFile::new(FileId(0), "a.pipe", text);
        let edits = edits(&file, Units::Utf16);
        let mut out = text.to_owned();
        for edit in &edits {
            let span = place::span(&file, edit.range, Units::Utf16);
            out.replace_range(span.start as usize..span.end as usize, &edit.new_text);
        }
        (edits.len(), out)
    }

    #[test]
    fn the_edit_gives_what_the_formatter_gives() {
        for text in [
            "let a = 1\n",
            "let  a = 1\n",
            "let a = 1\nlet b=2\nlet c = 3\n",
            "let a = 1",
            "\n\nlet a = 1\n\n\n\nlet a = 1\n",
            "let a = 1\nlet b = (\nlet c  = 3\n",
            "",
        ] {
            let file = SourceFile::new(FileId(0), "a.pipe", text);
            let (count, out) = formatted(text);
            assert_eq!(out, pipe_grammar::format(&file).text, "{text:?}");
            assert_eq!(count == 0, out == text);
        }
    }

    #[test]
    fn only_lines_that_change_are_touched() {
        let file = SourceFile::new(FileId(0), "a.pipe", "let a = 1\nlet b=2\nlet c = 3\n");
        let edits = edits(&file, Units::Utf16);
        let lines: Vec<_> = edits.iter().map(|e| (e.range.start.line, e.range.end.line)).collect();
        assert_eq!(lines, [(1, 2)]);
    }
}
