//! Types by place, recorded during evaluation.

use crate::types::Type;
use pipe_grammar::{FileId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The types of the expressions and bound names of the program's own files.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    types: BTreeMap<(FileId, u32, u32), Type>,
    /// Library modules: what is inlined from them is not asked about.
    library: BTreeSet<FileId>,
}

impl Facts {
    /// Facts about everything but these files.
    pub(crate) fn outside(library: BTreeSet<FileId>) -> Self {
        Self { types: BTreeMap::new(), library }
    }

    /// Note the type of what stands at `span`. The first answer stays, unless it was a mistake: a body is looked at once
    /// as it is written, and again for each call and each turn of a loop.
    pub(crate) fn note(&mut self, span: Span, ty: &Type) {
        if self.library.contains(&span.file) {
            return;
        }
        let key = (span.file, span.start, span.end);
        let known = self.types.entry(key).or_insert(Type::Error);
        if known.is_error() && !ty.is_error() {
            known.clone_from(ty);
        }
    }

    /// The type of what stands exactly at `span`.
    pub(crate) fn at(&self, span: Span) -> Option<&Type> {
        self.types.get(&(span.file, span.start, span.end))
    }
}
