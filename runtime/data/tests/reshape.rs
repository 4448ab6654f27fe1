//! Windows, pivots, names, gaps, categories; awkward files.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Bench, list, text};
use pipe_data::Table;
use pipe_row::Column;
use pipe_row::ir::{ColumnRef, Expr, RowFn, Scalar, Ty};
use pipe_runtime::op::{ArgValue, Args};
use pipe_runtime::value::Value;

fn record(fields: Vec<(&str, ArgValue)>) -> ArgValue {
    ArgValue::Record(fields.into_iter().map(|(name, arg)| (name.to_owned(), arg)).collect())
}

fn stat(method: &str, name: &str) -> ArgValue {
    let column = |name: &str| RowFn {
        columns: vec![ColumnRef { name: name.into(), ty: Ty::Int, optional: false }],
        body: Expr::Column(0),
        ty: Ty::Int,
        optional: false,
    };
    let read = record(vec![
        ("method", ArgValue::Value(text(method))),
        ("of", ArgValue::Row(column(name))),
        ("q", ArgValue::Value(Value::None)),
    ]);
    record(vec![("reads", ArgValue::List(vec![read])), ("value", ArgValue::Row(column("a")))])
}

const SECOND: i64 = 1_000_000_000;

fn windows(bench: &Bench, table: Value, length: Value, step: Value, over: &[&str]) -> Table {
    let args = Args::of([
        ("table", table),
        ("length", length),
        ("step", step),
        ("over", list(over)),
        ("by", Value::None),
    ]);
    let functions = record(vec![("n", stat("sum", "n"))]);
    bench.table("data.window", args.with("aggregates", functions)).unwrap()
}

fn whole(values: &[i64]) -> Column {
    Column::bind_int(values).unwrap()
}

#[test]
fn windows_of_time() {
    let bench = Bench::new();
    let seconds = [7, 1, 2, 3, 31, 32];
    let table = || {
        bench.give(vec![
            ("time", Column::time(seconds.iter().map(|s| s * SECOND).collect())),
            ("host", Column::text(["a", "a", "a", "b", "a", "a"])),
            ("n", whole(&[1, 2, 4, 8, 16, 32])),
        ])
    };
    let duration = |seconds: i64| Value::Duration(seconds * SECOND);
    let made = windows(&bench, table(), duration(4), Value::None, &[]);
    assert_eq!(made.names(), ["start", "end", "n"]);
    let starts = |table: &Table| -> Vec<i64> {
        table.times("start").unwrap().into_iter().map(|nanos| nanos / SECOND).collect()
    };
    assert_eq!(starts(&made), [0, 4, 28, 32]);
    assert_eq!(made.column("n").unwrap(), whole(&[14, 1, 16, 32]));
    let made = windows(&bench, table(), duration(4), duration(2), &["host"]);
    assert_eq!(starts(&made), [0, 2, 4, 6, 28, 30, 32, 2]);
    assert_eq!(made.column("n").unwrap(), whole(&[6, 4, 1, 1, 16, 48, 32, 8]));
    assert_eq!(made.texts("host").unwrap()[7], Some("b".into()));
}

#[test]
fn windows_of_rows_are_full() {
    let bench = Bench::new();
    let table = bench
        .give(vec![("time", Column::time(vec![5, 1, 2, 3, 4])), ("n", whole(&[16, 1, 2, 4, 8]))]);
    let made = windows(&bench, table, Value::Int(3), Value::Int(2), &[]);
    assert_eq!(made.times("start").unwrap(), [1, 3]);
    assert_eq!(made.times("end").unwrap(), [3, 5]);
    assert_eq!(made.column("n").unwrap(), whole(&[7, 28]));
    let empty = bench.give(vec![("time", Column::time(Vec::new())), ("n", whole(&[]))]);
    assert_eq!(windows(&bench, empty, Value::Int(3), Value::None, &[]).rows(), 0);
}

#[test]
fn pivot_and_back() {
    let bench = Bench::new();
    let long = || {
        bench.give(vec![
            ("t", whole(&[1, 1, 2, 3])),
            ("metric", Column::text(["cpu", "mem", "mem", "disk"])),
            ("value", Column::float(vec![0.5, 10.0, 11.0, 1.0])),
        ])
    };
    let pivot = |columns: &[&str], table: Value| {
        let args = [
            ("table", table),
            ("by", list(&["t"])),
            ("name", text("metric")),
            ("value", text("value")),
            ("columns", list(columns)),
        ];
        bench.table("data.pivot", Args::of(args))
    };
    let wide = pivot(&["mem", "cpu"], long()).unwrap();
    assert_eq!(wide.names(), ["t", "mem", "cpu"]);
    assert_eq!(wide.floats("mem").unwrap(), [Some(10.0), Some(11.0), None]);
    assert_eq!(wide.floats("cpu").unwrap(), [Some(0.5), None, None]);
    let twice = bench.give(vec![
        ("t", whole(&[1, 1])),
        ("metric", Column::text(["cpu", "cpu"])),
        ("value", Column::float(vec![0.5, 10.0])),
    ]);
    let error = pivot(&["cpu"], twice).unwrap_err();
    assert_eq!(error.code, "run::pivot_twice");
    assert_eq!(error.message, "Rows 1 and 2 both have a value `cpu` for `t` 1.");
    let table = bench.give(vec![
        ("t", whole(&[1, 2])),
        ("cpu", Column::optional_float([Some(0.5), None])),
        ("mem", whole(&[3, 4])),
    ]);
    let args = [
        ("table", table),
        ("columns", list(&["mem", "cpu"])),
        ("name", text("metric")),
        ("value", text("value")),
    ];
    let back = bench.table("data.unpivot", Args::of(args)).unwrap();
    assert_eq!(back.names(), ["t", "metric", "value"]);
    assert_eq!(back.column("t").unwrap(), whole(&[1, 1, 2, 2]));
    assert_eq!(back.column("metric").unwrap(), Column::text(["mem", "cpu", "mem", "cpu"]));
    assert_eq!(back.floats("value").unwrap(), [Some(3.0), Some(0.5), Some(4.0), None]);
}

#[test]
fn names_gaps_and_repetitions() {
    let bench = Bench::new();
    let table = || {
        bench.give(vec![
            ("CPU (%)", Column::optional_float([None, Some(1.0), None, None, Some(2.0)])),
            ("host", Column::text(["a", "a", "b", "a", "b"])),
            ("n", whole(&[1, 1, 2, 1, 2])),
        ])
    };
    let args = Args::of([("table", table())])
        .with("names", record(vec![("cpu", ArgValue::Value(text("CPU (%)")))]));
    assert_eq!(bench.table("data.rename", args).unwrap().names(), ["cpu", "host", "n"]);
    let args = [("table", table()), ("columns", list(&["host"]))];
    assert_eq!(bench.table("data.drop", Args::of(args)).unwrap().names(), ["CPU (%)", "n"]);
    let distinct = |by: &[&str]| {
        let args = [("table", table()), ("by", list(by))];
        bench.table("data.distinct", Args::of(args)).unwrap()
    };
    assert_eq!(distinct(&["host"]).column("n").unwrap(), whole(&[1, 2]));
    assert_eq!(distinct(&[]).rows(), 4);
    let fill = |from: &str, over: &[&str]| {
        let args = [
            ("table", table()),
            ("columns", list(&["CPU (%)"])),
            ("from", text(from)),
            ("over", list(over)),
        ];
        bench.table("data.fill", Args::of(args)).unwrap().floats("CPU (%)").unwrap()
    };
    assert_eq!(fill("before", &[]), [None, Some(1.0), Some(1.0), Some(1.0), Some(2.0)]);
    assert_eq!(fill("before", &["host"]), [None, Some(1.0), None, Some(1.0), Some(2.0)]);
    assert_eq!(fill("after", &["host"]), [Some(1.0), Some(1.0), Some(2.0), None, Some(2.0)]);
}

#[test]
fn categories() {
    let bench = Bench::new();
    let table = || {
        bench.give(vec![
            ("s", Column::optional_text([Some("b"), None, Some("x"), Some("a")])),
            ("n", whole(&[1, 2, 3, 4])),
        ])
    };
    let encode = |by: &str| {
        let categories = record(vec![("s", ArgValue::Value(list(&["a", "b"])))]);
        let args = Args::of([("table", table()), ("by", text(by))]).with("categories", categories);
        bench.table("data.encode", args).unwrap()
    };
    let ordinal = encode("ordinal");
    assert_eq!(ordinal.names(), ["s", "n"]);
    let column = Column::optional_int([Some(1), None, None, Some(0)]).unwrap();
    assert_eq!(ordinal.column("s").unwrap(), column);
    let one_hot = encode("one_hot");
    assert_eq!(one_hot.names(), ["s_a", "s_b", "n"]);
    assert_eq!(one_hot.column("s_b").unwrap().get(0), Scalar::Bool(true));
    assert_eq!(one_hot.column("s_b").unwrap().get(2), Scalar::Bool(false));
    assert_eq!(
        bench.context.warnings(),
        ["`s`: 1 of 4 rows hold none of the categories, such as `x`."; 2]
    );
}

fn read_as(
    bench: &Bench,
    bytes: &str,
    column: (&str, Ty),
    more: &[(&str, Value)],
) -> Result<Table, String> {
    let path = bench.file("m.csv", bytes);
    let columns =
        pipe_compiler::plan::Column { name: column.0.into(), ty: column.1, optional: false };
    let mut args = Args::of([
        ("path", text(&path.to_string_lossy())),
        ("malformed", text("error")),
        ("time", Value::None),
    ]);
    for (name, value) in more {
        args = args.with(name, ArgValue::Value(value.clone()));
    }
    let args = args.with("row", ArgValue::Columns(vec![columns]));
    bench.table("data.read", args).map_err(|error| {
        format!(
            "{} ({})",
            error.message.replace(&path.display().to_string(), "m.csv"),
            error.help.unwrap_or_default()
        )
    })
}

#[test]
fn decimal_commas_and_numbered_names() {
    let bench = Bench::new();
    let comma = [("decimal", text(","))];
    let told = |bytes: &str, more: &[(&str, Value)]| {
        read_as(&bench, bytes, ("x", Ty::Float), more).unwrap_err()
    };
    let made = read_as(&bench, "x;y\n1,5;a\n-2;b\n", ("x", Ty::Float), &comma).unwrap();
    assert_eq!(made.floats("x").unwrap(), [Some(1.5), Some(-2.0)]);
    assert_eq!(
        told("x;y\n1,5;a\n", &[]),
        "m.csv:2: `x` is `1,5` where `float` is needed. (read a file with decimal commas with `decimal: \",\"`)"
    );
    assert!(
        told("x;y\n1.5;a\n", &comma).starts_with("m.csv:2: `x` is `1.5` where `float` is needed.")
    );
    assert!(
        told("x;y\n1.234,5;a\n", &comma)
            .ends_with("(numbers are written without marks between thousands: `1234.5`)")
    );
    let numbered = [("names", text("numbered"))];
    let made = read_as(&bench, ",a,a\n1,2,3\n", ("a#2", Ty::Int), &numbered).unwrap();
    assert_eq!(made.column("a#2").unwrap(), whole(&[3]));
    assert_eq!(
        told("a,a\n1,2\n", &[]),
        "m.csv:1: columns 1 and 2 are both called `a`. (give each a name of its own, or read the second as `a#2` with `names: \"numbered\"`)"
    );
    let made = read_as(&bench, "x|y\n1.5|a,b\n", ("x", Ty::Float), &[]).unwrap();
    assert_eq!(made.floats("x").unwrap(), [Some(1.5)]);
}

#[test]
fn texts_of_an_enumeration_are_checked() {
    let bench = Bench::new();
    let values = Value::Record([("s".to_owned(), list(&["failed", "ok"]))].into());
    let read = |bytes: &str| read_as(&bench, bytes, ("s", Ty::Str), &[("allowed", values.clone())]);
    assert_eq!(read("s\nok\nfailed\n").unwrap().rows(), 2);
    assert_eq!(
        read("s\nok\nbroken\n").unwrap_err(),
        "m.csv:3: `s` is `broken`, which is none of \"failed\" | \"ok\". (correct the file, or read it with `malformed: \"skip\"`)"
    );
}
