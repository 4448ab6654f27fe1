//! One value of the values of a group: what `stat.*` means. Missing values are left out.
//!
//! Sums of floats carry what rounding loses (Neumaier), so that they do not depend on how large a table is; sums of whole
//! numbers are exact. A result that its type cannot hold is an error that names the column.

use super::index::{Groups, codes};
use crate::ops::shaping::evaluate;
use crate::table::Table;
use pipe_row::ir::RowFn;
use pipe_row::{Column, Values};
use pipe_runtime::args::Fields;
use pipe_runtime::op::OpError;
use std::collections::HashSet;

/// The column `name` of a function of groups: `reads`, then `value` over them.
pub(in crate::ops) fn aggregated(
    table: &Table,
    groups: &Groups,
    name: &str,
    function: &Fields<'_>,
) -> Result<Column, OpError> {
    let mut columns = Vec::new();
    for read in function.records("reads")? {
        let values = match read.optional_row_fn("of")? {
            Some(of) => Some(complete(name, of, evaluate(table, of)?)?),
            None => None,
        };
        let share = read.optional_float("q")?.unwrap_or(0.5);
        columns.push(one_value(groups, read.str("method")?, values.as_ref(), share, name)?);
    }
    let value = function.row_fn("value")?;
    let borrowed: Vec<&Column> = columns.iter().collect();
    let made = value.evaluate(&borrowed, groups.len()).map_err(|error| {
        OpError::new("run::row_function", format!("The function `{name}` cannot run: {error}."))
    })?;
    complete(name, value, made)
}

/// A column that has to have all its values: a whole number that left 2^53 is missing.
fn complete(name: &str, function: &RowFn, made: Column) -> Result<Column, OpError> {
    match (function.optional, made.first_missing()) {
        (false, Some(_)) => Err(beyond(name)),
        _ => Ok(made),
    }
}

fn beyond(name: &str) -> OpError {
    OpError::new(
        "run::arithmetic",
        format!(
            "`{name}` has no value for a group: a whole number left 2^53 or was divided by zero."
        ),
    )
    .help("compute with floats, or give such groups another value with `if`")
}

/// One value for each group.
fn one_value(
    groups: &Groups,
    method: &str,
    values: Option<&Column>,
    share: f64,
    name: &str,
) -> Result<Column, OpError> {
    let counted = |counts: Vec<usize>| whole(counts.iter().map(|count| *count as i128), name);
    let Some(values) = values else { return counted(groups.each().map(<[usize]>::len).collect()) };
    let present = |rows: &[usize]| -> Vec<usize> {
        rows.iter().copied().filter(|row| values.is_present(*row)).collect()
    };
    match method {
        "count" => counted(groups.each().map(|rows| present(rows).len()).collect()),
        "distinct" => {
            let codes = codes(values);
            let code = |row: usize| codes.get(row).copied();
            let different =
                |rows: &[usize]| present(rows).into_iter().map(code).collect::<HashSet<_>>().len();
            counted(groups.each().map(different).collect())
        }
        "key" => Ok(gathered(values, groups.firsts().map(Some))),
        "first" => Ok(gathered(values, groups.each().map(|rows| present(rows).first().copied()))),
        "last" => Ok(gathered(values, groups.each().map(|rows| present(rows).last().copied()))),
        "any" | "all" => truths(groups, method, values),
        "min" | "max" => {
            let wanted = if method == "min" {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Greater
            };
            let best = |rows: &[usize]| extreme(values, &present(rows), wanted);
            Ok(gathered(values, groups.each().map(best)))
        }
        "sum" => sums(groups, values, name),
        "mean" | "std" | "median" | "quantile" => {
            let share = if method == "median" { 0.5 } else { share };
            let of = |rows: &[usize]| -> Option<f64> {
                let mut numbers = numbers(values, &present(rows));
                match method {
                    "mean" => mean(&numbers),
                    "std" => deviation(&numbers),
                    _ => quantile(&mut numbers, share),
                }
            };
            match values.values() {
                Values::Time(times) => Ok(Column::optional_time(groups.each().map(|rows| {
                    let mut times: Vec<i64> =
                        present(rows).iter().filter_map(|row| times.get(*row).copied()).collect();
                    whole_quantile(&mut times, share)
                }))),
                Values::Duration(_) => {
                    let rounded = |value: f64| value.round() as i64;
                    Ok(Column::optional_duration(groups.each().map(|rows| of(rows).map(rounded))))
                }
                Values::Size(_) => {
                    let rounded = |value: f64| value.round() as i64;
                    Column::optional_size(groups.each().map(|rows| of(rows).map(rounded)))
                        .map_err(|_| beyond(name))
                }
                _ => Ok(Column::optional_float(groups.each().map(of))),
            }
        }
        other => Err(OpError::new("run::argument", format!("There is no `stat.{other}`."))),
    }
}

/// Values of a column at some rows, missing where there is none.
pub(in crate::ops) fn gathered(
    column: &Column,
    rows: impl Iterator<Item = Option<usize>>,
) -> Column {
    let rows: Vec<Option<usize>> =
        rows.map(|row| row.filter(|row| column.is_present(*row))).collect();
    fn pick<T: Copy + Default>(values: &[T], rows: &[Option<usize>]) -> Vec<T> {
        let value = |row: &Option<usize>| row.and_then(|row| values.get(row).copied());
        rows.iter().map(|row| value(row).unwrap_or_default()).collect()
    }
    let values = match column.values() {
        Values::Float(values) => Values::Float(pick(values, &rows)),
        Values::Int(values) => Values::Int(pick(values, &rows)),
        Values::Size(values) => Values::Size(pick(values, &rows)),
        Values::Bool(values) => Values::Bool(pick(values, &rows)),
        Values::Time(values) => Values::Time(pick(values, &rows)),
        Values::Duration(values) => Values::Duration(pick(values, &rows)),
        Values::Str(text) => {
            let value = |row: &Option<usize>| row.and_then(|row| text.get(row)).unwrap_or_default();
            Values::Str(rows.iter().map(value).collect())
        }
    };
    let valid = rows.iter().map(Option::is_some).collect();
    let missing = Column::missing(column.ty(), rows.len());
    Column::new(values, Some(valid)).unwrap_or(missing)
}

fn whole(values: impl Iterator<Item = i128>, name: &str) -> Result<Column, OpError> {
    let values: Result<Vec<i64>, _> = values.map(i64::try_from).collect();
    let values = values.map_err(|_| beyond(name))?;
    Column::bind_int(&values).map_err(|_| beyond(name))
}

fn truths(groups: &Groups, method: &str, values: &Column) -> Result<Column, OpError> {
    let Values::Bool(truths) = values.values() else {
        return Err(OpError::new("run::argument", format!("`stat.{method}` takes truths.")));
    };
    let wanted = method == "any";
    let found = |rows: &[usize]| {
        rows.iter().any(|row| values.is_present(*row) && truths.get(*row) == Some(&wanted))
    };
    Ok(Column::boolean(groups.each().map(|rows| found(rows) == wanted).collect()))
}

/// The row of the smallest or largest value; of a NaN when there is one; the first of equals.
fn extreme(values: &Column, rows: &[usize], wanted: std::cmp::Ordering) -> Option<usize> {
    fn best<T: PartialOrd>(
        rows: &[usize],
        wanted: std::cmp::Ordering,
        value: impl Fn(usize) -> Option<T>,
    ) -> Option<usize> {
        let mut found: Option<(usize, T)> = None;
        for row in rows {
            let Some(value) = value(*row) else { continue };
            if value.partial_cmp(&value).is_none() {
                return Some(*row);
            }
            if found.as_ref().is_none_or(|(_, known)| value.partial_cmp(known) == Some(wanted)) {
                found = Some((*row, value));
            }
        }
        found.map(|(row, _)| row)
    }
    match values.values() {
        Values::Float(v) | Values::Int(v) | Values::Size(v) => {
            best(rows, wanted, |row| v.get(row).copied())
        }
        Values::Time(v) | Values::Duration(v) => best(rows, wanted, |row| v.get(row).copied()),
        Values::Bool(v) => best(rows, wanted, |row| v.get(row).copied()),
        Values::Str(text) => best(rows, wanted, |row| text.get(row)),
    }
}

fn sums(groups: &Groups, values: &Column, name: &str) -> Result<Column, OpError> {
    let present = |rows: &[usize]| -> Vec<usize> {
        rows.iter().copied().filter(|row| values.is_present(*row)).collect()
    };
    let value = |row: &usize| match values.values() {
        #[expect(clippy::cast_possible_truncation, reason = "whole numbers lie within 2^53")]
        Values::Int(v) | Values::Size(v) => v.get(*row).map_or(0, |v| *v as i128),
        Values::Duration(v) => v.get(*row).map_or(0, |v| i128::from(*v)),
        Values::Bool(v) => i128::from(v.get(*row) == Some(&true)),
        Values::Float(_) | Values::Str(_) | Values::Time(_) => 0,
    };
    let exact = || -> Result<Vec<i64>, OpError> {
        let sum = |rows: &[usize]| i64::try_from(present(rows).iter().map(value).sum::<i128>());
        groups.each().map(sum).collect::<Result<_, _>>().map_err(|_| beyond(name))
    };
    match values.values() {
        Values::Float(_) => {
            let sum = |rows: &[usize]| careful_sum(numbers(values, &present(rows)).into_iter());
            Ok(Column::float(groups.each().map(sum).collect()))
        }
        Values::Duration(_) => Ok(Column::duration(exact()?)),
        Values::Size(_) => Column::bind_size(&exact()?).map_err(|_| beyond(name)),
        Values::Int(_) | Values::Bool(_) => Column::bind_int(&exact()?).map_err(|_| beyond(name)),
        Values::Str(_) | Values::Time(_) => {
            Err(OpError::new("run::argument", "`stat.sum` takes numbers.".to_owned()))
        }
    }
}

/// The values at some rows as floats: truths as 0 and 1, durations in nanoseconds.
fn numbers(values: &Column, rows: &[usize]) -> Vec<f64> {
    let number = |row: &usize| match values.values() {
        Values::Float(v) | Values::Int(v) | Values::Size(v) => v.get(*row).copied(),
        Values::Bool(v) => v.get(*row).map(|truth| f64::from(u8::from(*truth))),
        Values::Time(v) | Values::Duration(v) => v.get(*row).map(|nanos| *nanos as f64),
        Values::Str(_) => None,
    };
    rows.iter().filter_map(number).collect()
}

/// A sum that carries what rounding loses (Neumaier).
fn careful_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    if lost.is_finite() { sum + lost } else { sum }
}

pub(in crate::ops) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| careful_sum(values.iter().copied()) / values.len() as f64)
}

/// The standard deviation of a sample, in two passes.
fn deviation(values: &[f64]) -> Option<f64> {
    let squares = squares(values).filter(|_| values.len() > 1)?;
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The standard deviation of a whole population, in two passes.
pub(in crate::ops) fn spread(values: &[f64]) -> Option<f64> {
    squares(values).map(|squares| (squares / values.len() as f64).sqrt())
}

/// The sum of the squared distances from the mean.
fn squares(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    Some(careful_sum(values.iter().map(|value| (value - mean) * (value - mean))))
}

/// The value below which a share lies, on the line between two values.
pub(in crate::ops) fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    if values.iter().any(|value| value.is_nan()) {
        return Some(f64::NAN);
    }
    values.sort_unstable_by(f64::total_cmp);
    let (low, high, part) = between(values, share)?;
    Some(if part == 0.0 || low == high { low } else { low + (high - low) * part })
}

/// The same of whole numbers, rounded.
fn whole_quantile(values: &mut [i64], share: f64) -> Option<i64> {
    values.sort_unstable();
    let (low, high, part) = between(values, share)?;
    let step = (high.abs_diff(low) as f64 * part).round() as u64;
    Some(low.saturating_add_unsigned(step))
}

/// The two sorted values around a share, and how far it is from the first to the second.
fn between<T: Copy>(sorted: &[T], share: f64) -> Option<(T, T, f64)> {
    let at = share * sorted.len().checked_sub(1)? as f64;
    let below = at.floor() as usize;
    let low = sorted.get(below)?;
    Some((*low, *sorted.get(below + 1).unwrap_or(low), at - at.floor()))
}
