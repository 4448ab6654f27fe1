//! `data.rows`: chains of `data.filter`, `data.derive` and `data.select` over one table.
//!
//! The steps one by one are the definition. Neighbours without windows run as one program, which reads the rows once
//! and leaves rows out once; where it cannot tell what a step would say, the steps say it one by one.

use super::shaping::{derived, failed, filtered, selected};
use crate::call::Call;
use crate::table::Table;
use pipe_row::Column;
use pipe_row::chain::{Chain, Step};
use pipe_row::ir::ColumnRef;
use pipe_runtime::args::Fields;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;

pub(super) fn rows(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let steps = call.args.records("steps")?;
    let mut made: Option<Table> = None;
    let mut left = steps.as_slice();
    while let Some((first, others)) = left.split_first() {
        call.stop_if_cancelled()?;
        let table = made.as_ref().unwrap_or(table.as_ref());
        let (next, rest) = match together(table, left)? {
            Some((next, count)) => (next, left.get(count..).unwrap_or_default()),
            None => (one(table, first)?, others),
        };
        (made, left) = (Some(next), rest);
    }
    call.give_table(made.as_ref().unwrap_or(table.as_ref()))
}

/// One step as the op that it is.
fn one(table: &Table, step: &Fields<'_>) -> Result<Table, OpError> {
    let op = step.str("op")?;
    let next = match op {
        "data.filter" => filtered(table, step),
        "data.derive" => derived(table, step),
        "data.select" => selected(table, step),
        other => Err(OpError::new("run::argument", format!("`{other}` cannot be a step."))),
    };
    next.map_err(|error| within(error, op))
}

/// The error of a step, with its op: the node is named after the last one.
fn within(mut error: OpError, op: &str) -> OpError {
    error.message = format!("In the step `{op}`: {}", error.message);
    error
}

/// The first steps in one pass, as many as can be, and how many they were. `None` where less than two can, or where one
/// of them would fail.
fn together(table: &Table, steps: &[Fields<'_>]) -> Result<Option<(Table, usize)>, OpError> {
    let known: Vec<Step<'_>> = steps.iter().map_while(step).collect();
    let mut reads = Vec::new();
    for name in table.names() {
        let ty = table.ty(&name)?;
        reads.push(ColumnRef { name, ty, optional: true });
    }
    let longest = (2..=known.len()).rev().find_map(|count| {
        known.get(..count).and_then(|steps| Chain::new(&reads, steps)).map(|chain| (chain, count))
    });
    let Some((chain, count)) = longest else { return Ok(None) };
    let columns: Vec<Column> =
        chain.columns().iter().map(|reads| table.column(&reads.name)).collect::<Result<_, _>>()?;
    let passed = chain.run(&columns.iter().collect::<Vec<_>>(), table.rows()).map_err(failed)?;
    let Some(passed) = passed else { return Ok(None) };
    let made = table.arranged(passed.columns)?;
    let made = match passed.keep {
        Some(keep) => made.filtered(&keep)?,
        None => made,
    };
    Ok(Some((made, count)))
}

/// A step that may share a pass; what is wrong with any other is found when it runs.
fn step<'a>(args: &Fields<'a>) -> Option<Step<'a>> {
    let series = args.optional_strings("over").ok()?.is_some_and(|over| !over.is_empty())
        || args.optional_str("by").ok()?.is_some();
    if series {
        return None;
    }
    match args.str("op").ok()? {
        "data.filter" => args.row_fn("where").ok().map(Step::Filter),
        "data.derive" => {
            let fields = args.record("columns").ok()?;
            let column = |name: &'a str| Some((name, fields.row_fn(name).ok()?));
            let columns: Option<Vec<_>> = fields.names().into_iter().map(column).collect();
            columns.map(Step::Derive)
        }
        "data.select" => args.strings("columns").ok().map(Step::Select),
        _ => None,
    }
}
