//! Loops over batches of floats, and the rule that keeps whole numbers whole.

use crate::lane::{Data, Lane, both};
use std::borrow::Cow;

/// Whether results have to be exact whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whole {
    /// Any float.
    Any,
    /// Missing unless finite and below 2^53 in magnitude.
    Exact,
}

/// The first magnitude that is not exact.
pub(crate) const TWO_POW_53: f64 = 9_007_199_254_740_992.0;

/// Applies `f` to every value, in place where the batch is owned.
pub(crate) fn map(values: Cow<'_, [f64]>, f: impl Fn(f64) -> f64) -> Vec<f64> {
    match values {
        Cow::Borrowed(values) => values.iter().map(|value| f(*value)).collect(),
        Cow::Owned(mut values) => {
            values.iter_mut().for_each(|value| *value = f(*value));
            values
        }
    }
}

/// Applies `f` to every pair, in place where one of the batches is owned.
pub(crate) fn zip(
    left: Cow<'_, [f64]>,
    right: Cow<'_, [f64]>,
    f: impl Fn(f64, f64) -> f64,
) -> Vec<f64> {
    match (left, right) {
        (Cow::Owned(mut left), right) => {
            left.iter_mut().zip(right.iter()).for_each(|(a, b)| *a = f(*a, *b));
            left
        }
        (left, Cow::Owned(mut right)) => {
            right.iter_mut().zip(left.iter()).for_each(|(b, a)| *b = f(*a, *b));
            right
        }
        (left, right) => left.iter().zip(right.iter()).map(|(a, b)| f(*a, *b)).collect(),
    }
}

/// Makes a lane of the results.
pub(crate) fn finish<'a>(
    mut values: Vec<f64>,
    valid: Option<Cow<'a, [bool]>>,
    whole: Whole,
) -> Lane<'a> {
    if whole == Whole::Any {
        return Lane { data: Data::number(values), valid };
    }
    let exact = |value: &f64| value.abs() < TWO_POW_53;
    let all = values.iter().fold(true, |all, value| all & exact(value));
    let fits = (!all).then(|| Cow::Owned(values.iter().map(exact).collect()));
    if !all {
        values.iter_mut().filter(|value| !exact(value)).for_each(|value| *value = 0.0);
    }
    // -0.0 + 0.0 = 0.0: whole numbers have one zero.
    values.iter_mut().for_each(|value| *value += 0.0);
    Lane { data: Data::number(values), valid: both(valid, fits) }
}
