//! What every name in the program's own files refers to, found by a walk over the syntax.
//!
//! The rules are those of evaluation: inner names hide outer ones, values come before `output` and `check`, and a library
//! module is reached by a call even where a value has its name, when the module has the op.

use crate::resolve::{BUILT_IN_TYPES, DeclId, Loaded, ModuleId, Program, bound_name, name_span};
use crate::scope::{BoundAs, Local, Member, Node, Scope, TypePath, Visitor, walk};
use pipe_grammar::Span;
use pipe_grammar::ast::{Arg, Expr, ExprKind, FnDecl, Item, ItemKind, Name};

/// A place where a name is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The name.
    pub span: Span,
    /// What it refers to.
    pub meaning: Meaning,
    /// What sort of thing that is.
    pub sort: Sort,
}

/// What a name refers to. Places are those of the name where it is bound.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    /// Something that is bound at this place, perhaps in another file or in a library module.
    Bound(Span),
    /// A library module.
    Library(String),
    /// A type, attribute or function that needs no declaration.
    BuiltIn,
    /// A field of a record or a column.
    Field,
}

/// What sort of thing a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A file behind `use`, or a library module.
    Module,
    /// A `param`.
    Param,
    /// A `let`, `output` or `check`, or a name bound by `for`.
    Value,
    /// A parameter of a function or a lambda, also where a call names it.
    Argument,
    /// A function with a body.
    Function,
    /// An op of the library.
    Op,
    /// A type.
    Type,
    /// A type parameter.
    TypeParam,
    /// A field or a column.
    Field,
    /// `@retry`.
    Attribute,
}

impl Sort {
    /// The sort of a name that is bound inside a declaration.
    pub(crate) fn of(bound_as: BoundAs) -> Self {
        match bound_as {
            BoundAs::TypeParam => Self::TypeParam,
            BoundAs::Param => Self::Param,
            BoundAs::Argument => Self::Argument,
            BoundAs::Let | BoundAs::Element => Self::Value,
        }
    }
}

/// All mentions of a program's own files, in the order of their places.
pub(crate) fn mentions(program: &Program) -> Vec<Mention> {
    let mut found = Vec::new();
    for (module, loaded) in program.modules.iter().enumerate() {
        if loaded.library.is_some() {
            continue;
        }
        let mut names = Names { program, module, loaded, found: &mut found };
        loaded.ast.items.iter().for_each(|item| names.item(item));
    }
    found.sort_by_key(|mention| mention.span);
    found.dedup_by_key(|mention| mention.span);
    found
}

/// The function that a callee names, with the module it is declared in.
pub(crate) fn callee<'p>(
    program: &'p Program,
    module: ModuleId,
    callee: &Expr,
    is_local: impl Fn(&str) -> bool,
) -> Option<(ModuleId, &'p Item, &'p FnDecl)> {
    let id = match &callee.kind {
        ExprKind::Name(name) if !is_local(name) => {
            let item = *program.modules.get(module)?.values.get(name)?;
            DeclId { module, item }
        }
        ExprKind::Field { base, name } => {
            let ExprKind::Name(first) = &base.kind else { return None };
            let here = program.modules.get(module)?;
            let file = here.uses.get(first).filter(|_| !is_local(first));
            let other = *file.or_else(|| program.library.get(first))?;
            DeclId { module: other, item: *program.modules.get(other)?.values.get(&name.text)? }
        }
        _ => return None,
    };
    let item = program.item(id);
    match &item.kind {
        ItemKind::Fn(function) => Some((id.module, item, function)),
        _ => None,
    }
}

struct Names<'p, 'o> {
    program: &'p Program,
    module: ModuleId,
    loaded: &'p Loaded,
    found: &'o mut Vec<Mention>,
}

impl<'p> Names<'p, '_> {
    fn put(&mut self, span: Span, meaning: Meaning, sort: Sort) {
        self.found.push(Mention { span, meaning, sort });
    }

    fn bound(&mut self, span: Span, at: Span, sort: Sort) {
        self.put(span, Meaning::Bound(at), sort);
    }

    fn declared(&mut self, span: Span, id: DeclId) {
        let item = self.program.item(id);
        let library = self.program.modules.get(id.module).is_some_and(|it| it.library.is_some());
        self.bound(span, name_span(item), sort_of(item, library));
    }

    fn item(&mut self, item: &'p Item) {
        if let Some(name) = bound_name(item) {
            self.bound(name.span, name.span, sort_of(item, false));
        }
        walk(item, self);
    }

    /// A name of this file, outside of its declarations.
    fn outer(&mut self, name: &str, span: Span) {
        let item = self.loaded.values.get(name).or_else(|| self.loaded.roots.get(name));
        if let Some(item) = item {
            self.declared(span, DeclId { module: self.module, item: *item });
        } else if name == "files" {
            self.put(span, Meaning::BuiltIn, Sort::Op);
        }
    }

    fn exported(&self, module: ModuleId, name: &str) -> Option<DeclId> {
        let loaded = self.program.modules.get(module)?;
        let item = *loaded.values.get(name).or_else(|| loaded.types.get(name))?;
        Some(DeclId { module, item })
    }
}

impl<'p> Visitor<'p> for Names<'p, '_> {
    fn enter(&mut self, node: Node<'p>) -> bool {
        if let Node::Attr(attr) = node {
            self.put(attr.name.span, Meaning::BuiltIn, Sort::Attribute);
            attr.args.iter().filter_map(|arg| arg.name.as_ref()).for_each(|it| self.field(it));
        }
        true
    }

    fn bind(&mut self, local: &Local<'p>) {
        let at = local.name.span;
        self.bound(at, at, Sort::of(local.bound_as));
    }

    fn value(&mut self, scope: &Scope<'p>, name: &'p str, at: Span) {
        match scope.value(name) {
            Some(local) => self.bound(at, local.name.span, Sort::of(local.bound_as)),
            None => self.outer(name, at),
        }
    }

    fn member(&mut self, scope: &Scope<'p>, member: Member<'p>) {
        let Member { first, at, name, called } = member;
        let library = self.program.library.get(first).copied();
        let op = library.and_then(|module| self.exported(module, &name.text));
        let local = scope.value(first).is_some();
        let file = self.loaded.uses.get(first).copied().filter(|_| !local);
        if let Some(file) = file {
            self.outer(first, at);
            if let Some(id) = self.exported(file, &name.text) {
                self.declared(name.span, id);
            }
            return;
        }
        let value = local || self.loaded.values.contains_key(first);
        let root = !value && self.loaded.roots.contains_key(first);
        if (value && !(called && op.is_some())) || (root && op.is_none()) {
            self.value(scope, first, at);
            return self.field(name);
        }
        if self.program.library_names.iter().any(|known| known == first) {
            self.put(at, Meaning::Library(first.to_owned()), Sort::Module);
            if let Some(id) = op {
                self.declared(name.span, id);
            }
        }
    }

    fn call(&mut self, scope: &Scope<'p>, callee: &'p Expr, args: &'p [Arg]) {
        let is_local = |name: &str| scope.value(name).is_some();
        let function = self::callee(self.program, self.module, callee, is_local);
        for name in args.iter().filter_map(|arg| arg.name.as_ref()) {
            let params = function.map(|(_, _, function)| function.params.as_slice());
            let param = params.unwrap_or_default().iter().find(|it| it.name.text == name.text);
            match param.filter(|param| !param.rest) {
                Some(param) => self.bound(name.span, param.name.span, Sort::Argument),
                None => self.field(name),
            }
        }
    }

    fn type_path(&mut self, scope: &Scope<'p>, path: TypePath<'p>) {
        let TypePath { first, at, member } = path;
        let Some(member) = member else {
            if let Some(param) = scope.type_param(first) {
                return self.bound(at, param.name.span, Sort::TypeParam);
            }
            let here = self.loaded.types.get(first);
            let here = here.map(|item| DeclId { module: self.module, item: *item });
            let found = here.or_else(|| self.program.library_types.get(first).copied());
            return match found {
                Some(id) => self.declared(at, id),
                None if BUILT_IN_TYPES.contains(&first) => {
                    self.put(at, Meaning::BuiltIn, Sort::Type);
                }
                None => {}
            };
        };
        let file = self.loaded.uses.get(first).copied();
        let Some(other) = file.or_else(|| self.program.library.get(first).copied()) else { return };
        if file.is_some() {
            self.outer(first, at);
        } else {
            self.put(at, Meaning::Library(first.to_owned()), Sort::Module);
        }
        let item =
            self.program.modules.get(other).and_then(|it| it.types.get(&member.text)).copied();
        if let Some(item) = item {
            self.declared(member.span, DeclId { module: other, item });
        }
    }

    fn field(&mut self, name: &'p Name) {
        self.put(name.span, Meaning::Field, Sort::Field);
    }
}

fn sort_of(item: &Item, library: bool) -> Sort {
    match &item.kind {
        ItemKind::Use { .. } => Sort::Module,
        ItemKind::Param { .. } => Sort::Param,
        ItemKind::Fn(_) if library => Sort::Op,
        ItemKind::Fn(_) => Sort::Function,
        ItemKind::Type { .. } => Sort::Type,
        _ => Sort::Value,
    }
}
