//! `eval.detection`: steps and events against labelled windows, beside what luck and laziness reach.

mod baseline;
mod ranking;

use crate::alerts::{Run, marked, runs};
use crate::series::{Clock, ratio};
use baseline::{Baseline, always, random};
use pipe_data::{Call, Table, count};
use pipe_row::Values;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use ranking::average_precision;
use std::collections::BTreeMap;
use std::ops::Range;

/// A labelled window, half open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    start: i64,
    end: i64,
    anomalous: bool,
}

/// Which steps each window touches.
struct Truth {
    /// Anomalous windows by their steps.
    events: Vec<(Window, Range<usize>)>,
    /// Harmless windows by their steps.
    lookalikes: Vec<(Window, Range<usize>)>,
    /// For each step whether it is anomalous.
    anomalous: Vec<bool>,
}

pub(crate) fn detection(call: &Call) -> Result<Value, OpError> {
    let scored = call.table("scored")?;
    let clock = Clock::of(&scored)?;
    let scores = scored.floats("score")?;
    let truth = Truth::new(&clock, &windows(&*call.table("labels")?)?);
    if truth.events.is_empty() {
        return Err(OpError::new(
            "run::no_events",
            "No anomalous window of the labels touches the scored steps.",
        )
        .help(
            "score the part in which the events lie, and look at the zone of the labels' times",
        ));
    }
    let threshold = call.args.float("threshold")?;
    let marks = marked(&scores, threshold);
    let alarms = runs(&clock, &marks, call.args.duration("merge")?.max(0));
    let mut fields = points(&truth, &marks);
    fields.push(("average_precision", Value::Float(average_precision(&scores, &truth.anomalous))));
    fields.extend(events(&truth, &clock, &marks));
    fields.extend(alarm_fields(&truth, &clock, &alarms, &marks));
    let unscored = scores.iter().filter(|score| score.is_none()).count();
    fields.push(("steps", count(scores.len())));
    fields.push(("steps_unscored", count(unscored)));
    fields.push(("threshold", Value::Float(threshold)));
    let lengths: Vec<usize> = truth.events.iter().map(|(_, steps)| steps.len()).collect();
    let anomalous = truth.anomalous.iter().filter(|step| **step).count();
    let marked_steps = marks.iter().filter(|mark| **mark).count();
    fields.push(("random", record(&random(scores.len(), anomalous, marked_steps, &lengths))));
    fields.push(("always", record(&always(scores.len(), anomalous))));
    Ok(Value::Record(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()))
}

type Field = (&'static str, Value);

fn record(baseline: &Baseline) -> Value {
    let fields = [
        ("precision", baseline.precision),
        ("recall", baseline.recall),
        ("f1", f1(baseline.precision, baseline.recall)),
        ("average_precision", baseline.average_precision),
        ("event_recall", baseline.event_recall),
    ];
    let fields: BTreeMap<String, Value> =
        fields.into_iter().map(|(name, value)| (name.to_owned(), Value::Float(value))).collect();
    Value::Record(fields)
}

fn f1(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}

/// The labels, checked.
fn windows(labels: &Table) -> Result<Vec<Window>, OpError> {
    let (starts, ends) = (labels.times("start")?, labels.times("end")?);
    let flags = match labels.column("anomalous")?.into_parts() {
        (Values::Bool(flags), None) => flags,
        _ => {
            return Err(OpError::new(
                "run::column_type",
                "Column `anomalous` of the labels must be true or false in every row.",
            ));
        }
    };
    let mut found = Vec::new();
    for (row, ((start, end), anomalous)) in starts.into_iter().zip(ends).zip(flags).enumerate() {
        if end <= start {
            return Err(OpError::new(
                "run::bad_label",
                format!("Window {} of the labels ends before it begins.", row + 1),
            ));
        }
        found.push(Window { start, end, anomalous });
    }
    Ok(found)
}

impl Truth {
    fn new(clock: &Clock, windows: &[Window]) -> Self {
        let touched = |window: &Window| -> Range<usize> {
            let length = clock.step.max(1);
            let first =
                clock.times.partition_point(|time| time.saturating_add(length) <= window.start);
            first..clock.times.partition_point(|time| *time < window.end).max(first)
        };
        let mut anomalous = vec![false; clock.times.len()];
        let (mut events, mut lookalikes) = (Vec::new(), Vec::new());
        for window in windows {
            let steps = touched(window);
            if steps.is_empty() {
                continue;
            }
            if window.anomalous {
                anomalous[steps.clone()].fill(true);
                events.push((*window, steps));
            } else {
                lookalikes.push((*window, steps));
            }
        }
        Self { events, lookalikes, anomalous }
    }
}

/// Counts of steps.
fn points(truth: &Truth, marks: &[bool]) -> Vec<Field> {
    let hits = marks
        .iter()
        .zip(&truth.anomalous)
        .filter(|(mark, anomalous)| **mark && **anomalous)
        .count();
    let marked = marks.iter().filter(|mark| **mark).count();
    let anomalous = truth.anomalous.iter().filter(|step| **step).count();
    let (precision, recall) = (ratio(hits, marked), ratio(hits, anomalous));
    vec![
        ("precision", Value::Float(precision)),
        ("recall", Value::Float(recall)),
        ("f1", Value::Float(f1(precision, recall))),
        ("steps_anomalous", count(anomalous)),
    ]
}

/// Which events were found, and how soon.
fn events(truth: &Truth, clock: &Clock, marks: &[bool]) -> Vec<Field> {
    let first = |steps: &Range<usize>| steps.clone().find(|step| marks.get(*step) == Some(&true));
    let mut delays: Vec<i64> = truth
        .events
        .iter()
        .filter_map(|(window, steps)| {
            let known = clock.times.get(first(steps)?)?.saturating_add(clock.step);
            Some(known.saturating_sub(window.start).max(0))
        })
        .collect();
    delays.sort_unstable();
    let found = delays.len();
    let middle = delays.get(found.saturating_sub(1) / 2).copied();
    vec![
        ("events", count(truth.events.len())),
        ("events_found", count(found)),
        ("event_recall", Value::Float(ratio(found, truth.events.len()))),
        ("delay", middle.map_or(Value::None, Value::Duration)),
    ]
}

/// Alarms that touch no event, and those in harmless windows.
fn alarm_fields(truth: &Truth, clock: &Clock, alarms: &[Run], marks: &[bool]) -> Vec<Field> {
    let touches_event =
        |run: &&Run| run.steps.iter().any(|step| truth.anomalous.get(*step) == Some(&true));
    let false_alarms = alarms.len() - alarms.iter().filter(touches_event).count();
    let calm = truth.anomalous.iter().filter(|anomalous| !**anomalous).count();
    #[expect(clippy::cast_precision_loss, reason = "hours to a few digits")]
    let hours = calm as f64 * clock.step as f64 / 3.6e12;
    #[expect(clippy::cast_precision_loss, reason = "counts lie below 2^52")]
    let rate = if hours > 0.0 { false_alarms as f64 / hours } else { 0.0 };
    let alarmed = |steps: &Range<usize>| {
        let wrong = |step: usize| {
            marks.get(step) == Some(&true) && truth.anomalous.get(step) == Some(&false)
        };
        steps.clone().any(wrong)
    };
    let fooled = truth.lookalikes.iter().filter(|(_, steps)| alarmed(steps)).count();
    vec![
        ("alarms", count(alarms.len())),
        ("false_alarms", count(false_alarms)),
        ("false_alarms_per_hour", Value::Float(rate)),
        ("lookalikes", count(truth.lookalikes.len())),
        ("lookalike_alarms", count(fooled)),
    ]
}
