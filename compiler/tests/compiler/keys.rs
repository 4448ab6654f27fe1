//! Keys: golden bytes, and what changes them and what does not.

use crate::support::{Files, compiled, plan, rendered};
use pipe_compiler::key::{KeyFields, plan_fields};
use pipe_compiler::plan::{Arg, Args, Column, FileArg, Input, NodeId, Plan};
use pipe_compiler::value::Const;
use pipe_row::ir::{BinaryOp, ColumnRef, Expr, RowFn, Scalar, Ty};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn sample() -> Args {
    let row = RowFn {
        columns: vec![ColumnRef { name: "cpu".into(), ty: Ty::Float, optional: true }],
        body: Expr::Binary(
            BinaryOp::Greater,
            Box::new(Expr::Column(0)),
            Box::new(Expr::Literal(Scalar::Float(0.9))),
        ),
        ty: Ty::Bool,
        optional: true,
    };
    Args::from([
        ("bool".into(), Arg::Const(Const::Bool(true))),
        (
            "columns".into(),
            Arg::Columns(vec![
                Column { name: "b".into(), ty: Ty::Int, optional: true },
                Column { name: "a".into(), ty: Ty::Time, optional: false },
            ]),
        ),
        ("duration".into(), Arg::Const(Const::Duration(90_000_000_000))),
        ("files".into(), Arg::Files(vec![FileArg { path: "x.csv".into(), digest: "d0".into() }])),
        ("float".into(), Arg::Const(Const::Float(0.1))),
        ("int".into(), Arg::Const(Const::Int(-3))),
        ("label".into(), Arg::Const(Const::Str("stays out".into()))),
        ("list".into(), Arg::Const(Const::List(vec![Const::None, Const::Size(1 << 20)]))),
        (
            "nested".into(),
            Arg::Record(BTreeMap::from([(
                "x".into(),
                Arg::Input(Input { node: NodeId(0), path: vec!["test".into()] }),
            )])),
        ),
        ("row".into(), Arg::Row(row)),
        ("text".into(), Arg::Const(Const::Str("a \"b\"".into()))),
    ])
}

fn fields(args: &Args) -> KeyFields {
    KeyFields::of("data.op", 2, Some("torch 2.11.0"), args, &["label".into()], |input| {
        Some(format!("k0.{}", input.path.join(".")))
    })
    .expect("every input has a key")
}

/// A change here makes every store start anew: it needs a new `key::FORMAT` and a line in the changelog.
#[test]
fn the_encoding_is_pinned() {
    assert_eq!(fields(&sample()).key().to_string(), GOLDEN_ALL);
    let none =
        KeyFields::of("value.compute", 1, None, &Args::new(), &[], |_| None).expect("no inputs");
    assert_eq!(none.key().to_string(), GOLDEN_NONE);
}

const GOLDEN_ALL: &str = "2cfcd301e118a0d31878da8c06a8b6290a7a676790dc96fba035b84d555a77d0";
const GOLDEN_NONE: &str = "c2b73fd43e0ef1f816019a9daf5b2b7e806bde20674f049fb191c7e5d2ccd318";

#[test]
fn the_readable_form_is_pinned() {
    let text = serde_json::to_string(&fields(&sample())).expect("JSON");
    assert_eq!(
        text,
        r#"{"format":1,"op":"data.op","version":2,"tool":"torch 2.11.0","args":{"bool":"true","columns":["a: time","b: int?"],"duration":"90s","files":["d0"],"float":"0.1","int":"-3","list":["none","1MiB"],"nested":{"x":null},"row":{"gives":"bool?","reads":["cpu: float?"],"row":"(row.cpu > 0.9)"},"text":"\"a \\\"b\\\"\""},"inputs":{"nested.x":"k0.test"}}"#
    );
    let back: KeyFields = serde_json::from_str(&text).expect("reads back");
    assert_eq!(back.key(), fields(&sample()).key());
}

#[test]
fn every_argument_counts_but_those_marked() {
    let key = fields(&sample()).key();
    for name in sample().keys() {
        let mut args = sample();
        args.insert(name.clone(), Arg::Const(Const::Str("changed".into())));
        assert_eq!(fields(&args).key() == key, name == "label", "{name}");
    }
    let mut files = sample();
    files.insert(
        "files".into(),
        Arg::Files(vec![FileArg { path: "y.csv".into(), digest: "d0".into() }]),
    );
    assert_eq!(fields(&files).key(), key, "paths stay out");
    for (a, b) in [(0.0, -0.0), (f64::NAN, -f64::NAN)] {
        let with =
            |value| fields(&Args::from([("x".to_owned(), Arg::Const(Const::Float(value)))])).key();
        assert_eq!(with(a), with(b));
    }
    let with = |value| fields(&Args::from([("x".to_owned(), Arg::Const(value))])).key();
    let distinct = [
        Const::Int(1),
        Const::Float(1.0),
        Const::Str("1".into()),
        Const::Duration(1),
        Const::Size(1),
        Const::Bool(true),
        Const::None,
        Const::List(vec![Const::Int(1)]),
    ];
    for (at, a) in distinct.iter().enumerate() {
        for b in distinct.iter().skip(at + 1) {
            assert_ne!(with(a.clone()), with(b.clone()), "{a} and {b}");
        }
    }
}

#[test]
fn differences_are_named() {
    let old = plan(
        "let t = data.read(\"metrics.csv\")\noutput r = t |> metrics.resample(every: 30s, by: \"mean\")\n",
    );
    let new = plan(
        "let t = data.read(\"metrics.csv\")\noutput r = t |> metrics.resample(every: 1m, by: \"mean\")\n",
    );
    let changes = KeyFields::diff(&last(&old), &last(&new));
    assert_eq!(changes.len(), 1);
    assert_eq!(
        (changes[0].field.as_str(), changes[0].old.as_deref(), changes[0].new.as_deref()),
        ("every", Some("30s"), Some("1m"))
    );
}

fn last(plan: &Plan) -> KeyFields {
    let node = plan.nodes.last().expect("a node");
    plan_fields(node, |id| Some(plan.nodes[id.0 as usize].key)).expect("fields")
}

fn keys(program: &str) -> Vec<String> {
    let compiled = compiled(&Files::with(program), &[]);
    let text = rendered(&compiled.problems, &compiled.sources);
    let plan = compiled.plan.unwrap_or_else(|| panic!("{program}\n{text}"));
    let mut keys: Vec<String> = plan.nodes.iter().map(|node| node.key.to_string()).collect();
    keys.sort();
    keys
}

/// A program with free names, order of arguments, layout and comments.
fn program(
    names: &[String; 3],
    order: [usize; 3],
    blank: &str,
    comment: &str,
    swap: bool,
) -> String {
    let [table, row, made] = names;
    let args = ["every: 5s", "by: \"mean\"", "time: \"time\""];
    let args: Vec<&str> = order.iter().map(|at| args[*at]).collect();
    let lets = [
        format!("let {table}{blank}= data.read(\"metrics.csv\") {comment}\n"),
        format!(
            "let {made} = {table}\n  |> metrics.resample({}){blank}\n  |> data.filter({row} => {row}.cpu > 0.5 and {row}.mem < 3.0)\n",
            args.join(", ")
        ),
    ];
    let body = if swap { format!("{}{}", lets[1], lets[0]) } else { lets.concat() };
    format!("## Some words.\n{body}output o = {made}\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn names_layout_and_order_never_change_a_key(
        names in prop::array::uniform3("[a-z]{3,8}_x"),
        order in Just([0usize, 1, 2]).prop_shuffle(),
        blank in "[ \n]{1,3}",
        comment in prop_oneof![Just(String::new()), Just("# words".to_owned())],
        swap in any::<bool>(),
    ) {
        prop_assume!(names[0] != names[2]);
        let plain = program(&["t".into(), "row".into(), "m".into()], [0, 1, 2], " ", "", false);
        prop_assert_eq!(keys(&program(&names, order, &blank, &comment, swap)), keys(&plain));
    }
}

#[test]
fn contents_of_files_change_keys() {
    let program = "output o = data.read(\"metrics.csv\")\n";
    let mut files = Files::with(program);
    let before = compiled(&files, &[]).plan.expect("a plan").nodes[0].key;
    files.put(
        "metrics.csv",
        "time,cpu,mem,requests,errors,host\n2024-01-01T00:00:00Z,0.5,10.5,100,1,b\n",
    );
    let after = compiled(&files, &[]).plan.expect("a plan").nodes[0].key;
    assert_ne!(before, after);
}
