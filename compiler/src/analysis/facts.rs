//! Types by place, recorded during evaluation.

use crate::types::Type;
use pipe_grammar::{FileId, Span};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// The types of the expressions and bound names of the program's own files.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// In the order of evaluation.
    noted: Vec<(Span, Type)>,
    /// One type for each place, in their order: most are never asked for, so this is made when the first is.
    settled: OnceCell<Vec<(Span, Type)>>,
    /// How many may be noted before those of one place are made one.
    room: usize,
    /// Library modules: what is inlined from them is not asked about.
    library: BTreeSet<FileId>,
}

/// What is noted before places are looked for that loops noted again and again.
const ROOM: usize = 1 << 16;

impl Facts {
    /// Facts about everything but these files.
    pub(crate) fn outside(library: BTreeSet<FileId>) -> Self {
        Self { library, room: ROOM, ..Self::default() }
    }

    /// Note the type of what stands at `span`.
    pub(crate) fn note(&mut self, span: Span, ty: &Type) {
        if self.library.contains(&span.file) {
            return;
        }
        if self.noted.len() >= self.room {
            self.noted = settled(std::mem::take(&mut self.noted));
            self.room = ROOM.max(2 * self.noted.len());
        }
        self.noted.push((span, ty.clone()));
    }

    /// The type of what stands exactly at `span`.
    pub(crate) fn at(&self, span: Span) -> Option<&Type> {
        let settled = self.settled.get_or_init(|| settled(self.noted.clone()));
        let at = settled.binary_search_by_key(&span, |(span, _)| *span).ok()?;
        settled.get(at).map(|(_, ty)| ty)
    }
}

/// One type for each place. The first answer stays, unless it was a mistake: a body is looked at once as it is written,
/// and again for each call and each turn of a loop.
fn settled(mut noted: Vec<(Span, Type)>) -> Vec<(Span, Type)> {
    noted.sort_by_key(|(span, _)| *span);
    noted.dedup_by(|(span, ty), (known_at, known)| {
        let same = span == known_at;
        if same && known.is_error() {
            std::mem::swap(known, ty);
        }
        same
    });
    noted
}
