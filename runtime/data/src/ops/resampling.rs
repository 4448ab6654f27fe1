//! `metrics.resample`: one row for each step of time.

use crate::call::Call;
use crate::table::Table;
use pipe_row::ir::Ty;
use pipe_row::{Column, Values};
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;

/// Most rows that a result may have: a wrong unit should not fill the memory.
const MAX_STEPS: i64 = 50_000_000;

/// How the values of a step become one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Mean,
    Max,
    Min,
    Sum,
    Last,
}

pub(super) fn resample(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let method = match call.args.str("by")? {
        "max" => Method::Max,
        "min" => Method::Min,
        "sum" => Method::Sum,
        "last" => Method::Last,
        _ => Method::Mean,
    };
    let time = table.time_column(call.args.optional_str("time")?)?;
    call.give_table(&resampled(&table, call.positive_duration("every")?, method, &time)?)
}

fn resampled(table: &Table, every: i64, method: Method, time: &str) -> Result<Table, OpError> {
    let times = table.times(time)?;
    let steps = Steps::over(&times, every)?;
    let mut order: Vec<usize> = (0..times.len()).collect();
    if method == Method::Last {
        order.sort_by_key(|row| times.get(*row).copied());
    }
    let mut columns = vec![(time.to_owned(), Column::time(steps.starts()))];
    for (name, column) in table.columns()? {
        if name != time
            && let Some(made) = reduce(&column, &steps, &order, method)
        {
            columns.push((name, made));
        }
    }
    Table::new(columns)
}

/// Steps of time, and the step of each row.
pub(super) struct Steps {
    first: i64,
    every: i64,
    count: usize,
    /// For each row the number of its step.
    pub(super) of: Vec<usize>,
}

impl Steps {
    /// The steps that cover these times; they begin at multiples of `every`.
    pub(super) fn over(times: &[i64], every: i64) -> Result<Self, OpError> {
        let step = |time: i64| time.div_euclid(every);
        let (Some(first), Some(last)) = (times.iter().min(), times.iter().max()) else {
            return Ok(Self { first: 0, every, count: 0, of: Vec::new() });
        };
        let count = step(*last).saturating_sub(step(*first)).saturating_add(1);
        if count > MAX_STEPS {
            return Err(OpError::new(
                "run::too_many_steps",
                format!("From the first time to the last there are {count} steps; at most {MAX_STEPS} are made."),
            )
            .help("choose longer steps, and look for a time far from the others"));
        }
        let place = |time: &i64| usize::try_from(step(*time) - step(*first)).unwrap_or(0);
        Ok(Self {
            first: step(*first),
            every,
            count: usize::try_from(count).unwrap_or(0),
            of: times.iter().map(place).collect(),
        })
    }

    /// When each step begins.
    pub(super) fn starts(&self) -> Vec<i64> {
        (self.first..).take(self.count).map(|step| step.saturating_mul(self.every)).collect()
    }

    /// One value a step, to begin with.
    pub(super) fn each<T: Clone>(&self, value: T) -> Vec<T> {
        vec![value; self.count]
    }
}

/// One column; `None` where the method has no meaning for its type.
fn reduce(column: &Column, steps: &Steps, order: &[usize], method: Method) -> Option<Column> {
    let last = || Some(gather(column, &last_rows(column, steps, order)));
    match (column.values(), method) {
        (_, Method::Last) => last(),
        (Values::Str(_), _) | (Values::Time(_), Method::Mean | Method::Sum) => None,
        (Values::Float(values), _) => Some(floats(column, values, steps, method)),
        (Values::Int(values) | Values::Size(values), Method::Mean) => {
            Some(floats(column, values, steps, method))
        }
        (Values::Int(values) | Values::Size(values), _) => {
            let made = fold(column, values, steps, method);
            Some(whole(column.ty(), made))
        }
        (Values::Bool(values), _) => {
            let numbers: Vec<f64> =
                values.iter().map(|value| f64::from(u8::from(*value))).collect();
            let made = fold(column, &numbers, steps, method);
            Some(match method {
                Method::Mean => Column::optional_float(made),
                Method::Sum => whole(Ty::Int, made),
                _ => Column::optional_boolean(
                    made.into_iter().map(|value| value.map(|value| value > 0.5)),
                ),
            })
        }
        (Values::Time(values), _) => {
            Some(Column::optional_time(fold_nanos(column, values, steps, method)))
        }
        (Values::Duration(values), _) => {
            Some(Column::optional_duration(fold_nanos(column, values, steps, method)))
        }
    }
}

fn floats(column: &Column, values: &[f64], steps: &Steps, method: Method) -> Column {
    Column::optional_float(fold(column, values, steps, method))
}

fn whole(ty: Ty, values: Vec<Option<f64>>) -> Column {
    let valid = values.iter().map(Option::is_some).collect();
    let values: Vec<f64> = values.into_iter().map(Option::unwrap_or_default).collect();
    let rows = values.len();
    let wrapped = if ty == Ty::Size { Values::Size(values) } else { Values::Int(values) };
    Column::new(wrapped, Some(valid)).unwrap_or_else(|_| Column::missing(ty, rows))
}

/// Mean, max, min or sum per step, in the order of rows; missing values and NaN do not count.
fn fold(column: &Column, values: &[f64], steps: &Steps, method: Method) -> Vec<Option<f64>> {
    let mut sums: Vec<Option<(f64, f64)>> = steps.each(None);
    for ((row, value), step) in values.iter().enumerate().zip(&steps.of) {
        let Some(sum) = sums.get_mut(*step) else { continue };
        if value.is_nan() || !column.is_present(row) {
            continue;
        }
        let (so_far, count) = sum.unwrap_or((*value, 0.0));
        let next = match method {
            Method::Max => so_far.max(*value),
            Method::Min => so_far.min(*value),
            _ if count > 0.0 => so_far + value,
            _ => *value,
        };
        *sum = Some((next, count + 1.0));
    }
    let mean = method == Method::Mean;
    sums.into_iter()
        .map(|sum| sum.map(|(sum, count)| if mean { sum / count } else { sum }))
        .collect()
}

fn fold_nanos(column: &Column, values: &[i64], steps: &Steps, method: Method) -> Vec<Option<i64>> {
    let mut sums: Vec<Option<(i128, i128)>> = steps.each(None);
    for ((row, value), step) in values.iter().enumerate().zip(&steps.of) {
        let Some(sum) = sums.get_mut(*step) else { continue };
        if !column.is_present(row) {
            continue;
        }
        let value = i128::from(*value);
        *sum = Some(match (*sum, method) {
            (None, _) => (value, 1),
            (Some((so_far, count)), Method::Max) => (so_far.max(value), count + 1),
            (Some((so_far, count)), Method::Min) => (so_far.min(value), count + 1),
            (Some((so_far, count)), _) => (so_far + value, count + 1),
        });
    }
    let mean = method == Method::Mean;
    let made = |(sum, count): (i128, i128)| {
        i64::try_from(if mean { sum.div_euclid(count) } else { sum }).ok()
    };
    sums.into_iter().map(|sum| sum.and_then(made)).collect()
}

/// For each step its last row with a value.
fn last_rows(column: &Column, steps: &Steps, order: &[usize]) -> Vec<Option<usize>> {
    let mut rows = steps.each(None);
    for row in order {
        let place = steps.of.get(*row).and_then(|step| rows.get_mut(*step));
        if let (Some(place), true) = (place, column.is_present(*row)) {
            *place = Some(*row);
        }
    }
    rows
}

/// The values of these rows.
fn gather(column: &Column, rows: &[Option<usize>]) -> Column {
    let picked = |values: &[f64]| -> Vec<Option<f64>> {
        rows.iter().map(|row| row.and_then(|row| values.get(row).copied())).collect()
    };
    let nanos = |values: &[i64]| -> Vec<Option<i64>> {
        rows.iter().map(|row| row.and_then(|row| values.get(row).copied())).collect()
    };
    match column.values() {
        Values::Float(values) => Column::optional_float(picked(values)),
        Values::Int(values) => whole(Ty::Int, picked(values)),
        Values::Size(values) => whole(Ty::Size, picked(values)),
        Values::Bool(values) => Column::optional_boolean(
            rows.iter().map(|row| row.and_then(|row| values.get(row).copied())),
        ),
        Values::Str(text) => {
            Column::optional_text(rows.iter().map(|row| row.and_then(|row| text.get(row))))
        }
        Values::Time(values) => Column::optional_time(nanos(values)),
        Values::Duration(values) => Column::optional_duration(nanos(values)),
    }
}
