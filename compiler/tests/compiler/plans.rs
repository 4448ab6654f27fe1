//! What a plan looks like: nodes, names, levels, checks.

use crate::support::{Files, check, compiled, outline, plan};
use pipe_compiler::plan::{Arg, RootKind};
use pipe_compiler::value::Const;

#[test]
fn steps_are_named_after_their_declaration() {
    let plan = plan(
        "let series = data.read(\"metrics.csv\") |> metrics.resample(every: 5s, by: \"mean\")
let hot = series |> data.filter(row => row.cpu > 0.9)
let all = for limit in [0.5, 0.8] { series |> data.filter(row => row.cpu > limit) |> data.sort([\"cpu\"]) }
output hot = hot
output all = all
check some = hot.rows >= 3
",
    );
    assert_eq!(
        outline(&plan)
            .lines()
            .map(|line| line.split(" [").next().unwrap_or(line))
            .collect::<Vec<_>>(),
        [
            "series.read = data.read",
            "series = metrics.resample",
            "hot = data.filter",
            "all[limit=0.5].filter = data.filter",
            "all[limit=0.5] = data.sort",
            "all[limit=0.8].filter = data.filter",
            "all[limit=0.8] = data.sort",
            "some = value.compute",
            "Output hot",
            "Output all",
            "Check some",
        ],
        "{}",
        outline(&plan)
    );
}

#[test]
fn common_nodes_are_one_and_unused_ones_are_dropped() {
    let plan = plan(
        "let a = data.read(\"metrics.csv\") |> data.filter(row => row.cpu > 0.9)
let b = data.read(\"metrics.csv\") |> data.filter(r => (r.cpu > 0.9))
let _c = data.read(\"labels.csv\")
output x = a
output y = b
",
    );
    assert_eq!(plan.nodes.len(), 2, "{}", outline(&plan));
    assert_eq!(plan.roots[0].value, plan.roots[1].value);
}

#[test]
fn cache_off_keeps_nodes_apart() {
    let plan = plan(
        "let a = data.read(\"metrics.csv\")\n@cache(off)\nlet b = data.read(\"metrics.csv\")\noutput x = a\noutput y = b\n",
    );
    assert_eq!(plan.nodes.len(), 2);
    assert_eq!(plan.nodes[0].key, plan.nodes[1].key);
    assert_eq!(plan.nodes.iter().filter(|node| !node.runs.cache).count(), 1);
}

#[test]
fn run_time_scalars_are_computed_by_a_node() {
    let plan = plan(
        "let t = data.read(\"metrics.csv\")
let twice = t.rows * 2
check enough = twice > 3 and t.rows < 100
check equal = t.rows == 2
output text = \"${t.rows} rows\"
output choice = if t.rows > 1 { \"many\" } else { \"one\" }
output sum = list.mean(for x in [1, 2] { t.rows * x })
",
    );
    let ops: Vec<(&str, &str)> =
        plan.nodes.iter().map(|node| (node.name.as_str(), node.op.as_str())).collect();
    assert_eq!(
        ops,
        [
            ("t", "data.read"),
            ("twice", "value.compute"),
            ("enough", "value.compute"),
            ("equal", "value.compute"),
            ("text", "value.compute"),
            ("choice", "value.compute"),
            ("sum", "value.compute"),
        ]
    );
    let equal = plan.roots.iter().find(|root| root.name == "equal").expect("a check");
    assert_eq!(equal.kind, RootKind::Check);
    let shows = equal.shows.as_ref().expect("a comparison");
    assert_eq!(shows.op, "==");
    assert_eq!(shows.right, Arg::Const(Const::Int(2)));
    assert!(plan.roots[0].shows.is_none());
}

#[test]
fn constants_fold() {
    let plan = plan(
        "param n: int = 4
let shape = { layers: n, width: 2 * n, ..{ heads: 2 } }
output shape = { ..shape, layers: 1 }
output window = 1.5m + 30s * 2
output memory = 10GiB / 1MiB
output text = \"n is ${n}, ${1.0 / 4.0}, ${90s}\"
output squares = for x in 0..n if x % 2 == 0 { x * x }
output pairs = for (name, at) in list.zip([\"a\", \"b\"], 0..2), k in [1, 2] { \"${name}${at}${k}\" }
output best = list.max_by([{ a: 1 }, { a: 3 }], key: x => x.a)
output pick = if n > 3 { \"big\" } else { \"small\" }
output within = n in [1, 4]
output root = math.sqrt(2.0) > 1.4 and not (text.length(\"naïve\") != 5)
output chosen = none ?? 3
",
    );
    assert!(plan.nodes.is_empty(), "{}", outline(&plan));
    let shown: Vec<String> = plan
        .roots
        .iter()
        .map(|root| match &root.value {
            Arg::Const(value) => value.to_string(),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "{ heads: 2, layers: 1, width: 8 }",
            "150s",
            "10240.0",
            "\"n is 4, 0.25, 90s\"",
            "[0, 4]",
            "[\"a01\", \"a02\", \"b11\", \"b12\"]",
            "{ a: 3 }",
            "\"big\"",
            "true",
            "true",
            "3",
        ]
    );
}

#[test]
fn composites_unfold_and_modules_are_used() {
    let mut files = Files::with(
        "use lib = \"lib/tools.pipe\"\nlet t = lib.load(lib.source)\noutput t = t\noutput n = lib.twice(t.rows)\n",
    );
    files.put("lib/tools.pipe", "param source: path = \"table.csv\"\nfn load(path: path) -> Table<{ a: int }> = data.read(path, row: Row)\ntype Row = { a: int }\nfn twice(n: int) -> int { let two = 2  n * two }\n");
    files.put("lib/table.csv", "a\n1\n");
    let compiled = compiled(&files, &[]);
    let text = crate::support::rendered(&compiled.problems, &compiled.sources);
    let plan = compiled.plan.unwrap_or_else(|| panic!("{text}"));
    let Some(Arg::Files(read)) = plan.nodes[0].args.get("path") else {
        panic!("{:?}", plan.nodes[0].args)
    };
    assert_eq!(read[0].path, "lib/table.csv");
    assert_eq!(plan.nodes.len(), 2, "{}", outline(&plan));
}

#[test]
fn a_plan_is_explained() {
    let plan = plan(
        "let t = data.read(\"metrics.csv\")\nlet h = t |> data.filter(row => row.cpu > 0.5)\noutput h = h\ncheck c = h.rows > 0\n",
    );
    let states =
        vec![pipe_compiler::explain::State { state: "cached".into(), ..Default::default() }];
    let json = pipe_compiler::explain::json(&plan, &states);
    assert_eq!(json["nodes"][0]["state"], "cached");
    assert_eq!(json["nodes"][1]["state"], "run");
    assert_eq!(json["edges"], serde_json::json!([["t", "h"], ["h", "c"]]));
    assert_eq!(json["critical"], serde_json::json!(["t", "h", "c"]));
    let dot = pipe_compiler::explain::dot(&plan, &states);
    assert!(dot.contains("n0 -> n1;") && dot.contains("\"h\""), "{dot}");
    assert_eq!(plan.widest, 1);
}

#[test]
fn warnings_leave_a_plan() {
    assert_eq!(check("let _a = 1\noutput b = 2\n"), "");
    let text = check("use m = \"main.pipe\"\noutput b = 2\n");
    assert!(text.contains("this file uses itself"), "{text}");
}

#[test]
fn names_of_outputs_and_modules_may_be_used_again() {
    let text = check(
        "param metrics: path = \"metrics.csv\"
let alerts = data.read(metrics) |> metrics.resample(every: 1s, by: \"max\")
output alerts = alerts
output report = alerts |> data.filter(row => row.cpu > 0.1)
output list = list.length([1])
",
    );
    assert_eq!(text, "");
}

#[test]
fn detectors_over_one_table_are_a_group() {
    let plan = plan(
        "let t = data.read(\"metrics.csv\")
let a = detect.pca_window(t, columns: [\"cpu\", \"mem\"], window: 2s)
let b = detect.pca_window(t, columns: [\"cpu\"], window: 3s)
let c = detect.pca_window(t |> data.filter(row => row.cpu > 0.1), columns: [\"cpu\"], window: 3s)
@memory(100GiB)
output all = [a, b, c]
",
    );
    let group = |name: &str| {
        plan.nodes.iter().find(|node| node.name == name).and_then(|node| node.runs.group)
    };
    assert_eq!((group("a"), group("b"), group("c")), (Some(0), Some(0), None));
}

#[test]
fn attributes_hold_for_what_a_declaration_creates() {
    let plan = plan(
        "let t = data.read(\"metrics.csv\")
@retry(2)
@timeout(1.5m)
@memory(100GiB)
@cache(off)
let hot = t |> data.filter(row => row.cpu > 0.5) |> data.sort([\"cpu\"])
output hot = hot
",
    );
    let runs: Vec<_> = plan
        .nodes
        .iter()
        .map(|node| {
            (
                node.name.as_str(),
                node.runs.retry,
                node.runs.timeout,
                node.runs.cache,
                node.runs.exclusive,
            )
        })
        .collect();
    let minutes = Some(90_000_000_000);
    assert_eq!(
        runs,
        [
            ("t", 0, None, true, false),
            ("hot.filter", 2, minutes, false, true),
            ("hot", 2, minutes, false, true)
        ]
    );
}

#[test]
fn files_are_listed_when_the_plan_is_made() {
    let mut files = Files::with(
        "output lines = for path in files(\"logs/*.log\") { logs.read(path) }\noutput all = data.read(\"parts/*.csv\")\n",
    );
    files.put("logs/b.log", "2024-01-01T00:00:00Z INFO b\n");
    files.put("logs/a.log", "2024-01-01T00:00:00Z INFO a\n");
    files.put("parts/1.csv", "a;b\n1;2\n");
    files.put("parts/2.csv", "a;b\n1.5;\n");
    let compiled = compiled(&files, &[]);
    let text = crate::support::rendered(&compiled.problems, &compiled.sources);
    let plan = compiled.plan.unwrap_or_else(|| panic!("{text}"));
    let names: Vec<&str> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["lines[path=logs/a.log]", "lines[path=logs/b.log]", "all"]);
    assert_eq!(plan.nodes[2].ty, "Table<{ a: float, b: int? }>");
}
