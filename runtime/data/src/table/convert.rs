//! Between Polars columns and row columns. Missing rows hold zero, so equal columns have equal bytes.

use super::polars_error;
use pipe_row::ir::Ty;
use pipe_row::{Column, Values};
use pipe_runtime::op::OpError;
use polars::prelude as pl;
use polars::prelude::{IntoColumn, IntoSeries, NamedFrom, NewChunkedArray};

/// The language's type of a stored type; sizes are told apart elsewhere.
pub(super) fn ty(dtype: &pl::DataType) -> Option<Ty> {
    Some(match dtype {
        pl::DataType::Float64 => Ty::Float,
        pl::DataType::Int64 => Ty::Int,
        pl::DataType::Boolean => Ty::Bool,
        pl::DataType::String => Ty::Str,
        pl::DataType::Datetime(pl::TimeUnit::Nanoseconds, None) => Ty::Time,
        pl::DataType::Duration(pl::TimeUnit::Nanoseconds) => Ty::Duration,
        _ => return None,
    })
}

/// A stored column from a row column.
pub(super) fn series(name: &str, column: Column) -> pl::Column {
    let (values, valid) = column.into_parts();
    let name = pl::PlSmallStr::from_str(name);
    let valid = valid.as_deref();
    let series = match values {
        Values::Float(values) => match valid {
            None => pl::Series::new(name, values),
            Some(valid) => options::<pl::Float64Type>(name, &values, valid).into_series(),
        },
        Values::Int(values) | Values::Size(values) => {
            #[expect(clippy::cast_possible_truncation, reason = "whole numbers lie within 2^53")]
            let values: Vec<i64> = values.into_iter().map(|value| value as i64).collect();
            whole(name, values, valid).into_series()
        }
        Values::Bool(values) => match valid {
            None => pl::Series::new(name, values),
            Some(valid) => {
                let values =
                    values.iter().zip(valid).map(|(value, present)| present.then_some(*value));
                pl::BooleanChunked::from_iter_options(name, values).into_series()
            }
        },
        Values::Str(text) => {
            let present = |row: usize| valid.is_none_or(|valid| valid.get(row) == Some(&true));
            let values = text.iter().enumerate().map(|(row, value)| present(row).then_some(value));
            pl::StringChunked::from_iter_options(name, values).into_series()
        }
        Values::Time(values) => {
            whole(name, values, valid).into_datetime(pl::TimeUnit::Nanoseconds, None).into_series()
        }
        Values::Duration(values) => {
            whole(name, values, valid).into_duration(pl::TimeUnit::Nanoseconds).into_series()
        }
    };
    series.into_column()
}

fn whole(name: pl::PlSmallStr, values: Vec<i64>, valid: Option<&[bool]>) -> pl::Int64Chunked {
    match valid {
        None => pl::Int64Chunked::from_vec(name, values),
        Some(valid) => options::<pl::Int64Type>(name, &values, valid),
    }
}

fn options<T: pl::PolarsNumericType>(
    name: pl::PlSmallStr,
    values: &[T::Native],
    valid: &[bool],
) -> pl::ChunkedArray<T> {
    let values = values.iter().zip(valid).map(|(value, present)| present.then_some(*value));
    pl::ChunkedArray::<T>::from_iter_options(name, values)
}

/// A row column from a stored column of type `ty`.
pub(super) fn column(name: &str, stored: &pl::Column, ty: Ty) -> Result<Column, OpError> {
    let fail = |error: pl::PolarsError| polars_error(&error);
    let inexact = |error: pipe_row::RowError| {
        OpError::new("run::inexact", format!("Column `{name}`: {error}."))
    };
    Ok(match ty {
        Ty::Float => Column::optional_float(stored.f64().map_err(fail)?.iter()),
        Ty::Int => Column::optional_int(stored.i64().map_err(fail)?.iter()).map_err(inexact)?,
        Ty::Size => Column::optional_size(stored.i64().map_err(fail)?.iter()).map_err(inexact)?,
        Ty::Bool => Column::optional_boolean(stored.bool().map_err(fail)?.iter()),
        Ty::Str => texts(stored.str().map_err(fail)?),
        Ty::Time => Column::optional_time(stored.datetime().map_err(fail)?.physical().iter()),
        Ty::Duration => {
            Column::optional_duration(stored.duration().map_err(fail)?.physical().iter())
        }
    })
}

fn texts(stored: &pl::StringChunked) -> Column {
    if stored.null_count() == 0 {
        return Column::text(stored.iter().flatten());
    }
    Column::optional_text(stored.iter())
}
