//! The loops: one window over one column.

use super::placed::{Placed, Results, gather, numbers, shifted};
use super::slide::{Extreme, NanosTotal, Rank, Sorted, Total, older, outside, slide};
use super::{Decay, Fold, Order, Reach, Window};
use crate::column::{Column, Values};
use crate::error::RowError;

/// Whole numbers of this size and beyond are missing, as everywhere.
const TWO_POW_53: f64 = 9_007_199_254_740_992.0;

impl Window {
    /// The window's result for every row of a column that it accepts.
    pub(super) fn run(self, column: &Column, order: &Order) -> Result<Column, RowError> {
        if self.needs_times() && !order.has_times() {
            return Err(RowError::NoTimes(self.path()));
        }
        match self {
            Self::Lag(reach) => lag(column, reach, order),
            Self::Fold { fold, reach, least } => folded(column, fold, (reach, least), order),
            Self::Ewma(decay) => ewma(column, decay, order),
            Self::Any(reach) => some_or_all(column, reach, true, order),
            Self::All(reach) => some_or_all(column, reach, false, order),
            Self::Count(reach) => count(column, reach, order),
            Self::Held | Self::Streak | Self::Since => runs(column, self, order),
        }
    }
}

fn lag(column: &Column, reach: Reach, order: &Order) -> Result<Column, RowError> {
    if let (Reach::Rows(rows), true) = (reach, order.stands()) {
        return shifted(column, usize::try_from(rows).unwrap_or(usize::MAX));
    }
    let mut from = vec![None; order.rows()];
    for series in order.series() {
        // The first place that is not yet far enough back.
        let mut next = series.start;
        for place in series.clone() {
            let far = |at: usize| match reach {
                Reach::Rows(rows) => (place - at) as u64 >= rows,
                Reach::Time(nanos) => older(order.times(), at, place, nanos),
            };
            while next < place && far(next) {
                next += 1;
            }
            if let Some(at) = from.get_mut(order.row(place)) {
                *at = next.checked_sub(1).filter(|at| *at >= series.start).map(|at| order.row(at));
            }
        }
    }
    gather(column, &from)
}

fn folded(
    column: &Column,
    fold: Fold,
    (reach, least): (Reach, u64),
    order: &Order,
) -> Result<Column, RowError> {
    match (column.values(), fold) {
        (Values::Duration(values), Fold::Sum) => {
            let operand = Placed::new(values, column.valid(), order);
            let mut kept = NanosTotal { operand: &operand, sum: 0, count: 0 };
            let mut results = Results::new(order);
            slide(&mut kept, reach, order, |place, result| {
                let enough = result.filter(|(count, _)| *count >= least);
                results.set(place, enough.map(|(_, sum)| within(sum)));
            });
            results.column(Values::Duration)
        }
        (Values::Time(values) | Values::Duration(values), Fold::Min | Fold::Max) => {
            let results = extreme(values, column, fold, (reach, least), order);
            let time = matches!(column.values(), Values::Time(_));
            results.column(if time { Values::Time } else { Values::Duration })
        }
        (Values::Float(values) | Values::Int(values) | Values::Size(values), _) => {
            let ty = column.ty();
            let results = match fold {
                Fold::Min | Fold::Max => extreme(values, column, fold, (reach, least), order),
                Fold::Quantile(share) => {
                    let operand = Placed::new(values, column.valid(), order);
                    let mut results = Results::new(order);
                    slide(&mut Sorted::new(&operand, share), reach, order, |place, result| {
                        let enough = result.filter(|(count, _)| *count >= least);
                        results.set(place, enough.map(|(_, value)| value));
                    });
                    return results.column(Values::Float);
                }
                Fold::Mean | Fold::Sum | Fold::Std => {
                    let whole = fold == Fold::Sum && !matches!(column.values(), Values::Float(_));
                    let mut results = totals(values, column, fold, (reach, least), order);
                    if whole {
                        results.keep(|value: &f64| value.abs() < TWO_POW_53);
                    }
                    if fold != Fold::Sum {
                        return results.column(Values::Float);
                    }
                    results
                }
            };
            results.column(|values| numbers(ty, values))
        }
        _ => Err(RowError::Unsound),
    }
}

fn within(nanos: i128) -> i64 {
    i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
}

#[expect(clippy::cast_precision_loss, reason = "no window has 2^53 rows")]
fn totals<'o>(
    values: &[f64],
    column: &Column,
    fold: Fold,
    (reach, least): (Reach, u64),
    order: &'o Order,
) -> Results<'o, f64> {
    let operand = Placed::new(values, column.valid(), order);
    let mut results = Results::new(order);
    slide(&mut Total::new(&operand, fold == Fold::Std), reach, order, |place, result| {
        let enough = result.filter(|moments| moments.count >= least);
        results.set(
            place,
            enough.and_then(|moments| {
                let count = moments.count as f64;
                match fold {
                    Fold::Mean => Some(moments.sum / count),
                    Fold::Std if moments.count < 2 => None,
                    Fold::Std => Some(libm::sqrt(moments.spread / (count * (count - 1.0)))),
                    _ => Some(moments.sum),
                }
            }),
        );
    });
    results
}

fn extreme<'o, T: Rank + Nan>(
    values: &[T],
    column: &Column,
    fold: Fold,
    (reach, least): (Reach, u64),
    order: &'o Order,
) -> Results<'o, T> {
    let operand = Placed::new(values, column.valid(), order);
    let mut results = Results::new(order);
    slide(&mut Extreme::new(&operand, fold == Fold::Max), reach, order, |place, result| {
        let enough = result.filter(|(count, _)| *count >= least);
        let value = enough.map(|(_, at)| at.and_then(|at| operand.get(at)).unwrap_or(T::NAN));
        results.set(place, value);
    });
    results
}

/// What stands for a value that is not a number.
trait Nan {
    const NAN: Self;
}

impl Nan for f64 {
    const NAN: Self = f64::NAN;
}

impl Nan for i64 {
    /// Never met: every `i64` has a rank.
    const NAN: Self = 0;
}

fn ewma(column: &Column, decay: Decay, order: &Order) -> Result<Column, RowError> {
    let (Values::Float(values) | Values::Int(values)) = column.values() else {
        return Err(RowError::Unsound);
    };
    let operand = Placed::new(values, column.valid(), order);
    let time = |place: usize| order.times().get(place).copied().unwrap_or(0);
    let mut results = Results::new(order);
    for series in order.series() {
        let mut average: Option<(f64, i64)> = None;
        // Rows at equal distances, as most are, weigh the same.
        let mut known: Option<(i64, f64)> = None;
        for place in series.clone() {
            if let Some(value) = operand.get(place) {
                let next = match average {
                    Some((before, since)) if before.is_finite() => {
                        let share = match decay {
                            Decay::Alpha(alpha) => alpha,
                            Decay::HalfLife(half) => {
                                gained_by(&mut known, time(place), since, half)
                            }
                        };
                        (1.0 - share) * before + share * value
                    }
                    _ => value,
                };
                average = Some((next, time(place)));
            }
            results.set(place, average.map(|(value, _)| value));
        }
    }
    results.column(Values::Float)
}

/// As [`gained`], which is asked once where the age stays the same. What is known: an age and its weight.
fn gained_by(known: &mut Option<(i64, f64)>, now: i64, since: i64, half: i64) -> f64 {
    let Some(age) = now.checked_sub(since) else { return gained(now, since, half) };
    match known {
        Some((same, weight)) if *same == age => *weight,
        _ => {
            let weight = gained(now, since, half);
            *known = Some((age, weight));
            weight
        }
    }
}

/// The weight of a new value: what the old ones lose meanwhile, `1 - 2^(-age / half)`.
#[expect(clippy::cast_precision_loss, reason = "the rule: nanoseconds round to the nearest float")]
fn gained(now: i64, since: i64, half: i64) -> f64 {
    let age = (i128::from(now) - i128::from(since)) as f64;
    -libm::expm1(-std::f64::consts::LN_2 * (age / half as f64))
}

/// `any` (`decides` is true) and `all` (`decides` is false) over a window: one value that decides is enough; without one
/// the answer is missing when a value is, or when the window reaches back before the series.
fn some_or_all(
    column: &Column,
    reach: Reach,
    decides: bool,
    order: &Order,
) -> Result<Column, RowError> {
    let Values::Bool(values) = column.values() else { return Err(RowError::Unsound) };
    let operand = Placed::new(values, column.valid(), order);
    let mut results = Results::new(order);
    for series in order.series() {
        let mut from = series.start;
        let mut deciding = 0_usize;
        let mut missing = 0_usize;
        for place in series.clone() {
            let count = |at: usize| match operand.get(at) {
                Some(value) => (usize::from(value == decides), 0),
                None => (0, 1),
            };
            let (more, absent) = count(place);
            (deciding, missing) = (deciding + more, missing + absent);
            while outside(from, place, reach, order.times()) {
                let (less, back) = count(from);
                (deciding, missing) = (deciding.saturating_sub(less), missing.saturating_sub(back));
                from += 1;
            }
            let whole = match reach {
                Reach::Rows(rows) => (place - series.start + 1) as u64 >= rows,
                Reach::Time(_) => from > series.start,
            };
            let value = match (deciding > 0, missing == 0 && whole) {
                (true, _) => Some(decides),
                (false, true) => Some(!decides),
                (false, false) => None,
            };
            results.set(place, value);
        }
    }
    results.column(Values::Bool)
}

#[expect(clippy::cast_precision_loss, reason = "no window has 2^53 rows")]
fn count(column: &Column, reach: Reach, order: &Order) -> Result<Column, RowError> {
    let Values::Bool(values) = column.values() else { return Err(RowError::Unsound) };
    let operand = Placed::new(values, column.valid(), order);
    let mut results = Results::new(order);
    for series in order.series() {
        let mut from = series.start;
        let mut count = 0_usize;
        for place in series.clone() {
            let holds = |at: usize| usize::from(operand.get(at) == Some(true));
            count += holds(place);
            while outside(from, place, reach, order.times()) {
                count = count.saturating_sub(holds(from));
                from += 1;
            }
            results.set(place, Some(count as f64));
        }
    }
    results.column(Values::Int)
}

/// How long a condition has held, in time or rows, and how long ago it held last.
#[expect(clippy::cast_precision_loss, reason = "no series has 2^53 rows")]
fn runs(column: &Column, window: Window, order: &Order) -> Result<Column, RowError> {
    let Values::Bool(values) = column.values() else { return Err(RowError::Unsound) };
    let operand = Placed::new(values, column.valid(), order);
    let time = |place: usize| order.times().get(place).copied().unwrap_or(0);
    let mut rows = Results::new(order);
    let mut spans = Results::new(order);
    for series in order.series() {
        let mut began: Option<usize> = None;
        let mut last: Option<usize> = None;
        for place in series.clone() {
            if operand.get(place) == Some(true) {
                began = began.or(Some(place));
                last = Some(place);
            } else {
                began = None;
            }
            let age = |from: usize| time(place).saturating_sub(time(from));
            match window {
                Window::Streak => {
                    rows.set(place, Some(began.map_or(0, |from| place - from + 1) as f64));
                }
                Window::Held => spans.set(place, Some(began.map_or(0, age))),
                _ => spans.set(place, last.map(age)),
            }
        }
    }
    match window {
        Window::Streak => rows.column(Values::Int),
        _ => spans.column(Values::Duration),
    }
}
