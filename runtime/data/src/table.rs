//! Tables: named, typed columns over a Polars frame.
//!
//! The types of the language map to one Arrow type each, except `size`, which is stored as `int`; which columns
//! are sizes is written beside the schema. Times are UTC without a zone.

mod convert;
mod ipc;

pub use ipc::{read_table, write_table};

use pipe_row::ir::Ty;
use pipe_row::{Column, Values};
use pipe_runtime::op::OpError;
use polars::prelude::DataFrame;
use std::collections::BTreeSet;

/// A table. Its rows have an order, and it never changes by itself.
#[derive(Clone, Debug)]
pub struct Table {
    frame: DataFrame,
    sizes: BTreeSet<String>,
}

impl Table {
    /// A table of these columns, in this order.
    ///
    /// # Errors
    /// When two columns have one name, their lengths differ, or there is none.
    pub fn new(columns: Vec<(String, Column)>) -> Result<Self, OpError> {
        if columns.is_empty() {
            return Err(OpError::new("run::no_columns", "A table needs at least one column."));
        }
        let sizes = columns
            .iter()
            .filter(|(_, column)| column.ty() == Ty::Size)
            .map(|(name, _)| name.clone())
            .collect();
        let series =
            columns.into_iter().map(|(name, column)| convert::series(&name, column)).collect();
        let frame = DataFrame::new_infer_height(series).map_err(|error| polars_error(&error))?;
        Ok(Self { frame, sizes })
    }

    /// A table over a frame whose columns have the types that this crate writes.
    pub(crate) fn over(frame: DataFrame, sizes: BTreeSet<String>) -> Result<Self, OpError> {
        let table = Self { frame, sizes };
        for name in table.names() {
            table.ty(&name)?;
        }
        Ok(table)
    }

    /// These columns in this order: the table's own of that name where none is given.
    ///
    /// # Errors
    /// When the table has no such column, a name occurs twice, or lengths differ.
    pub(crate) fn arranged(&self, columns: Vec<(String, Option<Column>)>) -> Result<Self, OpError> {
        let mut sizes = BTreeSet::new();
        let mut series = Vec::with_capacity(columns.len());
        for (name, made) in columns {
            let size =
                made.as_ref().map_or_else(|| self.sizes.contains(&name), |c| c.ty() == Ty::Size);
            series.push(match made {
                Some(column) => convert::series(&name, column),
                None => self.raw(&name)?.clone(),
            });
            if size {
                sizes.insert(name);
            }
        }
        let frame = DataFrame::new_infer_height(series).map_err(|error| polars_error(&error))?;
        Ok(Self { frame, sizes })
    }

    /// Tables of the same columns, one below the other.
    ///
    /// # Errors
    /// When their columns differ, or there is no table.
    pub fn stacked(tables: Vec<Self>) -> Result<Self, OpError> {
        let mut tables = tables.into_iter();
        let mut first = tables
            .next()
            .ok_or_else(|| OpError::new("run::no_files", "There is no file to read."))?;
        for table in tables {
            first.frame.vstack_mut(&table.frame).map_err(|error| polars_error(&error))?;
        }
        Ok(first)
    }

    /// The Polars frame inside.
    #[must_use]
    pub fn frame(&self) -> &DataFrame {
        &self.frame
    }

    pub(crate) fn sizes(&self) -> &BTreeSet<String> {
        &self.sizes
    }

    /// The same columns over other rows of the same frame.
    pub(crate) fn with_frame(&self, frame: DataFrame) -> Self {
        Self { frame, sizes: self.sizes.clone() }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.frame.height()
    }

    /// Column names in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.frame.get_column_names().iter().map(|name| name.to_string()).collect()
    }

    /// Whether there is a column of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.frame.column(name).is_ok()
    }

    /// The type of a column.
    ///
    /// # Errors
    /// When there is no such column.
    pub fn ty(&self, name: &str) -> Result<Ty, OpError> {
        let dtype = self.raw(name)?.dtype().clone();
        if self.sizes.contains(name) {
            return Ok(Ty::Size);
        }
        convert::ty(&dtype).ok_or_else(|| {
            OpError::new(
                "run::column_type",
                format!("Column `{name}` holds {dtype}, which pipelines do not have."),
            )
        })
    }

    /// A column, copied out.
    ///
    /// # Errors
    /// When there is no such column.
    pub fn column(&self, name: &str) -> Result<Column, OpError> {
        let ty = self.ty(name)?;
        convert::column(name, self.raw(name)?, ty)
    }

    /// All columns in order, copied out.
    ///
    /// # Errors
    /// When a column cannot be converted.
    pub fn columns(&self) -> Result<Vec<(String, Column)>, OpError> {
        self.names()
            .into_iter()
            .map(|name| self.column(&name).map(|column| (name, column)))
            .collect()
    }

    /// A column of numbers or truth values as floats; `None` where a value is missing or not a number.
    ///
    /// # Errors
    /// When there is no such column, or it holds no numbers.
    pub fn floats(&self, name: &str) -> Result<Vec<Option<f64>>, OpError> {
        let column = self.column(name)?;
        let present = |row: usize| column.is_present(row);
        let floats = |values: &[f64]| -> Vec<Option<f64>> {
            let value =
                |(row, value): (usize, &f64)| (present(row) && !value.is_nan()).then_some(*value);
            values.iter().enumerate().map(value).collect()
        };
        match column.values() {
            Values::Float(values) | Values::Int(values) | Values::Size(values) => {
                Ok(floats(values))
            }
            Values::Bool(values) => {
                let values: Vec<f64> =
                    values.iter().map(|value| f64::from(u8::from(*value))).collect();
                Ok(floats(&values))
            }
            #[expect(
                clippy::cast_precision_loss,
                reason = "nanoseconds beyond 2^53 lose less than a microsecond"
            )]
            Values::Duration(values) => {
                Ok(floats(&values.iter().map(|value| *value as f64 / 1e9).collect::<Vec<_>>()))
            }
            Values::Str(_) | Values::Time(_) => Err(OpError::new(
                "run::column_type",
                format!("Column `{name}` is {} where numbers are needed.", column.ty()),
            )),
        }
    }

    /// A column of times in nanoseconds since 1970.
    ///
    /// # Errors
    /// When there is no such column, it holds no times, or one is missing.
    pub fn times(&self, name: &str) -> Result<Vec<i64>, OpError> {
        let column = self.column(name)?;
        if let Some(row) = column.first_missing() {
            return Err(OpError::new(
                "run::missing_time",
                format!("The time `{name}` is missing in row {}.", row + 1),
            )
            .help("leave such rows out with `data.filter`"));
        }
        match column.into_parts().0 {
            Values::Time(values) => Ok(values),
            other => Err(OpError::new(
                "run::column_type",
                format!("Column `{name}` is {} where times are needed.", other.ty()),
            )
            .help("name the column when reading: `data.read(.., time: \"...\")`")),
        }
    }

    /// A column of texts; `None` where a value is missing.
    ///
    /// # Errors
    /// When there is no such column, or it holds no text.
    pub fn texts(&self, name: &str) -> Result<Vec<Option<String>>, OpError> {
        let column = self.column(name)?;
        match column.values() {
            Values::Str(text) => Ok(text
                .iter()
                .enumerate()
                .map(|(row, value)| column.is_present(row).then(|| value.to_owned()))
                .collect()),
            other => Err(OpError::new(
                "run::column_type",
                format!("Column `{name}` is {} where text is needed.", other.ty()),
            )),
        }
    }

    /// The column that orders a series: `wanted` if given, else `time`, else the only column of times.
    ///
    /// # Errors
    /// When there is none, or more than one to choose from.
    pub fn time_column(&self, wanted: Option<&str>) -> Result<String, OpError> {
        if let Some(name) = wanted {
            self.raw(name)?;
            return Ok(name.to_owned());
        }
        let times: Vec<String> =
            self.names().into_iter().filter(|name| self.ty(name) == Ok(Ty::Time)).collect();
        match times.as_slice() {
            [only] => Ok(only.clone()),
            many if many.iter().any(|name| name == "time") => Ok("time".to_owned()),
            [] => Err(OpError::new(
                "run::no_time",
                format!("The table has no column of times; it has {}.", quoted(&self.names())),
            )
            .help("name the column when reading: `data.read(.., time: \"...\")`")),
            many => Err(OpError::new(
                "run::no_time",
                format!("The time of a row could be any of {}.", quoted(many)),
            )
            .help("say it with `time: \"...\"`")),
        }
    }

    fn raw(&self, name: &str) -> Result<&polars::prelude::Column, OpError> {
        self.frame.column(name).map_err(|_| {
            OpError::new(
                "run::missing_column",
                format!("There is no column `{name}`; the table has {}.", quoted(&self.names())),
            )
        })
    }
}

/// Names in backticks, joined for a sentence.
#[must_use]
pub fn quoted<S: AsRef<str>>(names: &[S]) -> String {
    let shown: Vec<String> =
        names.iter().take(30).map(|name| format!("`{}`", name.as_ref())).collect();
    if names.len() > 30 { format!("{}, ...", shown.join(", ")) } else { shown.join(", ") }
}

pub(crate) fn polars_error(error: &polars::prelude::PolarsError) -> OpError {
    OpError::new("run::table", format!("The table cannot be made: {error}."))
}
