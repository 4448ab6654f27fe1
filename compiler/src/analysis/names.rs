//! What every name in the program's own files refers to, found by a walk over the syntax.
//!
//! The rules are those of evaluation: inner names hide outer ones, values come before `output` and `check`, and a library
//! module is reached by a call even where a value has its name, when the module has the op.

use crate::resolve::{BUILT_IN_TYPES, DeclId, Loaded, ModuleId, Program, bound_name, name_span};
use pipe_grammar::Span;
use pipe_grammar::ast::{
    Arg, Attr, Binding, Block, Entry, Expr, ExprKind, FnDecl, Item, ItemKind, Name, StrPart,
    TypeExpr, TypeField, TypeKind,
};

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

/// All mentions of a program's own files, in the order of their places.
pub(crate) fn mentions(program: &Program) -> Vec<Mention> {
    let mut found = Vec::new();
    for (module, loaded) in program.modules.iter().enumerate() {
        if loaded.library.is_some() {
            continue;
        }
        let mut walk = Walk {
            program,
            module,
            loaded,
            found: &mut found,
            locals: Vec::new(),
            types: Vec::new(),
        };
        loaded.ast.items.iter().for_each(|item| walk.item(item));
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

struct Walk<'p, 'o> {
    program: &'p Program,
    module: ModuleId,
    loaded: &'p Loaded,
    found: &'o mut Vec<Mention>,
    locals: Vec<(&'p str, Span, Sort)>,
    types: Vec<&'p Name>,
}

impl<'p> Walk<'p, '_> {
    fn put(&mut self, span: Span, meaning: Meaning, sort: Sort) {
        self.found.push(Mention { span, meaning, sort });
    }

    fn bound(&mut self, span: Span, at: Span, sort: Sort) {
        self.put(span, Meaning::Bound(at), sort);
    }

    fn bind(&mut self, name: &'p Name, sort: Sort) {
        self.bound(name.span, name.span, sort);
        self.locals.push((&name.text, name.span, sort));
    }

    fn local(&self, name: &str) -> Option<(Span, Sort)> {
        let found = self.locals.iter().rev().find(|(local, _, _)| *local == name);
        found.map(|(_, span, sort)| (*span, *sort))
    }

    fn declared(&mut self, span: Span, id: DeclId) {
        let item = self.program.item(id);
        let library = self.program.modules.get(id.module).is_some_and(|it| it.library.is_some());
        self.bound(span, name_span(item), sort_of(item, library));
    }

    fn item(&mut self, item: &'p Item) {
        self.attributes(&item.attrs);
        if let Some(name) = bound_name(item) {
            self.bound(name.span, name.span, sort_of(item, false));
        }
        match &item.kind {
            ItemKind::Use { .. } | ItemKind::Broken { .. } => {}
            ItemKind::Param { name, ty, default, condition } => {
                self.ty(ty);
                default.iter().for_each(|value| self.expr(value));
                self.locals.push((&name.text, name.span, Sort::Param));
                condition.iter().for_each(|condition| self.expr(condition));
                self.locals.pop();
            }
            ItemKind::Let(binding) | ItemKind::Output(binding) | ItemKind::Check(binding) => {
                self.binding(binding);
            }
            ItemKind::Fn(function) => self.function(function),
            ItemKind::Type { params, ty, .. } => {
                self.type_params(params);
                ty.iter().for_each(|ty| self.ty(ty));
                self.types.clear();
            }
        }
    }

    fn binding(&mut self, binding: &'p Binding) {
        binding.ty.iter().for_each(|ty| self.ty(ty));
        self.expr(&binding.value);
    }

    fn type_params(&mut self, params: &'p [Name]) {
        for name in params {
            self.bound(name.span, name.span, Sort::TypeParam);
            self.types.push(name);
        }
    }

    fn function(&mut self, function: &'p FnDecl) {
        self.type_params(&function.type_params);
        for param in &function.params {
            self.attributes(&param.attrs);
            self.ty(&param.ty);
            param.default.iter().for_each(|value| self.expr(value));
        }
        function.result.iter().for_each(|ty| self.ty(ty));
        let depth = self.locals.len();
        function.params.iter().for_each(|param| self.bind(&param.name, Sort::Argument));
        function.body.iter().for_each(|body| self.block(body));
        self.locals.truncate(depth);
        self.types.clear();
    }

    fn attributes(&mut self, attrs: &'p [Attr]) {
        for attr in attrs {
            self.put(attr.name.span, Meaning::BuiltIn, Sort::Attribute);
            for arg in &attr.args {
                if let Some(name) = &arg.name {
                    self.put(name.span, Meaning::Field, Sort::Field);
                }
                self.expr(&arg.value);
            }
        }
    }

    fn block(&mut self, block: &'p Block) {
        let depth = self.locals.len();
        for item in &block.lets {
            self.attributes(&item.attrs);
            if let ItemKind::Let(binding) = &item.kind {
                self.binding(binding);
                self.bind(&binding.name, Sort::Value);
            }
        }
        self.expr(&block.value);
        self.locals.truncate(depth);
    }

    fn expr(&mut self, expr: &'p Expr) {
        match &expr.kind {
            ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::None | ExprKind::Broken => {}
            ExprKind::Str(parts) => {
                for part in parts {
                    if let StrPart::Interpolation(inner) = part {
                        self.expr(inner);
                    }
                }
            }
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::List(items) => items.iter().for_each(|item| self.expr(item)),
            ExprKind::Record(entries) => {
                for entry in entries {
                    match entry {
                        Entry::Field { name, value } => {
                            self.put(name.span, Meaning::Field, Sort::Field);
                            self.expr(value);
                        }
                        Entry::Spread(value) => self.expr(value),
                    }
                }
            }
            ExprKind::Field { base, name } => self.field(base, name, false),
            ExprKind::Index { base, index } => {
                self.expr(base);
                self.expr(index);
            }
            ExprKind::Call { callee, args } => self.call(callee, args),
            ExprKind::Pipe { subject, call } => {
                self.expr(subject);
                self.expr(call);
            }
            ExprKind::Unary { operand, .. } => self.expr(operand),
            ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.block(then);
                self.block(otherwise);
            }
            ExprKind::For { binders, condition, body } => {
                let depth = self.locals.len();
                for binder in binders {
                    self.expr(&binder.list);
                    binder.names.iter().for_each(|name| self.bind(name, Sort::Value));
                }
                condition.iter().for_each(|condition| self.expr(condition));
                self.block(body);
                self.locals.truncate(depth);
            }
            ExprKind::Lambda { params, body } => {
                let depth = self.locals.len();
                params.iter().for_each(|name| self.bind(name, Sort::Argument));
                self.block(body);
                self.locals.truncate(depth);
            }
        }
    }

    fn name(&mut self, name: &str, span: Span) {
        if let Some((at, sort)) = self.local(name) {
            return self.bound(span, at, sort);
        }
        let item = self.loaded.values.get(name).or_else(|| self.loaded.roots.get(name));
        if let Some(item) = item {
            self.declared(span, DeclId { module: self.module, item: *item });
        } else if name == "files" {
            self.put(span, Meaning::BuiltIn, Sort::Op);
        }
    }

    fn field(&mut self, base: &'p Expr, name: &'p Name, called: bool) {
        let ExprKind::Name(first) = &base.kind else {
            self.expr(base);
            return self.put(name.span, Meaning::Field, Sort::Field);
        };
        let library = self.program.library.get(first).copied();
        let member = library.and_then(|module| self.member(module, &name.text));
        let local = self.local(first).is_some();
        let file = self.loaded.uses.get(first).copied().filter(|_| !local);
        if let Some(file) = file {
            self.name(first, base.span);
            if let Some(id) = self.member(file, &name.text) {
                self.declared(name.span, id);
            }
            return;
        }
        let value = local || self.loaded.values.contains_key(first);
        let root = !value && self.loaded.roots.contains_key(first);
        if (value && !(called && member.is_some())) || (root && member.is_none()) {
            self.name(first, base.span);
            return self.put(name.span, Meaning::Field, Sort::Field);
        }
        if self.program.library_names.iter().any(|known| known == first) {
            self.put(base.span, Meaning::Library(first.clone()), Sort::Module);
            if let Some(id) = member {
                self.declared(name.span, id);
            }
        }
    }

    fn member(&self, module: ModuleId, name: &str) -> Option<DeclId> {
        let loaded = self.program.modules.get(module)?;
        let item = *loaded.values.get(name).or_else(|| loaded.types.get(name))?;
        Some(DeclId { module, item })
    }

    fn call(&mut self, callee: &'p Expr, args: &'p [Arg]) {
        match &callee.kind {
            ExprKind::Field { base, name } => self.field(base, name, true),
            _ => self.expr(callee),
        }
        let function =
            self::callee(self.program, self.module, callee, |name| self.local(name).is_some());
        for arg in args {
            if let Some(name) = &arg.name {
                let params = function.map(|(_, _, function)| function.params.as_slice());
                let param = params.unwrap_or_default().iter().find(|it| it.name.text == name.text);
                match param.filter(|param| !param.rest) {
                    Some(param) => self.bound(name.span, param.name.span, Sort::Argument),
                    None => self.put(name.span, Meaning::Field, Sort::Field),
                }
            }
            self.argument(&arg.value);
        }
    }

    /// A bare name given as an argument may be the name of a type (`row: Doc`).
    fn argument(&mut self, value: &'p Expr) {
        let path: Option<(&str, Span, Option<&Name>)> = match &value.kind {
            ExprKind::Name(name) => Some((name, value.span, None)),
            ExprKind::Field { base, name } => match &base.kind {
                ExprKind::Name(first) => Some((first, base.span, Some(name))),
                _ => None,
            },
            _ => None,
        };
        let capital = |word: &str| word.starts_with(|c: char| c.is_ascii_uppercase());
        match path {
            Some((first, span, member))
                if capital(member.map_or(first, |it| it.text.as_str()))
                    && self.local(first).is_none() =>
            {
                self.type_path(first, span, member);
            }
            _ => self.expr(value),
        }
    }

    fn type_path(&mut self, first: &str, span: Span, member: Option<&Name>) {
        let Some(member) = member else {
            if let Some(var) = self.types.iter().find(|var| var.text == first) {
                let at = var.span;
                return self.bound(span, at, Sort::TypeParam);
            }
            let here = self
                .loaded
                .types
                .get(first)
                .map(|item| DeclId { module: self.module, item: *item });
            let found = here.or_else(|| self.program.library_types.get(first).copied());
            return match found {
                Some(id) => self.declared(span, id),
                None if BUILT_IN_TYPES.contains(&first) => {
                    self.put(span, Meaning::BuiltIn, Sort::Type);
                }
                None => {}
            };
        };
        let other =
            self.loaded.uses.get(first).or_else(|| self.program.library.get(first)).copied();
        let Some(other) = other else { return };
        if self.loaded.uses.contains_key(first) {
            self.name(first, span);
        } else {
            self.put(span, Meaning::Library(first.to_owned()), Sort::Module);
        }
        let item =
            self.program.modules.get(other).and_then(|it| it.types.get(&member.text)).copied();
        if let Some(item) = item {
            self.declared(member.span, DeclId { module: other, item });
        }
    }

    fn ty(&mut self, ty: &'p TypeExpr) {
        match &ty.kind {
            TypeKind::Named { path, args } => {
                if let Some(first) = path.first() {
                    self.type_path(&first.text, first.span, path.get(1));
                }
                args.iter().for_each(|arg| self.ty(arg));
            }
            TypeKind::Literal(_) => {}
            TypeKind::Union(members) => members.iter().for_each(|member| self.ty(member)),
            TypeKind::Optional(inner) | TypeKind::List(inner) => self.ty(inner),
            TypeKind::Record(fields) => {
                for field in fields {
                    match field {
                        TypeField::Field { name, ty } => {
                            self.put(name.span, Meaning::Field, Sort::Field);
                            self.ty(ty);
                        }
                        TypeField::Spread(ty) => self.ty(ty),
                    }
                }
            }
            TypeKind::Function { params, result } => {
                params.iter().for_each(|param| self.ty(param));
                self.ty(result);
            }
        }
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
