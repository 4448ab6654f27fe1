//! Pairs to tree: one small file per family of nodes.
//!
//! Lowering is linear, never fails and bounds the depth of the tree, so that every later walk may recurse. What the
//! grammar accepts only to speak about it is reported here.

mod expr;
mod item;
mod literal;
mod ty;

pub(crate) use expr::{is_comparison, level};

use crate::ast::{Expr, ExprKind, Item, Name};
use crate::patch::Patched;
use crate::problem::Problem;
use crate::source::{FileId, Span};
use crate::syntax::Rule;
use crate::trivia::Trivia;
use pest::iterators::Pair;

/// Deepest tree that is built: no walk over a tree recurses deeper than this per kind of node.
pub(crate) const MAX_TREE_DEPTH: usize = 256;

/// What lowering needs to know and what it collects.
pub(crate) struct Lower<'a> {
    file: FileId,
    /// The file as written.
    source: &'a str,
    trivia: &'a Trivia,
    /// The text that was parsed, as a patched part of the file.
    parsed: &'a Patched,
    depth: usize,
    pub(crate) problems: Vec<Problem>,
}

impl<'a> Lower<'a> {
    pub(crate) fn new(
        file: FileId,
        source: &'a str,
        trivia: &'a Trivia,
        parsed: &'a Patched,
    ) -> Self {
        Self { file, source, trivia, parsed, depth: 0, problems: Vec::new() }
    }

    /// Every declaration under the rule `file`.
    pub(crate) fn items(&mut self, file: Pair<'_, Rule>) -> Vec<Item> {
        let items = file.into_inner().filter(|pair| pair.as_rule() == Rule::item);
        items.map(|pair| self.item(pair)).collect()
    }

    fn at(&self, start: usize, end: usize) -> Span {
        let (start, end) = (self.parsed.origin(start), self.parsed.origin(end));
        Span::new(self.file, start as u32, end.max(start) as u32)
    }

    /// The place of a pair whose rule does not end in something optional.
    fn span(&self, pair: &Pair<'_, Rule>) -> Span {
        let span = pair.as_span();
        self.at(span.start(), span.end())
    }

    fn name(&self, pair: &Pair<'_, Rule>) -> Name {
        Name { text: pair.as_str().to_owned(), span: self.span(pair) }
    }

    fn report(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Runs `inner` `levels` deeper; beyond the limit reports once and says no.
    fn deeper<T>(
        &mut self,
        levels: usize,
        span: Span,
        inner: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        if self.depth + levels > MAX_TREE_DEPTH {
            if !self.problems.iter().any(|problem| problem.code == "syntax::too_deep") {
                self.report(crate::limits::too_deep(span));
            }
            return None;
        }
        self.depth += levels;
        let value = inner(self);
        self.depth -= levels;
        Some(value)
    }
}

/// An expression that could not be read.
pub(crate) fn broken(span: Span) -> Expr {
    Expr { kind: ExprKind::Broken, span }
}
