//! Fitting and scoring: `detect.robust_z`, `detect.pca_window`, `detect.score`.

use crate::pca::Pca;
use crate::robust::{Robust, Side};
use crate::series::{Clock, Signals};
use pipe_data::{Call, Table, count};
use pipe_row::Column;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// What a detector learned, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Detector {
    /// Format of the file.
    format: String,
    columns: Vec<String>,
    /// Rows that it learned from.
    rows: usize,
    learned: Learned,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Learned {
    RobustZ(Robust),
    PcaWindow(Pca),
}

const FORMAT: &str = "pipe-detector-1";

pub(crate) fn fit_robust(call: &Call) -> Result<Value, OpError> {
    let table = call.table("data")?;
    let columns = call.names("columns")?;
    let side = match call.args.str("side")? {
        "upper" => Side::Upper,
        "lower" => Side::Lower,
        _ => Side::Both,
    };
    let floor = call.float_within("floor", 1e-12, 1e12)?;
    let signals = Signals::of(&table, &columns)?;
    let learned = Learned::RobustZ(Robust::fit(&signals, &columns, side, floor)?);
    give(call, "robust_z", columns, table.rows(), learned)
}

pub(crate) fn fit_pca(call: &Call) -> Result<Value, OpError> {
    let table = call.table("data")?;
    let columns = call.names("columns")?;
    let (keep, floor) =
        (call.float_within("keep", 0.0, 1.0)?, call.float_within("floor", 1e-12, 1e12)?);
    let (signals, clock) = (Signals::of(&table, &columns)?, Clock::of(&table)?);
    let length = call.positive_duration("window")?;
    let learned = Learned::PcaWindow(Pca::fit(&signals, &columns, &clock, length, keep, floor)?);
    give(call, "pca_window", columns, table.rows(), learned)
}

fn give(
    call: &Call,
    kind: &str,
    columns: Vec<String>,
    rows: usize,
    learned: Learned,
) -> Result<Value, OpError> {
    let listed = columns.iter().map(|name| Value::Str(name.clone())).collect();
    let meta = BTreeMap::from([
        ("kind".to_owned(), Value::Str(kind.to_owned())),
        ("columns".to_owned(), Value::List(listed)),
        ("rows".to_owned(), count(rows)),
    ]);
    let detector = Detector { format: FORMAT.to_owned(), columns, rows, learned };
    let text = serde_json::to_vec_pretty(&detector).map_err(|error| {
        OpError::new("run::write", format!("The detector cannot be written: {error}."))
    })?;
    call.give_file(&text, "detector", "json", meta)
}

fn read(path: &Path) -> Result<Detector, OpError> {
    let damaged = |error: &dyn std::fmt::Display| {
        OpError::new("run::bad_detector", format!("{} is not a detector: {error}.", path.display()))
    };
    let text = std::fs::read(path).map_err(|error| damaged(&error))?;
    let detector: Detector = serde_json::from_slice(&text).map_err(|error| damaged(&error))?;
    if detector.format != FORMAT {
        return Err(damaged(&format!(
            "its format is `{}` where `{FORMAT}` is needed",
            detector.format
        )));
    }
    Ok(detector)
}

pub(crate) fn score(call: &Call) -> Result<Value, OpError> {
    let detector = call.decoded("detector", "detector", read)?;
    let table = call.table("data")?;
    let (clock, signals) = (Clock::of(&table)?, Signals::of(&table, &detector.columns)?);
    let scores = match &detector.learned {
        Learned::RobustZ(robust) => robust.score(&signals, &detector.columns),
        Learned::PcaWindow(pca) => pca.score(&signals, &detector.columns, &clock)?,
    };
    let (scores, tops): (Vec<Option<f64>>, Vec<Option<String>>) = scores.into_iter().unzip();
    if !scores.is_empty() && scores.iter().all(Option::is_none) {
        call.context.warn(&format!(
            "None of {} rows has a score: they are too few to fill a window.",
            scores.len()
        ));
    }
    call.give_table(&Table::new(vec![
        ("time".to_owned(), Column::time(clock.times)),
        ("score".to_owned(), Column::optional_float(scores)),
        ("top".to_owned(), Column::optional_text(tops)),
    ])?)
}
