//! `data.filter`, `data.derive`, `data.select` and `data.sort`.

use crate::call::Call;
use crate::table::{Table, polars_error};
use pipe_row::ir::{RowFn, Ty};
use pipe_row::window::Order;
use pipe_row::{Column, RowError};
use pipe_runtime::args::Fields;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use polars::prelude::{BooleanChunked, NewChunkedArray, PlSmallStr, SortMultipleOptions};
use std::collections::BTreeMap;

pub(super) fn filter(call: &Call) -> Result<Value, OpError> {
    call.give_table(&filtered(call.table("table")?.as_ref(), &call.args.fields())?)
}

pub(super) fn derive(call: &Call) -> Result<Value, OpError> {
    call.give_table(&derived(call.table("table")?.as_ref(), &call.args.fields())?)
}

pub(super) fn select(call: &Call) -> Result<Value, OpError> {
    call.give_table(&selected(call.table("table")?.as_ref(), &call.args.fields())?)
}

pub(super) fn filtered(table: &Table, args: &Fields<'_>) -> Result<Table, OpError> {
    let condition = looking_back(args, table, &[args.row_fn("where")?])?;
    let condition = condition.into_iter().next().ok_or_else(no_result)?;
    let keep = condition.keep().ok_or_else(|| {
        OpError::new(
            "run::argument",
            format!("`where` gives {} and must give bool.", condition.ty()),
        )
    })?;
    table.filtered(keep)
}

pub(super) fn derived(table: &Table, args: &Fields<'_>) -> Result<Table, OpError> {
    let mut columns = table.columns()?;
    let fields = args.record("columns")?;
    let names = fields.names();
    let functions: Vec<&RowFn> =
        names.iter().map(|name| fields.row_fn(name)).collect::<Result<_, _>>()?;
    let results = looking_back(args, table, &functions)?;
    for ((name, function), made) in names.into_iter().zip(functions).zip(results) {
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
    Table::new(columns)
}

pub(super) fn selected(table: &Table, args: &Fields<'_>) -> Result<Table, OpError> {
    let names = args.strings("columns")?;
    if names.is_empty() {
        return Err(OpError::new("run::argument", "`columns` names no column."));
    }
    let column = |name: &str| table.column(name).map(|column| (name.to_owned(), column));
    Table::new(names.into_iter().map(column).collect::<Result<_, _>>()?)
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
    let order = Order::as_it_stands(table.rows());
    evaluate_over(table, &[function], &order)?.into_iter().next().ok_or_else(no_result)
}

/// Row functions over all rows of a table, windows over the series that the arguments `over` and `by` make.
fn looking_back(
    args: &Fields<'_>,
    table: &Table,
    functions: &[&RowFn],
) -> Result<Vec<Column>, OpError> {
    let over = args.optional_strings("over")?.unwrap_or_default();
    let order = order(table, &over, args.optional_str("by")?)?;
    evaluate_over(table, functions, &order)
}

/// The series of a table: a row's entity is its values in the columns `over`, its time that in `by`.
fn order(table: &Table, over: &[&str], by: Option<&str>) -> Result<Order, OpError> {
    let entities: Vec<Column> =
        over.iter().map(|name| table.column(name)).collect::<Result<_, _>>()?;
    let times = by.map(|name| table.column(name)).transpose()?;
    if let (Some(name), Some(column)) = (by, &times)
        && column.ty() != Ty::Time
    {
        return Err(OpError::new(
            "run::argument",
            format!("`by` names `{name}`, which holds {} and must hold times.", column.ty()),
        ));
    }
    Order::new(table.rows(), &entities.iter().collect::<Vec<_>>(), times.as_ref()).map_err(failed)
}

pub(super) fn failed(error: RowError) -> OpError {
    OpError::new("run::row_function", format!("The row function cannot run: {error}."))
}

fn no_result() -> OpError {
    failed(RowError::Unsound)
}

/// Row functions over all rows of a table, in one pass.
fn evaluate_over(
    table: &Table,
    functions: &[&RowFn],
    order: &Order,
) -> Result<Vec<Column>, OpError> {
    let mut columns: BTreeMap<&str, Column> = BTreeMap::new();
    for function in functions {
        for reads in &function.columns {
            if !columns.contains_key(reads.name.as_str()) {
                columns.insert(&reads.name, table.column(&reads.name)?);
            }
        }
    }
    let mut bound = Vec::with_capacity(functions.len());
    for function in functions {
        let given: Vec<&Column> =
            function.columns.iter().filter_map(|reads| columns.get(reads.name.as_str())).collect();
        check_present(function, &given)?;
        bound.push(given);
    }
    let functions: Vec<(&RowFn, &[&Column])> =
        functions.iter().copied().zip(bound.iter().map(Vec::as_slice)).collect();
    pipe_row::window::evaluate(&functions, order).map_err(failed)
}

/// Missing values where a type does not allow them are a mistake in the data.
fn check_present(function: &RowFn, columns: &[&Column]) -> Result<(), OpError> {
    for (reads, column) in function.columns.iter().zip(columns) {
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
    Ok(())
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
