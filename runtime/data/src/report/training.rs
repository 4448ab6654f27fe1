//! `report.training`: curves, settings, and scores of models beside each other.

use super::page;
use super::plot::{Axis, Line, Plot};
use super::show::{number, words};
use crate::call::Call;
use pipe_runtime::op::OpError;
use pipe_runtime::shown;
use pipe_runtime::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What `train.fit` writes beside the weights.
#[derive(Deserialize)]
struct Record {
    #[serde(default)]
    steps: u64,
    #[serde(default)]
    tokens: u64,
    #[serde(default)]
    parameters: u64,
    #[serde(default)]
    settings: serde_json::Map<String, serde_json::Value>,
    curves: Curves,
}

#[derive(Deserialize)]
struct Curves {
    #[serde(default)]
    step: Vec<f64>,
    #[serde(default)]
    loss: Vec<f64>,
    #[serde(default)]
    lr: Vec<f64>,
    #[serde(default)]
    grad_norm: Vec<f64>,
    #[serde(default)]
    valid_step: Vec<f64>,
    #[serde(default)]
    valid_loss: Vec<f64>,
}

#[derive(Serialize)]
struct Page {
    summary: String,
    tiles: Vec<Tile>,
    plots: Vec<Picture>,
    scores: Vec<Row>,
    score_names: Vec<String>,
    best: bool,
    settings: Vec<Setting>,
}

#[derive(Serialize)]
struct Tile {
    value: String,
    text: String,
}

#[derive(Serialize)]
struct Picture {
    name: &'static str,
    first: &'static str,
    second: Option<&'static str>,
    svg: String,
}

#[derive(Serialize)]
struct Row {
    name: String,
    values: Vec<String>,
    best: bool,
}

#[derive(Serialize)]
struct Setting {
    name: String,
    value: String,
}

pub(crate) fn training(call: &Call) -> Result<Value, OpError> {
    let record = read(call)?;
    let scores = match call.args.optional_value("scores")? {
        Some(Value::Record(models)) => models.clone(),
        _ => BTreeMap::new(),
    };
    let (score_names, rows) = table(&scores);
    let settings = record.settings.iter().map(|(name, value)| Setting {
        name: words(name),
        value: value.to_string().trim_matches('"').to_owned(),
    });
    let count = |value: u64| shown::count(i64::try_from(value).unwrap_or(i64::MAX));
    let page = Page {
        summary: format!(
            "{} steps over {} tokens, {} parameters",
            count(record.steps),
            count(record.tokens),
            count(record.parameters)
        ),
        tiles: tiles(&scores),
        plots: plots(&record.curves),
        best: rows.iter().any(|row| row.best),
        scores: rows,
        score_names,
        settings: settings.collect(),
    };
    page::give(call, include_str!("training.html"), call.args.str("title")?, &page)
}

fn read(call: &Call) -> Result<Record, OpError> {
    let path = call.path("model", "model")?.join("training.json");
    let text = std::fs::read(&path).map_err(|error| {
        OpError::new("run::no_curves", format!("The model has no record of its training: {error}."))
            .help("give the result of `train.fit`")
    })?;
    serde_json::from_slice(&text).map_err(|error| {
        OpError::new(
            "run::no_curves",
            format!("The record of the training cannot be read: {error}."),
        )
    })
}

fn plots(curves: &Curves) -> Vec<Picture> {
    let last = curves.step.last().copied().unwrap_or(1.0);
    let line = |class, name: &str, steps: &[f64], values: &[f64]| Line {
        class,
        name: name.to_owned(),
        points: steps.iter().copied().zip(values.iter().map(|value| Some(*value))).collect(),
    };
    let plot = |title, lines, height| {
        let mut plot = Plot::new(title, Axis::Count, (0.0, last), lines);
        plot.height = height;
        plot.svg()
    };
    let mut loss = vec![line("main", "training", &curves.step, &curves.loss)];
    let judged = !curves.valid_step.is_empty();
    if judged {
        loss.push(line("second", "validation", &curves.valid_step, &curves.valid_loss));
    }
    let second = judged.then_some("validation");
    let mut made = vec![Picture {
        name: "Loss",
        first: "training",
        second,
        svg: plot("loss over steps", loss, 270.0),
    }];
    for (name, title, values) in [
        ("Learning rate", "learning rate over steps", &curves.lr),
        ("Gradient norm", "gradient norm over steps", &curves.grad_norm),
    ] {
        if !values.is_empty() {
            let svg = plot(title, vec![line("main", title, &curves.step, values)], 120.0);
            made.push(Picture { name, first: name, second: None, svg });
        }
    }
    made
}

fn perplexity(score: &Value) -> Option<f64> {
    match score {
        Value::Record(fields) => match fields.get("perplexity") {
            Some(Value::Float(value)) => Some(*value),
            _ => None,
        },
        _ => None,
    }
}

fn tiles(scores: &BTreeMap<String, Value>) -> Vec<Tile> {
    let found = scores.iter().filter_map(|(name, score)| Some((name, perplexity(score)?)));
    found
        .map(|(name, value)| Tile {
            value: number(value),
            text: format!("perplexity of {}", words(name)),
        })
        .collect()
}

/// Names of the numbers, and a row for each model, the best perplexity first.
fn table(scores: &BTreeMap<String, Value>) -> (Vec<String>, Vec<Row>) {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for score in scores.values() {
        if let Value::Record(fields) = score {
            names.extend(fields.keys().map(String::as_str));
        }
    }
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by_key(|name| (*name != "perplexity", *name != "loss", *name));
    let mut order: Vec<(&String, &Value)> = scores.iter().collect();
    order.sort_by(|a, b| {
        perplexity(a.1).unwrap_or(f64::MAX).total_cmp(&perplexity(b.1).unwrap_or(f64::MAX))
    });
    let rows = order.iter().enumerate().map(|(rank, (name, score))| Row {
        name: words(name),
        values: names.iter().map(|field| cell(score, field)).collect(),
        best: rank == 0 && order.len() > 1 && perplexity(score).is_some(),
    });
    (names.iter().map(|name| words(name)).collect(), rows.collect())
}

fn cell(score: &Value, field: &str) -> String {
    let Value::Record(fields) = score else { return String::new() };
    match fields.get(field) {
        Some(Value::Float(value)) => number(*value),
        #[expect(clippy::cast_precision_loss, reason = "shown to three digits")]
        Some(Value::Int(value)) => number(*value as f64).trim_end_matches(".00").to_owned(),
        _ => String::new(),
    }
}
