//! `data.concat` and `data.values`.

use super::grouping::codes;
use crate::call::Call;
use crate::table::{Table, quoted};
use pipe_row::ir::{Scalar, Ty};
use pipe_row::{Column, Values};
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use std::cmp::Ordering;
use std::sync::Arc;

pub(super) fn concat(call: &Call) -> Result<Value, OpError> {
    call.give_table(&stacked(&call.tables("tables")?)?)
}

/// Tables one below the other, with the columns of the first; whole numbers become floats where one of them has floats.
fn stacked(tables: &[Arc<Table>]) -> Result<Table, OpError> {
    let first = tables.first().ok_or_else(|| {
        OpError::new(
            "run::argument",
            "`tables` is empty: there is nothing to put together.".to_owned(),
        )
    })?;
    let names = first.names();
    let types: Vec<Ty> =
        names.iter().map(|name| common(name, tables)).collect::<Result<_, OpError>>()?;
    let fitted = tables.iter().map(|table| {
        if table.names().len() != names.len() {
            let message = format!(
                "Tables that go below each other have the same columns; one has {}, another {}.",
                quoted(&names),
                quoted(&table.names())
            );
            return Err(OpError::new("run::missing_column", message));
        }
        let columns = names.iter().zip(&types).map(|(name, ty)| {
            let column = table.column(name)?;
            Ok((name.clone(), if *ty == Ty::Float { as_float(column) } else { column }))
        });
        Table::new(columns.collect::<Result<_, OpError>>()?)
    });
    Table::stacked(fitted.collect::<Result<_, _>>()?)
}

/// The type that a column has in all tables.
fn common(name: &str, tables: &[Arc<Table>]) -> Result<Ty, OpError> {
    let mut common = None;
    for table in tables {
        let ty = table.ty(name)?;
        common = Some(match (common, ty) {
            (None, ty) => ty,
            (Some(known), ty) if known == ty => ty,
            (Some(Ty::Int | Ty::Float), Ty::Int | Ty::Float) => Ty::Float,
            (Some(known), ty) => {
                return Err(OpError::new(
                    "run::column_type",
                    format!("Column `{name}` is {known} in one table and {ty} in another."),
                ));
            }
        });
    }
    Ok(common.unwrap_or(Ty::Str))
}

fn as_float(column: Column) -> Column {
    match column.into_parts() {
        (Values::Int(values) | Values::Float(values), valid) => {
            let present =
                |row: usize| valid.as_ref().is_none_or(|valid| valid.get(row) == Some(&true));
            Column::optional_float(
                values.iter().enumerate().map(|(row, value)| present(row).then_some(*value)),
            )
        }
        (values, valid) => {
            let rows = values.len();
            let missing = Column::missing(Ty::Float, rows);
            Column::new(values, valid).unwrap_or(missing)
        }
    }
}

pub(super) fn values(call: &Call) -> Result<Value, OpError> {
    let column = call.table("table")?.column(call.args.str("column")?)?;
    let codes = codes(&column);
    let mut next = 0;
    let mut found: Vec<Scalar> = Vec::new();
    for (row, code) in codes.into_iter().enumerate() {
        if code == next {
            next += 1;
            if column.is_present(row) {
                found.push(column.get(row));
            }
        }
    }
    found.sort_by(compare);
    Ok(Value::List(found.into_iter().map(value).collect()))
}

/// Values of one column by size; NaN last.
fn compare(a: &Scalar, b: &Scalar) -> Ordering {
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => a.total_cmp(b),
        (Scalar::Int(a), Scalar::Int(b))
        | (Scalar::Time(a), Scalar::Time(b))
        | (Scalar::Duration(a), Scalar::Duration(b))
        | (Scalar::Size(a), Scalar::Size(b)) => a.cmp(b),
        (Scalar::Bool(a), Scalar::Bool(b)) => a.cmp(b),
        (Scalar::Str(a), Scalar::Str(b)) => a.cmp(b),
        _ => Ordering::Equal,
    }
}

fn value(scalar: Scalar) -> Value {
    match scalar {
        Scalar::None => Value::None,
        Scalar::Float(value) => Value::Float(value),
        Scalar::Int(value) => Value::Int(value),
        Scalar::Bool(value) => Value::Bool(value),
        Scalar::Str(text) => Value::Str(text),
        Scalar::Time(nanos) => Value::Time(nanos),
        Scalar::Duration(nanos) => Value::Duration(nanos),
        Scalar::Size(bytes) => Value::Size(bytes),
    }
}
