//! `data.filter`, `data.derive`, `data.select`, `data.sort`.

use crate::call::Call;
use crate::table::{Table, polars_error};
use pipe_row::Column;
use pipe_row::ir::RowFn;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use polars::prelude::{BooleanChunked, NewChunkedArray, PlSmallStr, SortMultipleOptions};

pub(super) fn filter(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let condition = evaluate(&table, call.args.row_fn("where")?)?;
    let keep = condition.keep().ok_or_else(|| {
        OpError::new(
            "run::argument",
            format!("`where` gives {} and must give bool.", condition.ty()),
        )
    })?;
    call.give_table(&table.filtered(keep)?)
}

pub(super) fn derive(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let mut columns = table.columns()?;
    for (name, function) in call.rows("columns")? {
        let made = evaluate(&table, function)?;
        if let (false, Some(row)) = (function.optional, made.first_missing()) {
            return Err(OpError::new(
                "run::arithmetic",
                format!("`{name}` has no value in row {}: a whole number left 2^53 or was divided by zero.", row + 1),
            )
            .help("compute with floats, or give such rows another value with `if`"));
        }
        match columns.iter_mut().find(|(existing, _)| existing == name) {
            Some((_, column)) => *column = made,
            None => columns.push((name.to_owned(), made)),
        }
    }
    call.give_table(&Table::new(columns)?)
}

pub(super) fn select(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let column = |name: String| table.column(&name).map(|column| (name, column));
    call.give_table(&Table::new(
        call.names("columns")?.into_iter().map(column).collect::<Result<_, _>>()?,
    )?)
}

pub(super) fn sort(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let names = call.names("by")?;
    for name in &names {
        table.ty(name)?;
    }
    let options = SortMultipleOptions::default()
        .with_order_descending(call.args.bool("descending")?)
        .with_nulls_last(true)
        .with_maintain_order(true)
        .with_multithreaded(false);
    let sorted = table.frame().sort(names, options).map_err(|error| polars_error(&error))?;
    call.give_table(&table.with_frame(sorted))
}

/// A row function over all rows of a table.
pub(super) fn evaluate(table: &Table, function: &RowFn) -> Result<Column, OpError> {
    let columns: Vec<Column> =
        function.columns.iter().map(|reads| table.column(&reads.name)).collect::<Result<_, _>>()?;
    for (reads, column) in function.columns.iter().zip(&columns) {
        if let (false, Some(row)) = (reads.optional, column.first_missing()) {
            return Err(OpError::new(
                "run::missing_value",
                format!(
                    "`{}` is missing in row {}, and its type does not allow that.",
                    reads.name,
                    row + 1
                ),
            ));
        }
    }
    let borrowed: Vec<&Column> = columns.iter().collect();
    function.evaluate(&borrowed, table.rows()).map_err(|error| {
        OpError::new("run::row_function", format!("The row function cannot run: {error}."))
    })
}

impl Table {
    /// The rows for which `keep` is true.
    ///
    /// # Errors
    /// When there are not as many flags as rows.
    pub fn filtered(&self, keep: &[bool]) -> Result<Self, OpError> {
        let mask = BooleanChunked::from_slice(PlSmallStr::EMPTY, keep);
        let frame = self.frame().filter(&mask).map_err(|error| polars_error(&error))?;
        Ok(self.with_frame(frame))
    }
}
