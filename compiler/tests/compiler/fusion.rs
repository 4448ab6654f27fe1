//! Chains of row ops become one node, and no key tells the difference.

use crate::support::{Files, compiled, plan};
use pipe_compiler::explain;
use pipe_compiler::key::{KeyFields, plan_fields};
use pipe_compiler::plan::{Arg, Node, Plan};
use std::collections::BTreeMap;

const CHAIN: &str = "let t = data.read(\"metrics.csv\")
let kept = t |> data.filter(row => row.cpu > 0.1)
let shares = kept |> data.derive(share: row => row.cpu / row.mem)
output scored = shares |> data.select([\"time\", \"share\"]) |> data.filter(row => row.share > 0.01)\n";

fn outline(plan: &Plan) -> Vec<String> {
    let line = |node: &Node| format!("{} = {}", node.name, explain::shown_op(node));
    plan.nodes.iter().map(line).collect()
}

/// Keys by name, those of fused steps among them.
fn keys(plan: &Plan) -> BTreeMap<String, String> {
    let steps = plan.nodes.iter().flat_map(|node| node.fused.iter().chain([node]));
    steps.map(|node| (node.name.clone(), node.key.to_string())).collect()
}

fn fields(plan: &Plan, name: &str) -> KeyFields {
    let node = plan.nodes.iter().find(|node| node.name == name).expect("the node");
    plan_fields(node, |id| Some(plan.nodes.get(id.0 as usize)?.key)).expect("fields")
}

#[test]
fn a_chain_is_one_node() {
    let plan = plan(CHAIN);
    assert_eq!(
        outline(&plan),
        ["t = data.read", "scored = filter, derive, select, filter in one pass"]
    );
    let node = plan.nodes.last().expect("a node");
    assert_eq!((node.op.as_str(), node.version, node.runs.level), ("data.rows", 1, 1));
    assert_eq!(node.inputs().len(), 1, "the steps read nothing of their own");
    let names: Vec<&str> = node.fused.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["kept", "shares", "scored.select", "scored"]);
    assert_eq!(node.fused.last().map(|step| step.key), Some(node.key));
    let Some(Arg::List(steps)) = node.args.get("steps") else { panic!("{:?}", node.args) };
    let Some(Arg::Record(first)) = steps.first() else { panic!("{steps:?}") };
    assert_eq!(first.keys().collect::<Vec<_>>(), ["op", "where"]);
    let json = explain::json(&plan, &[]);
    let fused = json["nodes"][1]["fused"].as_array().expect("a list");
    assert_eq!(fused.len(), 4);
    assert_eq!(fused[0]["id"], "kept");
    let text = serde_json::to_string(&plan).expect("JSON");
    let back: Plan = serde_json::from_str(&text).expect("reads back");
    assert_eq!(back.nodes, plan.nodes);
}

#[test]
fn a_second_reader_makes_a_node_again_and_changes_no_key() {
    let alone = plan(CHAIN);
    for (more, nodes) in [
        (
            "output s = shares\n",
            vec!["shares = filter, derive in one pass", "scored = select, filter in one pass"],
        ),
        (
            "check many = kept.rows > 1\n",
            vec!["kept = data.filter", "scored = derive, select, filter in one pass"],
        ),
        (
            "output o = shares |> data.sort([\"share\"])\n",
            vec!["shares = filter, derive in one pass"],
        ),
    ] {
        let both = plan(&format!("{CHAIN}{more}"));
        for node in nodes {
            assert!(outline(&both).contains(&node.to_owned()), "{more}: {:?}", outline(&both));
        }
        let (before, after) = (keys(&alone), keys(&both));
        assert!(before.iter().all(|(name, key)| after.get(name) == Some(key)), "{more}");
    }
}

#[test]
fn what_is_placed_stays_a_node() {
    for attribute in ["@cache(off)", "@retry(2)", "@timeout(1h)", "@memory(1GiB)"] {
        let plan = plan(&CHAIN.replace("let shares", &format!("{attribute}\nlet shares")));
        assert_eq!(
            outline(&plan),
            [
                "t = data.read",
                "kept = data.filter",
                "shares = data.derive",
                "scored = select, filter in one pass"
            ],
            "{attribute}"
        );
    }
}

#[test]
fn a_part_is_not_a_step() {
    let plan = plan(
        "let t = data.read(\"metrics.csv\") |> data.derive(a: row => row.cpu) |> data.filter(row => row.a > 0.1)
let parts = t |> data.split(by: \"time\", train: 0.5, test: 0.5)
output a = parts.train |> data.derive(b: row => row.cpu) |> data.select([\"b\"])
output b = parts.test |> data.select([\"cpu\"])\n",
    );
    assert_eq!(
        outline(&plan),
        [
            "t.read = data.read",
            "t = derive, filter in one pass",
            "parts = data.split",
            "a = derive, select in one pass",
            "b = data.select"
        ]
    );
}

#[test]
fn a_difference_in_a_step_has_its_name() {
    let old = fields(&plan(CHAIN), "scored");
    let changes = |program: &str| {
        let changes = KeyFields::diff(&old, &fields(&plan(program), "scored"));
        let fields = changes.iter().filter(|change| !change.field.starts_with("input "));
        fields.map(|change| change.field.clone()).collect::<Vec<_>>()
    };
    assert_eq!(changes(&CHAIN.replace("row.cpu > 0.1", "row.cpu > 0.2")), ["filter.where"]);
    assert_eq!(
        changes(&CHAIN.replace("row.cpu / row.mem", "row.cpu")),
        ["derive.columns.share", "derive.columns.share reads",]
    );
    assert_eq!(changes(&CHAIN.replace("row.share > 0.01", "row.share > 0.02")), ["where"]);
    let added = CHAIN.replace(
        "|> data.filter(row => row.cpu > 0.1)",
        "|> data.filter(row => row.cpu > 0.1) |> data.select([\"time\", \"cpu\", \"mem\"])",
    );
    assert_eq!(changes(&added), ["steps before"]);
}

#[test]
fn other_data_changes_what_the_first_step_reads() {
    let mut files = Files::with(CHAIN);
    let old = fields(&compiled(&files, &[]).plan.expect("a plan"), "scored");
    files.put(
        "metrics.csv",
        "time,cpu,mem,requests,errors,host\n2024-01-01T00:00:00Z,0.9,10.5,100,1,a\n",
    );
    let new = fields(&compiled(&files, &[]).plan.expect("a plan"), "scored");
    assert_ne!(old.reads(), new.reads());
    assert_ne!(old.key(), new.key());
}

#[test]
fn a_chain_in_a_body_is_one_node_too() {
    let program = "let t = data.read(\"metrics.csv\")
check good = t.rows > 3
let hosts = if good { [\"a\", \"b\"] } else { [\"c\"] }
let busy = for host in hosts {
  let mine = t |> data.filter(row => row.host == host) |> data.derive(load: row => row.cpu * 2.0)
  mine |> data.filter(row => row.load > 0.1)
}
output all = data.concat(busy)\n";
    let whole = plan(program);
    let busy = whole.nodes.iter().find(|node| node.name == "busy").expect("the loop");
    let Some(Arg::Body(body)) = busy.args.get("body") else { panic!("{:?}", busy.args) };
    let [node] = body.nodes.as_slice() else { panic!("{:?}", body.nodes) };
    assert_eq!(explain::shown_op(node), "filter, derive, filter in one pass");
    let apart = plan(&program.replace(
        "  mine |> data.filter",
        "  let n = mine.rows\n  mine |> data.filter(row => row.load < n) |> data.filter",
    ));
    let step = |plan: &Plan| {
        let busy = plan.nodes.iter().find(|node| node.name == "busy").expect("the loop");
        let Some(Arg::Body(body)) = busy.args.get("body") else { panic!("{:?}", busy.args) };
        body.nodes.first().map(|node| (explain::shown_op(node), node.key))
    };
    let mine = node.fused.get(1).map(|step| step.key);
    assert_eq!(step(&apart), Some(("filter, derive in one pass".into(), mine.expect("a step"))));
}

#[test]
fn a_step_may_read_single_results() {
    let program = "let t = data.read(\"metrics.csv\")
let busy = t |> data.filter(row => row.cpu > 0.1)
output scored = busy |> data.derive(n: row => row.cpu * t.rows) |> data.select([\"n\"])\n";
    let alone = plan(program);
    assert_eq!(outline(&alone), ["t = data.read", "scored = filter, derive, select in one pass"]);
    let apart = plan(&format!("{program}check some = busy.rows > 0\n"));
    let key = |plan: &Plan| keys(plan).get("scored").cloned();
    assert_eq!(key(&alone), key(&apart));
    let reads = fields(&alone, "scored");
    let places: Vec<_> =
        reads.reads().into_keys().map(|(at, place)| format!("{at} {place}")).collect();
    assert_eq!(places, ["0 table", "1 columns.n[0]"]);
}
