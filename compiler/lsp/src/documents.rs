//! The texts that are open in the editor.

use crate::place;
use lsp_types::TextDocumentContentChangeEvent;
use pipe_grammar::{FileId, SourceFile, Units};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An open text.
#[derive(Clone)]
pub(crate) struct Document {
    /// The text with its line index.
    pub(crate) file: SourceFile,
    /// The editor's number of it.
    pub(crate) version: i32,
    /// The URI as the editor writes it.
    pub(crate) uri: lsp_types::Uri,
}

/// All open texts, by path.
#[derive(Default)]
pub(crate) struct Documents {
    open: BTreeMap<PathBuf, Document>,
}

impl Documents {
    pub(crate) fn get(&self, path: &Path) -> Option<&Document> {
        self.open.get(path)
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.open.keys()
    }

    /// These documents, with another text for one of them.
    pub(crate) fn with_text(&self, path: &Path, text: String) -> Self {
        let mut open = self.open.clone();
        if let Some(document) = open.get_mut(path) {
            document.file = SourceFile::new(FileId(0), document.file.name.clone(), text);
        }
        Self { open }
    }

    pub(crate) fn open(&mut self, path: &Path, uri: lsp_types::Uri, version: i32, text: String) {
        let file = SourceFile::new(FileId(0), path.to_string_lossy(), text);
        self.open.insert(path.to_owned(), Document { file, version, uri });
    }

    pub(crate) fn close(&mut self, path: &Path) {
        self.open.remove(path);
    }

    /// Apply changes in their order; each may be the whole text or replace a range. Gives whether the document is open.
    pub(crate) fn change(
        &mut self,
        path: &Path,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        units: Units,
    ) -> bool {
        let Some(document) = self.open.get_mut(path) else { return false };
        for change in changes {
            let text = match change.range {
                None => change.text,
                Some(range) => {
                    let span = place::span(&document.file, range, units);
                    let mut text = std::mem::take(&mut document.file.text);
                    text.replace_range(span.start as usize..span.end as usize, &change.text);
                    text
                }
            };
            document.file =
                SourceFile::new(FileId(0), std::mem::take(&mut document.file.name), text);
        }
        document.version = version;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lsp_types::{Position, Range};
    use std::str::FromStr;

    #[test]
    fn changes_apply_in_order_and_anywhere() {
        let path = Path::new("/a.pipe");
        let mut documents = Documents::default();
        let Ok(uri) = lsp_types::Uri::from_str("file:///a.pipe") else { return };
        documents.open(path, uri, 1, "let a = 𝄞\nlet b = 2\n".into());
        let change = |a: (u32, u32), b: (u32, u32), text: &str| TextDocumentContentChangeEvent {
            range: Some(Range { start: Position::new(a.0, a.1), end: Position::new(b.0, b.1) }),
            range_length: None,
            text: text.into(),
        };
        let changes = vec![
            change((0, 8), (0, 10), "1"),
            change((1, 4), (1, 5), "c"),
            change((9, 9), (9, 9), "# end"),
            change((5, 5), (0, 0), ""),
        ];
        assert!(documents.change(path, 2, changes, Units::Utf16));
        let text = documents.get(path).map(|document| document.file.text.as_str());
        assert_eq!(text, Some("let a = 1\nlet c = 2\n# end"));
        assert!(!documents.change(Path::new("/b.pipe"), 2, Vec::new(), Units::Utf16));
    }
}
