//! Declarations that nothing mentions.

use super::order::Order;
use super::{DeclId, Program, bound_name};
use pipe_grammar::Problem;
use pipe_grammar::ast::{ItemKind, Name};

/// Warn about what the program declares and never uses. A file without `output` and `check` is there for others.
pub(crate) fn report_unused(program: &Program, order: &Order, problems: &mut Vec<Problem>) {
    let Some(main) = program.modules.first() else { return };
    if main.roots.is_empty()
        || main.ast.items.iter().any(|item| matches!(item.kind, ItemKind::Broken { .. }))
    {
        return;
    }
    for name in main.ast.items.iter().flat_map(|item| super::unused_inside(item)) {
        warn("value", name, problems);
    }
    for (at, item) in main.ast.items.iter().enumerate() {
        let Some(name) = bound_name(item) else { continue };
        let what = match item.kind {
            ItemKind::Use { .. } => "module",
            ItemKind::Param { .. } => "parameter",
            ItemKind::Let(_) => "value",
            ItemKind::Fn(_) => "function",
            ItemKind::Type { .. } => "type",
            ItemKind::Output(_) | ItemKind::Check(_) | ItemKind::Broken { .. } => continue,
        };
        let id = DeclId { module: 0, item: at };
        let used = match &item.kind {
            ItemKind::Use { name, .. } => main.ast.items.iter().any(|other| {
                super::references(other).iter().any(|reference| reference.name == name.text)
            }),
            _ => order.mentioned.contains(&id),
        };
        if !used {
            warn(what, name, problems);
        }
    }
}

fn warn(what: &str, name: &Name, problems: &mut Vec<Problem>) {
    let misspelt = problems.iter().flat_map(|problem| &problem.edits);
    let misspelt = misspelt.into_iter().any(|edit| edit.replacement == name.text);
    if !misspelt && !name.text.starts_with('_') {
        let message = format!("nothing uses the {what} `{}`", name.text);
        let problem = Problem::warning("resolve::unused", name.span, message);
        problems.push(problem.help(format!("remove it, or call it `_{}` to keep it", name.text)));
    }
}
