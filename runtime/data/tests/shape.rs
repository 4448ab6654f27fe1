//! Shaping tables: filter, derive, select, sort, join, split, resample, and equal bytes for equal tables.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Bench, list, text};
use pipe_data::{Table, read_table, write_table};
use pipe_row::Column;
use pipe_row::ir::{BinaryOp, ColumnRef, Expr, RowFn, Scalar, Ty};
use pipe_row::window::{Reach, Window};
use pipe_runtime::op::{ArgValue, Args};
use pipe_runtime::value::Value;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn reads(name: &str, ty: Ty, optional: bool, body: Expr, result: Ty) -> ArgValue {
    let columns = vec![ColumnRef { name: name.into(), ty, optional }];
    ArgValue::Row(RowFn { columns, body, ty: result, optional })
}

fn above(name: &str, limit: f64) -> ArgValue {
    let limit = Box::new(Expr::Literal(Scalar::Float(limit)));
    reads(
        name,
        Ty::Float,
        true,
        Expr::Binary(BinaryOp::Greater, Box::new(Expr::Column(0)), limit),
        Ty::Bool,
    )
}

fn series(bench: &Bench) -> Value {
    bench.give(vec![
        ("time", Column::time(vec![0, 1, 2, 7])),
        ("x", Column::optional_float([Some(1.0), None, Some(3.0), Some(4.0)])),
        ("host", Column::text(["a", "b", "a", "b"])),
    ])
}

#[test]
fn filter_keeps_what_holds() {
    let bench = Bench::new();
    let args = Args::of([("table", series(&bench))]).with("where", above("x", 2.0));
    let table = bench.table("data.filter", args).unwrap();
    assert_eq!(table.times("time").unwrap(), [2, 7]);
}

#[test]
fn derive_replaces_in_place_and_adds_at_the_end() {
    let bench = Bench::new();
    let double = Expr::Binary(BinaryOp::Add, Box::new(Expr::Column(0)), Box::new(Expr::Column(0)));
    let columns = BTreeMap::from([
        ("x".to_owned(), reads("x", Ty::Float, true, double.clone(), Ty::Float)),
        ("y".to_owned(), reads("x", Ty::Float, true, double, Ty::Float)),
    ]);
    let args = Args::of([("table", series(&bench))]).with("columns", ArgValue::Record(columns));
    let table = bench.table("data.derive", args).unwrap();
    assert_eq!(table.names(), ["time", "x", "host", "y"]);
    assert_eq!(table.floats("x").unwrap(), table.floats("y").unwrap());
    assert_eq!(table.floats("y").unwrap(), [Some(2.0), None, Some(6.0), Some(8.0)]);
}

fn lag(name: &str) -> ArgValue {
    let body = Expr::Window(Window::Lag(Reach::Rows(1)), Box::new(Expr::Column(0)));
    reads(name, Ty::Float, true, body, Ty::Float)
}

#[test]
fn windows_look_back_over_the_rows_of_an_entity() {
    let bench = Bench::new();
    let table = bench.give(vec![
        ("time", Column::time(vec![7, 0, 2, 1])),
        ("x", Column::float(vec![4.0, 1.0, 3.0, 2.0])),
        ("host", Column::text(["b", "a", "a", "b"])),
    ]);
    let derived = |more: &[(&str, Value)]| {
        let columns = ArgValue::Record(BTreeMap::from([("before".to_owned(), lag("x"))]));
        let mut args = Args::of([("table", table.clone())]).with("columns", columns);
        for (name, value) in more {
            args = args.with(name, ArgValue::Value(value.clone()));
        }
        bench.table("data.derive", args)
    };
    let before = |more: &[(&str, Value)]| derived(more).unwrap().floats("before").unwrap();
    assert_eq!(before(&[]), [None, Some(4.0), Some(1.0), Some(3.0)], "as the rows stand");
    let time = ("by", text("time"));
    assert_eq!(before(std::slice::from_ref(&time)), [Some(3.0), None, Some(2.0), Some(1.0)]);
    let host = ("over", list(&["host"]));
    assert_eq!(before(std::slice::from_ref(&host)), [None, None, Some(1.0), Some(4.0)]);
    assert_eq!(before(&[host, time]), [Some(2.0), None, Some(1.0), None]);
    let error = derived(&[("by", text("x"))]).unwrap_err();
    assert_eq!(error.message, "`by` names `x`, which holds float and must hold times.");
}

#[test]
fn steps_in_one_pass_give_what_they_give_one_by_one() {
    let bench = Bench::new();
    let table = series(&bench);
    let columns = || ArgValue::Record(BTreeMap::from([("before".to_owned(), lag("x"))]));
    let filter = |table: Value| Args::of([("table", table)]).with("where", above("x", 0.0));
    let derive = |table: Value| Args::of([("table", table)]).with("columns", columns());
    let select =
        |table: Value| Args::of([("table", table), ("columns", list(&["before", "time"]))]);
    let one = bench.run("data.filter", filter(table.clone())).unwrap();
    let one = bench.run("data.derive", derive(one)).unwrap();
    let one = bench.run("data.select", select(one)).unwrap();
    let step = |op: &str, args: Args| {
        let mut fields = args.0;
        fields.remove("table");
        fields.insert("op".to_owned(), ArgValue::Value(text(op)));
        ArgValue::Record(fields)
    };
    let steps = vec![
        step("data.filter", filter(Value::None)),
        step("data.derive", derive(Value::None)),
        step("data.select", select(Value::None)),
    ];
    let args = Args::of([("table", table)]).with("steps", ArgValue::List(steps));
    assert_eq!(bench.run("data.rows", args).unwrap(), one, "the same bytes");
}

#[test]
fn neighbours_without_windows_are_computed_together_with_the_same_bytes() {
    let bench = Bench::new();
    let table = series(&bench);
    let twice = |from: &str| {
        let sum = Expr::Binary(BinaryOp::Add, Box::new(Expr::Column(0)), Box::new(Expr::Column(0)));
        reads(from, Ty::Float, true, sum, Ty::Float)
    };
    let derive = |name: &str, from: &str| {
        let columns = ArgValue::Record(BTreeMap::from([(name.to_owned(), twice(from))]));
        Args(BTreeMap::from([("columns".to_owned(), columns)]))
    };
    let filter = |name: &str| Args(BTreeMap::from([("where".to_owned(), above(name, 3.0))]));
    let select = Args::of([("columns", list(&["y", "host", "x"]))]);
    let steps = [
        ("data.derive", derive("y", "x")),
        ("data.filter", filter("y")),
        ("data.derive", derive("x", "y")),
        ("data.filter", filter("x")),
        ("data.select", select),
    ];
    let mut one = table.clone();
    for (op, args) in &steps {
        let mut args = args.clone();
        args.0.insert("table".to_owned(), ArgValue::Value(one));
        one = bench.run(op, args).unwrap();
    }
    let steps = steps.map(|(op, mut args)| {
        args.0.insert("op".to_owned(), ArgValue::Value(text(op)));
        ArgValue::Record(args.0)
    });
    let args = Args::of([("table", table)]).with("steps", ArgValue::List(steps.into()));
    assert_eq!(bench.run("data.rows", args).unwrap(), one, "the same bytes");
    assert_eq!(bench.open(&one).names(), ["y", "host", "x"]);
    assert_eq!(bench.open(&one).floats("x").unwrap(), [Some(12.0), Some(16.0)]);
}

#[test]
fn a_step_that_fails_is_named() {
    let bench = Bench::new();
    let mut fields = BTreeMap::from([("where".to_owned(), above("nothing", 0.0))]);
    fields.insert("op".to_owned(), ArgValue::Value(text("data.filter")));
    let args = Args::of([("table", series(&bench))])
        .with("steps", ArgValue::List(vec![ArgValue::Record(fields)]));
    let error = bench.run("data.rows", args).unwrap_err();
    assert!(error.message.starts_with("In the step `data.filter`: "), "{}", error.message);
}

#[test]
fn select_and_sort() {
    let bench = Bench::new();
    let table = bench
        .table(
            "data.select",
            Args::of([("table", series(&bench)), ("columns", list(&["x", "time"]))]),
        )
        .unwrap();
    assert_eq!(table.names(), ["x", "time"]);
    let sort = |descending| {
        let args = [
            ("table", series(&bench)),
            ("by", list(&["x"])),
            ("descending", Value::Bool(descending)),
        ];
        bench.table("data.sort", Args::of(args)).unwrap().times("time").unwrap()
    };
    assert_eq!((sort(false), sort(true)), (vec![0, 2, 7, 1], vec![7, 2, 0, 1]));
    let unknown = Args::of([("table", series(&bench)), ("columns", list(&["z"]))]);
    assert_eq!(bench.table("data.select", unknown).unwrap_err().code, "run::missing_column");
}

#[test]
fn join_keeps_order_and_names_apart() {
    let bench = Bench::new();
    let other = bench.give(vec![
        ("host", Column::text(["b", "a", "b", "c"])),
        ("x", Column::float(vec![10.0, 20.0, 30.0, 40.0])),
        ("room", Column::bind_size(&[1, 2, 3, 4]).unwrap()),
    ]);
    let join = |how: &str, suffix: &str, on: &[&str]| {
        let args = [
            ("table", series(&bench)),
            ("with", other.clone()),
            ("on", list(on)),
            ("how", text(how)),
            ("suffix", text(suffix)),
        ];
        bench.table("data.join", Args::of(args))
    };
    let table = join("left", "_right", &["host"]).unwrap();
    assert_eq!(table.names(), ["time", "x", "host", "x_right", "room"]);
    assert_eq!(table.times("time").unwrap(), [0, 1, 1, 2, 7, 7]);
    assert_eq!(
        table.column("x_right").unwrap(),
        Column::float(vec![20.0, 10.0, 30.0, 20.0, 10.0, 30.0])
    );
    assert_eq!(table.ty("room").unwrap(), Ty::Size);
    assert_eq!(join("inner", "", &["host"]).unwrap_err().code, "run::join_names");
    let by_number = join("left", "_right", &["x"]).unwrap();
    assert_eq!(by_number.column("room").unwrap().missing_count(), 4);
    assert_eq!(join("inner", "_right", &["x"]).unwrap().rows(), 0);
    let types = bench.give(vec![("x", Column::text(["1"]))]);
    let args = [
        ("table", series(&bench)),
        ("with", types),
        ("on", list(&["x"])),
        ("how", text("inner")),
        ("suffix", text("")),
    ];
    assert_eq!(bench.table("data.join", Args::of(args)).unwrap_err().code, "run::join_types");
}

fn split_args(table: Value, by: &str, key: ArgValue, shares: &[(&str, f64)]) -> Args {
    let share = |part: &str| {
        Value::Float(shares.iter().find(|(name, _)| *name == part).map_or(0.0, |(_, share)| *share))
    };
    Args::of([
        ("table", table),
        ("by", text(by)),
        ("seed", Value::Int(0)),
        ("train", share("train")),
        ("valid", share("valid")),
        ("calib", share("calib")),
        ("test", share("test")),
    ])
    .with("key", key)
}

fn split(
    bench: &Bench,
    rows: usize,
    by: &str,
    shares: &[(&str, f64)],
) -> BTreeMap<String, Vec<i64>> {
    let numbers: Vec<i64> = (0..rows as i64).collect();
    let table = bench.give(vec![
        ("n", Column::bind_int(&numbers).unwrap()),
        ("time", Column::time(numbers.iter().rev().map(|n| n / 2).collect())),
        ("g", Column::bind_int(&numbers.iter().map(|n| n / 10).collect::<Vec<_>>()).unwrap()),
    ]);
    let key = if by == "time" || by == "random" {
        ArgValue::Value(Value::None)
    } else {
        reads("g", Ty::Int, false, Expr::Column(0), Ty::Int)
    };
    let Value::Record(parts) = bench.run("data.split", split_args(table, by, key, shares)).unwrap()
    else {
        panic!()
    };
    let numbers = |value: &Value| -> Vec<i64> {
        let column = bench.open(value).floats("n").unwrap();
        column.into_iter().flatten().map(|n| n as i64).collect()
    };
    parts.iter().map(|(name, value)| (name.clone(), numbers(value))).collect()
}

#[test]
fn a_series_is_cut_in_time_and_never_within_one_time() {
    let bench = Bench::new();
    let parts = split(&bench, 9, "time", &[("test", 0.5), ("train", 0.34)]);
    assert_eq!(parts["train"], [5, 6, 7, 8]);
    assert_eq!(parts["test"], [1, 2, 3, 4]);
    assert_eq!(parts.len(), 2);
}

#[test]
fn groups_stay_together_and_fractions_are_met() {
    let bench = Bench::new();
    for by in ["group", "hash"] {
        let parts = split(&bench, 1000, by, &[("train", 0.8), ("test", 0.2)]);
        let groups = |part: &str| {
            parts[part].iter().map(|n| n / 10).collect::<std::collections::BTreeSet<_>>()
        };
        assert!(groups("train").is_disjoint(&groups("test")), "{by}");
        assert_eq!(parts["train"].len() + parts["test"].len(), 1000);
        let far = parts["train"].len().abs_diff(800);
        assert!(far <= if by == "group" { 10 } else { 120 }, "{by}: {far}");
    }
    let parts = split(&bench, 1000, "random", &[("train", 0.25), ("calib", 0.25), ("test", 0.25)]);
    assert!(parts.values().all(|part| part.len() == 250 && part.is_sorted()));
    assert_ne!(parts["train"], (0..250).collect::<Vec<_>>());
}

#[test]
fn a_hashed_row_stays_in_its_part_when_others_come() {
    let bench = Bench::new();
    let shares = [("train", 0.5), ("test", 0.5)];
    let (small, large) =
        (split(&bench, 500, "hash", &shares), split(&bench, 1000, "hash", &shares));
    assert!(small["train"].iter().all(|n| large["train"].contains(n)));
}

#[test]
fn shares_beyond_the_whole_are_refused() {
    let bench = Bench::new();
    let args = split_args(
        series(&bench),
        "time",
        ArgValue::Value(Value::None),
        &[("train", 0.8), ("test", 0.3)],
    );
    assert_eq!(bench.run("data.split", args).unwrap_err().code, "run::argument");
}

#[test]
fn resampling_leaves_gaps_and_invents_nothing() {
    let bench = Bench::new();
    let resample = |by: &str| {
        let args = [
            ("table", series(&bench)),
            ("every", Value::Duration(2)),
            ("by", text(by)),
            ("time", Value::None),
        ];
        bench.table("metrics.resample", Args::of(args)).unwrap()
    };
    let mean = resample("mean");
    assert_eq!(mean.names(), ["time", "x"]);
    assert_eq!(mean.times("time").unwrap(), [0, 2, 4, 6]);
    assert_eq!(mean.floats("x").unwrap(), [Some(1.0), Some(3.0), None, Some(4.0)]);
    assert_eq!(
        resample("last").column("host").unwrap(),
        Column::optional_text([Some("b"), Some("a"), None, Some("b")])
    );
    let times = bench.give(vec![("time", Column::time(vec![0, i64::MAX]))]);
    let args = [
        ("table", times),
        ("every", Value::Duration(1)),
        ("by", text("mean")),
        ("time", Value::None),
    ];
    assert_eq!(
        bench.table("metrics.resample", Args::of(args)).unwrap_err().code,
        "run::too_many_steps"
    );
}

#[test]
fn methods_of_resampling_by_hand() {
    let bench = Bench::new();
    let table = bench.give(vec![
        ("at", Column::time(vec![3, 1, 2])),
        ("n", Column::bind_int(&[5, 7, 9]).unwrap()),
        ("up", Column::optional_boolean([Some(true), None, Some(false)])),
        ("wait", Column::duration(vec![4, 8, 9])),
    ]);
    for (by, n, up, wait) in [
        ("mean", Scalar::Float(7.0), Scalar::Float(0.5), Scalar::Duration(7)),
        ("max", Scalar::Int(9), Scalar::Bool(true), Scalar::Duration(9)),
        ("min", Scalar::Int(5), Scalar::Bool(false), Scalar::Duration(4)),
        ("sum", Scalar::Int(21), Scalar::Int(1), Scalar::Duration(21)),
        ("last", Scalar::Int(5), Scalar::Bool(true), Scalar::Duration(4)),
    ] {
        let args = [
            ("table", table.clone()),
            ("every", Value::Duration(10)),
            ("by", text(by)),
            ("time", Value::None),
        ];
        let made = bench.table("metrics.resample", Args::of(args)).unwrap();
        let first = |name: &str| made.column(name).unwrap().get(0);
        assert_eq!((first("n"), first("up"), first("wait")), (n, up, wait), "{by}");
    }
}

#[test]
fn an_empty_table_goes_through() {
    let bench = Bench::new();
    let empty =
        || bench.give(vec![("time", Column::time(vec![])), ("x", Column::optional_float([]))]);
    let args = [
        ("table", empty()),
        ("every", Value::Duration(1)),
        ("by", text("mean")),
        ("time", Value::None),
    ];
    assert_eq!(bench.table("metrics.resample", Args::of(args)).unwrap().rows(), 0);
    assert_eq!(
        bench
            .table("data.filter", Args::of([("table", empty())]).with("where", above("x", 0.0)))
            .unwrap()
            .rows(),
        0
    );
    let args = split_args(empty(), "time", ArgValue::Value(Value::None), &[("train", 0.5)]);
    assert!(bench.run("data.split", args).is_ok());
    let args = [
        ("table", empty()),
        ("with", empty()),
        ("on", list(&["time"])),
        ("how", text("left")),
        ("suffix", text("_r")),
    ];
    assert_eq!(bench.table("data.join", Args::of(args)).unwrap().names(), ["time", "x", "x_r"]);
}

fn bytes(table: &Table) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.arrow");
    write_table(table, &path).unwrap();
    std::fs::read(path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A table that went through a filter and a file has the bytes of one made of the same values.
    #[test]
    fn equal_tables_have_equal_bytes(rows in proptest::collection::vec((any::<Option<f64>>(), ".{0,20}", any::<bool>(), 0_i64..1_000_000), 0..60)) {
        let table = |rows: &[(Option<f64>, String, bool, i64)]| Table::new(vec![
            ("x".into(), Column::optional_float(rows.iter().map(|row| row.0))),
            ("t".into(), Column::optional_text(rows.iter().map(|row| row.2.then_some(row.1.as_str())))),
            ("b".into(), Column::boolean(rows.iter().map(|row| row.2).collect())),
            ("n".into(), Column::bind_size(&rows.iter().map(|row| row.3).collect::<Vec<_>>()).unwrap()),
            ("d".into(), Column::duration(rows.iter().map(|row| row.3).collect())),
        ]).unwrap();
        let keep: Vec<bool> = rows.iter().map(|row| row.2).collect();
        let kept: Vec<_> = rows.iter().filter(|row| row.2).cloned().collect();
        let filtered = table(&rows).filtered(&keep).unwrap();
        prop_assert_eq!(bytes(&filtered), bytes(&table(&kept)));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.arrow");
        write_table(&table(&rows), &path).unwrap();
        let back = read_table(&path).unwrap();
        prop_assert_eq!(back.columns().unwrap(), table(&rows).columns().unwrap());
    }
}
