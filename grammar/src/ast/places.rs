//! A walk over every place of a declaration, to change it: trees that are compared or moved.

use super::{
    Arg, Attr, Binding, Block, Entry, Expr, ExprKind, FnDecl, FnParam, Item, ItemKind, Module,
    Name, StrPart, TypeExpr, TypeField, TypeKind,
};
use crate::source::Span;
use std::sync::Arc;

/// Whether two files say the same: equal trees, wherever the parts stand.
#[must_use]
pub fn same(left: &Module, right: &Module) -> bool {
    let (mut left, mut right) = (left.clone(), right.clone());
    for item in left.items.iter_mut().chain(&mut right.items) {
        each_place(Arc::make_mut(item), |span| *span = Span::default());
    }
    left == right
}

/// Change every place in a declaration.
pub(crate) fn each_place(item: &mut Item, change: impl FnMut(&mut Span)) {
    Walk(change).item(item);
}

struct Walk<F>(F);

impl<F: FnMut(&mut Span)> Walk<F> {
    fn item(&mut self, item: &mut Item) {
        (self.0)(&mut item.span);
        item.attrs.iter_mut().for_each(|it| self.attr(it));
        match &mut item.kind {
            ItemKind::Use { name: word, path_span, .. } => {
                self.name(word);
                (self.0)(path_span);
            }
            ItemKind::Param { name: word, ty: declared, default, condition } => {
                self.name(word);
                self.ty(declared);
                default.iter_mut().chain(condition).for_each(|it| self.expr(it));
            }
            ItemKind::Let(bound) | ItemKind::Output(bound) | ItemKind::Check(bound) => {
                self.binding(bound)
            }
            ItemKind::Fn(decl) => self.function(decl),
            ItemKind::Type { name: word, params, ty: declared } => {
                self.name(word);
                params.iter_mut().for_each(|it| self.name(it));
                declared.iter_mut().for_each(|it| self.ty(it));
            }
            ItemKind::Broken { name: word } => word.iter_mut().for_each(|it| self.name(it)),
        }
    }

    fn name(&mut self, name: &mut Name) {
        (self.0)(&mut name.span);
    }

    fn attr(&mut self, attr: &mut Attr) {
        (self.0)(&mut attr.span);
        self.name(&mut attr.name);
        attr.args.iter_mut().for_each(|it| self.arg(it));
    }

    fn arg(&mut self, arg: &mut Arg) {
        arg.name.iter_mut().for_each(|it| self.name(it));
        self.expr(&mut arg.value);
    }

    fn binding(&mut self, binding: &mut Binding) {
        self.name(&mut binding.name);
        binding.ty.iter_mut().for_each(|it| self.ty(it));
        self.expr(&mut binding.value);
    }

    fn function(&mut self, decl: &mut FnDecl) {
        self.name(&mut decl.name);
        decl.type_params.iter_mut().for_each(|it| self.name(it));
        decl.params.iter_mut().for_each(|it| self.parameter(it));
        decl.result.iter_mut().for_each(|it| self.ty(it));
        decl.body.iter_mut().for_each(|it| self.block(it));
    }

    fn parameter(&mut self, param: &mut FnParam) {
        param.attrs.iter_mut().for_each(|it| self.attr(it));
        self.name(&mut param.name);
        self.ty(&mut param.ty);
        param.default.iter_mut().for_each(|it| self.expr(it));
    }

    fn ty(&mut self, written: &mut TypeExpr) {
        (self.0)(&mut written.span);
        match &mut written.kind {
            TypeKind::Named { path, args } => {
                path.iter_mut().for_each(|it| self.name(it));
                args.iter_mut().for_each(|it| self.ty(it));
            }
            TypeKind::Literal(_) => {}
            TypeKind::Union(parts) => parts.iter_mut().for_each(|it| self.ty(it)),
            TypeKind::Optional(inner) | TypeKind::List(inner) => self.ty(inner),
            TypeKind::Record(fields) => fields.iter_mut().for_each(|field| match field {
                TypeField::Field { name: word, ty: declared } => {
                    self.name(word);
                    self.ty(declared);
                }
                TypeField::Spread(spread) => self.ty(spread),
            }),
            TypeKind::Function { params, result } => {
                params.iter_mut().for_each(|it| self.ty(it));
                self.ty(result);
            }
        }
    }

    fn block(&mut self, block: &mut Block) {
        (self.0)(&mut block.span);
        block.lets.iter_mut().for_each(|it| self.item(it));
        self.expr(&mut block.value);
    }

    fn expr(&mut self, written: &mut Expr) {
        (self.0)(&mut written.span);
        match &mut written.kind {
            ExprKind::Number(_)
            | ExprKind::Bool(_)
            | ExprKind::None
            | ExprKind::Name(_)
            | ExprKind::Broken => {}
            ExprKind::Str(parts) => parts.iter_mut().for_each(|part| {
                if let StrPart::Interpolation(value) = part {
                    self.expr(value);
                }
            }),
            ExprKind::List(items) => items.iter_mut().for_each(|it| self.expr(it)),
            ExprKind::Record(entries) => entries.iter_mut().for_each(|entry| match entry {
                Entry::Field { name: word, value } => {
                    self.name(word);
                    self.expr(value);
                }
                Entry::Spread(value) => self.expr(value),
            }),
            ExprKind::Field { base, name: word } => {
                self.expr(base);
                self.name(word);
            }
            ExprKind::Index { base, index } => {
                [base, index].into_iter().for_each(|part| self.expr(part))
            }
            ExprKind::Call { callee, args } => {
                self.expr(callee);
                args.iter_mut().for_each(|it| self.arg(it));
            }
            ExprKind::Pipe { subject, call } => {
                [subject, call].into_iter().for_each(|part| self.expr(part))
            }
            ExprKind::Unary { operand, .. } => self.expr(operand),
            ExprKind::Binary { op_span, left, right, .. } => {
                (self.0)(op_span);
                [left, right].into_iter().for_each(|part| self.expr(part));
            }
            ExprKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.block(then);
                self.block(otherwise);
            }
            ExprKind::For { binders, condition, body } => {
                for binder in binders {
                    binder.names.iter_mut().for_each(|it| self.name(it));
                    self.expr(&mut binder.list);
                }
                condition.iter_mut().for_each(|condition| self.expr(condition));
                self.block(body);
            }
            ExprKind::Lambda { params, body } => {
                params.iter_mut().for_each(|it| self.name(it));
                self.block(body);
            }
        }
    }
}
