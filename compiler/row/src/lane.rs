//! One batch of one operand: values with validity, borrowed from a column where nothing was computed.
//!
//! The value at a missing place is arbitrary until the result is stored.

use crate::column::{Column, Values};
use crate::ir::Scalar;
use crate::text::Text;
use std::borrow::Cow;
use std::ops::Range;

/// Which places of a batch are present; `None` when all are.
pub(crate) type Valid<'a> = Option<Cow<'a, [bool]>>;

/// One batch of an operand.
#[derive(Clone)]
pub(crate) struct Lane<'a> {
    pub(crate) data: Data<'a>,
    pub(crate) valid: Valid<'a>,
}

/// The values of a batch.
#[derive(Clone)]
pub(crate) enum Data<'a> {
    /// Missing everywhere, of no type yet.
    Nothing,
    /// Floats, whole numbers, sizes.
    Number(Cow<'a, [f64]>),
    /// Truth values.
    Truth(Cow<'a, [bool]>),
    /// Times and durations.
    Nanos(Cow<'a, [i64]>),
    /// Text.
    Text(Strings<'a>),
}

/// Text of a batch.
#[derive(Clone)]
pub(crate) enum Strings<'a> {
    /// Rows of a column.
    Rows(&'a Text, Range<usize>),
    /// One text for every place.
    Repeat(&'a str, usize),
    /// Computed.
    Owned(Vec<Cow<'a, str>>),
}

impl Strings<'_> {
    pub(crate) fn get(&self, place: usize) -> &str {
        match self {
            Self::Rows(text, rows) => text.get(rows.start + place).unwrap_or_default(),
            Self::Repeat(text, _) => text,
            Self::Owned(values) => values.get(place).map_or("", AsRef::as_ref),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Rows(_, rows) => rows.len(),
            Self::Repeat(_, count) => *count,
            Self::Owned(values) => values.len(),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|place| self.get(place))
    }
}

impl<'a> Strings<'a> {
    /// The text of a place, without copying what is borrowed.
    pub(crate) fn share(&mut self, place: usize) -> Cow<'a, str> {
        match self {
            Self::Rows(text, rows) => {
                Cow::Borrowed(text.get(rows.start + place).unwrap_or_default())
            }
            Self::Repeat(text, _) => Cow::Borrowed(text),
            Self::Owned(values) => values.get_mut(place).map(std::mem::take).unwrap_or_default(),
        }
    }
}

impl<'a> Data<'a> {
    pub(crate) fn number(values: Vec<f64>) -> Self {
        Self::Number(Cow::Owned(values))
    }

    pub(crate) fn truth(values: Vec<bool>) -> Self {
        Self::Truth(Cow::Owned(values))
    }

    pub(crate) fn nanos(values: Vec<i64>) -> Self {
        Self::Nanos(Cow::Owned(values))
    }

    pub(crate) fn owned_text(values: Vec<Cow<'a, str>>) -> Self {
        Self::Text(Strings::Owned(values))
    }
}

impl<'a> Lane<'a> {
    /// Missing everywhere.
    pub(crate) fn nothing() -> Self {
        Self { data: Data::Nothing, valid: None }
    }

    /// Rows of a column.
    pub(crate) fn of_column(column: &'a Column, rows: Range<usize>) -> Self {
        let data = match column.values() {
            Values::Float(values) | Values::Int(values) | Values::Size(values) => {
                Data::Number(Cow::Borrowed(part(values, &rows)))
            }
            Values::Bool(values) => Data::Truth(Cow::Borrowed(part(values, &rows))),
            Values::Time(values) | Values::Duration(values) => {
                Data::Nanos(Cow::Borrowed(part(values, &rows)))
            }
            Values::Str(text) => Data::Text(Strings::Rows(text, rows.clone())),
        };
        let valid = column.valid().map(|valid| Cow::Borrowed(part(valid, &rows)));
        Self { data, valid }
    }

    /// A constant at every place.
    #[expect(clippy::cast_precision_loss, reason = "checked against 2^53 when compiled")]
    pub(crate) fn of_scalar(value: &'a Scalar, count: usize) -> Self {
        let data = match value {
            Scalar::None => Data::Nothing,
            Scalar::Float(value) => Data::number(vec![constant(*value); count]),
            Scalar::Int(value) | Scalar::Size(value) => Data::number(vec![*value as f64; count]),
            Scalar::Bool(value) => Data::truth(vec![*value; count]),
            Scalar::Str(value) => Data::Text(Strings::Repeat(value, count)),
            Scalar::Time(value) | Scalar::Duration(value) => Data::nanos(vec![*value; count]),
        };
        Self { data, valid: None }
    }

    /// Whether every place is present.
    pub(crate) fn is_whole(&self) -> bool {
        self.valid.is_none() && !matches!(self.data, Data::Nothing)
    }

    /// The places that are present.
    pub(crate) fn presence(&self, count: usize) -> Vec<bool> {
        match (&self.data, &self.valid) {
            (Data::Nothing, _) => vec![false; count],
            (_, Some(valid)) => valid.to_vec(),
            (_, None) => vec![true; count],
        }
    }
}

/// A constant float has one NaN and one zero, so that equal encodings mean equal functions.
pub(crate) fn constant(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value + 0.0 }
}

fn part<'a, T>(values: &'a [T], rows: &Range<usize>) -> &'a [T] {
    values.get(rows.clone()).unwrap_or_default()
}

/// Present where both are.
pub(crate) fn both<'a>(left: Valid<'a>, right: Valid<'a>) -> Valid<'a> {
    match (left, right) {
        (None, valid) | (valid, None) => valid,
        (Some(mut left), Some(right)) => {
            left.to_mut().iter_mut().zip(right.iter()).for_each(|(a, b)| *a &= *b);
            Some(left)
        }
    }
}

/// Kleene's `and` (`decides` is false) and `or` (`decides` is true): an operand that decides wins over
/// a missing one. `None` where an operand holds no truth values.
pub(crate) fn kleene<'a>(left: Lane<'a>, right: Lane<'a>, decides: bool) -> Option<Lane<'a>> {
    let combine = |a: bool, b: bool| if decides { a | b } else { a & b };
    match (&left.data, &right.data) {
        (Data::Nothing, Data::Nothing) => return Some(Lane::nothing()),
        (Data::Truth(a), Data::Truth(b)) if left.valid.is_none() && right.valid.is_none() => {
            let values = a.iter().zip(b.iter()).map(|(a, b)| combine(*a, *b)).collect();
            return Some(Lane { data: Data::truth(values), valid: None });
        }
        _ => {}
    }
    let count = truth_len(&left)?.max(truth_len(&right)?);
    let (left_here, right_here) = (left.presence(count), right.presence(count));
    let (a, b) = (truth_values(left, count), truth_values(right, count));
    let mut values = Vec::with_capacity(count);
    let mut valid = Vec::with_capacity(count);
    for (((a, b), a_here), b_here) in a.iter().zip(b.iter()).zip(left_here).zip(right_here) {
        let decided = (a_here & (*a == decides)) | (b_here & (*b == decides));
        values.push(decided == decides);
        valid.push(decided | (a_here & b_here));
    }
    Some(Lane { data: Data::truth(values), valid: Some(Cow::Owned(valid)) })
}

fn truth_len(lane: &Lane<'_>) -> Option<usize> {
    match &lane.data {
        Data::Nothing => Some(0),
        Data::Truth(values) => Some(values.len()),
        _ => None,
    }
}

fn truth_values(lane: Lane<'_>, count: usize) -> Cow<'_, [bool]> {
    match lane.data {
        Data::Truth(values) => values,
        _ => Cow::Owned(vec![false; count]),
    }
}
