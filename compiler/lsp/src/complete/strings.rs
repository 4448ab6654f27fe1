//! Inside quotes: columns, the texts of an enumeration, paths.

use super::items::Items;
use super::{Cursor, MARK, Place};
use crate::programs;
use crate::server::State;
use pipe_compiler::analysis::{Callee, Surroundings};
use pipe_grammar::ast::{BinaryOp, Expr, ExprKind, FnParam, ItemKind, StrPart, TypeExpr, TypeKind};
use pipe_grammar::{FileId, Span};
use std::path::Path;

/// Offer what may stand in the text at the cursor.
pub(super) fn complete(state: &State<'_>, path: &Path, cursor: &Cursor<'_>, items: &mut Items<'_>) {
    let Place::Text { before } = &cursor.place else { return };
    let around = cursor.surroundings();
    let analysis = &cursor.analysis;
    let main = analysis.modules().next();
    if let Some(ItemKind::Use { .. }) = around.item.map(|item| &item.kind) {
        return files(state, path, before, Some(".pipe"), items);
    }
    if let Some((callee, param, subject)) = wanted(cursor, &around) {
        let values = analysis.values_of(callee.module, &param.ty);
        if !values.is_empty() {
            return items.texts(values);
        }
        if param.attrs.iter().any(|attr| attr.name.text == "column") || names_columns(param) {
            return items.texts(columns(cursor, subject));
        }
        if is_path(&param.ty) {
            return files(state, path, before, None, items);
        }
    }
    for expr in around.exprs.iter().rev() {
        match &expr.kind {
            ExprKind::Index { base, index } if marked(index) => {
                let fields = analysis.fields_at(base.span).unwrap_or_default();
                return items.texts(fields.into_iter().map(|field| field.name).collect());
            }
            ExprKind::Binary {
                op: BinaryOp::Equal | BinaryOp::NotEqual | BinaryOp::In,
                left,
                right,
                ..
            } => {
                let other = if holds(left, cursor) { right } else { left };
                return items.texts(analysis.values_at(other.span));
            }
            _ => {}
        }
    }
    let declared = around.item.and_then(|item| match &item.kind {
        ItemKind::Param { ty, .. } => Some(ty),
        ItemKind::Let(binding) | ItemKind::Output(binding) => binding.ty.as_ref(),
        _ => None,
    });
    if let (Some(ty), Some(module)) = (declared, main) {
        if is_path(ty) {
            return files(state, path, before, None, items);
        }
        items.texts(analysis.values_of(module, ty));
    }
}

fn marked(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Str(parts) => matches!(parts.as_slice(), [StrPart::Text(text)] if text == MARK),
        ExprKind::List(items) => items.iter().any(marked),
        _ => false,
    }
}

fn holds(expr: &Expr, cursor: &Cursor<'_>) -> bool {
    let at = cursor.start as u32 + 1;
    expr.span.start <= at && at <= expr.span.end
}

/// The parameter that the text is given to, and the place of the call's subject.
fn wanted<'c>(
    cursor: &'c Cursor<'_>,
    around: &Surroundings<'c>,
) -> Option<(Callee<'c>, &'c FnParam, Option<Span>)> {
    let call = around.exprs.iter().rposition(|expr| match &expr.kind {
        ExprKind::Call { args, .. } => args.iter().any(|arg| marked(&arg.value)),
        _ => false,
    })?;
    let expr = around.exprs.get(call)?;
    let ExprKind::Call { callee, args } = &expr.kind else { return None };
    let found = cursor.analysis.callee(FileId(0), callee, around)?;
    let outer = call.checked_sub(1).and_then(|outer| around.exprs.get(outer));
    let piped = outer.and_then(|outer| match &outer.kind {
        ExprKind::Pipe { subject, call } if call.span == expr.span => Some(subject.span),
        _ => None,
    });
    let place = args.iter().position(|arg| marked(&arg.value))?;
    let arg = args.get(place)?;
    let param = match &arg.name {
        Some(name) => found.function.params.iter().find(|param| param.name.text == name.text)?,
        None => {
            let unnamed = args.iter().take(place).filter(|arg| arg.name.is_none()).count();
            found.function.params.get(unnamed + usize::from(piped.is_some()))?
        }
    };
    let first = args.iter().find(|arg| arg.name.is_none()).map(|arg| arg.value.span);
    let subject = found.function.params.first().and_then(|first| {
        args.iter().find(|arg| arg.name.as_ref().is_some_and(|name| name.text == first.name.text))
    });
    Some((found, param, piped.or(subject.map(|arg| arg.value.span)).or(first)))
}

/// Parameters that ops of tables give columns to without the mark of the library.
fn names_columns(param: &FnParam) -> bool {
    matches!(param.name.text.as_str(), "on" | "key" | "keys" | "time" | "over" | "columns")
}

fn columns(cursor: &Cursor<'_>, subject: Option<Span>) -> Vec<String> {
    let columns = subject.and_then(|span| cursor.analysis.columns_at(span)).unwrap_or_default();
    columns.into_iter().map(|column| column.name).collect()
}

fn is_path(ty: &TypeExpr) -> bool {
    match &ty.kind {
        TypeKind::Named { path, .. } => matches!(path.as_slice(), [only] if only.text == "path"),
        TypeKind::Optional(inner) | TypeKind::List(inner) => is_path(inner),
        _ => false,
    }
}

/// Files and folders of the folder that is written so far.
fn files(
    state: &State<'_>,
    program: &Path,
    before: &str,
    only: Option<&str>,
    items: &mut Items<'_>,
) {
    let folder = before.rfind('/').map_or("", |at| before.get(..=at).unwrap_or_default());
    let host = state.outside.disk.host(program);
    let root = programs::folder(program).join(folder);
    let Ok(found) = host.glob(&format!("{}/*", root.to_string_lossy().trim_end_matches('/')))
    else {
        return;
    };
    for path in found {
        let Some(name) = path.rsplit('/').next() else { continue };
        let is_folder = host.stat(&path).is_ok_and(|info| info.is_dir);
        let fits = only.is_none_or(|end| name.ends_with(end)) && Path::new(&path) != program;
        if is_folder {
            items.path(folder, &format!("{name}/"));
        } else if fits {
            items.path(folder, name);
        }
    }
}
