//! `data.window`: one row for each stretch of time, or of rows, of each series.

use super::grouping::{Groups, aggregated, gathered};
use crate::call::Call;
use crate::table::Table;
use pipe_row::Column;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;

/// Most rows that all windows together may hold: a wrong unit should not fill the memory.
const MAX_ROWS: usize = 200_000_000;

/// The windows of all series, one after the other.
#[derive(Default)]
struct Windows {
    starts: Vec<i64>,
    ends: Vec<i64>,
    rows: Vec<Vec<usize>>,
    held: usize,
}

impl Windows {
    fn push(&mut self, start: i64, end: i64, rows: &[usize]) -> Result<(), OpError> {
        self.held += rows.len();
        if self.held > MAX_ROWS {
            return Err(OpError::new(
                "run::too_many_steps",
                format!("The windows would hold more than {MAX_ROWS} rows together."),
            )
            .help("make `step` longer, or `length` shorter"));
        }
        self.starts.push(start);
        self.ends.push(end);
        self.rows.push(rows.to_vec());
        Ok(())
    }
}

pub(super) fn window(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let over = call.args.strings("over")?;
    let times = table.times(&table.time_column(call.args.optional_str("by")?)?)?;
    let series = Groups::of(&table, &over)?;
    let mut windows = Windows::default();
    for rows in series.each() {
        call.stop_if_cancelled()?;
        let time = |row: &usize| times.get(*row).copied().unwrap_or_default();
        let mut rows = rows.to_vec();
        rows.sort_by_key(time);
        let at: Vec<i64> = rows.iter().map(time).collect();
        if let Ok(length) = call.args.int("length") {
            let step = call.args.optional_int("step")?.unwrap_or(length);
            by_rows(&rows, &at, whole(length)?, whole(step)?, &mut windows)?;
        } else {
            let length = call.positive_duration("length")?;
            let step = match call.args.optional_duration("step")? {
                Some(_) => call.positive_duration("step")?,
                None => length,
            };
            by_time(&rows, &at, length, step, &mut windows)?;
        }
    }
    let groups = Groups::listed(windows.rows);
    let mut columns = Vec::new();
    for name in over {
        columns.push((name.to_owned(), gathered(&table.column(name)?, groups.firsts().map(Some))));
    }
    columns.push(("start".to_owned(), Column::time(windows.starts)));
    columns.push(("end".to_owned(), Column::time(windows.ends)));
    let functions = call.args.record("aggregates")?;
    for name in functions.names() {
        call.stop_if_cancelled()?;
        columns
            .push((name.to_owned(), aggregated(&table, &groups, name, &functions.record(name)?)?));
    }
    call.give_table(&Table::new(columns)?)
}

fn whole(rows: i64) -> Result<usize, OpError> {
    usize::try_from(rows).ok().filter(|rows| *rows > 0).ok_or_else(|| {
        OpError::new("run::argument", format!("A window of {rows} rows makes no sense."))
    })
}

/// Full windows of `length` rows, from the first and last of which `start` and `end` are.
fn by_rows(
    rows: &[usize],
    times: &[i64],
    length: usize,
    step: usize,
    windows: &mut Windows,
) -> Result<(), OpError> {
    let full = rows.windows(length).zip(times.windows(length)).step_by(step);
    for (rows, times) in full {
        if let (Some(first), Some(last)) = (times.first(), times.last()) {
            windows.push(*first, *last, rows)?;
        }
    }
    Ok(())
}

/// Windows from `start` up to, and without, `end`; they begin at multiples of `step`, the first of them at or before the first
/// row. Windows without rows are left out.
fn by_time(
    rows: &[usize],
    times: &[i64],
    length: i64,
    step: i64,
    windows: &mut Windows,
) -> Result<(), OpError> {
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return Ok(()) };
    let mut start = first.div_euclid(step).saturating_mul(step);
    let (mut from, mut to) = (0, 0);
    while start <= *last {
        let end = start.saturating_add(length);
        while times.get(from).is_some_and(|time| *time < start) {
            from += 1;
        }
        to = to.max(from);
        while times.get(to).is_some_and(|time| *time < end) {
            to += 1;
        }
        let Some(next) = times.get(from) else { break };
        let inside = rows.get(from..to).unwrap_or_default();
        if inside.is_empty() {
            // The first window behind this one that holds the next row.
            let reach = next.saturating_sub(length).div_euclid(step).saturating_add(1);
            start = reach.saturating_mul(step).max(start.saturating_add(step));
            continue;
        }
        windows.push(start, end, inside)?;
        start = start.saturating_add(step);
    }
    Ok(())
}
