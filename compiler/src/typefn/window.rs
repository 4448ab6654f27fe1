//! `data.window`: the columns of `over`, `start` and `end`, then one for each function of a window's rows.

use super::derive::subject;
use super::{group, resample};
use crate::eval::{Evaluator, NativeCall};
use crate::types::{Record, Type};
use crate::value::Const;
use pipe_grammar::Problem;

pub(super) fn result<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let row = subject(evaluator, call)?;
    resample::time_column(evaluator, call, &row, "by")?;
    extent(evaluator, call)?;
    let mut made = Record { open: row.open, ..Record::default() };
    group::keys(evaluator, call, &row, &mut made, "over")?;
    for name in ["start", "end"] {
        if made.field(name).is_some() {
            let message = format!("`{name}` is a column of every window, and of `over` too");
            let problem = Problem::error("types::duplicate_column", call.site.callee, message);
            evaluator.report(problem.help("rename the column first: `data.rename(..)`"));
            return None;
        }
        made.set(name, Type::Time);
    }
    group::aggregates(evaluator, call, &mut made)?;
    Some(Type::table(made))
}

/// `length` and `step` are longer than zero, and both durations or both numbers of rows.
fn extent<'a>(evaluator: &mut Evaluator<'a>, call: &NativeCall<'a>) -> Option<()> {
    let mut kinds = Vec::new();
    for name in ["length", "step"] {
        let Some(given) = call.values.get(name) else { continue };
        let (amount, kind) = match given.value.as_const() {
            Some(Const::Duration(nanos)) => (*nanos, "a duration"),
            Some(Const::Int(rows)) => (*rows, "a number of rows"),
            _ => continue,
        };
        if amount <= 0 {
            let message = format!("`{name}` is longer than nothing");
            evaluator.report(Problem::error("types::window_length", given.span, message));
            return None;
        }
        kinds.push((kind, given.span));
    }
    if let [(one, first), (other, second)] = kinds.as_slice()
        && one != other
    {
        let message = format!("`length` is {one} and `step` is {other}");
        let problem = Problem::error("types::window_length", *second, message);
        evaluator.report(problem.also(*first, format!("{one} here")));
        return None;
    }
    Some(())
}

/// Whether a call makes windows that have rows in common.
pub(crate) fn overlap(length: Option<&Const>, step: Option<&Const>) -> bool {
    match (length, step) {
        (Some(Const::Duration(length)), Some(Const::Duration(step)))
        | (Some(Const::Int(length)), Some(Const::Int(step))) => step < length,
        _ => false,
    }
}
