//! `data.join`: this table's columns, then the other's without `on`.

use super::derive::subject;
use crate::eval::{Evaluator, NativeCall};
use crate::types::{Record, Type};
use pipe_grammar::Problem;

pub(super) fn result<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let left = subject(evaluator, call)?;
    let with = call.values.get("with").cloned()?;
    let right = with.value.ty.row()?.clone();
    let on = call.values.get("on").cloned()?;
    let Some(names) = on.value.texts() else {
        return Some(Type::table(Record { open: true, ..left }));
    };
    let mut fine = true;
    for name in &names {
        let span = evaluator.text_in(on.span, name);
        for (row, given) in [(&left, None), (&right, Some(with.span))] {
            if row.field(name).is_none() && !row.open {
                fine = false;
                let table = match given {
                    None => evaluator.subject_row(call).and_then(|(_, name, _)| name),
                    Some(span) => Some(evaluator.source_of(span)).filter(|text| text.len() < 40),
                };
                let source = given.or_else(|| evaluator.subject_row(call).map(|(_, _, span)| span));
                evaluator.unknown_column(table.as_deref(), source, row, name, span);
            }
        }
        if let (Some(a), Some(b)) = (left.field(name), right.field(name))
            && a.scalar().map(|(ty, _)| ty) != b.scalar().map(|(ty, _)| ty)
            && !a.is_error()
            && !b.is_error()
        {
            fine = false;
            let message = format!(
                "`{name}` is `{a}` in one table and `{b}` in the other, so no rows can be equal"
            );
            evaluator.report(
                Problem::error("types::join_types", span, message)
                    .also(with.span, format!("`{b}` here")),
            );
        }
    }
    if names.is_empty() {
        fine = false;
        let shared = left.names().find(|name| right.field(name).is_some()).map(str::to_owned);
        let problem =
            Problem::error("types::join_columns", on.span, "`on` names the columns that are equal");
        evaluator.report(match shared {
            Some(name) => problem.help(format!("both tables have `{name}`")),
            None => problem,
        });
    }
    if !fine {
        return None;
    }
    combined(evaluator, call, &left, &right, &names)
}

fn combined<'a>(
    evaluator: &mut Evaluator<'a>,
    call: &NativeCall<'a>,
    left: &Record,
    right: &Record,
    on: &[String],
) -> Option<Type> {
    let keep_all = call.values.get("how").and_then(|how| how.value.text()) == Some("left");
    let suffix = call
        .values
        .get("suffix")
        .and_then(|suffix| suffix.value.text())
        .unwrap_or("_right")
        .to_owned();
    let mut row = left.clone();
    row.open |= right.open;
    for (name, ty) in &right.fields {
        if on.iter().any(|on| **on == **name) {
            continue;
        }
        let clashes = left.field(name).is_some();
        let new = if clashes { format!("{name}{suffix}") } else { name.to_string() };
        if clashes && (left.field(&new).is_some() || right.field(&new).is_some()) {
            let message = format!("both tables have `{name}`, and `{new}` is taken too");
            evaluator.report(
                Problem::error("types::join_names", call.site.span, message)
                    .help("choose another `suffix`"),
            );
            return None;
        }
        row.set(&new, if keep_all { ty.clone().optional() } else { ty.clone() });
    }
    Some(Type::table(row))
}
