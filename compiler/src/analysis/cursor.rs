//! What surrounds a place in a file: the declaration, the expressions, and the names that are bound there.

use super::names::Sort;
use crate::scope::{Local, Node, Visitor, walk};
use pipe_grammar::Span;
use pipe_grammar::ast::{Attr, Expr, Item, Module, Name, TypeExpr};

/// What surrounds a place, from the outside in.
#[derive(Default)]
pub struct Surroundings<'a> {
    /// The declaration.
    pub item: Option<&'a Item>,
    /// The attribute.
    pub attribute: Option<&'a Attr>,
    /// Expressions, outermost first.
    pub exprs: Vec<&'a Expr>,
    /// Types, outermost first.
    pub types: Vec<&'a TypeExpr>,
    /// Names that are bound inside the declaration, outermost first.
    pub locals: Vec<(&'a Name, Sort)>,
}

impl Surroundings<'_> {
    /// Whether a name is bound inside the declaration.
    #[must_use]
    pub fn is_local(&self, name: &str) -> bool {
        self.locals.iter().any(|(local, _)| local.text == name)
    }
}

/// Look for byte `at` in a file.
pub(crate) fn surroundings(module: &Module, at: u32) -> Surroundings<'_> {
    let mut look = Look { at, found: Surroundings::default() };
    // Of two declarations that touch, the one that begins here is meant.
    if let Some(item) = module.items.iter().rfind(|item| look.holds(item.span)) {
        let item: &Item = item;
        look.found.item = Some(item);
        walk(item, &mut look);
    }
    look.found
}

struct Look<'a> {
    at: u32,
    found: Surroundings<'a>,
}

impl Look<'_> {
    fn holds(&self, span: Span) -> bool {
        span.start <= self.at && self.at <= span.end
    }
}

impl<'a> Visitor<'a> for Look<'a> {
    fn enter(&mut self, node: Node<'a>) -> bool {
        let inside = self.holds(node.span());
        match node {
            _ if !inside => {}
            Node::Attr(attr) => self.found.attribute = Some(attr),
            Node::Expr(expr) => self.found.exprs.push(expr),
            Node::Type(ty) => self.found.types.push(ty),
            Node::Block(_) => {}
        }
        inside
    }

    fn bind(&mut self, local: &Local<'a>) {
        if self.holds(local.within) {
            self.found.locals.push((local.name, Sort::of(local.bound_as)));
        }
    }
}
