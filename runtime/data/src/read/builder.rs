//! A column as it is read: text or JSON in, typed values out.

use super::{Misfit, type_name};
use crate::time::parse_time;
use pipe_compiler::plan::Column as Wanted;
use pipe_compiler::schema;
use pipe_row::ir::Ty;
use pipe_row::{Column, Text, Values};
use pipe_runtime::op::OpError;
use std::collections::BTreeSet;

const MAX_WHOLE: i64 = 1 << 53;

/// A column in the making.
pub struct Builder {
    name: String,
    optional: bool,
    epoch: bool,
    decimal_comma: bool,
    allowed: Option<BTreeSet<String>>,
    values: Values,
    valid: Vec<bool>,
}

/// One value, not yet in the column: a row enters all columns or none.
pub enum Cell {
    /// Missing.
    Missing,
    /// `float`, `int` and `size`.
    Number(f64),
    /// `time` and `duration`.
    Nanos(i64),
    /// `bool`.
    Flag(bool),
    /// `str`.
    Text(String),
}

impl Builder {
    /// An empty column; with `epoch`, numbers are seconds since 1970.
    #[must_use]
    pub fn new(column: &Wanted, epoch: bool) -> Self {
        Self {
            name: column.name.clone(),
            optional: column.optional,
            epoch,
            decimal_comma: false,
            allowed: None,
            values: Values::empty(column.ty),
            valid: Vec::new(),
        }
    }

    /// The column with a comma for the point in its floats.
    #[must_use]
    pub fn decimal_comma(self, decimal_comma: bool) -> Self {
        Self { decimal_comma, ..self }
    }

    /// The column with these texts only, when they are given.
    #[must_use]
    pub fn allowing(self, texts: Option<&BTreeSet<String>>) -> Self {
        Self { allowed: texts.cloned(), ..self }
    }

    fn ty(&self) -> Ty {
        self.values.ty()
    }

    /// Read a cell of a text file.
    pub(super) fn cell(&self, text: &str) -> Result<Cell, Misfit> {
        let bare = text.trim();
        let numeric = matches!(self.ty(), Ty::Float | Ty::Int | Ty::Size);
        if bare.is_empty() && (self.ty() != Ty::Str || (self.optional && text.is_empty())) {
            return self.missing();
        }
        let word = self.ty() != Ty::Str && schema::is_missing(bare);
        if word || (numeric && bare.eq_ignore_ascii_case("nan")) {
            return self.missing();
        }
        let parsed = match self.ty() {
            Ty::Str => return self.text(text),
            Ty::Float => self.float(bare).map(Cell::Number),
            Ty::Int => bare.parse().ok().and_then(whole),
            Ty::Size => size(bare),
            Ty::Bool => flag(bare),
            Ty::Time => {
                parse_time(bare).or_else(|| self.seconds(bare.parse().ok()?)).map(Cell::Nanos)
            }
            Ty::Duration => duration(bare).map(Cell::Nanos),
        };
        parsed.ok_or_else(|| self.misfit(&format!("`{}`", shorten(bare))))
    }

    /// Read a value of a JSON object.
    pub(super) fn json(&self, value: Option<&serde_json::Value>) -> Result<Cell, Misfit> {
        use serde_json::Value as Json;
        let value = match value {
            None | Some(Json::Null) => return self.missing(),
            Some(value) => value,
        };
        let cell = match (self.ty(), value) {
            (Ty::Str, Json::String(text)) => return self.text(text),
            (Ty::Str, other) => return self.text(&other.to_string()),
            (Ty::Float, Json::Number(number)) => number.as_f64().map(Cell::Number),
            (Ty::Int | Ty::Size, Json::Number(number)) => number.as_i64().and_then(whole),
            (Ty::Bool, Json::Bool(flag)) => Some(Cell::Flag(*flag)),
            (Ty::Time, Json::Number(number)) => {
                number.as_f64().and_then(|s| self.seconds(s)).map(Cell::Nanos)
            }
            (Ty::Float | Ty::Time | Ty::Duration | Ty::Size, Json::String(text)) => {
                return self.cell(text);
            }
            _ => None,
        };
        cell.ok_or_else(|| self.misfit(&format!("`{}`", shorten(&value.to_string()))))
    }

    fn missing(&self) -> Result<Cell, Misfit> {
        if self.optional {
            return Ok(Cell::Missing);
        }
        Err(Misfit {
            code: "run::missing_value",
            message: format!(
                "`{}` has no value here, and its type `{}` does not allow that",
                self.name,
                self.ty()
            ),
            help: None,
        })
    }

    fn misfit(&self, found: &str) -> Misfit {
        let wanted = type_name(self.ty(), self.optional);
        let mut misfit =
            Misfit::row(format!("`{}` is {found} where `{wanted}` is needed", self.name));
        let cell = found.trim_matches('`');
        if matches!(self.ty(), Ty::Float | Ty::Int) {
            misfit.help = if schema::has_thousands(cell) {
                Some("numbers are written without marks between thousands: `1234.5`".into())
            } else if !self.decimal_comma && schema::with_point(cell).is_some() {
                Some("read a file with decimal commas with `decimal: \",\"`".into())
            } else {
                None
            };
        }
        misfit
    }

    /// A float; with decimal commas a point means nothing.
    fn float(&self, cell: &str) -> Option<f64> {
        if !self.decimal_comma {
            return cell.parse().ok();
        }
        match schema::with_point(cell) {
            Some(pointed) => pointed.parse().ok(),
            None if cell.contains('.') => None,
            None => cell.parse().ok(),
        }
    }

    /// A text, which is one of those allowed.
    fn text(&self, text: &str) -> Result<Cell, Misfit> {
        match &self.allowed {
            Some(allowed) if !allowed.contains(text) => {
                let all: Vec<String> = allowed.iter().map(|text| format!("\"{text}\"")).collect();
                Err(Misfit::row(format!(
                    "`{}` is `{}`, which is none of {}",
                    self.name,
                    shorten(text),
                    all.join(" | ")
                )))
            }
            _ => Ok(Cell::Text(text.to_owned())),
        }
    }

    /// Seconds since 1970, to the microsecond that a float of today's times still holds.
    fn seconds(&self, seconds: f64) -> Option<i64> {
        let micros = (seconds * 1e6).round();
        #[expect(clippy::cast_possible_truncation, reason = "checked against the range")]
        let nanos = (micros.abs() < 9.2e15).then(|| micros as i64 * 1_000);
        if self.epoch { nanos } else { None }
    }

    /// Take a value in.
    pub fn push(&mut self, cell: Cell) {
        self.valid.push(!matches!(cell, Cell::Missing));
        match (&mut self.values, cell) {
            (Values::Float(values) | Values::Int(values) | Values::Size(values), cell) => {
                values.push(if let Cell::Number(value) = cell { value } else { 0.0 });
            }
            (Values::Bool(values), cell) => values.push(matches!(cell, Cell::Flag(true))),
            (Values::Str(text), cell) => push_text(text, &cell),
            (Values::Time(values) | Values::Duration(values), cell) => {
                values.push(if let Cell::Nanos(value) = cell { value } else { 0 });
            }
        }
    }

    /// The column.
    ///
    /// # Errors
    /// When a whole number cannot be held exactly.
    pub fn finish(self) -> Result<Column, OpError> {
        Column::new(self.values, Some(self.valid)).map_err(|error| {
            OpError::new("run::bad_row", format!("Column `{}`: {error}.", self.name))
        })
    }
}

fn push_text(text: &mut Text, cell: &Cell) {
    text.push(if let Cell::Text(value) = cell { value } else { "" });
}

fn whole(value: i64) -> Option<Cell> {
    #[expect(clippy::cast_precision_loss, reason = "within 2^53")]
    (value.unsigned_abs() <= MAX_WHOLE.unsigned_abs()).then_some(Cell::Number(value as f64))
}

fn flag(text: &str) -> Option<Cell> {
    match text {
        "true" | "True" | "TRUE" => Some(Cell::Flag(true)),
        "false" | "False" | "FALSE" => Some(Cell::Flag(false)),
        _ => None,
    }
}

/// `1.5h`, `250ms`: nanoseconds.
fn duration(text: &str) -> Option<i64> {
    let (number, unit) = with_unit(text)?;
    let scale = match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3_600e9,
        "d" => 86_400e9,
        "w" => 604_800e9,
        _ => return None,
    };
    let nanos = (number * scale).round();
    #[expect(clippy::cast_possible_truncation, reason = "checked against the range")]
    (nanos.abs() < 9.2e18).then_some(nanos as i64)
}

/// `10GiB`, or a plain number of bytes.
fn size(text: &str) -> Option<Cell> {
    let (number, unit) = with_unit(text)?;
    let scale = match unit {
        "" | "B" => 1.0,
        "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "KiB" => 1_024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "TiB" => 1_099_511_627_776.0,
        _ => return None,
    };
    #[expect(clippy::cast_possible_truncation, reason = "range is checked by `whole`")]
    whole((number * scale).round() as i64)
}

fn with_unit(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.trim().parse().ok()?, unit))
}

/// At most 40 characters, for messages.
fn shorten(text: &str) -> String {
    let mut short: String =
        text.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}
