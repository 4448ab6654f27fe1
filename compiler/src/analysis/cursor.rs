//! What surrounds a place in a file: the declaration, the expressions, and the names that are bound there.

use super::names::Sort;
use pipe_grammar::ast::{
    Arg, Attr, Binding, Block, Entry, Expr, ExprKind, Item, ItemKind, Module, Name, StrPart,
    TypeExpr, TypeField, TypeKind,
};
use std::sync::Arc;

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
    let mut found = Surroundings::default();
    let holds = |item: &&Arc<Item>| item.span.start <= at && at <= item.span.end;
    // Of two declarations that touch, the one that begins here is meant.
    if let Some(item) = module.items.iter().filter(holds).next_back() {
        found.item = Some(item);
        let mut look = Look { at, found: &mut found };
        look.item(item);
    }
    found
}

struct Look<'a, 'o> {
    at: u32,
    found: &'o mut Surroundings<'a>,
}

impl<'a> Look<'a, '_> {
    fn holds(&self, span: pipe_grammar::Span) -> bool {
        span.start <= self.at && self.at <= span.end
    }

    fn bind(&mut self, name: &'a Name, sort: Sort) {
        self.found.locals.push((name, sort));
    }

    fn item(&mut self, item: &'a Item) {
        self.attributes(&item.attrs);
        match &item.kind {
            ItemKind::Use { .. } | ItemKind::Broken { .. } => {}
            ItemKind::Param { name, ty, default, condition } => {
                self.ty(ty);
                default.iter().for_each(|value| self.expr(value));
                if condition.as_ref().is_some_and(|condition| self.holds(condition.span)) {
                    self.bind(name, Sort::Param);
                }
                condition.iter().for_each(|condition| self.expr(condition));
            }
            ItemKind::Let(binding) | ItemKind::Output(binding) | ItemKind::Check(binding) => {
                self.binding(binding);
            }
            ItemKind::Fn(function) => {
                function.type_params.iter().for_each(|name| self.bind(name, Sort::TypeParam));
                for param in &function.params {
                    self.attributes(&param.attrs);
                    self.ty(&param.ty);
                    param.default.iter().for_each(|value| self.expr(value));
                }
                function.result.iter().for_each(|ty| self.ty(ty));
                if let Some(body) = function.body.as_ref().filter(|body| self.holds(body.span)) {
                    function.params.iter().for_each(|param| self.bind(&param.name, Sort::Argument));
                    self.block(body);
                }
            }
            ItemKind::Type { params, ty, .. } => {
                params.iter().for_each(|name| self.bind(name, Sort::TypeParam));
                ty.iter().for_each(|ty| self.ty(ty));
            }
        }
    }

    fn attributes(&mut self, attrs: &'a [Attr]) {
        for attr in attrs {
            if self.holds(attr.span) {
                self.found.attribute = Some(attr);
                self.args(&attr.args);
            }
        }
    }

    fn binding(&mut self, binding: &'a Binding) {
        binding.ty.iter().for_each(|ty| self.ty(ty));
        self.expr(&binding.value);
    }

    fn args(&mut self, args: &'a [Arg]) {
        args.iter().for_each(|arg| self.expr(&arg.value));
    }

    fn block(&mut self, block: &'a Block) {
        if !self.holds(block.span) {
            return;
        }
        for item in &block.lets {
            if item.span.start > self.at {
                return;
            }
            self.attributes(&item.attrs);
            let ItemKind::Let(binding) = &item.kind else { continue };
            self.binding(binding);
            if item.span.end < self.at {
                self.bind(&binding.name, Sort::Value);
            }
        }
        self.expr(&block.value);
    }

    fn expr(&mut self, expr: &'a Expr) {
        if !self.holds(expr.span) {
            return;
        }
        self.found.exprs.push(expr);
        match &expr.kind {
            ExprKind::Number(_)
            | ExprKind::Bool(_)
            | ExprKind::None
            | ExprKind::Broken
            | ExprKind::Name(_) => {}
            ExprKind::Str(parts) => {
                for part in parts {
                    if let StrPart::Interpolation(inner) = part {
                        self.expr(inner);
                    }
                }
            }
            ExprKind::List(items) => items.iter().for_each(|item| self.expr(item)),
            ExprKind::Record(entries) => {
                for entry in entries {
                    match entry {
                        Entry::Field { value, .. } | Entry::Spread(value) => self.expr(value),
                    }
                }
            }
            ExprKind::Field { base, .. } => self.expr(base),
            ExprKind::Index { base, index } => {
                self.expr(base);
                self.expr(index);
            }
            ExprKind::Call { callee, args } => {
                self.expr(callee);
                self.args(args);
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
                for binder in binders {
                    self.expr(&binder.list);
                    if binder.list.span.end < self.at {
                        binder.names.iter().for_each(|name| self.bind(name, Sort::Value));
                    }
                }
                condition.iter().for_each(|condition| self.expr(condition));
                self.block(body);
            }
            ExprKind::Lambda { params, body } => {
                if self.holds(body.span) {
                    params.iter().for_each(|name| self.bind(name, Sort::Argument));
                }
                self.block(body);
            }
        }
    }

    fn ty(&mut self, ty: &'a TypeExpr) {
        if !self.holds(ty.span) {
            return;
        }
        self.found.types.push(ty);
        match &ty.kind {
            TypeKind::Named { args, .. } => args.iter().for_each(|arg| self.ty(arg)),
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
