//! `metrics.resample`: the time column, then the columns that the method has a meaning for.

use super::derive::subject;
use crate::eval::{Evaluator, NativeCall};
use crate::types::{Record, Type};
use pipe_grammar::Problem;
use std::rc::Rc;

pub(super) fn result<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let row = subject(evaluator, call)?;
    let time = time_column(evaluator, call, &row, "time")?;
    let Some(by) = call.values.get("by").and_then(|by| by.value.text()) else {
        return Some(Type::table(Record { open: true, ..Record::default() }));
    };
    let mut made = Record { open: row.open, ..Record::default() };
    made.fields.push((Rc::clone(&time), Type::Time));
    for (name, ty) in row.fields.iter().filter(|(name, _)| *name != time) {
        if let Some(ty) = reduced(ty.required().0, by) {
            made.fields.push((Rc::clone(name), ty.optional()));
        }
    }
    Some(Type::table(made))
}

fn reduced(ty: &Type, by: &str) -> Option<Type> {
    match (ty, by) {
        (Type::Error, _) => Some(Type::Error),
        (ty, "last") => Some(ty.clone()),
        (Type::Str | Type::Enum(_) | Type::Path, _) | (Type::Time, "mean" | "sum") => None,
        (Type::Int | Type::Size | Type::Bool, "mean") => Some(Type::Float),
        (Type::Bool, "sum") => Some(Type::Int),
        (ty, _) => Some(ty.clone()),
    }
}

/// The column that an argument names, or the one called `time`, or the only column of times.
pub(super) fn time_column<'a>(
    evaluator: &mut Evaluator<'a>,
    call: &NativeCall<'a>,
    row: &Record,
    argument: &str,
) -> Option<Rc<str>> {
    let is_time = |ty: &Type| matches!(ty.required().0, Type::Time);
    if let Some(given) = call.values.get(argument)
        && let Some(name) = given.value.text()
    {
        return match row.fields.iter().find(|(field, _)| &**field == name) {
            Some((name, ty)) if is_time(ty) => Some(Rc::clone(name)),
            Some((_, ty)) if !ty.is_error() => {
                let message = format!("the column `{name}` is `{ty}`, not `time`");
                let problem = Problem::error("types::not_a_time", given.span, message);
                evaluator
                    .report(problem.help("name it when reading: `data.read(.., time: \"...\")`"));
                None
            }
            Some(_) => None,
            None if row.open => Some(Rc::from(name)),
            None => {
                let name = name.to_owned();
                let span = given.span;
                let (_, table, source) = evaluator.subject_row(call)?;
                evaluator.unknown_column(table.as_deref(), Some(source), row, &name, span);
                None
            }
        };
    }
    let times: Vec<&Rc<str>> =
        row.fields.iter().filter(|(_, ty)| is_time(ty)).map(|(name, _)| name).collect();
    let found = match times.as_slice() {
        [only] => Some(Rc::clone(only)),
        many => many.iter().find(|name| name.as_ref() == "time").map(|name| Rc::clone(name)),
    };
    if found.is_some() {
        return found;
    }
    if row.open {
        return Some(Rc::from("time"));
    }
    let message = match times.as_slice() {
        [] => "the table has no column of times".to_owned(),
        many => {
            let names: Vec<String> = many.iter().map(|name| format!("`{name}`")).collect();
            format!("the time of a row could be any of {}", names.join(", "))
        }
    };
    let problem = Problem::error("types::not_a_time", call.site.span, message);
    evaluator.report(problem.help(format!("name it: `{argument}: \"...\"` here, or when reading")));
    None
}
