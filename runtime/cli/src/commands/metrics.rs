//! `pipe metrics [RUN]`: the numbers that outputs and checks hold, a run a row.

use super::record::Record;
use super::run::failed;
use super::{Outcome, exit};
use crate::args::RecordArgs;
use crate::render::metrics as render;
use crate::render::record::outcome;
use crate::render::style::Look;
use pipe_runtime::shown::time;
use pipe_runtime::store::{Roots, RunRow};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Forms of the answer.
pub(crate) enum Form {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// For spreadsheets.
    Csv,
}

/// Show the numbers of one run, or of the last ones.
pub(crate) fn metrics(
    run: Option<&str>,
    most: usize,
    place: &RecordArgs,
    form: &Form,
    look: &Look,
) -> Outcome {
    let record = Record::of(place)?;
    let rows = match run {
        Some(wanted) => vec![record.run(wanted)?.row],
        None => record.runs(most)?,
    };
    let mut runs = Vec::with_capacity(rows.len());
    for row in rows {
        let roots = record.store.roots_seen(row.run).map_err(failed)?;
        runs.push((row, roots));
    }
    match form {
        Form::Json => {
            let each = |(row, roots): &(RunRow, Roots)| json(row, roots);
            println!("{:#}", Value::Array(runs.iter().map(each).collect()));
        }
        Form::Csv => print!("{}", csv(&runs)),
        Form::Table if runs.is_empty() => eprintln!("no runs yet: `pipe run FILE` makes one"),
        Form::Table => match (run, runs.first()) {
            (Some(_), Some((row, roots))) => print!("{}", render::one(row, roots, look)),
            _ => print!("{}", render::table(&runs, look)),
        },
    }
    Ok(exit::OK)
}

fn passed(roots: &Roots) -> BTreeMap<&str, bool> {
    let checks = roots.rows.iter().filter(|root| root.kind == "check");
    checks.filter_map(|root| Some((root.name.as_str(), root.passed?))).collect()
}

fn json(row: &RunRow, roots: &Roots) -> Value {
    json!({
        "run": row.run,
        "file": row.file,
        "started": time(row.started),
        "outcome": outcome(row),
        "seconds": row.seconds,
        "checks": passed(roots),
        "numbers": roots.numbers,
    })
}

/// A table with a column for each number that one of the runs has, and one for each check (`NAME passed`).
fn csv(runs: &[(RunRow, Roots)]) -> String {
    let places: BTreeSet<&str> =
        runs.iter().flat_map(|(_, roots)| roots.numbers.keys().map(String::as_str)).collect();
    let checks: BTreeSet<&str> =
        runs.iter().flat_map(|(_, roots)| passed(roots).into_keys()).collect();
    let mut head: Vec<String> =
        ["run", "file", "started", "outcome", "seconds"].map(str::to_owned).into();
    head.extend(checks.iter().map(|name| format!("{name} passed")));
    head.extend(places.iter().map(|place| (*place).to_owned()));
    let mut out = line(&head);
    for (row, roots) in runs {
        let passed = passed(roots);
        let mut cells = vec![
            row.run.to_string(),
            row.file.clone(),
            time(row.started),
            outcome(row),
            row.seconds.map_or_else(String::new, |seconds| seconds.to_string()),
        ];
        cells.extend(
            checks
                .iter()
                .map(|name| passed.get(name).map_or_else(String::new, |passed| passed.to_string())),
        );
        cells.extend(places.iter().map(|place| {
            roots.numbers.get(*place).map_or_else(String::new, |value| value.to_string())
        }));
        out += &line(&cells);
    }
    out
}

fn line(cells: &[String]) -> String {
    let quoted = cells.iter().map(|cell| match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    });
    quoted.collect::<Vec<_>>().join(",") + "\n"
}
