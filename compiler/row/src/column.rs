//! Columns: values of one type with validity beside them.
//!
//! A missing row holds the type's zero below its validity bit, every NaN has one bit pattern and whole
//! numbers are whole, so that equal columns have equal bits.

use crate::error::RowError;
use crate::ir::{Scalar, Ty};
use crate::text::Text;

/// The largest magnitude up to which every whole number has its own `f64`.
pub const MAX_EXACT: i64 = 1 << 53;

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Floats.
    Float(Vec<f64>),
    /// Whole numbers within ±2^53.
    Int(Vec<f64>),
    /// Bytes, whole numbers within ±2^53.
    Size(Vec<f64>),
    /// Truth values.
    Bool(Vec<bool>),
    /// Text.
    Str(Text),
    /// Nanoseconds since the epoch.
    Time(Vec<i64>),
    /// Nanoseconds.
    Duration(Vec<i64>),
}

/// A typed column.
#[derive(Clone, Debug)]
pub struct Column {
    values: Values,
    valid: Option<Vec<bool>>,
}

impl Values {
    /// No values of this type.
    #[must_use]
    pub fn empty(ty: Ty) -> Self {
        match ty {
            Ty::Float => Self::Float(Vec::new()),
            Ty::Int => Self::Int(Vec::new()),
            Ty::Size => Self::Size(Vec::new()),
            Ty::Bool => Self::Bool(Vec::new()),
            Ty::Str => Self::Str(Text::default()),
            Ty::Time => Self::Time(Vec::new()),
            Ty::Duration => Self::Duration(Vec::new()),
        }
    }

    /// Makes room for `rows` more rows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        match self {
            Self::Float(values) | Self::Int(values) | Self::Size(values) => values.reserve(rows),
            Self::Bool(values) => values.reserve(rows),
            Self::Str(values) => values.reserve(rows),
            Self::Time(values) | Self::Duration(values) => values.reserve(rows),
        }
    }

    /// How many rows there is room for; text counts its rows alone.
    #[cfg(feature = "jit")]
    pub(crate) fn capacity(&self) -> usize {
        match self {
            Self::Float(values) | Self::Int(values) | Self::Size(values) => values.capacity(),
            Self::Bool(values) => values.capacity(),
            Self::Str(values) => values.len(),
            Self::Time(values) | Self::Duration(values) => values.capacity(),
        }
    }

    /// The type.
    #[must_use]
    pub fn ty(&self) -> Ty {
        match self {
            Self::Float(_) => Ty::Float,
            Self::Int(_) => Ty::Int,
            Self::Size(_) => Ty::Size,
            Self::Bool(_) => Ty::Bool,
            Self::Str(_) => Ty::Str,
            Self::Time(_) => Ty::Time,
            Self::Duration(_) => Ty::Duration,
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Float(values) | Self::Int(values) | Self::Size(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Str(values) => values.len(),
            Self::Time(values) | Self::Duration(values) => values.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Column {
    /// A column of `values`; `valid` is false where a row is missing, absent where none is.
    ///
    /// # Errors
    /// When the lengths differ, or a value of a whole-number type is not whole or beyond 2^53.
    pub fn new(mut values: Values, valid: Option<Vec<bool>>) -> Result<Self, RowError> {
        if let Some(valid) = &valid
            && valid.len() != values.len()
        {
            return Err(RowError::ColumnLength {
                column: "values".to_owned(),
                expected: values.len(),
                found: valid.len(),
            });
        }
        let valid = valid.filter(|valid| valid.contains(&false));
        clear_missing(&mut values, valid.as_deref());
        match &mut values {
            Values::Float(values) => one_nan(values),
            Values::Int(values) | Values::Size(values) => {
                if let Some(row) = values.iter().position(|v| !is_exact(*v)) {
                    return Err(RowError::NotExact { row });
                }
                values.iter_mut().for_each(|v| *v += 0.0);
            }
            Values::Bool(_) | Values::Str(_) | Values::Time(_) | Values::Duration(_) => {}
        }
        Ok(Self { values, valid })
    }

    /// A column whose values have the form that columns have already.
    pub(crate) fn computed(values: Values, valid: Option<Vec<bool>>) -> Self {
        let valid = valid.filter(|valid| valid.contains(&false));
        debug_assert!(valid.as_ref().is_none_or(|valid| valid.len() == values.len()));
        Self { values, valid }
    }

    /// A float column without missing rows.
    #[must_use]
    pub fn float(mut values: Vec<f64>) -> Self {
        one_nan(&mut values);
        Self::whole(Values::Float(values))
    }

    /// A truth column without missing rows.
    #[must_use]
    pub fn boolean(values: Vec<bool>) -> Self {
        Self::whole(Values::Bool(values))
    }

    /// A text column without missing rows.
    pub fn text<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        Self::whole(Values::Str(values.into_iter().collect()))
    }

    /// A time column without missing rows, in nanoseconds since the epoch.
    #[must_use]
    pub fn time(values: Vec<i64>) -> Self {
        Self::whole(Values::Time(values))
    }

    /// A duration column without missing rows, in nanoseconds.
    #[must_use]
    pub fn duration(values: Vec<i64>) -> Self {
        Self::whole(Values::Duration(values))
    }

    /// A whole-number column without missing rows.
    ///
    /// # Errors
    /// Names the first row beyond 2^53.
    pub fn bind_int(values: &[i64]) -> Result<Self, RowError> {
        Ok(Self::whole(Values::Int(exact_floats(values.iter().copied())?)))
    }

    /// A size column in bytes without missing rows.
    ///
    /// # Errors
    /// Names the first row beyond 2^53.
    pub fn bind_size(values: &[i64]) -> Result<Self, RowError> {
        Ok(Self::whole(Values::Size(exact_floats(values.iter().copied())?)))
    }

    /// A float column where `None` is missing.
    pub fn optional_float(values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let (mut values, valid) = split(values);
        one_nan(&mut values);
        Self { values: Values::Float(values), valid }
    }

    /// A truth column where `None` is missing.
    pub fn optional_boolean(values: impl IntoIterator<Item = Option<bool>>) -> Self {
        let (values, valid) = split(values);
        Self { values: Values::Bool(values), valid }
    }

    /// A text column where `None` is missing.
    pub fn optional_text<S: AsRef<str>>(values: impl IntoIterator<Item = Option<S>>) -> Self {
        let mut text = Text::default();
        let mut valid = Vec::new();
        for value in values {
            text.push(value.as_ref().map_or("", AsRef::as_ref));
            valid.push(value.is_some());
        }
        Self { values: Values::Str(text), valid: Some(valid).filter(|v| v.contains(&false)) }
    }

    /// A time column where `None` is missing.
    pub fn optional_time(values: impl IntoIterator<Item = Option<i64>>) -> Self {
        let (values, valid) = split(values);
        Self { values: Values::Time(values), valid }
    }

    /// A duration column where `None` is missing.
    pub fn optional_duration(values: impl IntoIterator<Item = Option<i64>>) -> Self {
        let (values, valid) = split(values);
        Self { values: Values::Duration(values), valid }
    }

    /// A whole-number column where `None` is missing.
    ///
    /// # Errors
    /// Names the first row beyond 2^53.
    pub fn optional_int(values: impl IntoIterator<Item = Option<i64>>) -> Result<Self, RowError> {
        let (values, valid) = split(values);
        Ok(Self { values: Values::Int(exact_floats(values)?), valid })
    }

    /// A size column in bytes where `None` is missing.
    ///
    /// # Errors
    /// Names the first row beyond 2^53.
    pub fn optional_size(values: impl IntoIterator<Item = Option<i64>>) -> Result<Self, RowError> {
        let (values, valid) = split(values);
        Ok(Self { values: Values::Size(exact_floats(values)?), valid })
    }

    /// One row of type `ty`; a whole number also serves as a float.
    ///
    /// # Errors
    /// When the value has another type, or is a whole number beyond 2^53.
    pub fn one(value: &Scalar, ty: Ty) -> Result<Self, RowError> {
        Ok(match (value, ty) {
            (Scalar::None, _) => Self::missing(ty, 1),
            (Scalar::Float(value), Ty::Float) => Self::float(vec![*value]),
            (Scalar::Int(value), Ty::Float) => Self::float(exact_floats(std::iter::once(*value))?),
            (Scalar::Int(value), Ty::Int) => Self::bind_int(&[*value])?,
            (Scalar::Size(value), Ty::Size) => Self::bind_size(&[*value])?,
            (Scalar::Bool(value), Ty::Bool) => Self::boolean(vec![*value]),
            (Scalar::Str(value), Ty::Str) => Self::text([value]),
            (Scalar::Time(value), Ty::Time) => Self::time(vec![*value]),
            (Scalar::Duration(value), Ty::Duration) => Self::duration(vec![*value]),
            (other, expected) => {
                return Err(RowError::ColumnType {
                    column: "value".to_owned(),
                    expected,
                    found: other.ty().unwrap_or(expected),
                });
            }
        })
    }

    /// `rows` missing rows of type `ty`.
    #[must_use]
    pub fn missing(ty: Ty, rows: usize) -> Self {
        let values = match ty {
            Ty::Float => Values::Float(vec![0.0; rows]),
            Ty::Int => Values::Int(vec![0.0; rows]),
            Ty::Size => Values::Size(vec![0.0; rows]),
            Ty::Bool => Values::Bool(vec![false; rows]),
            Ty::Str => Values::Str(std::iter::repeat_n("", rows).collect()),
            Ty::Time => Values::Time(vec![0; rows]),
            Ty::Duration => Values::Duration(vec![0; rows]),
        };
        Self { values, valid: (rows > 0).then(|| vec![false; rows]) }
    }

    fn whole(values: Values) -> Self {
        Self { values, valid: None }
    }

    /// The type.
    #[must_use]
    pub fn ty(&self) -> Ty {
        self.values.ty()
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values, the type's zero where a row is missing.
    #[must_use]
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Which rows are present; `None` when all are.
    #[must_use]
    pub fn valid(&self) -> Option<&[bool]> {
        self.valid.as_deref()
    }

    /// Values and validity, given away.
    #[must_use]
    pub fn into_parts(self) -> (Values, Option<Vec<bool>>) {
        (self.values, self.valid)
    }

    /// Whether this row exists and is present.
    #[must_use]
    pub fn is_present(&self, row: usize) -> bool {
        row < self.len() && self.valid.as_ref().is_none_or(|v| v.get(row) == Some(&true))
    }

    /// The first missing row. Where the result's type is not optional, this is the row whose whole-number
    /// arithmetic left ±2^53 or divided by zero.
    #[must_use]
    pub fn first_missing(&self) -> Option<usize> {
        self.valid.as_ref().and_then(|valid| valid.iter().position(|present| !present))
    }

    /// The number of missing rows.
    #[must_use]
    pub fn missing_count(&self) -> usize {
        self.valid.as_ref().map_or(0, |valid| valid.iter().filter(|present| !**present).count())
    }

    /// The value of a row; missing beyond the end.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "whole numbers lie within 2^53")]
    pub fn get(&self, row: usize) -> Scalar {
        if !self.is_present(row) {
            return Scalar::None;
        }
        let value = match &self.values {
            Values::Float(values) => values.get(row).map(|v| Scalar::Float(*v)),
            Values::Int(values) => values.get(row).map(|v| Scalar::Int(*v as i64)),
            Values::Size(values) => values.get(row).map(|v| Scalar::Size(*v as i64)),
            Values::Bool(values) => values.get(row).map(|v| Scalar::Bool(*v)),
            Values::Str(values) => values.get(row).map(|v| Scalar::Str(v.to_owned())),
            Values::Time(values) => values.get(row).map(|v| Scalar::Time(*v)),
            Values::Duration(values) => values.get(row).map(|v| Scalar::Duration(*v)),
        };
        value.unwrap_or(Scalar::None)
    }

    /// Which rows a filter keeps: those that are present and true. `None` unless this is a truth column.
    #[must_use]
    pub fn keep(&self) -> Option<&[bool]> {
        match &self.values {
            Values::Bool(values) => Some(values),
            _ => None,
        }
    }

    /// Whether both columns have the same type and the same bits.
    #[must_use]
    pub fn identical(&self, other: &Self) -> bool {
        let same_values = match (&self.values, &other.values) {
            (Values::Float(a), Values::Float(b))
            | (Values::Int(a), Values::Int(b))
            | (Values::Size(a), Values::Size(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
            }
            (a, b) => a == b,
        };
        same_values && self.valid == other.valid
    }
}

impl PartialEq for Column {
    /// As [`Column::identical`]: by bits, so that a column with NaN equals itself.
    fn eq(&self, other: &Self) -> bool {
        self.identical(other)
    }
}

/// Gives every NaN the same bits.
fn one_nan(values: &mut [f64]) {
    values.iter_mut().for_each(|value| *value = if value.is_nan() { f64::NAN } else { *value });
}

/// Whether `value` is a whole number within ±2^53.
#[expect(clippy::cast_precision_loss, reason = "2^53 is exact")]
#[expect(clippy::float_cmp, reason = "a whole number equals its truncation exactly")]
fn is_exact(value: f64) -> bool {
    value.abs() <= MAX_EXACT as f64 && libm::trunc(value) == value
}

#[expect(clippy::cast_precision_loss, reason = "checked against 2^53")]
fn exact_floats(values: impl IntoIterator<Item = i64>) -> Result<Vec<f64>, RowError> {
    let exact = |(row, value): (usize, i64)| {
        let small = value.unsigned_abs() <= MAX_EXACT.unsigned_abs();
        if small { Ok(value as f64) } else { Err(RowError::NotExact { row }) }
    };
    values.into_iter().enumerate().map(exact).collect()
}

fn split<T: Default>(values: impl IntoIterator<Item = Option<T>>) -> (Vec<T>, Option<Vec<bool>>) {
    let (values, valid): (Vec<T>, Vec<bool>) = values
        .into_iter()
        .map(|value| {
            let present = value.is_some();
            (value.unwrap_or_default(), present)
        })
        .unzip();
    (values, Some(valid).filter(|valid| valid.contains(&false)))
}

fn clear_missing(values: &mut Values, valid: Option<&[bool]>) {
    let Some(valid) = valid else { return };
    match values {
        Values::Float(values) | Values::Int(values) | Values::Size(values) => clear(values, valid),
        Values::Bool(values) => clear(values, valid),
        Values::Time(values) | Values::Duration(values) => clear(values, valid),
        Values::Str(text) => {
            if text.iter().zip(valid).any(|(value, present)| !present && !value.is_empty()) {
                let kept = text.iter().zip(valid).map(|(v, present)| if *present { v } else { "" });
                *text = kept.collect();
            }
        }
    }
}

fn clear<T: Default>(values: &mut [T], valid: &[bool]) {
    for (value, present) in values.iter_mut().zip(valid) {
        if !present {
            *value = T::default();
        }
    }
}
