//! What an earlier reading of a file found, so that an editor waits only for the declaration that it changes.

use crate::ast::{Item, each_place};
use crate::parse::Parsed;
use crate::source::{FileId, SourceFile, Span};
use crate::trivia::{Comment, Trivia};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Declarations without problems as they were read before, by their text with the comments above it.
///
/// A declaration's tree depends on nothing else: taken again from here it only moves.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    known: BTreeMap<String, Known>,
    /// What the reading under way has met.
    met: BTreeMap<String, Known>,
    /// The last file as a whole.
    last: Option<(SourceFile, Parsed)>,
}

/// A declaration with the comments above it, as it stands in a file.
pub(crate) struct Written<'a> {
    file: FileId,
    start: u32,
    text: &'a str,
    /// Its comments from its start on. A string that is never closed may hide them, so the text alone does not tell.
    comments: Vec<Comment>,
}

impl<'a> Written<'a> {
    /// The part of a file.
    pub(crate) fn new(source: &'a SourceFile, trivia: &Trivia, part: Range<usize>) -> Self {
        let (start, end) = (part.start as u32, part.end as u32);
        let comments = trivia.comments.get(trivia.before(start)..trivia.before(end));
        let comments = comments.unwrap_or_default().iter().cloned();
        let at_start = |comment: Comment| {
            let Span { file, start: from, end: to } = comment.span;
            let span = Span::new(file, from.saturating_sub(start), to.saturating_sub(start));
            Comment { span: Span { file: FileId::default(), ..span }, ..comment }
        };
        let text = source.text.get(part).unwrap_or_default();
        Self { file: source.id, start, text, comments: comments.map(at_start).collect() }
    }
}

#[derive(Clone, Debug)]
struct Known {
    file: FileId,
    start: u32,
    comments: Vec<Comment>,
    items: Vec<Arc<Item>>,
}

impl Earlier {
    /// The declarations of a part of the file, moved to where it stands now.
    pub(crate) fn take(&mut self, written: &Written<'_>) -> Option<Vec<Arc<Item>>> {
        let Written { file, start, .. } = *written;
        let known = self.known.get(written.text)?;
        if known.comments != written.comments {
            return None;
        }
        let (text, mut known) = self.known.remove_entry(written.text)?;
        if (known.file, known.start) != (file, start) {
            for item in &mut known.items {
                each_place(Arc::make_mut(item), |span| {
                    let at = |byte: u32| byte - known.start + start;
                    *span = Span::new(file, at(span.start), at(span.end));
                });
            }
            (known.file, known.start) = (file, start);
        }
        let items = known.items.clone();
        self.met.insert(text, known);
        Some(items)
    }

    /// Remember the declarations of a part of the file.
    pub(crate) fn keep(&mut self, written: Written<'_>, items: &[Arc<Item>]) {
        let Written { file, start, text, comments } = written;
        let known = Known { file, start, comments, items: items.to_vec() };
        self.met.insert(text.to_owned(), known);
    }

    /// The last reading, when the file is the same.
    pub(crate) fn unchanged(&self, source: &SourceFile) -> Option<Parsed> {
        let (last, parsed) = self.last.as_ref()?;
        (last.id == source.id && last.text == source.text).then(|| parsed.clone())
    }

    /// A reading has ended: what it did not meet is forgotten.
    pub(crate) fn turn(&mut self, source: &SourceFile, parsed: &Parsed) {
        self.known = std::mem::take(&mut self.met);
        self.last = Some((source.clone(), parsed.clone()));
    }
}
