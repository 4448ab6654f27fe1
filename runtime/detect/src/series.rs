//! A series: rows in order of time, and the signals that a detector watches in them.

use pipe_data::Table;
use pipe_data::time::show_time;
use pipe_runtime::op::OpError;
use std::collections::BTreeMap;

/// Name of the signal that says how many columns are missing in a row.
pub(crate) const MISSING: &str = "(missing)";

/// Score of a row and its strongest signal.
pub(crate) type Scored = (Option<f64>, Option<String>);

/// Times of a series, checked to increase.
pub(crate) struct Clock {
    /// Nanoseconds since 1970.
    pub(crate) times: Vec<i64>,
    /// The most frequent distance between two rows; 0 with fewer than two.
    pub(crate) step: i64,
}

impl Clock {
    /// The times of a table in its time column.
    pub(crate) fn of(table: &Table) -> Result<Self, OpError> {
        let name = table.time_column(None)?;
        let times = table.times(&name)?;
        let pairs = times.iter().zip(times.iter().skip(1));
        for (row, (earlier, later)) in pairs.enumerate() {
            if later <= earlier {
                return Err(OpError::new(
                    "run::time_order",
                    format!(
                        "The times of a series must increase, and row {} ({}) does not follow row {} ({}).",
                        row + 2,
                        show_time(*later),
                        row + 1,
                        show_time(*earlier)
                    ),
                )
                .help("sort with `data.sort`, and give each time one row with `metrics.resample`"));
            }
        }
        let step = usual_step(&times);
        Ok(Self { times, step })
    }

    /// Runs of rows without a gap: pairs of first row and end.
    pub(crate) fn runs(&self) -> Vec<(usize, usize)> {
        let mut runs = Vec::new();
        let mut first = 0;
        let pairs = self.times.iter().zip(self.times.iter().skip(1));
        for (row, (earlier, later)) in pairs.enumerate() {
            if (later - earlier).saturating_mul(2) > self.step.saturating_mul(3) {
                runs.push((first, row + 1));
                first = row + 1;
            }
        }
        if first < self.times.len() {
            runs.push((first, self.times.len()));
        }
        runs
    }
}

/// The most frequent difference, the smallest among equals: one missing row does not change it.
fn usual_step(times: &[i64]) -> i64 {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for (earlier, later) in times.iter().zip(times.iter().skip(1)) {
        *counts.entry(later - earlier).or_default() += 1;
    }
    let mut best = (0, 0);
    for (difference, count) in counts {
        if count > best.1 {
            best = (difference, count);
        }
    }
    best.0
}

/// The watched columns, one vector each.
pub(crate) struct Signals {
    /// Values by column, then row.
    pub(crate) columns: Vec<Vec<Option<f64>>>,
    /// For each row the share of columns without a value.
    pub(crate) missing: Vec<f64>,
}

impl Signals {
    /// The columns of a table.
    pub(crate) fn of(table: &Table, names: &[String]) -> Result<Self, OpError> {
        let columns: Vec<Vec<Option<f64>>> =
            names.iter().map(|name| table.floats(name)).collect::<Result<_, _>>()?;
        let share = |row: usize| {
            let missing =
                columns.iter().filter(|column| matches!(column.get(row), Some(None))).count();
            ratio(missing, columns.len())
        };
        Ok(Self { missing: (0..table.rows()).map(share).collect(), columns })
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts lie below 2^52")]
pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The middle value; of an even number the mean of the two in the middle.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    sorted.get(middle.checked_sub(1)?).map(|lower| lower + (upper - lower) / 2.0)
}

/// Mean and standard deviation (divided by n), in two passes.
#[expect(clippy::cast_precision_loss, reason = "counts lie below 2^52")]
pub(crate) fn mean_and_deviation(values: &[f64]) -> Option<(f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
    Some((mean, variance.sqrt()))
}

/// The values that are there; an error names the column when there are none.
pub(crate) fn present(column: &[Option<f64>], name: &str) -> Result<Vec<f64>, OpError> {
    let values: Vec<f64> =
        column.iter().flatten().copied().filter(|value| value.is_finite()).collect();
    if values.is_empty() {
        return Err(OpError::new(
            "run::no_values",
            format!("Column `{name}` has no value in the part to learn from."),
        ));
    }
    Ok(values)
}
