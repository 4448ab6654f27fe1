//! `data.group`: rows that are equal in some columns become one row.

mod aggregate;
mod index;

pub(super) use aggregate::{aggregated, gathered, mean, quantile, spread};
pub(super) use index::{Groups, codes};

use crate::call::Call;
use crate::table::Table;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;

pub(super) fn group(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let by = call.args.strings("by")?;
    let groups = Groups::of(&table, &by)?;
    let mut columns = Vec::new();
    for name in by {
        let first = groups.firsts().map(Some);
        columns.push((name.to_owned(), gathered(&table.column(name)?, first)));
    }
    let functions = call.args.record("aggregates")?;
    for name in functions.names() {
        call.stop_if_cancelled()?;
        let made = aggregated(&table, &groups, name, &functions.record(name)?)?;
        columns.push((name.to_owned(), made));
    }
    call.give_table(&Table::new(columns)?)
}
