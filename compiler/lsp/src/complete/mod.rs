//! Completion: what may be written at the cursor.
//!
//! While somebody types, the text is usually broken. So a name is put at the cursor, the program is analysed with it, and
//! the tree around that name says what is wanted: a member, an argument, a column, one of several texts, a type.

mod cursor;
mod items;
mod strings;

pub(crate) use cursor::{Cursor, MARK, Place};

use crate::server::State;
use items::Items;
use lsp_types::{CompletionItem, Position};
use pipe_compiler::analysis::Surroundings;
use pipe_grammar::ast::{Expr, ExprKind, TypeKind};
use std::path::Path;

/// What may be written at a position, perhaps because of a character that was just typed.
pub(crate) fn complete(
    state: &State<'_>,
    path: &Path,
    position: Position,
    typed: Option<&str>,
) -> Vec<CompletionItem> {
    let Some(cursor) = Cursor::new(state, path, position) else { return Vec::new() };
    if !is_wanted(typed, &cursor) {
        return Vec::new();
    }
    let mut items = Items::new(&cursor, state);
    match &cursor.place {
        Place::Comment => {}
        Place::Number { unit } => items.units(*unit),
        Place::Declaration => items.declarations(),
        Place::Text { .. } => strings::complete(state, path, &cursor, &mut items),
        Place::Word => word(&cursor, &mut items),
    }
    items.found
}

/// A list after each blank or comma would only disturb: it comes inside a call, and a `/` matters in a path.
fn is_wanted(typed: Option<&str>, cursor: &Cursor<'_>) -> bool {
    match typed {
        Some("(" | "," | " ") => {
            cursor.place == Place::Word
                && cursor.surroundings().exprs.iter().rev().any(has_argument)
        }
        Some("/" | "\"") => matches!(cursor.place, Place::Text { .. }),
        _ => true,
    }
}

fn has_argument(expr: &&Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { args, .. } => args.iter().any(
            |arg| matches!(&arg.value.kind, ExprKind::Name(name) if name == MARK && arg.name.is_none()),
        ),
        _ => false,
    }
}

fn word(cursor: &Cursor<'_>, items: &mut Items<'_>) {
    let around = cursor.surroundings();
    let marked = |text: &str| text == MARK;
    if around.attribute.is_some_and(|attribute| marked(&attribute.name.text)) {
        return items.attributes();
    }
    if let Some(ty) = around.types.last() {
        return match &ty.kind {
            TypeKind::Named { path, .. } if path.len() > 1 => {
                items.types_of(path.first().map_or("", |name| name.text.as_str()));
            }
            _ => items.types(&around),
        };
    }
    if let Some(call) = around.exprs.iter().rev().find(|expr| names_an_argument(expr)) {
        return items.arguments(call, &around);
    }
    match around.exprs.last().map(|expr| &expr.kind) {
        Some(ExprKind::Field { base, name }) if marked(&name.text) => items.members(base, &around),
        Some(ExprKind::Name(name)) if marked(name) => value(items, &around),
        _ => match cursor.dotted() {
            Some(base) => items.members_of_word(&base, &around),
            None => items.values(&around),
        },
    }
}

/// A value; directly inside a call an argument too.
fn value(items: &mut Items<'_>, around: &Surroundings<'_>) {
    let mut outer = around.exprs.iter().rev();
    let own = outer.next().map(|expr| expr.span);
    if let Some(call) = outer.next()
        && let ExprKind::Call { args, .. } = &call.kind
        && args.iter().any(|arg| arg.name.is_none() && Some(arg.value.span) == own)
    {
        items.arguments(call, around);
        items.row_function(call, around);
    }
    items.values(around);
}

fn names_an_argument(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { args, .. } => {
            args.iter().any(|arg| arg.name.as_ref().is_some_and(|name| name.text == MARK))
        }
        _ => false,
    }
}
