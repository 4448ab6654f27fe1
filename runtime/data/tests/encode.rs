//! Encoders: golden values of scikit-learn's scalers, unknown texts, and the same columns on other rows.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Bench, list, text};
use pipe_data::Table;
use pipe_row::Column;
use pipe_runtime::op::{Args, OpError};
use pipe_runtime::value::Value;
use std::collections::BTreeMap;

fn fit(bench: &Bench, table: Value, columns: &[&str], by: &str) -> Result<Value, OpError> {
    fit_with(bench, table, columns, by, Value::None, 1, &[])
}

fn fit_with(
    bench: &Bench,
    table: Value,
    columns: &[&str],
    by: &str,
    most: Value,
    least: i64,
    categories: &[(&str, &[&str])],
) -> Result<Value, OpError> {
    let categories = categories.iter().map(|(name, texts)| (*name, list(texts)));
    let args = [
        ("table", table),
        ("columns", list(columns)),
        ("by", text(by)),
        ("most", most),
        ("least", Value::Int(least)),
        ("categories", Value::record(categories)),
    ];
    bench.run("encode.fit", Args::of(args))
}

fn apply(bench: &Bench, table: Value, with: Value) -> Table {
    bench.table("encode.apply", Args::of([("table", table), ("with", with)])).unwrap()
}

fn numbers(bench: &Bench, values: &[f64]) -> Value {
    bench.give(vec![("x", Column::float(values.to_vec()))])
}

fn hosts(bench: &Bench, texts: &[Option<&str>]) -> Value {
    let texts = texts.iter().map(|text| text.map(str::to_owned));
    bench.give(vec![("host", Column::optional_text(texts))])
}

/// scikit-learn 1.5 on [1, 2, 4, 10], then on 13: StandardScaler, RobustScaler, MinMaxScaler.
#[test]
fn scales_are_those_of_scikit_learn() {
    let bench = Bench::new();
    let golden = [
        (
            "standard",
            [-0.930_949_336_251_262_7, -0.644_503_386_635_489_6, -0.071_611_487_403_943_3],
        ),
        ("robust", [-0.533_333_333_333_333_3, -0.266_666_666_666_666_66, 0.266_666_666_666_666_66]),
        ("min_max", [0.0, 0.111_111_111_111_111_1, 0.333_333_333_333_333_3]),
    ];
    for (by, expected) in golden {
        let encoder = fit(&bench, numbers(&bench, &[1.0, 2.0, 4.0, 10.0]), &["x"], by).unwrap();
        let made = apply(&bench, numbers(&bench, &[1.0, 2.0, 4.0, 13.0]), encoder);
        let found = made.floats("x").unwrap();
        for (found, expected) in found.iter().zip(expected) {
            assert!((found.unwrap() - expected).abs() < 1e-12, "{by}: {found:?} {expected}");
        }
        assert!(found[3].unwrap() > 1.0, "what lies beyond is not cut off: {found:?}");
    }
}

#[test]
fn a_column_of_one_value_is_divided_by_one() {
    let bench = Bench::new();
    for by in ["standard", "robust", "min_max"] {
        let encoder = fit(&bench, numbers(&bench, &[3.0, 3.0]), &["x"], by).unwrap();
        let made = apply(&bench, numbers(&bench, &[3.0, 5.0, f64::NAN]), encoder);
        assert_eq!(made.floats("x").unwrap(), [Some(0.0), Some(2.0), None]);
        assert!(made.column("x").unwrap().is_present(2), "a NaN stays one: it is not missing");
    }
    let error = fit(&bench, numbers(&bench, &[f64::NAN]), &["x"], "standard").unwrap_err();
    assert_eq!(error.code, "run::no_values");
    let wide = numbers(&bench, &[-1e308, 1e308, 1e308]);
    assert_eq!(fit(&bench, wide, &["x"], "min_max").unwrap_err().code, "run::arithmetic");
}

#[test]
fn texts_by_place_and_by_share() {
    let bench = Bench::new();
    let seen = || hosts(&bench, &[Some("b"), Some("a"), None, Some("b"), Some("c")]);
    let others = || hosts(&bench, &[Some("c"), Some("zz"), None, Some("b")]);
    let encoder = fit(&bench, seen(), &["host"], "ordinal").unwrap();
    let made = apply(&bench, others(), encoder);
    let places = Column::optional_int([Some(2), None, None, Some(1)]).unwrap();
    assert_eq!(made.column("host").unwrap(), places);
    let encoder = fit(&bench, seen(), &["host"], "frequency").unwrap();
    let made = apply(&bench, others(), encoder);
    assert_eq!(made.floats("host").unwrap(), [Some(0.25), Some(0.0), None, Some(0.5)]);
    let encoder = fit_with(&bench, seen(), &["host"], "ordinal", Value::None, 2, &[]).unwrap();
    let made = apply(&bench, others(), encoder);
    let places = Column::optional_int([None, None, None, Some(0)]).unwrap();
    assert_eq!(made.column("host").unwrap(), places, "texts in one row are not seen");
}

#[test]
fn texts_as_truths() {
    let bench = Bench::new();
    let seen = || hosts(&bench, &[Some("b"), Some("a"), None, Some("b"), Some("c")]);
    let others = || hosts(&bench, &[Some("c"), Some("zz"), None, Some("b")]);
    let hot = |most, categories: &[(&str, &[&str])]| {
        let encoder = fit_with(&bench, seen(), &["host"], "one_hot", most, 1, categories).unwrap();
        let made = apply(&bench, others(), encoder);
        let columns = made.columns().unwrap().into_iter();
        columns.collect::<BTreeMap<String, Column>>()
    };
    let truths = |truths: [bool; 4]| Column::boolean(truths.to_vec());
    // The most frequent first, then by letters; beyond what there is, columns that never hold.
    let made = hot(Value::Int(2), &[]);
    assert_eq!(made.keys().collect::<Vec<_>>(), ["host_1", "host_2", "host_other"]);
    assert_eq!(made["host_1"], truths([false, false, false, true]));
    assert_eq!(made["host_2"], truths([false; 4]));
    assert_eq!(made["host_other"], truths([true, true, false, false]));
    let made = hot(Value::Int(5), &[]);
    assert_eq!(made.len(), 6);
    assert_eq!(made["host_5"], truths([false; 4]));
    assert_eq!(made["host_other"], truths([false, true, false, false]));
    let made = hot(Value::None, &[("host", &["b", "other"])]);
    assert_eq!(made.keys().collect::<Vec<_>>(), ["host_b", "host_other"]);
    assert_eq!(made["host_other"], truths([false; 4]), "a category, not all the others");
}

#[test]
fn an_encoder_is_a_readable_file() {
    let bench = Bench::new();
    let encoder = fit(&bench, numbers(&bench, &[1.0, 3.0]), &["x"], "standard").unwrap();
    let Value::Artifact(artifact) = &encoder else { unreachable!("{encoder:?}") };
    assert_eq!((artifact.kind.as_str(), artifact.extension.as_str()), ("encoder", "json"));
    assert_eq!(artifact.meta["rows"], Value::Int(2));
    use pipe_runtime::op::Context;
    let path = bench.context.path(artifact).unwrap();
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let expected = serde_json::json!({
        "format": "pipe-encoder-1",
        "rows": 2,
        "columns": [{ "name": "x", "scale": { "center": 2.0, "spread": 1.0 } }],
    });
    assert_eq!(json, expected);
    std::fs::write(&path, "{}").unwrap();
    let args = Args::of([("table", numbers(&bench, &[1.0])), ("with", encoder)]);
    assert_eq!(bench.run("encode.apply", args).unwrap_err().code, "run::bad_encoder");
}
