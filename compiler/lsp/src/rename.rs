//! Renaming: everywhere the name is written, in all files that use it; refused where it would change a meaning.

use crate::find::{Target, Written};
use crate::programs::Program;
use pipe_compiler::analysis::{Bound, Meaning, Sort};
use pipe_grammar::Span;
use pipe_grammar::ast::{ExprKind, ItemKind};
use pipe_grammar::words;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Why a name cannot be used, in a plain sentence.
pub(crate) fn unfit(name: &str) -> Option<String> {
    let mut letters = name.chars();
    let first = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if !first || !letters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Some(format!(
            "`{name}` is no name: letters, digits and `_`, not starting with a digit"
        ));
    }
    words::is_reserved(name).then(|| format!("`{name}` is a reserved word"))
}

/// What stands in the way of a new name, in a plain sentence.
pub(crate) fn clash(
    programs: &[Rc<Program>],
    target: &Target,
    places: &BTreeSet<Written>,
    new: &str,
) -> Option<String> {
    for program in programs {
        let Some(file) = program.file_at(&target.path) else { continue };
        let span = Span::new(file.id, target.start, target.end);
        let analysis = &program.analysis;
        let here = |name: Span| {
            let place = file_place(program, name);
            format!("`{new}` is already declared in {place}")
        };
        match analysis.bound_at(span)? {
            Bound::Item(module, item) => {
                let is_type = matches!(item.kind, ItemKind::Type { .. });
                for other in &module.ast.items {
                    let Some((name, _)) = crate::outline::bound(other) else { continue };
                    let same = matches!(other.kind, ItemKind::Type { .. }) == is_type;
                    if same && name.text == new && name.span != span {
                        return Some(here(name.span));
                    }
                }
            }
            Bound::Param(_, function, _) => {
                let other = function.params.iter().find(|param| param.name.text == new);
                if let Some(other) = other.filter(|other| other.name.span != span) {
                    return Some(here(other.name.span));
                }
            }
            Bound::Inner => {}
        }
        if let Some(message) = hidden(program, places, span, new) {
            return Some(message);
        }
    }
    None
}

/// A mention that the new name would give to something else, or the other way round.
fn hidden(
    program: &Program,
    places: &BTreeSet<Written>,
    target: Span,
    new: &str,
) -> Option<String> {
    let analysis = &program.analysis;
    for place in places {
        let Some(file) = program.file_at(&place.path) else { continue };
        let inside = analysis.surroundings(file.id, place.start);
        let local = inside.locals.iter().find(|(name, _)| name.text == new && name.span != target);
        let called = inside.exprs.iter().any(|expr| match &expr.kind {
            ExprKind::Call { args, .. } => args
                .iter()
                .any(|arg| arg.name.as_ref().is_some_and(|name| name.span.start == place.start)),
            _ => false,
        });
        if let Some((name, _)) = local.filter(|_| !called) {
            return Some(format!(
                "`{new}` is bound around a use of it, in {}",
                file_place(program, name.span)
            ));
        }
    }
    // Inside the declaration of an inner name, mentions of an outer name would be taken by the new one.
    let item = analysis.surroundings(target.file, target.start).item?;
    let inner = analysis
        .mentions()
        .iter()
        .any(|it| it.span == target && matches!(it.sort, Sort::Argument | Sort::Value))
        && crate::outline::bound(item).is_none_or(|(name, _)| name.span != target);
    let taken = analysis.mentions().iter().find(|it| {
        inner
            && it.span.file == target.file
            && item.span.start <= it.span.start
            && it.span.end <= item.span.end
            && it.span != target
            && matches!(it.meaning, Meaning::Bound(_))
            && it.sort != Sort::Type
            && analysis.sources.slice(it.span) == new
    })?;
    Some(format!("`{new}` is already used in {}", file_place(program, taken.span)))
}

fn file_place(program: &Program, span: Span) -> String {
    program.analysis.sources.get(span.file).map_or_else(String::new, |file| {
        format!("{}, line {}", file.name, file.place(span.start).line)
    })
}
