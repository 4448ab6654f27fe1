//! A column by place instead of by row, and results on their way back.

use super::Order;
use crate::column::{Column, Values};
use crate::error::RowError;
use crate::ir::Ty;
use std::borrow::Cow;

/// Values by place; arbitrary where missing.
pub(super) struct Placed<'a, T: Clone> {
    pub(super) values: Cow<'a, [T]>,
    valid: Option<Cow<'a, [bool]>>,
}

impl<'a, T: Copy + Default> Placed<'a, T> {
    pub(super) fn new(values: &'a [T], valid: Option<&'a [bool]>, order: &Order) -> Self {
        Self { values: placed(values, order), valid: valid.map(|valid| placed(valid, order)) }
    }

    /// The value at a place, unless it is missing.
    pub(super) fn get(&self, place: usize) -> Option<T> {
        let here = self.valid.as_ref().is_none_or(|valid| valid.get(place) == Some(&true));
        if here { self.values.get(place).copied() } else { None }
    }
}

fn placed<'a, T: Copy + Default>(values: &'a [T], order: &Order) -> Cow<'a, [T]> {
    if order.stands() {
        return Cow::Borrowed(values);
    }
    let each = (0..order.places()).map(|place| values.get(order.row(place)).copied());
    Cow::Owned(each.map(Option::unwrap_or_default).collect())
}

/// Results by row, missing until they are set.
pub(super) struct Results<'o, T> {
    order: &'o Order,
    values: Vec<T>,
    valid: Vec<bool>,
}

impl<'o, T: Clone + Default> Results<'o, T> {
    pub(super) fn new(order: &'o Order) -> Self {
        let rows = order.rows();
        Self { order, values: vec![T::default(); rows], valid: vec![false; rows] }
    }

    pub(super) fn set(&mut self, place: usize, value: Option<T>) {
        let row = self.order.row(place);
        if let Some(value) = value
            && let (Some(at), Some(valid)) = (self.values.get_mut(row), self.valid.get_mut(row))
        {
            *at = value;
            *valid = true;
        }
    }

    /// Makes results that are not `wanted` missing.
    pub(super) fn keep(&mut self, wanted: impl Fn(&T) -> bool) {
        let both = self.values.iter().zip(self.valid.iter_mut());
        both.for_each(|(value, valid)| *valid &= wanted(value));
    }

    /// The results as values of a column.
    pub(super) fn column(self, values: impl FnOnce(Vec<T>) -> Values) -> Result<Column, RowError> {
        Column::new(values(self.values), Some(self.valid))
    }
}

/// Floats as the values of a type that is held in floats.
pub(super) fn numbers(ty: Ty, values: Vec<f64>) -> Values {
    match ty {
        Ty::Int => Values::Int(values),
        Ty::Size => Values::Size(values),
        _ => Values::Float(values),
    }
}

/// The values of as many rows before, where rows stand as they are.
pub(super) fn shifted(column: &Column, rows: usize) -> Result<Column, RowError> {
    let length = column.len();
    let first = rows.min(length);
    fn shift<T: Clone + Default>(values: &[T], first: usize) -> Vec<T> {
        let mut shifted = Vec::with_capacity(values.len());
        shifted.resize(first, T::default());
        shifted.extend_from_slice(values.get(..values.len() - first).unwrap_or_default());
        shifted
    }
    let mut valid = vec![false; first];
    match column.valid() {
        Some(present) => valid.extend_from_slice(present.get(..length - first).unwrap_or_default()),
        None => valid.resize(length, true),
    }
    let values = match column.values() {
        Values::Float(values) => Values::Float(shift(values, first)),
        Values::Int(values) => Values::Int(shift(values, first)),
        Values::Size(values) => Values::Size(shift(values, first)),
        Values::Bool(values) => Values::Bool(shift(values, first)),
        Values::Time(values) => Values::Time(shift(values, first)),
        Values::Duration(values) => Values::Duration(shift(values, first)),
        Values::Str(text) => {
            let blank = std::iter::repeat_n("", first);
            Values::Str(blank.chain(text.iter().take(length - first)).collect())
        }
    };
    Column::new(values, Some(valid))
}

/// The values of other rows: `from` names one for each row, or none.
pub(super) fn gather(column: &Column, from: &[Option<usize>]) -> Result<Column, RowError> {
    let valid = from.iter().map(|row| row.is_some_and(|row| column.is_present(row)));
    let valid: Vec<bool> = valid.collect();
    fn pick<T: Copy + Default>(values: &[T], from: &[Option<usize>]) -> Vec<T> {
        from.iter()
            .map(|row| row.and_then(|row| values.get(row)).copied().unwrap_or_default())
            .collect()
    }
    let values = match column.values() {
        Values::Float(values) => Values::Float(pick(values, from)),
        Values::Int(values) => Values::Int(pick(values, from)),
        Values::Size(values) => Values::Size(pick(values, from)),
        Values::Bool(values) => Values::Bool(pick(values, from)),
        Values::Time(values) => Values::Time(pick(values, from)),
        Values::Duration(values) => Values::Duration(pick(values, from)),
        Values::Str(text) => Values::Str(
            from.iter().map(|row| row.and_then(|row| text.get(row)).unwrap_or_default()).collect(),
        ),
    };
    Column::new(values, Some(valid))
}
