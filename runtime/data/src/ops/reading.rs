//! `data.read` and `logs.read`.

use crate::call::Call;
use crate::logs;
use crate::read::{Malformed, Wanted, read_file};
use crate::table::Table;
use pipe_compiler::schema::Reading;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn read(call: &Call) -> Result<Value, OpError> {
    let columns = call.args.columns("row")?;
    let malformed = match call.args.str("malformed")? {
        "skip" => Malformed::Skip,
        _ => Malformed::Stop,
    };
    let how = Reading {
        decimal_comma: call.args.optional_str("decimal")? == Some(","),
        numbered: call.args.optional_str("names")? == Some("numbered"),
    };
    let time = call.args.optional_str("time")?;
    let wanted = Wanted { columns, time, malformed, how, allowed: allowed(call)? };
    let tables: Vec<Table> = call
        .files("path")?
        .iter()
        .map(|path| read_file(path, &wanted, call.context))
        .collect::<Result<_, _>>()?;
    call.give_table(&Table::stacked(tables)?)
}

/// The texts that columns may hold, where their types are enumerations.
fn allowed(call: &Call) -> Result<BTreeMap<String, BTreeSet<String>>, OpError> {
    let Some(columns) = call.args.optional_record("allowed")? else { return Ok(BTreeMap::new()) };
    let texts = |name: &str| -> Result<(String, BTreeSet<String>), OpError> {
        let texts = columns.strings(name)?.into_iter().map(str::to_owned).collect();
        Ok((name.to_owned(), texts))
    };
    columns.names().into_iter().map(texts).collect()
}

pub(super) fn read_log(call: &Call) -> Result<Value, OpError> {
    let year = call.args.optional_int("year")?.and_then(|year| i32::try_from(year).ok());
    let mut lines = Vec::new();
    for path in call.files("path")? {
        lines.extend(logs::read_log(&path, year, call.context)?);
    }
    lines.sort_by_key(|line| line.time);
    call.give_table(&logs::to_table(lines)?)
}
