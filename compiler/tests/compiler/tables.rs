//! Groups, folds, concatenation, values: types of tables, and what the plan holds.

use crate::support::{Files, check, compiled, plan, rendered};
use pipe_compiler::plan::{Arg, Input, NodeId};
use pipe_compiler::value::Const;

const READ: &str = "let t = data.read(\"metrics.csv\", time: \"time\")\n";

fn type_of(program: &str) -> String {
    let plan = plan(&format!("{READ}{program}"));
    plan.nodes.last().map(|node| node.ty.to_string()).unwrap_or_default()
}

#[test]
fn groups_have_the_columns_of_by_and_one_for_each_function() {
    let ty = type_of(
        "fn spread(rows: { cpu: float }) -> float? = stat.max(rows.cpu) - stat.min(rows.cpu)
output a = t |> data.group(
  by: [\"host\"],
  rows: rows => stat.count(rows),
  known: rows => stat.count(rows.requests),
  mean: rows => stat.mean(rows.cpu * 2.0),
  asked: rows => stat.mean(rows.requests),
  total: rows => stat.sum(rows.requests),
  spread: spread,
  std: rows => stat.std(rows.cpu),
  named: rows => \"${rows.host}: ${stat.count(rows)}\",
  hot: rows => stat.any(rows.cpu > 0.5),
  share: rows => stat.mean(rows.cpu > 0.5),
  last: rows => stat.last(rows.time),
  p99: rows => stat.quantile(rows.mem, q: 0.99),
)
",
    );
    assert_eq!(
        ty,
        "Table<{ host: str, asked: float?, hot: bool, known: int, last: time, mean: float, named: str, p99: float, rows: int, share: float, spread: float, std: float?, total: int }>"
    );
    assert_eq!(
        type_of("output a = t |> data.group(by: [], n: rows => stat.count(rows))\n"),
        "Table<{ n: int }>"
    );
}

#[test]
fn a_function_of_groups_is_what_it_reads_and_an_expression_of_that() {
    let of = |function: &str| {
        let plan = plan(&format!(
            "{READ}output a = t |> data.group(by: [\"host\"], x: rows => {function})\n"
        ));
        let node = plan.nodes.last().cloned().unwrap();
        let Some(Arg::Record(made)) = node.args.get("aggregates").cloned() else {
            panic!("{node:?}")
        };
        (made["x"].clone(), node.key)
    };
    let (Arg::Record(fields), key) =
        of("stat.max(rows.cpu) - stat.min(rows.cpu) / stat.max(rows.cpu)")
    else {
        panic!("no record")
    };
    let Arg::List(reads) = &fields["reads"] else { panic!("{fields:?}") };
    let methods: Vec<&Arg> = reads
        .iter()
        .map(|read| match read {
            Arg::Record(read) => &read["method"],
            other => panic!("{other:?}"),
        })
        .collect();
    let text = |text: &str| Arg::Const(Const::Str(text.into()));
    assert_eq!(methods, [&text("max"), &text("min")]);
    let Arg::Row(value) = &fields["value"] else { panic!("{fields:?}") };
    assert_eq!(
        value.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_ne!(key, of("stat.max(rows.cpu) - stat.min(rows.cpu)").1);
    let same = plan(&format!(
        "{READ}output a = t |> data.group(x: (all) => stat.max(all.cpu) - stat.min(all.cpu) / stat.max(all.cpu), by: [\"host\"])\n"
    ));
    assert_eq!(key, same.nodes.last().unwrap().key);
}

#[test]
fn folds_are_a_list_of_parts() {
    let plan = plan(&format!(
        "{READ}let folds = t |> data.folds(k: 3, by: \"time\")
let scores = for fold in folds {{ detect.score(detect.robust_z(fold.train, columns: [\"cpu\"]), data: fold.valid) }}
output all = data.concat(scores)
output second = folds[1].valid
"
    ));
    let second = &plan.roots[1].value;
    let at = plan.nodes.iter().find(|node| node.op == "data.folds").unwrap().id;
    assert_eq!(*second, Arg::Input(Input { node: at, path: vec!["2".into(), "valid".into()] }));
    assert_eq!(plan.nodes.iter().filter(|node| node.op == "detect.score").count(), 3);
    let NodeId(last) = plan.nodes.iter().find(|node| node.op == "data.concat").unwrap().id;
    assert_eq!(plan.nodes[last as usize].ty, plan.nodes[last as usize - 1].ty);
}

#[test]
fn leakage_is_found_across_folds() {
    let scored = |by: &str, fitted: &str, scored: &str| {
        check(&format!(
            "{READ}let f = t |> data.folds(k: 3, by: \"{by}\")\noutput a = detect.score(detect.robust_z({fitted}, columns: [\"cpu\"]), data: {scored})\n"
        ))
    };
    assert_eq!(scored("random", "f[0].train", "f[0].valid"), "");
    assert_eq!(scored("time", "f[0].train", "f[1].valid"), "");
    assert_eq!(scored("random", "f[0].valid", "f[1].valid"), "");
    for (by, fit, score) in [
        ("random", "f[0].train", "f[1].valid"),
        ("random", "f[0].train", "f[1].train"),
        ("random", "f[1].valid", "f[0].train"),
        ("time", "f[1].train", "f[0].valid"),
        ("time", "f[0].train", "f[0].train"),
    ] {
        let text = scored(by, fit, score);
        assert!(text.contains("error[parts::scored_on_fitted]"), "{by} {fit} {score}\n{text}");
    }
}

#[test]
fn concat_is_as_wide_as_its_tables() {
    assert_eq!(
        type_of(
            "let u = t |> data.select([\"host\", \"cpu\", \"mem\"])
let v = u |> data.derive(cpu: row => 1, mem: row => if row.cpu > 0.5 { none } else { row.mem })
output wide = data.concat([v, u])
"
        ),
        "Table<{ host: str, cpu: float, mem: float? }>"
    );
    let wrong = "output a = data.concat([t, t |> data.derive(host: row => row.cpu)])\n";
    let text = check(&format!("{READ}{wrong}"));
    assert!(text.contains("label: here: `host` is `float`"), "{text}");
    assert!(text.contains("`t`: here: `host` is `str`"), "{text}");
}

#[test]
fn values_are_a_list_for_the_run() {
    assert_eq!(type_of("output hosts = data.values(t, \"host\")\n"), "[str]");
    assert_eq!(type_of("output n = data.values(t, \"requests\")\n"), "[int]");
}

#[test]
fn nothing_follows_from_a_wrong_by() {
    let wrong = "output a = t |> data.group(by: \"host\", n: rows => stat.count(rows))\n";
    let compiled = compiled(&Files::with(&format!("{READ}{wrong}")), &[]);
    let text = rendered(&compiled.problems, &compiled.sources);
    assert_eq!(compiled.problems.len(), 1, "{text}");
    assert!(text.contains("fix: \"host\" -> [\"host\"]"), "{text}");
}
