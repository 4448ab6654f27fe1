//! Reports: one file, nothing from elsewhere, and nothing in the data can become markup.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Bench, text};
use pipe_row::Column;
use pipe_runtime::op::{Args, Context};
use pipe_runtime::value::Value;
use std::collections::BTreeMap;

const SECOND: i64 = 1_000_000_000;
const START: i64 = 1_796_083_200 * SECOND;

fn html(bench: &Bench, value: &Value) -> String {
    let Value::Artifact(artifact) = value else { panic!("no artifact") };
    assert_eq!((artifact.kind.as_str(), artifact.extension.as_str()), ("report", "html"));
    std::fs::read_to_string(bench.context.path(artifact).unwrap()).unwrap()
}

fn check_page(html: &str) {
    for outside in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!html.contains(outside), "the page refers to {outside}");
    }
    assert!(!html.contains("<b onclick"), "data became markup");
    assert!(!html.contains("NaN") && !html.contains("inf"), "a number has no form");
    assert!(html.starts_with("<!doctype html>") && html.trim_end().ends_with("</html>"));
}

fn record<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Record(
        fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<BTreeMap<_, _>>(),
    )
}

fn metrics() -> [(&'static str, Value); 5] {
    ["precision", "recall", "f1", "average_precision", "event_recall"]
        .map(|name| (name, Value::Float(0.5)))
}

fn quality() -> Value {
    let Value::Record(mut fields) = record(metrics()) else { panic!() };
    for name in [
        "events_found",
        "events",
        "false_alarms",
        "lookalikes",
        "lookalike_alarms",
        "steps_unscored",
    ] {
        fields.insert(name.to_owned(), Value::Int(1));
    }
    fields.insert("false_alarms_per_hour".into(), Value::Float(1.5));
    fields.insert("delay".into(), Value::None);
    fields.insert("random".into(), record(metrics()));
    fields.insert("always".into(), record(metrics()));
    Value::Record(fields)
}

#[test]
fn a_detection_report_shows_what_was_found() {
    let bench = Bench::new();
    let times: Vec<i64> = (0..5_000).map(|step| START + step * SECOND).collect();
    let scores = (0..5_000).map(|step| {
        (step % 97 != 0).then_some(if (700..720).contains(&step) { 50.0 } else { 1.0 })
    });
    let scored = bench.give(vec![
        ("time", Column::time(times.clone())),
        ("score", Column::optional_float(scores)),
        ("top", Column::optional_text(times.iter().map(|_| Some("<b onclick>")))),
    ]);
    let data = bench.give(vec![
        ("time", Column::time(times.clone())),
        ("<b onclick>", Column::float(vec![2.0; 5_000])),
    ]);
    let at = |step: i64| Column::time(vec![START + step * SECOND]);
    let alerts = bench.give(vec![
        ("start", at(700)),
        ("end", at(720)),
        ("peak", at(701)),
        ("score", Column::float(vec![50.0])),
        ("top", Column::text(["<b onclick>"])),
    ]);
    let labels = bench.give(vec![
        ("start", Column::time(vec![START + 690 * SECOND, START + 3_000 * SECOND])),
        ("end", Column::time(vec![START + 730 * SECOND, START + 3_100 * SECOND])),
        ("kind", Column::text(["disk_stall", "<b onclick>"])),
        ("anomalous", Column::boolean(vec![true, true])),
    ]);
    let log = bench.give(vec![
        ("time", Column::time(vec![START + 702 * SECOND, START + 703 * SECOND])),
        ("level", Column::text(["error", "info"])),
        ("component", Column::text(["db", "db"])),
        ("message", Column::text(["<b onclick>locked", "fine"])),
    ]);
    let args = |log: Value| {
        Args::of([
            ("scored", scored.clone()),
            ("threshold", Value::Float(3.0)),
            ("alerts", alerts.clone()),
            ("labels", labels.clone()),
            ("quality", quality()),
            ("data", data.clone()),
            ("log", log),
            ("title", text("A <b onclick> title")),
        ])
    };
    let page = html(&bench, &bench.run("report.detection", args(log)).unwrap());
    check_page(&page);
    for part in ["disk stall", "Missed incidents", "at random", "locked", "1 of 1"] {
        assert!(page.contains(part), "{part} is missing");
    }
    assert!(
        !page.contains("fine"),
        "lines that are no warning are quoted though there is an error"
    );
    check_page(&html(&bench, &bench.run("report.detection", args(Value::None)).unwrap()));
    let same = |_| html(&bench, &bench.run("report.detection", args(Value::None)).unwrap());
    assert_eq!(same(0), same(1));
}

#[test]
fn a_training_report_shows_curves_and_scores() {
    let bench = Bench::new();
    let folder = bench.context.scratch("model").unwrap();
    std::fs::create_dir_all(&folder).unwrap();
    let record_text = r#"{"format": 1, "steps": 300, "tokens": 38100, "parameters": 1900000, "settings": {"lr": 0.002, "betas": [0.9, 0.95], "clip": null},
        "curves": {"step": [1, 150, 300], "tokens": [127, 19050, 38100], "loss": [8.3, 5.1, 4.2], "lr": [0.0, 0.002, 0.0002], "grad_norm": [3.0, 1.0, 0.5],
        "valid_step": [150, 300], "valid_loss": [5.3, 4.5]}}"#;
    std::fs::write(folder.join("training.json"), record_text).unwrap();
    let model =
        Value::Artifact(bench.context.adopt(&folder, "model", "", BTreeMap::new()).unwrap());
    let score = |perplexity: f64| {
        record([("perplexity", Value::Float(perplexity)), ("targets", Value::Int(38_000))])
    };
    let scores = record([("decoder", score(60.5)), ("<b onclick>", score(84.2))]);
    let args = Args::of([
        ("model", model.clone()),
        ("scores", scores),
        ("title", text("A small decoder")),
    ]);
    let page = html(&bench, &bench.run("report.training", args).unwrap());
    check_page(&page);
    for part in
        ["A small decoder", "60.5", "84.2", "38,000", "Learning rate", "validation", "300 steps"]
    {
        assert!(page.contains(part), "{part} is missing");
    }
    let bare = bench.context.scratch("bare").unwrap();
    std::fs::create_dir_all(&bare).unwrap();
    std::fs::write(bare.join("config.json"), "{}").unwrap();
    let untrained =
        Value::Artifact(bench.context.adopt(&bare, "model", "", BTreeMap::new()).unwrap());
    let args = Args::of([("model", untrained), ("scores", Value::None), ("title", text("x"))]);
    assert_eq!(bench.run("report.training", args).unwrap_err().code, "run::no_curves");
}
