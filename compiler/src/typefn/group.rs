//! `data.group`: the columns of `by`, then one for each function of a group.

use super::derive::subject;
use crate::eval::{Evaluator, NativeCall, Value};
use crate::types::{Record, Type};
use pipe_grammar::Problem;
use std::rc::Rc;

pub(super) fn result<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let row = subject(evaluator, call)?;
    if call.rest.is_empty() && !call.broken {
        let message = format!("`{}` computes nothing of the groups", call.native.op);
        let problem = Problem::error("types::missing_argument", call.site.callee, message);
        evaluator.report(problem.help(
            "name a column and a function of a group's rows: `cpu: rows => stat.mean(rows.cpu)`",
        ));
        return None;
    }
    let mut made = Record { open: row.open, ..Record::default() };
    keys(evaluator, call, &row, &mut made, "by")?;
    aggregates(evaluator, call, &mut made)?;
    Some(Type::table(made))
}

/// The columns that say what a group is.
pub(super) fn keys<'a>(
    evaluator: &mut Evaluator<'a>,
    call: &NativeCall<'a>,
    row: &Record,
    made: &mut Record,
    argument: &str,
) -> Option<()> {
    let by = call.values.get(argument)?;
    let Some(names) = by.value.texts() else {
        if matches!(by.value.value, Value::Node(_)) {
            let message =
                "the columns of a group are known before the run, and this is the result of an op";
            evaluator.report(Problem::error("plan::runtime_choice", by.span, message));
            return None;
        }
        made.open = true;
        return Some(());
    };
    for name in &names {
        if made.field(name).is_some() {
            let span = evaluator.text_in(by.span, name);
            let message = format!("`{name}` is in `{argument}` twice");
            evaluator.report(Problem::error("types::duplicate_column", span, message));
            return None;
        }
        let ty = row.field(name).cloned().unwrap_or(Type::Error);
        made.fields.push((Rc::from(name.as_str()), ty));
    }
    Some(())
}

/// A column for each function of a group, in the order of their names, since the order of arguments has no meaning.
pub(super) fn aggregates<'a>(
    evaluator: &mut Evaluator<'a>,
    call: &NativeCall<'a>,
    made: &mut Record,
) -> Option<()> {
    let mut rest: Vec<_> = call.rest.iter().collect();
    rest.sort_by_key(|(name, _)| *name);
    for (name, given) in rest {
        if made.field(name).is_some() {
            let message = format!("the result has the column `{name}` already");
            let problem = Problem::error("types::duplicate_column", given.span, message);
            evaluator.report(problem.help("give the new column another name"));
            return None;
        }
        let ty = call.rows.get(*name).map_or(Type::Error, |row| row.ty.clone());
        made.fields.push((Rc::from(*name), ty));
    }
    Some(())
}
