//! Alerts: steps above a threshold, joined.

use crate::series::Clock;
use pipe_data::{Call, Table};
use pipe_row::Column;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;

/// Steps above a threshold that belong together; `end` is the end of the last step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// Numbers of its steps above the threshold.
    pub(crate) steps: Vec<usize>,
}

/// Runs of marked steps, with those joined that have no more than `merge` between them.
pub(crate) fn runs(clock: &Clock, marked: &[bool], merge: i64) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (step, time) in
        clock.times.iter().enumerate().filter(|(step, _)| marked.get(*step) == Some(&true))
    {
        let end = time.saturating_add(clock.step);
        match runs.last_mut() {
            Some(run) if time.saturating_sub(run.end) <= merge => {
                run.end = end;
                run.steps.push(step);
            }
            _ => runs.push(Run { start: *time, end, steps: vec![step] }),
        }
    }
    runs
}

/// Which steps score above a threshold.
pub(crate) fn marked(scores: &[Option<f64>], threshold: f64) -> Vec<bool> {
    scores.iter().map(|score| score.is_some_and(|score| score > threshold)).collect()
}

pub(crate) fn alerts(call: &Call) -> Result<Value, OpError> {
    let scored = call.table("scored")?;
    let clock = Clock::of(&scored)?;
    let (scores, tops) = (scored.floats("score")?, scored.texts("top")?);
    let least = call.count_from("steps", 1)?;
    let marked = marked(&scores, call.args.float("threshold")?);
    let mut runs = runs(&clock, &marked, call.args.duration("merge")?.max(0));
    runs.retain(|run| run.steps.len() >= least);
    let score = |step: &usize| scores.get(*step).copied().flatten().unwrap_or(f64::NEG_INFINITY);
    let peaks: Vec<usize> = runs
        .iter()
        .filter_map(|run| {
            run.steps
                .iter()
                .copied()
                .reduce(|best, step| if score(&step) > score(&best) { step } else { best })
        })
        .collect();
    let counts: Vec<i64> =
        runs.iter().map(|run| i64::try_from(run.steps.len()).unwrap_or(i64::MAX)).collect();
    let counts = Column::bind_int(&counts)
        .map_err(|error| OpError::new("run::inexact", format!("{error}.")))?;
    call.give_table(&Table::new(vec![
        ("start".to_owned(), Column::time(runs.iter().map(|run| run.start).collect())),
        ("end".to_owned(), Column::time(runs.iter().map(|run| run.end).collect())),
        (
            "peak".to_owned(),
            Column::time(peaks.iter().filter_map(|step| clock.times.get(*step).copied()).collect()),
        ),
        ("score".to_owned(), Column::float(peaks.iter().map(score).collect())),
        (
            "top".to_owned(),
            Column::optional_text(peaks.iter().map(|step| tops.get(*step).cloned().flatten())),
        ),
        ("steps".to_owned(), counts),
    ])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_join_within_the_gap() {
        let clock = Clock { times: vec![0, 10, 20, 30, 40, 50, 60], step: 10 };
        let marked = [true, true, false, false, true, false, true];
        let spans = |merge| -> Vec<(i64, i64)> {
            runs(&clock, &marked, merge).iter().map(|run| (run.start, run.end)).collect()
        };
        assert_eq!(spans(0), [(0, 20), (40, 50), (60, 70)]);
        assert_eq!(spans(10), [(0, 20), (40, 70)]);
        assert_eq!(spans(20), [(0, 70)]);
    }
}
