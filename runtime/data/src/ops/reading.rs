//! `data.read` and `logs.read`.

use crate::call::Call;
use crate::logs;
use crate::read::{Malformed, Wanted, read_file};
use crate::table::Table;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;

pub(super) fn read(call: &Call) -> Result<Value, OpError> {
    let columns = call.args.columns("row")?;
    let malformed = match call.args.str("malformed")? {
        "skip" => Malformed::Skip,
        _ => Malformed::Stop,
    };
    let wanted = Wanted { columns, time: call.args.optional_str("time")?, malformed };
    let tables: Vec<Table> = call
        .files("path")?
        .iter()
        .map(|path| read_file(path, &wanted, call.context))
        .collect::<Result<_, _>>()?;
    call.give_table(&Table::stacked(tables)?)
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
