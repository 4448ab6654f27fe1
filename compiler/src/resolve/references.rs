//! Which names a declaration mentions, without those it binds itself.

use pipe_grammar::ast::{
    Arg, Attr, Block, Entry, Expr, ExprKind, FnDecl, Item, ItemKind, Name, StrPart, TypeExpr,
    TypeField, TypeKind,
};

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
    walked(item).found
}

/// The `let`s inside an item that nothing mentions.
pub(crate) fn unused_inside(item: &Item) -> Vec<&Name> {
    walked(item).unused
}

fn walked(item: &Item) -> Walk<'_> {
    let mut walk = Walk::default();
    walk.attributes(&item.attrs);
    match &item.kind {
        ItemKind::Use { .. } | ItemKind::Broken { .. } => {}
        ItemKind::Param { name, ty, default, condition } => {
            walk.ty(ty);
            default.iter().for_each(|value| walk.expr(value));
            walk.bind(name, false);
            condition.iter().for_each(|condition| walk.expr(condition));
        }
        ItemKind::Let(binding) | ItemKind::Output(binding) | ItemKind::Check(binding) => {
            binding.ty.iter().for_each(|ty| walk.ty(ty));
            walk.expr(&binding.value);
        }
        ItemKind::Fn(function) => walk.function(function),
        ItemKind::Type { params, ty, .. } => {
            walk.types.extend(params.iter().map(|name| name.text.as_str()));
            ty.iter().for_each(|ty| walk.ty(ty));
        }
    }
    walk
}

#[derive(Default)]
struct Walk<'a> {
    found: Vec<Reference<'a>>,
    bound: Vec<Bound<'a>>,
    types: Vec<&'a str>,
    unused: Vec<&'a Name>,
}

/// A name bound inside the item.
struct Bound<'a> {
    name: &'a Name,
    /// Whether it is a `let`, which somebody should mention.
    wanted: bool,
    used: bool,
}

impl<'a> Walk<'a> {
    fn value(&mut self, name: &'a str, member: Option<&'a str>, called: bool) {
        let bound = self.bound.iter_mut().rev().find(|bound| bound.name.text == name);
        let local = bound.is_some();
        if let Some(bound) = bound {
            bound.used = true;
        }
        if !local || (called && member.is_some()) {
            self.found.push(Reference { kind: ReferenceKind::Value, name, member, called });
        }
    }

    fn bind(&mut self, name: &'a Name, wanted: bool) {
        self.bound.push(Bound { name, wanted, used: false });
    }

    fn leave(&mut self, depth: usize) {
        let left = self.bound.drain(depth.min(self.bound.len())..);
        let unused = left.filter(|bound| bound.wanted && !bound.used).map(|bound| bound.name);
        self.unused.extend(unused);
    }

    fn attributes(&mut self, attrs: &'a [Attr]) {
        attrs.iter().flat_map(|attr| &attr.args).for_each(|arg| self.expr(&arg.value));
    }

    fn function(&mut self, function: &'a FnDecl) {
        self.types.extend(function.type_params.iter().map(|name| name.text.as_str()));
        for param in &function.params {
            self.ty(&param.ty);
            param.default.iter().for_each(|value| self.expr(value));
        }
        function.result.iter().for_each(|ty| self.ty(ty));
        let depth = self.bound.len();
        function.params.iter().for_each(|param| self.bind(&param.name, false));
        function.body.iter().for_each(|body| self.block(body));
        self.leave(depth);
    }

    fn block(&mut self, block: &'a Block) {
        let depth = self.bound.len();
        for item in &block.lets {
            self.attributes(&item.attrs);
            if let ItemKind::Let(binding) = &item.kind {
                binding.ty.iter().for_each(|ty| self.ty(ty));
                self.expr(&binding.value);
                self.bind(&binding.name, true);
            }
        }
        self.expr(&block.value);
        self.leave(depth);
    }

    fn with_names(&mut self, names: &'a [Name], body: &'a Block) {
        let depth = self.bound.len();
        names.iter().for_each(|name| self.bind(name, false));
        self.block(body);
        self.leave(depth);
    }

    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::None | ExprKind::Broken => {}
            ExprKind::Str(parts) => {
                for part in parts {
                    if let StrPart::Interpolation(inner) = part {
                        self.expr(inner);
                    }
                }
            }
            ExprKind::Name(name) => self.value(name, None, false),
            ExprKind::List(items) => items.iter().for_each(|item| self.expr(item)),
            ExprKind::Record(entries) => {
                for entry in entries {
                    match entry {
                        Entry::Field { value, .. } | Entry::Spread(value) => self.expr(value),
                    }
                }
            }
            ExprKind::Field { base, name } => self.field(base, name, false),
            ExprKind::Index { base, index } => {
                self.expr(base);
                self.expr(index);
            }
            ExprKind::Call { callee, args } => {
                match &callee.kind {
                    ExprKind::Field { base, name } => self.field(base, name, true),
                    _ => self.expr(callee),
                }
                args.iter().for_each(|arg| self.argument(arg));
            }
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
                let depth = self.bound.len();
                for binder in binders {
                    self.expr(&binder.list);
                    binder.names.iter().for_each(|name| self.bind(name, false));
                }
                condition.iter().for_each(|condition| self.expr(condition));
                self.block(body);
                self.leave(depth);
            }
            ExprKind::Lambda { params, body } => self.with_names(params, body),
        }
    }

    fn field(&mut self, base: &'a Expr, name: &'a Name, called: bool) {
        match &base.kind {
            ExprKind::Name(module) => self.value(module, Some(&name.text), called),
            _ => self.expr(base),
        }
    }

    /// A bare name given as an argument may be the name of a type (`row: Doc`).
    fn argument(&mut self, arg: &'a Arg) {
        let mention = match &arg.value.kind {
            ExprKind::Name(name) => Some((name, None)),
            ExprKind::Field { base, name } => match &base.kind {
                ExprKind::Name(module) => Some((module, Some(name.text.as_str()))),
                _ => None,
            },
            _ => None,
        };
        if let Some((name, member)) = mention
            && member.unwrap_or(name).starts_with(|c: char| c.is_ascii_uppercase())
        {
            self.found.push(Reference { kind: ReferenceKind::Type, name, member, called: false });
        } else {
            self.expr(&arg.value);
        }
    }

    fn ty(&mut self, ty: &'a TypeExpr) {
        match &ty.kind {
            TypeKind::Named { path, args } => {
                if let Some(first) = path.first() {
                    let member = path.get(1).map(|name| name.text.as_str());
                    if member.is_some() || !self.types.contains(&first.text.as_str()) {
                        let kind = ReferenceKind::Type;
                        let name = first.text.as_str();
                        self.found.push(Reference { kind, name, member, called: false });
                    }
                }
                args.iter().for_each(|arg| self.ty(arg));
            }
            TypeKind::Literal(_) => {}
            TypeKind::Union(members) => members.iter().for_each(|member| self.ty(member)),
            TypeKind::Optional(inner) | TypeKind::List(inner) => self.ty(inner),
            TypeKind::Record(fields) => {
                for field in fields {
                    match field {
                        TypeField::Field { ty, .. } | TypeField::Spread(ty) => self.ty(ty),
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
