//! The one walk over a declaration that knows which names are bound where.
//!
//! Resolution asks which names a declaration mentions, an editor what every name means and what is bound at a place. All
//! three are visitors of this walk, so that they cannot differ in what hides what: inner names hide outer ones, a `let`
//! is bound behind itself, the names of a `for` from one list to the next.

use pipe_grammar::Span;
use pipe_grammar::ast::{
    Arg, Attr, Binding, Block, Entry, Expr, ExprKind, FnDecl, Item, ItemKind, Name, StrPart,
    TypeExpr, TypeField, TypeKind,
};

/// How a name is bound inside a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoundAs {
    /// In `<...>`.
    TypeParam,
    /// A `param`, in its own condition.
    Param,
    /// By a function or a lambda.
    Argument,
    /// By a `let` of a block.
    Let,
    /// By a `for`.
    Element,
}

/// A name that is bound inside a declaration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local<'a> {
    pub(crate) name: &'a Name,
    pub(crate) bound_as: BoundAs,
    /// Where it can be mentioned.
    pub(crate) within: Span,
    mentioned: bool,
}

/// The names that are bound at the place where the walk is.
#[derive(Debug, Default)]
pub(crate) struct Scope<'a> {
    values: Vec<Local<'a>>,
    types: Vec<Local<'a>>,
}

impl<'a> Scope<'a> {
    /// The innermost value of a name.
    pub(crate) fn value(&self, name: &str) -> Option<&Local<'a>> {
        self.values.iter().rev().find(|local| local.name.text == name)
    }

    /// The type parameter of a name.
    pub(crate) fn type_param(&self, name: &str) -> Option<&Local<'a>> {
        self.types.iter().find(|local| local.name.text == name)
    }
}

/// Something that has parts.
#[derive(Clone, Copy)]
pub(crate) enum Node<'a> {
    Attr(&'a Attr),
    Block(&'a Block),
    Expr(&'a Expr),
    Type(&'a TypeExpr),
}

impl Node<'_> {
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Attr(attr) => attr.span,
            Self::Block(block) => block.span,
            Self::Expr(expr) => expr.span,
            Self::Type(ty) => ty.span,
        }
    }
}

/// What the walk tells, in source order.
pub(crate) trait Visitor<'a> {
    /// Something with parts begins; false skips it.
    fn enter(&mut self, _node: Node<'a>) -> bool {
        true
    }
    /// A name is bound.
    fn bind(&mut self, _local: &Local<'a>) {}
    /// A `let` of a block ends that nothing mentioned.
    fn unmentioned(&mut self, _name: &'a Name) {}
    /// A name is mentioned as a value.
    fn value(&mut self, _scope: &Scope<'a>, _name: &'a str, _at: Span) {}
    /// `first.name`, where `first` may be a value or a module.
    fn member(&mut self, _scope: &Scope<'a>, _member: Member<'a>) {}
    /// A type is named.
    fn type_path(&mut self, _scope: &Scope<'a>, _path: TypePath<'a>) {}
    /// The arguments of a call follow.
    fn call(&mut self, _scope: &Scope<'a>, _callee: &'a Expr, _args: &'a [Arg]) {}
    /// The name of a field, of a record or of something that is no module.
    fn field(&mut self, _name: &'a Name) {}
}

/// `first.name`.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) first: &'a str,
    pub(crate) at: Span,
    pub(crate) name: &'a Name,
    /// Whether it is called.
    pub(crate) called: bool,
}

/// `Window` or `shop.Window`.
#[derive(Clone, Copy)]
pub(crate) struct TypePath<'a> {
    pub(crate) first: &'a str,
    pub(crate) at: Span,
    pub(crate) member: Option<&'a Name>,
}

/// Walk over a declaration.
pub(crate) fn walk<'a>(item: &'a Item, visitor: &mut impl Visitor<'a>) {
    let mut walk = Walk { scope: Scope::default(), visitor };
    walk.item(item);
    walk.leave(0);
}

struct Walk<'a, 'v, V> {
    scope: Scope<'a>,
    visitor: &'v mut V,
}

impl<'a, V: Visitor<'a>> Walk<'a, '_, V> {
    fn bind(&mut self, name: &'a Name, bound_as: BoundAs, within: Span) {
        let local = Local { name, bound_as, within, mentioned: false };
        self.visitor.bind(&local);
        match bound_as {
            BoundAs::TypeParam => self.scope.types.push(local),
            _ => self.scope.values.push(local),
        }
    }

    /// Forget the values that were bound since there were `depth`.
    fn leave(&mut self, depth: usize) {
        for local in self.scope.values.drain(depth.min(self.scope.values.len())..) {
            if local.bound_as == BoundAs::Let && !local.mentioned {
                self.visitor.unmentioned(local.name);
            }
        }
    }

    fn mention(&mut self, name: &str) {
        if let Some(local) = self.scope.values.iter_mut().rev().find(|it| it.name.text == name) {
            local.mentioned = true;
        }
    }

    fn item(&mut self, item: &'a Item) {
        self.attributes(&item.attrs);
        match &item.kind {
            ItemKind::Use { .. } | ItemKind::Broken { .. } => {}
            ItemKind::Param { name, ty, default, condition } => {
                self.ty(ty);
                default.iter().for_each(|value| self.expr(value));
                if let Some(condition) = condition {
                    self.bind(name, BoundAs::Param, condition.span);
                    self.expr(condition);
                }
            }
            ItemKind::Let(binding) | ItemKind::Output(binding) | ItemKind::Check(binding) => {
                self.binding(binding);
            }
            ItemKind::Fn(function) => self.function(function, item.span),
            ItemKind::Type { params, ty, .. } => {
                params.iter().for_each(|name| self.bind(name, BoundAs::TypeParam, item.span));
                ty.iter().for_each(|ty| self.ty(ty));
            }
        }
    }

    fn binding(&mut self, binding: &'a Binding) {
        binding.ty.iter().for_each(|ty| self.ty(ty));
        self.expr(&binding.value);
    }

    fn function(&mut self, function: &'a FnDecl, whole: Span) {
        function.type_params.iter().for_each(|name| self.bind(name, BoundAs::TypeParam, whole));
        for param in &function.params {
            self.attributes(&param.attrs);
            self.ty(&param.ty);
            param.default.iter().for_each(|value| self.expr(value));
        }
        function.result.iter().for_each(|ty| self.ty(ty));
        let nowhere = behind(whole, whole);
        let within = function.body.as_ref().map_or(nowhere, |body| body.span);
        for param in &function.params {
            self.bind(&param.name, BoundAs::Argument, within);
        }
        function.body.iter().for_each(|body| self.block(body));
    }

    fn attributes(&mut self, attrs: &'a [Attr]) {
        for attr in attrs {
            if self.visitor.enter(Node::Attr(attr)) {
                attr.args.iter().for_each(|arg| self.expr(&arg.value));
            }
        }
    }

    fn block(&mut self, block: &'a Block) {
        if !self.visitor.enter(Node::Block(block)) {
            return;
        }
        let depth = self.scope.values.len();
        for item in &block.lets {
            self.attributes(&item.attrs);
            if let ItemKind::Let(binding) = &item.kind {
                self.binding(binding);
                self.bind(&binding.name, BoundAs::Let, behind(item.span, block.span));
            }
        }
        self.expr(&block.value);
        self.leave(depth);
    }

    fn expr(&mut self, expr: &'a Expr) {
        if !self.visitor.enter(Node::Expr(expr)) {
            return;
        }
        match &expr.kind {
            ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::None | ExprKind::Broken => {}
            ExprKind::Str(parts) => {
                for part in parts {
                    if let StrPart::Interpolation(inner) = part {
                        self.expr(inner);
                    }
                }
            }
            ExprKind::Name(name) => {
                self.mention(name);
                self.visitor.value(&self.scope, name, expr.span);
            }
            ExprKind::List(items) => items.iter().for_each(|item| self.expr(item)),
            ExprKind::Record(entries) => {
                for entry in entries {
                    match entry {
                        Entry::Field { name, value } => {
                            self.visitor.field(name);
                            self.expr(value);
                        }
                        Entry::Spread(value) => self.expr(value),
                    }
                }
            }
            ExprKind::Field { base, name } => self.member(base, name, false),
            ExprKind::Index { base, index } => self.both(base, index),
            ExprKind::Call { callee, args } => self.call(callee, args),
            ExprKind::Pipe { subject, call } => self.both(subject, call),
            ExprKind::Unary { operand, .. } => self.expr(operand),
            ExprKind::Binary { left, right, .. } => self.both(left, right),
            ExprKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.block(then);
                self.block(otherwise);
            }
            ExprKind::For { binders, condition, body } => {
                let depth = self.scope.values.len();
                for binder in binders {
                    self.expr(&binder.list);
                    let within = behind(binder.list.span, expr.span);
                    for name in &binder.names {
                        self.bind(name, BoundAs::Element, within);
                    }
                }
                condition.iter().for_each(|condition| self.expr(condition));
                self.block(body);
                self.leave(depth);
            }
            ExprKind::Lambda { params, body } => {
                let depth = self.scope.values.len();
                params.iter().for_each(|name| self.bind(name, BoundAs::Argument, body.span));
                self.block(body);
                self.leave(depth);
            }
        }
    }

    fn both(&mut self, left: &'a Expr, right: &'a Expr) {
        self.expr(left);
        self.expr(right);
    }

    fn member(&mut self, base: &'a Expr, name: &'a Name, called: bool) {
        let ExprKind::Name(first) = &base.kind else {
            self.expr(base);
            return self.visitor.field(name);
        };
        if self.visitor.enter(Node::Expr(base)) {
            self.mention(first);
            let member = Member { first, at: base.span, name, called };
            self.visitor.member(&self.scope, member);
        }
    }

    fn call(&mut self, callee: &'a Expr, args: &'a [Arg]) {
        match &callee.kind {
            ExprKind::Field { base, name } => {
                if self.visitor.enter(Node::Expr(callee)) {
                    self.member(base, name, true);
                }
            }
            _ => self.expr(callee),
        }
        self.visitor.call(&self.scope, callee, args);
        args.iter().for_each(|arg| self.argument(&arg.value));
    }

    /// A bare name given as an argument may be the name of a type (`row: Doc`).
    fn argument(&mut self, value: &'a Expr) {
        let named = match &value.kind {
            ExprKind::Name(first) => Some((value, first, None)),
            ExprKind::Field { base, name } => match &base.kind {
                ExprKind::Name(first) => Some((&**base, first, Some(name))),
                _ => None,
            },
            _ => None,
        };
        let named = named.filter(|(_, first, member)| {
            let last = member.map_or(first.as_str(), |name| name.text.as_str());
            last.starts_with(|c: char| c.is_ascii_uppercase()) && self.scope.value(first).is_none()
        });
        let Some((base, first, member)) = named else { return self.expr(value) };
        let inside = self.visitor.enter(Node::Expr(value))
            && (member.is_none() || self.visitor.enter(Node::Expr(base)));
        if inside {
            self.visitor.type_path(&self.scope, TypePath { first, at: base.span, member });
        }
    }

    fn ty(&mut self, ty: &'a TypeExpr) {
        if !self.visitor.enter(Node::Type(ty)) {
            return;
        }
        match &ty.kind {
            TypeKind::Named { path, args } => {
                if let Some(first) = path.first() {
                    let (member, at) = (path.get(1), first.span);
                    let path = TypePath { first: &first.text, at, member };
                    self.visitor.type_path(&self.scope, path);
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
                            self.visitor.field(name);
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

/// What lies behind `part` in `whole`.
fn behind(part: Span, whole: Span) -> Span {
    Span::new(whole.file, part.end.saturating_add(1), whole.end)
}
