//! A result column while batches arrive, each brought into the form that columns have.

use crate::column::{Column, Values};
use crate::ir::Ty;
#[cfg(feature = "jit")]
use crate::jit::{Place, Target};
use crate::lane::{Data, Lane};

/// Rows that room is made for before they are computed.
const MOST_RESERVED: usize = 1 << 24;

/// A column that grows by batches.
pub(crate) struct Builder {
    values: Values,
    valid: Option<Vec<bool>>,
}

impl Builder {
    /// No rows yet, with room for `rows`.
    pub(crate) fn new(ty: Ty, rows: usize) -> Self {
        let mut values = Values::empty(ty);
        values.reserve(rows.min(MOST_RESERVED));
        Self { values, valid: None }
    }

    /// Adds a batch of `count` rows.
    pub(crate) fn append(&mut self, lane: Lane<'_>, count: usize) {
        let from = self.values.len();
        if !lane.is_whole() && self.valid.is_none() {
            self.valid = Some(vec![true; from]);
        }
        if let Some(valid) = &mut self.valid {
            valid.extend(lane.presence(count));
        }
        match (&mut self.values, lane.data) {
            (Values::Float(out) | Values::Int(out) | Values::Size(out), Data::Number(values)) => {
                out.extend_from_slice(&values);
            }
            (Values::Bool(out), Data::Truth(values)) => out.extend_from_slice(&values),
            (Values::Time(out) | Values::Duration(out), Data::Nanos(values)) => {
                out.extend_from_slice(&values);
            }
            (Values::Str(out), Data::Text(values)) => {
                let present = self.valid.as_deref().and_then(|valid| valid.get(from..));
                for (place, value) in values.iter().enumerate() {
                    let here = present.is_none_or(|present| present.get(place) == Some(&true));
                    out.push(if here { value } else { "" });
                }
            }
            (out, _) => pad(out, count),
        }
        self.settle(from);
    }

    /// Where a kernel adds `count` rows, with presence beside them where it gives that. `None` for text.
    #[cfg(feature = "jit")]
    pub(crate) fn room(&mut self, count: usize, optional: bool) -> Option<Place<'_>> {
        let from = self.values.len();
        if optional && self.valid.is_none() {
            let mut valid = Vec::with_capacity(self.values.capacity().max(from + count));
            valid.resize(from, true);
            self.valid = Some(valid);
        }
        let mut valid = self.valid.as_mut();
        if !optional && let Some(valid) = valid.take() {
            valid.resize(from + count, true);
        }
        let values = match &mut self.values {
            Values::Float(values) | Values::Int(values) | Values::Size(values) => {
                Target::Number(values)
            }
            Values::Bool(values) => Target::Truth(values),
            Values::Time(values) | Values::Duration(values) => Target::Nanos(values),
            Values::Str(_) => return None,
        };
        Some(Place { values, valid })
    }

    /// The column.
    pub(crate) fn finish(self) -> Column {
        Column::computed(self.values, self.valid)
    }

    /// Clears missing rows and gives NaN and zero their one form, from row `from` on. Text is settled already.
    fn settle(&mut self, from: usize) {
        let valid = self.valid.as_deref().and_then(|valid| valid.get(from..));
        match &mut self.values {
            Values::Float(values) => {
                let values = values.get_mut(from..).unwrap_or_default();
                values.iter_mut().for_each(|value| *value = one_nan(*value));
                clear(values, valid);
            }
            Values::Int(values) | Values::Size(values) => {
                clear(values.get_mut(from..).unwrap_or_default(), valid);
            }
            Values::Bool(values) => clear(values.get_mut(from..).unwrap_or_default(), valid),
            Values::Time(values) | Values::Duration(values) => {
                clear(values.get_mut(from..).unwrap_or_default(), valid);
            }
            Values::Str(_) => {}
        }
    }
}

fn one_nan(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value }
}

fn clear<T: Default>(values: &mut [T], valid: Option<&[bool]>) {
    let Some(valid) = valid else { return };
    for (value, present) in values.iter_mut().zip(valid) {
        if !present {
            *value = T::default();
        }
    }
}

fn pad(values: &mut Values, count: usize) {
    match values {
        Values::Float(out) | Values::Int(out) | Values::Size(out) => {
            out.resize(out.len() + count, 0.0);
        }
        Values::Bool(out) => out.resize(out.len() + count, false),
        Values::Time(out) | Values::Duration(out) => out.resize(out.len() + count, 0),
        Values::Str(out) => (0..count).for_each(|_| out.push("")),
    }
}
