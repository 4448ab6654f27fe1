//! The list of `x in [..]`, sorted once for all rows.

use crate::ir::Scalar;
use crate::lane::{Data, Lane, constant};
use std::borrow::Cow;

/// The items of a list, by type.
pub(crate) struct Members<'a> {
    numbers: Vec<f64>,
    nanos: Vec<i64>,
    texts: Vec<&'a str>,
    truths: Vec<bool>,
    none: bool,
}

impl<'a> Members<'a> {
    /// Sorts the items; NaN equals nothing and is left out.
    #[expect(clippy::cast_precision_loss, reason = "checked against 2^53 when compiled")]
    pub(crate) fn of(items: &'a [Scalar]) -> Self {
        let mut members = Self {
            numbers: Vec::new(),
            nanos: Vec::new(),
            texts: Vec::new(),
            truths: Vec::new(),
            none: false,
        };
        for item in items {
            match item {
                Scalar::None => members.none = true,
                Scalar::Float(value) if value.is_nan() => {}
                Scalar::Float(value) => members.numbers.push(constant(*value)),
                Scalar::Int(value) | Scalar::Size(value) => members.numbers.push(*value as f64),
                Scalar::Bool(value) => members.truths.push(*value),
                Scalar::Str(value) => members.texts.push(value),
                Scalar::Time(value) | Scalar::Duration(value) => members.nanos.push(*value),
            }
        }
        members.numbers.sort_unstable_by(f64::total_cmp);
        members.nanos.sort_unstable();
        members.texts.sort_unstable();
        members
    }

    /// Whether each value is in the list. A missing value is so when the list holds `none`, else the
    /// answer is missing, as in `x == a or x == none`.
    pub(crate) fn test<'l>(&self, lane: Lane<'l>, count: usize) -> Lane<'l> {
        let presence = lane.presence(count);
        let mut found: Vec<bool> = match &lane.data {
            Data::Nothing => vec![false; count],
            Data::Number(values) => values.iter().map(|value| self.has_number(*value)).collect(),
            Data::Truth(values) => values.iter().map(|value| self.truths.contains(value)).collect(),
            Data::Nanos(values) => {
                values.iter().map(|value| self.nanos.binary_search(value).is_ok()).collect()
            }
            Data::Text(values) => {
                values.iter().map(|value| self.texts.binary_search(&value).is_ok()).collect()
            }
        };
        if self.none {
            found.iter_mut().zip(&presence).for_each(|(found, present)| *found |= !present);
            return Lane { data: Data::truth(found), valid: None };
        }
        let valid = (!lane.is_whole()).then_some(Cow::Owned(presence));
        Lane { data: Data::truth(found), valid }
    }

    /// The items that are numbers, in order, NaN left out.
    #[cfg(feature = "jit")]
    pub(crate) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// The items that are times or durations, in order.
    #[cfg(feature = "jit")]
    pub(crate) fn nanos(&self) -> &[i64] {
        &self.nanos
    }

    /// The items that are truth values.
    #[cfg(feature = "jit")]
    pub(crate) fn truths(&self) -> &[bool] {
        &self.truths
    }

    /// Whether a missing value is in the list.
    pub(crate) fn has_none(&self) -> bool {
        self.none
    }

    /// How many items of one type there are at most.
    #[cfg(feature = "jit")]
    pub(crate) fn longest(&self) -> usize {
        self.numbers.len().max(self.nanos.len())
    }

    fn has_number(&self, value: f64) -> bool {
        let value = value + 0.0;
        self.numbers.binary_search_by(|item| item.total_cmp(&value)).is_ok()
    }
}
