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

/// The key of a driver, and of all that it makes for these digests.
fn keys(program: &str, driver: &str, digests: &[&str]) -> (Key, Vec<Key>) {
    let plan = plan(program);
    let node = node(&plan, driver);
    let made = digests.iter().flat_map(|digest| make(&plan, node, "body", &[digest]).nodes);
    (node.key, made.map(|node| node.key).collect())
}

const LOOP: &str = "let mine = t |> data.filter(row => row.cpu > 0.5 and row.host == name)\n\
    let sorted = mine |> data.sort([\"mem\"])\n\
    { sorted: sorted, rows: mine.rows }";

#[test]
fn names_and_the_order_of_lets_change_nothing() {
    let first = keys(
        &program(&format!("output all = for name in names {{ {LOOP} }}\n")),
        "all",
        &["d1", "d2"],
    );
    let renamed = LOOP.replace("mine", "own").replace("name", "who");
    let other = keys(
        &format!(
            "# Read first.\nlet before = data.read(\"metrics.csv\") |> data.filter(row => row.cpu > 0.5)\n{}",
            program(&format!("output all = for who in names {{ {renamed} }}\noutput b = before\n"))
        ),
        "all",
        &["d1", "d2"],
    );
    assert_eq!(first, other);
    let swapped = program(
        "output all = for name in names { let a = t |> data.sort([\"cpu\"])\nlet b = t |> data.sort([\"mem\"])\n\
         { a: a, b: b, name: name } }\n",
    );
    let straight = program(
        "output all = for name in names { let b = t |> data.sort([\"mem\"])\nlet a = t |> data.sort([\"cpu\"])\n\
         { name: name, b: b, a: a } }\n",
    );
    assert_eq!(keys(&swapped, "all", &["d"]).0, keys(&straight, "all", &["d"]).0);
}

#[test]
fn an_element_does_not_know_the_others() {
    let text = program(&format!("output all = for name in names {{ {LOOP} }}\n"));
    let longer = text.replace("[\"a\", \"b\"]", "[\"a\", \"b\", \"c\"]");
    let (driver, elements) = keys(&text, "all", &["d1", "d2"]);
    let (longer_driver, longer_elements) = keys(&longer, "all", &["d1", "d2", "d3"]);
    assert_ne!(driver, longer_driver, "the driver reads another list");
    assert_eq!(elements[..], longer_elements[..elements.len()]);
    assert_ne!(elements[0], elements[2], "another value is another element");
}

#[test]
fn what_is_captured_counts_where_it_is_used() {
    let text = program(
        "let limit = t |> data.sort([\"cpu\"])\n\
         output all = for name in names { let a = t |> data.filter(row => row.host == name)\n\
         let b = a |> data.join(with: limit, on: [\"time\"])\n{ a: a, b: b } }\n",
    );
    let changed = text.replace("data.sort([\"cpu\"])", "data.sort([\"mem\"])");
    let (driver, elements) = keys(&text, "all", &["d1"]);
    let (changed_driver, changed_elements) = keys(&changed, "all", &["d1"]);
    assert_ne!(driver, changed_driver);
    assert_eq!(elements[0], changed_elements[0], "the filter does not read it");
    assert_ne!(elements[1], changed_elements[1], "the join does");
}

#[test]
fn a_change_in_the_body_changes_what_follows_from_it() {
    let text = program(&format!("output all = for name in names {{ {LOOP} }}\n"));
    let changed = text.replace("data.sort([\"mem\"])", "data.sort([\"mem\"], descending: true)");
    let (driver, elements) = keys(&text, "all", &["d1"]);
    let (changed_driver, changed_elements) = keys(&changed, "all", &["d1"]);
    assert_ne!(driver, changed_driver);
    assert_eq!(elements[0], changed_elements[0]);
    assert_ne!(elements[1], changed_elements[1]);
}

#[test]
fn bodies_nest() {
    let plan = plan(&program(
        "output all = for a in names { for b in names if a != b { t |> data.filter(row => row.host == b) } }\n",
    ));
    let outer = body(node(&plan, "all"), "body");
    let [inner] = outer.nodes.as_slice() else { panic!("{:?}", ops(outer)) };
    assert_eq!((inner.name.as_str(), inner.op.as_str()), ("", "flow.each"));
    assert_eq!(
        inner.args.get("flatten"),
        Some(&Arg::Const(pipe_compiler::value::Const::Bool(true)))
    );
    let choice = body(inner, "body");
    assert!(choice.nodes.iter().any(|node| node.op == "flow.choose"), "{:?}", ops(choice));
    let made = make(&plan, node(&plan, "all"), "body", &["d1"]);
    assert_eq!(made.nodes.len(), 1);
    assert_ne!(made.nodes[0].key, inner.key, "the slots are filled");
}

#[test]
fn pairs_are_bound_by_their_fields() {
    let plan = plan(&program(
        "let pairs = for name in names { { name: name, rows: t.rows } }\n\
         output all = for (name, rows) in pairs { \"${name}${rows}\" }\n",
    ));
    let all = node(&plan, "all");
    assert_eq!(body(all, "body").bound, ["name", "rows"]);
    let fields = ["name", "rows"].map(|name| pipe_compiler::value::Const::Str(name.into()));
    assert_eq!(
        all.args.get("fields"),
        Some(&Arg::Const(pipe_compiler::value::Const::List(fields.into())))
    );
}

#[test]
fn single_results_are_read_by_functions_of_rows() {
    let plan = plan(&program(
        "output hot = t |> data.filter(row => row.cpu > t.rows * 2.0 and row.host != \"b\")\n\
         output all = for name in names { t |> data.filter(row => row.host == name) }\n",
    ));
    let Some(Arg::Reading { function, reads }) = node(&plan, "hot").args.get("where") else {
        panic!("{:?}", node(&plan, "hot").args)
    };
    let columns: Vec<&str> = function.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(columns, ["cpu", "host", "result 0"]);
    assert!(matches!(reads.as_slice(), [Arg::Input(input)] if input.path == ["rows"]));
    let inner = &body(node(&plan, "all"), "body").nodes[0];
    let Some(Arg::Reading { reads, .. }) = inner.args.get("where") else {
        panic!("{:?}", inner.args)
    };
    assert!(matches!(reads.as_slice(), [Arg::Bound(bound)] if bound.slot == 0));
}

#[test]
fn a_state_is_computed_again_and_again() {
    let plan = plan(&program(
        "output last = iterate(t, step: s => s |> data.sort([\"cpu\"]), until: s => s.rows > 3, max: 4)\n\
         output n = iterate(1, step: n => 3 * n, until: n => n > 20, max: 9)\noutput names = names\n",
    ));
    let last = node(&plan, "last");
    assert_eq!(last.op, "flow.iterate");
    assert_eq!(ops(body(last, "step")), [("", "data.sort")]);
    assert_eq!(ops(body(last, "until")), [("", "value.compute")]);
    let n = plan.roots.iter().find(|root| root.name == "n").unwrap();
    assert_eq!(n.value, Arg::Const(pipe_compiler::value::Const::Int(27)), "known before the run");
}

#[test]
fn a_driver_is_explained_with_its_body() {
    let plan = plan(&program(
        "output all = for name in names { t |> data.filter(row => row.host == name) }\n",
    ));
    let shown = pipe_compiler::explain::json(&plan, &[]);
    let nodes = shown["nodes"].as_array().unwrap();
    let all = nodes.iter().find(|node| node["id"] == "all").unwrap();
    assert_eq!(all["state"], "expand");
    assert_eq!(all["bodies"]["body"]["bound"][0], "name");
    assert_eq!(all["bodies"]["body"]["nodes"][0]["op"], "data.filter");
    assert!(pipe_compiler::explain::dot(&plan, &[]).contains("peripheries"));
}

#[test]
fn cycles_are_shown_with_the_place_of_each_step() {
    let text = check(
        "fn f(x: int) -> int = g(x)\nfn g(x: int) -> int = h(x)\nfn h(x: int) -> int = f(x)\noutput a = f(1)\n",
    );
    for place in
        ["1:4 `f`", "2:4 `g`: `g` needs `h`", "3:4 `h`: `h` needs `f`", "label: `f` needs `g`"]
    {
        assert!(text.contains(place), "{place} in\n{text}");
    }
}
