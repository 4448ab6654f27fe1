//! Equality of trees that ignores places.

use super::{
    Arg, Attr, Binding, Block, Entry, Expr, ExprKind, FnDecl, FnParam, Item, ItemKind, Module,
    Name, StrPart, TypeExpr, TypeField, TypeKind,
};
use crate::source::Span;

/// Whether two files say the same: equal trees, wherever the parts stand.
#[must_use]
pub fn same(left: &Module, right: &Module) -> bool {
    let (mut left, mut right) = (left.clone(), right.clone());
    left.items.iter_mut().for_each(item);
    right.items.iter_mut().for_each(item);
    left == right
}

fn item(item: &mut Item) {
    item.span = Span::default();
    item.attrs.iter_mut().for_each(attr);
    match &mut item.kind {
        ItemKind::Use { name: word, path_span, .. } => {
            name(word);
            *path_span = Span::default();
        }
        ItemKind::Param { name: word, ty: declared, default, condition } => {
            name(word);
            ty(declared);
            default.iter_mut().chain(condition).for_each(expr);
        }
        ItemKind::Let(bound) | ItemKind::Output(bound) | ItemKind::Check(bound) => binding(bound),
        ItemKind::Fn(decl) => function(decl),
        ItemKind::Type { name: word, params, ty: declared } => {
            name(word);
            params.iter_mut().for_each(name);
            declared.iter_mut().for_each(ty);
        }
        ItemKind::Broken { name: word } => word.iter_mut().for_each(name),
    }
}

fn name(name: &mut Name) {
    name.span = Span::default();
}

fn attr(attr: &mut Attr) {
    attr.span = Span::default();
    name(&mut attr.name);
    attr.args.iter_mut().for_each(arg);
}

fn arg(arg: &mut Arg) {
    arg.name.iter_mut().for_each(name);
    expr(&mut arg.value);
}

fn binding(binding: &mut Binding) {
    name(&mut binding.name);
    binding.ty.iter_mut().for_each(ty);
    expr(&mut binding.value);
}

fn function(decl: &mut FnDecl) {
    name(&mut decl.name);
    decl.type_params.iter_mut().for_each(name);
    decl.params.iter_mut().for_each(parameter);
    decl.result.iter_mut().for_each(ty);
    decl.body.iter_mut().for_each(block);
}

fn parameter(param: &mut FnParam) {
    param.attrs.iter_mut().for_each(attr);
    name(&mut param.name);
    ty(&mut param.ty);
    param.default.iter_mut().for_each(expr);
}

fn ty(written: &mut TypeExpr) {
    written.span = Span::default();
    match &mut written.kind {
        TypeKind::Named { path, args } => {
            path.iter_mut().for_each(name);
            args.iter_mut().for_each(ty);
        }
        TypeKind::Literal(_) => {}
        TypeKind::Union(parts) => parts.iter_mut().for_each(ty),
        TypeKind::Optional(inner) | TypeKind::List(inner) => ty(inner),
        TypeKind::Record(fields) => fields.iter_mut().for_each(|field| match field {
            TypeField::Field { name: word, ty: declared } => {
                name(word);
                ty(declared);
            }
            TypeField::Spread(spread) => ty(spread),
        }),
        TypeKind::Function { params, result } => {
            params.iter_mut().for_each(ty);
            ty(result);
        }
    }
}

fn block(block: &mut Block) {
    block.span = Span::default();
    block.lets.iter_mut().for_each(item);
    expr(&mut block.value);
}

fn expr(written: &mut Expr) {
    written.span = Span::default();
    match &mut written.kind {
        ExprKind::Number(_)
        | ExprKind::Bool(_)
        | ExprKind::None
        | ExprKind::Name(_)
        | ExprKind::Broken => {}
        ExprKind::Str(parts) => parts.iter_mut().for_each(|part| {
            if let StrPart::Interpolation(value) = part {
                expr(value);
            }
        }),
        ExprKind::List(items) => items.iter_mut().for_each(expr),
        ExprKind::Record(entries) => entries.iter_mut().for_each(|entry| match entry {
            Entry::Field { name: word, value } => {
                name(word);
                expr(value);
            }
            Entry::Spread(value) => expr(value),
        }),
        ExprKind::Field { base, name: word } => {
            expr(base);
            name(word);
        }
        ExprKind::Index { base, index } => [base, index].into_iter().for_each(|part| expr(part)),
        ExprKind::Call { callee, args } => {
            expr(callee);
            args.iter_mut().for_each(arg);
        }
        ExprKind::Pipe { subject, call } => [subject, call].into_iter().for_each(|part| expr(part)),
        ExprKind::Unary { operand, .. } => expr(operand),
        ExprKind::Binary { op_span, left, right, .. } => {
            *op_span = Span::default();
            [left, right].into_iter().for_each(|part| expr(part));
        }
        ExprKind::If { condition, then, otherwise } => {
            expr(condition);
            block(then);
            block(otherwise);
        }
        ExprKind::For { binders, condition, body } => {
            for binder in binders {
                binder.names.iter_mut().for_each(name);
                expr(&mut binder.list);
            }
            condition.iter_mut().for_each(|condition| expr(condition));
            block(body);
        }
        ExprKind::Lambda { params, body } => {
            params.iter_mut().for_each(name);
            block(body);
        }
    }
}
