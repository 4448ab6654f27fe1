//! Groups, folds, concatenation and the values of a column.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Bench, list, text};
use pipe_data::Table;
use pipe_row::Column;
use pipe_row::ir::{BinaryOp, ColumnRef, Expr, RowFn, Ty};
use pipe_runtime::op::{ArgValue, Args};
use pipe_runtime::value::Value;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn column(name: &str, ty: Ty, optional: bool) -> RowFn {
    let columns = vec![ColumnRef { name: name.into(), ty, optional }];
    RowFn { columns, body: Expr::Column(0), ty, optional }
}

fn record(fields: Vec<(&str, ArgValue)>) -> ArgValue {
    ArgValue::Record(fields.into_iter().map(|(name, arg)| (name.to_owned(), arg)).collect())
}

fn read(method: &str, of: Option<RowFn>, q: Value) -> ArgValue {
    let of = of.map_or(ArgValue::Value(Value::None), ArgValue::Row);
    record(vec![("method", ArgValue::Value(text(method))), ("of", of), ("q", ArgValue::Value(q))])
}

/// `stat.method(rows.name)` as the plan has it.
fn stat(method: &str, of: Option<RowFn>, ty: Ty, optional: bool) -> ArgValue {
    let read = read(method, of, Value::Float(0.25));
    record(vec![
        ("reads", ArgValue::List(vec![read])),
        ("value", ArgValue::Row(column("a", ty, optional))),
    ])
}

fn grouped(bench: &Bench, table: Value, by: &[&str], functions: Vec<(&str, ArgValue)>) -> Table {
    let args = Args::of([("table", table), ("by", list(by))]).with("aggregates", record(functions));
    bench.table("data.group", args).unwrap()
}

fn series(bench: &Bench) -> Value {
    bench.give(vec![
        ("host", Column::optional_text([Some("b"), None, Some("a"), Some("b"), None, Some("b")])),
        (
            "x",
            Column::optional_float([Some(1.0), None, Some(f64::NAN), Some(4.0), None, Some(2.0)]),
        ),
        ("n", Column::bind_int(&[1, 2, 3, 4, 5, 6]).unwrap()),
        (
            "up",
            Column::optional_boolean([
                Some(true),
                None,
                Some(false),
                Some(false),
                Some(true),
                None,
            ]),
        ),
        ("time", Column::time(vec![10, 20, 30, 40, 50, 61])),
    ])
}

#[test]
fn groups_stand_in_the_order_of_their_first_rows() {
    let bench = Bench::new();
    let x = || Some(column("x", Ty::Float, true));
    let n = || Some(column("n", Ty::Int, false));
    let up = || Some(column("up", Ty::Bool, true));
    let functions = vec![
        ("rows", stat("count", None, Ty::Int, false)),
        ("known", stat("count", x(), Ty::Int, false)),
        ("different", stat("distinct", n(), Ty::Int, false)),
        ("sum", stat("sum", x(), Ty::Float, false)),
        ("total", stat("sum", n(), Ty::Int, false)),
        ("ups", stat("sum", up(), Ty::Int, false)),
        ("share", stat("mean", up(), Ty::Float, true)),
        ("mean", stat("mean", x(), Ty::Float, true)),
        ("std", stat("std", n(), Ty::Float, true)),
        ("least", stat("min", x(), Ty::Float, true)),
        ("most", stat("max", n(), Ty::Int, false)),
        ("middle", stat("median", n(), Ty::Float, false)),
        ("quarter", stat("quantile", n(), Ty::Float, false)),
        ("first", stat("first", x(), Ty::Float, true)),
        ("last", stat("last", Some(column("time", Ty::Time, false)), Ty::Time, false)),
        ("any", stat("any", up(), Ty::Bool, false)),
        ("all", stat("all", up(), Ty::Bool, false)),
    ];
    let table = grouped(&bench, series(&bench), &["host"], functions);
    assert_eq!(table.texts("host").unwrap(), [Some("b".into()), None, Some("a".into())]);
    let ints = |name: &str| table.column(name).unwrap();
    let whole = |values: &[i64]| Column::bind_int(values).unwrap();
    assert_eq!(ints("rows"), whole(&[3, 2, 1]));
    assert_eq!(ints("known"), whole(&[3, 0, 1]));
    assert_eq!(ints("different"), whole(&[3, 2, 1]));
    assert_eq!(ints("total"), whole(&[11, 7, 3]));
    assert_eq!(ints("ups"), whole(&[1, 1, 0]));
    assert_eq!(ints("most"), whole(&[6, 5, 3]));
    assert!(ints("sum").identical(&Column::float(vec![7.0, 0.0, f64::NAN])));
    let floats = |values: [Option<f64>; 3]| Column::optional_float(values);
    assert!(ints("mean").identical(&floats([Some(7.0 / 3.0), None, Some(f64::NAN)])));
    assert!(ints("least").identical(&floats([Some(1.0), None, Some(f64::NAN)])));
    assert!(ints("first").identical(&floats([Some(1.0), None, Some(f64::NAN)])));
    assert_eq!(ints("share"), floats([Some(0.5), Some(1.0), Some(0.0)]));
    let std = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64).sqrt()
    };
    assert_eq!(
        table.floats("std").unwrap(),
        [Some(std(&[1.0, 4.0, 6.0])), Some(std(&[2.0, 5.0])), None]
    );
    assert_eq!(ints("middle"), Column::float(vec![4.0, 3.5, 3.0]));
    assert_eq!(ints("quarter"), Column::float(vec![2.5, 2.75, 3.0]));
    assert_eq!(table.times("last").unwrap(), [61, 50, 30]);
    assert_eq!(ints("any"), Column::boolean(vec![true, true, false]));
    assert_eq!(ints("all"), Column::boolean(vec![false, true, false]));
}

#[test]
fn a_function_of_groups_computes_with_what_it_reads() {
    let bench = Bench::new();
    let n = || Some(column("n", Ty::Int, false));
    let columns =
        ["a", "b"].map(|name| ColumnRef { name: name.into(), ty: Ty::Int, optional: false });
    let body =
        Expr::Binary(BinaryOp::Subtract, Box::new(Expr::Column(0)), Box::new(Expr::Column(1)));
    let value = RowFn { columns: columns.into(), body, ty: Ty::Int, optional: false };
    let spread = record(vec![
        (
            "reads",
            ArgValue::List(vec![read("max", n(), Value::None), read("min", n(), Value::None)]),
        ),
        ("value", ArgValue::Row(value)),
    ]);
    let table = grouped(&bench, series(&bench), &[], vec![("spread", spread)]);
    assert_eq!(table.column("spread").unwrap(), Column::bind_int(&[5]).unwrap());
    let empty = bench.give(vec![("n", Column::bind_int(&[]).unwrap())]);
    let none = grouped(&bench, empty, &[], vec![("n", stat("count", None, Ty::Int, false))]);
    assert_eq!(none.rows(), 0);
    let large = bench.give(vec![("n", Column::bind_int(&[1 << 53, 1 << 53]).unwrap())]);
    let args = Args::of([("table", large), ("by", list(&[]))]);
    let sum = record(vec![("n", stat("sum", n(), Ty::Int, false))]);
    let error = bench.table("data.group", args.with("aggregates", sum)).unwrap_err();
    assert_eq!(error.code, "run::arithmetic");
}

#[test]
fn whole_amounts_stay_whole() {
    let bench = Bench::new();
    let table = bench.give(vec![
        ("d", Column::duration(vec![1, 2, i64::MAX])),
        ("s", Column::bind_size(&[1, 2, 4]).unwrap()),
        ("t", Column::time(vec![-5, 0, 100])),
    ]);
    let of = |name: &str, ty| Some(column(name, ty, false));
    let functions = vec![
        ("d", stat("median", of("d", Ty::Duration), Ty::Duration, false)),
        ("s", stat("mean", of("s", Ty::Size), Ty::Size, false)),
        ("t", stat("quantile", of("t", Ty::Time), Ty::Time, false)),
    ];
    let made = grouped(&bench, table.clone(), &[], functions);
    assert_eq!(made.column("d").unwrap(), Column::duration(vec![2]));
    assert_eq!(made.column("s").unwrap(), Column::bind_size(&[2]).unwrap());
    assert_eq!(made.times("t").unwrap(), [-2]);
    let sum = record(vec![("d", stat("sum", of("d", Ty::Duration), Ty::Duration, false))]);
    let args = Args::of([("table", table), ("by", list(&[]))]).with("aggregates", sum);
    assert_eq!(bench.table("data.group", args).unwrap_err().code, "run::arithmetic");
}

fn folds(bench: &Bench, table: Value, by: &str, k: i64, key: Option<RowFn>) -> Vec<[Table; 2]> {
    let key = key.map_or(ArgValue::Value(Value::None), ArgValue::Row);
    let args = [("table", table), ("k", Value::Int(k)), ("by", text(by)), ("seed", Value::Int(3))];
    let Value::Record(folds) = bench.run("data.folds", Args::of(args).with("key", key)).unwrap()
    else {
        panic!("no record")
    };
    let part = |fold: &Value, name: &str| match fold {
        Value::Record(parts) => bench.open(&parts[name]),
        other => panic!("{other:?}"),
    };
    (1..=k)
        .map(|at| &folds[&at.to_string()])
        .map(|fold| [part(fold, "train"), part(fold, "valid")])
        .collect()
}

#[test]
fn every_row_is_judged_once() {
    let bench = Bench::new();
    let rows = 23;
    let n: Vec<i64> = (0..rows).collect();
    let group: Vec<i64> = n.iter().map(|n| n / 4).collect();
    let table = bench.give(vec![
        ("n", Column::bind_int(&n).unwrap()),
        ("g", Column::bind_int(&group).unwrap()),
        ("time", Column::time(n.iter().map(|n| n / 2).collect())),
    ]);
    let set = |table: &Table, name: &str| -> BTreeSet<i64> {
        table.floats(name).unwrap().into_iter().map(|n| n.unwrap() as i64).collect()
    };
    for by in ["random", "hash", "group"] {
        let key = (by == "group").then(|| column("g", Ty::Int, false));
        let folds = folds(&bench, table.clone(), by, 4, key);
        let mut judged = Vec::new();
        for [train, valid] in &folds {
            assert!(set(train, "n").is_disjoint(&set(valid, "n")), "{by}");
            assert_eq!(train.rows() + valid.rows(), 23, "{by}");
            judged.extend(set(valid, "n"));
            if by == "group" {
                assert!(set(train, "g").is_disjoint(&set(valid, "g")));
            }
            if by == "random" {
                assert!((5..=6).contains(&valid.rows()));
            }
        }
        judged.sort_unstable();
        assert_eq!(judged, n, "{by}");
    }
    let folds = folds(&bench, table, "time", 4, None);
    let mut before = 0;
    for [train, valid] in &folds {
        let last = train.times("time").unwrap().into_iter().max().unwrap();
        let first = valid.times("time").unwrap().into_iter().min().unwrap();
        assert!(last < first);
        assert!(train.rows() > before);
        before = train.rows();
    }
    assert_eq!(folds.last().map(|[train, valid]| train.rows() + valid.rows()), Some(23));
}

#[test]
fn concat_widens() {
    let bench = Bench::new();
    let first = bench
        .give(vec![("a", Column::bind_int(&[1, 2]).unwrap()), ("b", Column::text(["x", "y"]))]);
    let second = bench.give(vec![
        ("b", Column::optional_text([None, Some("z")])),
        ("a", Column::optional_float([Some(0.5), None])),
    ]);
    let concat = |tables: Vec<Value>| {
        bench.table("data.concat", Args::of([("tables", Value::List(tables))]))
    };
    let table = concat(vec![first.clone(), second.clone(), first.clone()]).unwrap();
    assert_eq!(table.names(), ["a", "b"]);
    assert_eq!(
        table.floats("a").unwrap(),
        [Some(1.0), Some(2.0), Some(0.5), None, Some(1.0), Some(2.0)]
    );
    assert_eq!(table.rows(), 6);
    let other = bench.give(vec![("a", Column::text(["1"])), ("b", Column::text(["x"]))]);
    assert_eq!(concat(vec![first.clone(), other]).unwrap_err().code, "run::column_type");
    let more = bench.give(vec![("a", Column::bind_int(&[1]).unwrap())]);
    assert_eq!(concat(vec![first, more]).unwrap_err().code, "run::missing_column");
    assert_eq!(concat(Vec::new()).unwrap_err().code, "run::argument");
}

#[test]
fn values_are_sorted_and_different() {
    let bench = Bench::new();
    let values = |name: &str| {
        let args = Args::of([("table", series(&bench)), ("column", text(name))]);
        bench.run("data.values", args).unwrap()
    };
    assert_eq!(values("host"), list(&["a", "b"]));
    let Value::List(x) = values("x") else { panic!("no list") };
    assert_eq!(x.len(), 4);
    assert_eq!(x[..3], [Value::Float(1.0), Value::Float(2.0), Value::Float(4.0)]);
    assert_eq!(values("up"), Value::List(vec![Value::Bool(false), Value::Bool(true)]));
}

proptest! {
    /// Groups are what a plain map makes of the rows.
    #[test]
    fn groups_equal_a_map(rows in prop::collection::vec((0_i64..4, prop::option::of(0_i64..3), -50_i64..50), 1..60)) {
        let bench = Bench::new();
        let table = bench.give(vec![
            ("a", Column::bind_int(&rows.iter().map(|row| row.0).collect::<Vec<_>>()).unwrap()),
            ("b", Column::optional_int(rows.iter().map(|row| row.1)).unwrap()),
            ("n", Column::bind_int(&rows.iter().map(|row| row.2).collect::<Vec<_>>()).unwrap()),
        ]);
        let n = || Some(column("n", Ty::Int, false));
        let functions = vec![
            ("count", stat("count", None, Ty::Int, false)),
            ("max", stat("max", n(), Ty::Int, false)),
            ("sum", stat("sum", n(), Ty::Int, false)),
        ];
        let made = grouped(&bench, table, &["a", "b"], functions);
        let mut expected: BTreeMap<_, (i64, i64, i64)> = BTreeMap::new();
        let mut order = Vec::new();
        for (a, b, n) in rows {
            let group = expected.entry((a, b)).or_insert_with(|| {
                order.push((a, b));
                (0, i64::MIN, 0)
            });
            *group = (group.0 + 1, group.1.max(n), group.2 + n);
        }
        let whole = |of: &dyn Fn(&(i64, i64, i64)) -> i64| {
            Column::bind_int(&order.iter().map(|key| of(&expected[key])).collect::<Vec<_>>()).unwrap()
        };
        prop_assert_eq!(made.column("count").unwrap(), whole(&|group| group.0));
        prop_assert_eq!(made.column("max").unwrap(), whole(&|group| group.1));
        prop_assert_eq!(made.column("sum").unwrap(), whole(&|group| group.2));
        let keys = order.iter().map(|key| key.1);
        prop_assert_eq!(made.column("b").unwrap(), Column::optional_int(keys).unwrap());
    }
}
