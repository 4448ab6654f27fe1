//! Drivers: what `if` and `for` over results become, and the keys of what the run makes of them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails in a test stops it")]

use crate::support::{check, plan};
use pipe_compiler::key::Key;
use pipe_compiler::plan::{Arg, Body, Input, Made, Node, NodeId, Plan, given};

fn node<'p>(plan: &'p Plan, name: &str) -> &'p Node {
    let found = plan.nodes.iter().find(|node| node.name == name);
    found.unwrap_or_else(|| {
        let names: Vec<_> = plan.nodes.iter().map(|node| (&node.name, &node.op)).collect();
        panic!("no node {name} in {names:?}")
    })
}

fn body<'p>(node: &'p Node, name: &str) -> &'p Body {
    match node.args.get(name) {
        Some(Arg::Body(body)) => body,
        other => panic!("{name} of {} is {other:?}", node.name),
    }
}

fn ops(body: &Body) -> Vec<(&str, &str)> {
    body.nodes.iter().map(|node| (node.name.as_str(), node.op.as_str())).collect()
}

/// The nodes that a driver of a plan makes for values of these digests.
fn make(plan: &Plan, driver: &Node, name: &str, digests: &[&str]) -> Made {
    let first = u32::try_from(plan.nodes.len()).unwrap();
    let bound: Vec<Node> = (first..)
        .zip(digests)
        .map(|(id, digest)| given(NodeId(id), "bound", "any", digest, driver.span))
        .collect();
    let mut slots: Vec<Input> =
        bound.iter().map(|node| Input { node: node.id, path: Vec::new() }).collect();
    if let Some(Arg::List(captures)) = driver.args.get("captures") {
        slots.extend(captures.iter().map(|capture| match capture {
            Arg::Input(input) => input.clone(),
            other => panic!("{other:?}"),
        }));
    }
    let key_of = |id: NodeId| -> Option<Key> {
        plan.nodes.iter().chain(&bound).find(|node| node.id == id).map(|node| node.key)
    };
    body(driver, name).make(&slots, first + u32::try_from(bound.len()).unwrap(), "e", key_of)
}

const HEAD: &str = "let t = data.read(\"metrics.csv\")\n\
    check good = t.rows > 3\n\
    let names = if good { [\"a\", \"b\"] } else { [\"c\"] }\n";

fn program(rest: &str) -> String {
    format!("{HEAD}{rest}")
}

#[test]
fn a_branch_that_makes_something_is_chosen_in_the_run() {
    let plan = plan(
        "let t = data.read(\"metrics.csv\")\ncheck good = t.rows > 3\n\
         output best = if good { t |> data.filter(row => row.cpu > 0.5) } else { t }\n",
    );
    let best = node(&plan, "best");
    assert_eq!(best.op, "flow.choose");
    assert_eq!(ops(body(best, "then")), [("", "data.filter")]);
    assert_eq!(ops(body(best, "otherwise")), []);
    assert!(matches!(body(best, "otherwise").result, Arg::Bound(_)));
    assert!(plan.nodes.iter().all(|node| node.op != "data.filter"), "nothing of it is planned");
    assert_eq!(best.inputs().len(), 2, "the condition and the table: {:?}", best.args);
}

#[test]
fn scalars_are_computed_as_before() {
    let plan = plan(&program("output a = if good { t.rows } else { 0 }\noutput n = names\n"));
    assert_eq!(node(&plan, "a").op, "value.compute");
}

#[test]
fn a_branch_may_give_nothing() {
    let plan = plan(&program("output model = if good { t } else { none }\noutput n = names\n"));
    let model = node(&plan, "model");
    assert!(model.ty.ends_with('?'), "{}", model.ty);
    assert_eq!(body(model, "otherwise").result, Arg::Const(pipe_compiler::value::Const::None));
}

#[test]
fn a_list_that_is_a_result_is_walked_in_the_run() {
    let plan = plan(&program(
        "let hot = for name in names { let mine = t |> data.filter(row => row.cpu > 0.5) \
         { name: name, rows: mine.rows } }\noutput hot = hot\n",
    ));
    let hot = node(&plan, "hot");
    assert_eq!(hot.op, "flow.each");
    let each = body(hot, "body");
    assert_eq!(each.bound, ["name"]);
    assert_eq!(ops(each), [("mine", "data.filter")]);
    assert_eq!(
        hot.ty,
        "[{ name: \"a\" | \"b\" | \"c\", rows: int }]".replace("\"a\" | \"b\" | \"c\"", "str")
    );
}

#[test]
fn made_nodes_have_the_keys_of_written_ones() {
    let plan = plan(&program(
        "output some = for name in names { t |> data.filter(row => row.cpu > 0.5) }\n\
         output one = t |> data.filter(row => row.cpu > 0.5)\n",
    ));
    let made = make(&plan, node(&plan, "some"), "body", &["d1"]);
    assert_eq!(made.nodes[0].key, node(&plan, "one").key);
    assert_eq!(made.nodes[0].name, "e");
}

#[test]
fn nothing_is_wrong_with_any_of_it() {
    for rest in [
        "output a = if good { t } else { none }\noutput n = names\n",
        "output a = for n in names { for m in names { \"${n}${m}\" } }\n",
        "output a = for n in names if n != \"a\" { n }\n",
        "output a = for k in [1, 2], n in names if n != \"a\" and k > 1 { \"${k}${n}\" }\n",
        "output a = for n in names, k in [1, 2] { \"${k}${n}\" }\n",
    ] {
        let text = check(&program(rest));
        assert!(text.is_empty(), "{rest}\n{text}");
    }
}
