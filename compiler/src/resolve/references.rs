//! Which names a declaration mentions, without those it binds itself.

use crate::scope::{Member, Scope, TypePath, Visitor, walk};
use pipe_grammar::Span;
use pipe_grammar::ast::{Item, Name};

/// A mention of a name from outside the declaration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference<'a> {
    pub(crate) kind: ReferenceKind,
    /// The first word: `shop` in `shop.Window`.
    pub(crate) name: &'a str,
    /// The second word, if there is one.
    pub(crate) member: Option<&'a str>,
    /// Whether `name.member` is called.
    pub(crate) called: bool,
}

/// Values and types have their own names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceKind {
    Value,
    Type,
}

/// Every mention in an item, in source order.
pub(crate) fn references(item: &Item) -> Vec<Reference<'_>> {
    let mut found = Mentions::default();
    walk(item, &mut found);
    found.outside
}

/// The `let`s inside an item that nothing mentions.
pub(crate) fn unused_inside(item: &Item) -> Vec<&Name> {
    let mut found = Mentions::default();
    walk(item, &mut found);
    found.unused
}

#[derive(Default)]
struct Mentions<'a> {
    outside: Vec<Reference<'a>>,
    unused: Vec<&'a Name>,
}

impl<'a> Visitor<'a> for Mentions<'a> {
    fn value(&mut self, scope: &Scope<'a>, name: &'a str, _at: Span) {
        if scope.value(name).is_none() {
            let kind = ReferenceKind::Value;
            self.outside.push(Reference { kind, name, member: None, called: false });
        }
    }

    /// A library module is reached by a call even where a value has its name.
    fn member(&mut self, scope: &Scope<'a>, Member { first, name, called, .. }: Member<'a>) {
        if called || scope.value(first).is_none() {
            let (kind, member) = (ReferenceKind::Value, Some(name.text.as_str()));
            self.outside.push(Reference { kind, name: first, member, called });
        }
    }

    fn type_path(&mut self, scope: &Scope<'a>, TypePath { first, member, .. }: TypePath<'a>) {
        if member.is_some() || scope.type_param(first).is_none() {
            let (kind, member) = (ReferenceKind::Type, member.map(|name| name.text.as_str()));
            self.outside.push(Reference { kind, name: first, member, called: false });
        }
    }

    fn unmentioned(&mut self, name: &'a Name) {
        self.unused.push(name);
    }
}
