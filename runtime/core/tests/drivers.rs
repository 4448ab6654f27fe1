//! Drivers: what expands while a run goes on, what is found again, and how it ends when something fails.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

mod support;

use pipe_compiler::plan::{Annotations, Arg, Plan};
use pipe_compiler::value::Const;
use pipe_runtime::events::{Event, NodeState};
use pipe_runtime::op::OpError;
use pipe_runtime::states::{Expected, States, states, why};
use pipe_runtime::value::Value;
use pipe_runtime::{Cancel, Registry, RunOptions};
use support::{
    Counter, Place, PlanBuilder, Ran, body, hundreds, int, list, op, registry, slot, text,
};

fn output(place: &Place, name: &str) -> String {
    let text = std::fs::read_to_string(place.out().join(format!("{name}.json"))).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How each element ended, in order of names.
fn elements(ran: &Ran) -> Vec<(String, NodeState)> {
    ran.states().into_iter().filter(|(name, _)| name.contains('[')).collect()
}

fn count(ran: &Ran, state: NodeState) -> usize {
    elements(ran).iter().filter(|(_, found)| *found == state).count()
}

#[test]
fn each_item_of_a_list_is_an_element() {
    let (place, counter) = (Place::new(), Counter::default());
    let ran = place.run(&hundreds(&[1, 2, 3]).0, &registry(&counter));
    assert_eq!(output(&place, "total"), "[ 101, 102, 103 ]");
    let names: Vec<String> = elements(&ran).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["total[value=1]", "total[value=2]", "total[value=3]"]);
    assert_eq!(counter.get(), 3);
    assert_eq!((ran.summary.ran, ran.summary.cached), (5, 0), "a list, three elements, a driver");
    let expanded = ran.events.iter().find_map(|event| match event {
        Event::NodeExpanded { node, elements } => Some((node.as_str(), elements.len())),
        _ => None,
    });
    assert_eq!(expanded, Some(("total", 3)));
    let again = place.run(&hundreds(&[1, 2, 3]).0, &registry(&counter));
    assert_eq!((again.summary.ran, again.summary.cached, counter.get()), (0, 2, 3));
}

#[test]
fn a_list_that_grows_by_one_computes_one_wherever_it_is_put() {
    let (place, counter) = (Place::new(), Counter::default());
    let registry = registry(&counter);
    place.run(&hundreds(&[1, 2, 3]).0, &registry);
    let ran = place.run(&hundreds(&[9, 1, 2, 3]).0, &registry);
    assert_eq!(counter.get(), 4);
    assert_eq!((count(&ran, NodeState::Ran), count(&ran, NodeState::Cached)), (1, 3));
    assert_eq!(output(&place, "total"), "[ 109, 101, 102, 103 ]");
    let ran = place.run(&hundreds(&[3, 2, 1, 9]).0, &registry);
    assert_eq!((counter.get(), count(&ran, NodeState::Cached)), (4, 4), "another order");
    assert_eq!(output(&place, "total"), "[ 103, 102, 101, 109 ]");
}

#[test]
fn equal_items_are_one_element() {
    let (place, counter) = (Place::new(), Counter::default());
    let ran = place.run(&hundreds(&[4, 4, 5, 4]).0, &registry(&counter));
    assert_eq!((counter.get(), elements(&ran).len()), (2, 2));
    assert_eq!(output(&place, "total"), "[ 104, 104, 105, 104 ]");
}

#[test]
fn an_empty_list_gives_an_empty_list() {
    let (place, counter) = (Place::new(), Counter::default());
    let ran = place.run(&hundreds(&[]).0, &registry(&counter));
    assert_eq!((ran.summary.exit_code(), counter.get()), (0, 0));
    assert_eq!(output(&place, "total"), "[]");
}

#[test]
fn an_element_that_the_plan_has_too_is_computed_once() {
    let (place, counter) = (Place::new(), Counter::default());
    let mut plan = hundreds(&[1, 2]);
    let start = plan.node("start", "number", &[("value", int(7))]);
    let inside = body(&["x"], |inside| inside.node("", "number", &[("value", int(7))]));
    let values = plan.node("three", "list", &[("of", list([int(1), int(2), int(3)]))]);
    let same = plan.node("same", "flow.each", &[("list", values), ("body", inside)]);
    plan.output("same", same);
    plan.output("start", start);
    let ran = place.run(&plan.0, &registry(&counter));
    assert_eq!(ran.summary.exit_code(), 0, "{:?}", ran.summary.failures);
    assert_eq!(output(&place, "same"), "[ 7, 7, 7 ]");
    assert_eq!(counter.get(), 3, "two hundreds and one number");
}

/// `fails` fails for the item 2; the others count.
fn failing(counter: &Counter) -> Registry {
    let mut registry = registry(counter);
    let ran = counter.clone();
    registry.register(op("fails", move |args, _| {
        let of = args.int("of")?;
        if of == 2 {
            return Err(OpError::new("run::test", "Two is too much."));
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        ran.add();
        Ok(Value::Int(of))
    }));
    registry
}

fn fragile(values: &[i64]) -> Plan {
    let mut plan = PlanBuilder::new();
    let values = plan.node("values", "list", &[("of", list(values.iter().map(|at| int(*at))))]);
    let inside = body(&["n"], |inside| {
        let first = inside.node("first", "fails", &[("of", slot(0))]);
        inside.node("", "add", &[("a", first), ("b", int(1))])
    });
    let all = plan.node("all", "flow.each", &[("list", values.clone()), ("body", inside)]);
    let after = plan.node("after", "list", &[("of", all)]);
    plan.output("after", after);
    plan.output("values", values);
    plan.0
}

#[test]
fn a_failed_element_lets_the_others_end_and_they_are_kept() {
    let (place, counter) = (Place::new(), Counter::default());
    let ran = place.run(&fragile(&[2, 1, 3]), &failing(&counter));
    let states = ran.states();
    assert_eq!(states["all[n=2].first"], NodeState::Failed);
    assert_eq!(states["all[n=2]"], NodeState::Skipped);
    assert_eq!(states["all[n=1]"], NodeState::Ran);
    assert_eq!(states["all[n=3]"], NodeState::Ran);
    assert_eq!((states["all"], states["after"]), (NodeState::Skipped, NodeState::Skipped));
    assert_eq!((ran.summary.exit_code(), ran.summary.failures.len()), (3, 1));
    assert_eq!(ran.error("all[n=2].first").message, "Two is too much.");
    assert!(place.out().join("values.json").exists(), "what does not need it is there");
    assert_eq!(counter.get(), 4);
    let again = place.run(&fragile(&[2, 1, 3]), &failing(&counter));
    assert_eq!(counter.get(), 4, "finished elements are found");
    assert_eq!(again.states()["all[n=1]"], NodeState::Cached);
    assert!(again.why("all[n=2].first").contains("it failed in run 1: Two is too much."));
    let mended = place.run(&fragile(&[1, 3]), &failing(&counter));
    assert_eq!((mended.summary.exit_code(), counter.get()), (0, 4));
}

/// `chosen = if condition { one } else { two }` with an op on either side.
fn choice(value: i64) -> Plan {
    let mut plan = PlanBuilder::new();
    let condition = plan.node("condition", "positive", &[("of", int(value))]);
    let base = plan.node("base", "number", &[("value", int(40))]);
    let then = body(&[], |inside| inside.node("", "add", &[("a", slot(0)), ("b", int(2))]));
    let otherwise = body(&[], |inside| inside.node("", "half", &[("of", slot(0))]));
    let chosen = plan.node(
        "chosen",
        "flow.choose",
        &[
            ("condition", condition),
            ("then", then),
            ("otherwise", otherwise),
            ("captures", list([base])),
        ],
    );
    plan.output("chosen", chosen);
    plan.0
}

fn choosing(counter: &Counter) -> Registry {
    let mut registry = registry(counter);
    registry.register(op("positive", |args, _| Ok(Value::Bool(args.int("of")? > 0))));
    registry
}

#[test]
fn a_choice_computes_one_branch() {
    let (place, counter) = (Place::new(), Counter::default());
    let ran = place.run(&choice(1), &choosing(&counter));
    assert_eq!(output(&place, "chosen"), "42");
    assert_eq!(elements(&ran), [("chosen[then]".to_owned(), NodeState::Ran)]);
    let ran = place.run(&choice(-1), &choosing(&counter));
    assert_eq!(output(&place, "chosen"), "20");
    assert_eq!(elements(&ran), [("chosen[else]".to_owned(), NodeState::Ran)]);
    let ran = place.run(&choice(5), &choosing(&counter));
    assert_eq!(output(&place, "chosen"), "42");
    assert_eq!(ran.states()["chosen"], NodeState::Cached, "another condition, the same answer");
    assert_eq!(counter.get(), 3, "the base and one node for each branch");
}

/// Doubles from 1 until 100 is reached, at most `max` times.
fn doubling(max: i64) -> Plan {
    let mut plan = PlanBuilder::new();
    let start = plan.node("start", "number", &[("value", int(1))]);
    let step = body(&["s"], |inside| inside.node("", "add", &[("a", slot(0)), ("b", slot(0))]));
    let until = body(&["s"], |inside| inside.node("", "large", &[("of", slot(0))]));
    let walk = plan.node(
        "walk",
        "flow.iterate",
        &[("init", start), ("step", step), ("until", until), ("max", int(max))],
    );
    plan.output("walk", walk);
    plan.0
}

fn doublers(counter: &Counter) -> Registry {
    let mut registry = registry(counter);
    registry.register(op("large", |args, _| Ok(Value::Bool(args.int("of")? >= 100))));
    registry
}

#[test]
fn iterate_stops_when_it_is_good_or_at_its_limit() {
    let (place, counter) = (Place::new(), Counter::default());
    let ran = place.run(&doubling(20), &doublers(&counter));
    assert_eq!((output(&place, "walk").as_str(), counter.get()), ("128", 8));
    assert_eq!(ran.states()["walk[step=7]"], NodeState::Ran);
    assert!(!ran.states().contains_key("walk[step=8]"));
    let ran = place.run(&doubling(3), &doublers(&counter));
    assert_eq!((output(&place, "walk").as_str(), counter.get()), ("8", 8), "all of it is stored");
    assert_eq!(count(&ran, NodeState::Cached), 5, "three steps and two questions");
}

/// `rows = [[x + y for y in columns] for x in rows]`, both lists known in the run only.
fn nested(rows: &[i64], columns: &[i64]) -> Plan {
    let mut plan = PlanBuilder::new();
    let numbers = |values: &[i64]| list(values.iter().map(|at| int(*at)));
    let rows = plan.node("rows", "list", &[("of", numbers(rows))]);
    let columns = plan.node("columns", "list", &[("of", numbers(columns))]);
    let inner = body(&["y"], |inside| inside.node("", "add", &[("a", slot(1)), ("b", slot(0))]));
    let outer = body(&["x"], |inside| {
        inside.node(
            "",
            "flow.each",
            &[("list", slot(1)), ("body", inner), ("captures", list([slot(0)]))],
        )
    });
    let all = plan.node(
        "all",
        "flow.each",
        &[
            ("list", rows),
            ("body", outer),
            ("captures", list([columns])),
            ("flatten", Arg::Const(Const::Bool(true))),
        ],
    );
    plan.output("all", all);
    plan.0
}

#[test]
fn drivers_nest() {
    let (place, counter) = (Place::new(), Counter::default());
    let ran = place.run(&nested(&[10, 20], &[1, 2]), &registry(&counter));
    assert_eq!(ran.summary.exit_code(), 0, "{:?}", ran.summary.failures);
    assert_eq!(output(&place, "all"), "[ 11, 12, 21, 22 ]");
    assert_eq!(counter.get(), 4);
    assert!(ran.states().contains_key("all[x=10][y=2]"), "{:?}", ran.states());
    place.run(&nested(&[10, 20], &[2, 3, 1]), &registry(&counter));
    assert_eq!(counter.get(), 6, "one more for each row");
    assert_eq!(output(&place, "all"), "[ 12, 13, 11, 22, 23, 21 ]");
}

#[test]
fn expansion_has_a_limit() {
    let (place, counter) = (Place::new(), Counter::default());
    let many: Vec<i64> = (0..10_001).collect();
    let ran = place.run(&hundreds(&many).0, &registry(&counter));
    let error = ran.error("total");
    assert_eq!((error.code.as_str(), counter.get()), ("run::expansion", 0));
    assert_eq!(error.message, "`total` would repeat its body 10001 times, and 10000 are allowed.");
    assert_eq!(ran.summary.cached, 0);
}

#[test]
fn all_drivers_together_have_a_limit() {
    let (place, counter) = (Place::new(), Counter::default());
    let mut plan = PlanBuilder::new();
    let items = list((0..10_000).map(int));
    let values = plan.node("values", "list", &[("of", items)]);
    let inside = body(&["n"], |inside| {
        let first = inside.node("first", "add", &[("a", slot(0)), ("b", int(0))]);
        (1..11).fold(first, |before, at| {
            inside.node(&format!("more{at}"), "add", &[("a", before), ("b", int(at))])
        })
    });
    let all = plan.node("all", "flow.each", &[("list", values), ("body", inside)]);
    plan.output("all", all);
    let ran = place.run(&plan.0, &registry(&counter));
    let error = ran.error("all");
    assert_eq!((error.code.as_str(), counter.get()), ("run::expansion", 0));
    assert_eq!(
        error.message,
        "With `all` the run would make 110000 nodes, and 100000 are allowed."
    );
}

#[test]
fn items_that_are_artifacts_are_bound_and_come_back_when_they_are_lost() {
    let (place, counter) = (Place::new(), Counter::default());
    let plan = || {
        let mut plan = PlanBuilder::new();
        let words = ["a", "bb", "ccc"];
        let texts: Vec<Arg> =
            words.iter().map(|word| plan.node(word, "text", &[("content", text(word))])).collect();
        let all = plan.node("texts", "list", &[("of", list(texts))]);
        let inside = body(&["t"], |inside| inside.node("", "length", &[("of", slot(0))]));
        let lengths = plan.node("lengths", "flow.each", &[("list", all), ("body", inside)]);
        plan.output("lengths", lengths);
        plan.0
    };
    let ran = place.run(&plan(), &registry(&counter));
    assert_eq!(output(&place, "lengths"), "[ 1, 2, 3 ]");
    assert!(ran.states().contains_key("lengths[t=1]"), "{:?}", ran.states());
    let store = place.store();
    for blob in store.blobs().list().unwrap() {
        std::fs::remove_file(store.blobs().path(&blob)).unwrap();
    }
    drop(store);
    let ran = place.run(&plan(), &registry(&counter));
    assert_eq!((ran.summary.ran, counter.get()), (0, 6), "numbers need no texts");
    let fresh = RunOptions { fresh: true, ..place.options() };
    let ran = place.run_with(&plan(), &registry(&counter), &fresh);
    assert_eq!((ran.summary.exit_code(), counter.get()), (0, 12));
    assert_eq!(output(&place, "lengths"), "[ 1, 2, 3 ]");
}

/// Elements whose content disappears while the run goes on: `steal` removes all blobs once.
#[test]
fn content_that_is_lost_in_the_middle_is_made_again() {
    let (place, counter) = (Place::new(), Counter::default());
    let mut registry = registry(&counter);
    let blobs = place.store().blobs().clone();
    let stolen = Counter::default();
    registry.register(op("steal", move |args, context| {
        if stolen.add() == 0 {
            for blob in blobs.list().unwrap() {
                std::fs::remove_file(blobs.path(&blob)).unwrap();
            }
        }
        let path = context.path(args.artifact("of")?)?;
        Ok(Value::Int(i64::try_from(std::fs::read(path).unwrap().len()).unwrap()))
    }));
    let mut plan = PlanBuilder::new();
    let texts: Vec<Arg> = ["a", "bb", "ccc"]
        .iter()
        .map(|word| plan.node(word, "text", &[("content", text(word))]))
        .collect();
    let all = plan.node("texts", "list", &[("of", list(texts))]);
    let inside = body(&["t"], |inside| inside.node("", "steal", &[("of", slot(0))]));
    let lengths = plan.node("lengths", "flow.each", &[("list", all), ("body", inside)]);
    plan.output("lengths", lengths);
    let machine = pipe_runtime::Machine { threads: 1, memory: None, gpus: Vec::new() };
    let options = RunOptions { machine, ..place.options() };
    let ran = place.run_with(&plan.0, &registry, &options);
    assert_eq!(ran.summary.exit_code(), 0, "{:?}", ran.summary.failures);
    assert_eq!(output(&place, "lengths"), "[ 1, 2, 3 ]");
    assert_eq!(counter.get(), 6, "each text was made again");
}

#[test]
fn a_lost_part_of_a_drivers_result_is_made_again() {
    let (place, counter) = (Place::new(), Counter::default());
    let mut registry = registry(&counter);
    let blobs = place.store().blobs().clone();
    let stolen = Counter::default();
    registry.register(op("steal", move |args, context| {
        if stolen.add() == 0 {
            for blob in blobs.list().unwrap() {
                std::fs::remove_file(blobs.path(&blob)).unwrap();
            }
        }
        let lengths = args.artifacts("of")?.into_iter().map(|text| {
            Ok(Value::Int(
                i64::try_from(std::fs::read(context.path(text)?).unwrap().len()).unwrap(),
            ))
        });
        lengths.collect::<Result<_, OpError>>().map(Value::List)
    }));
    let mut plan = PlanBuilder::new();
    let words = plan.node("words", "list", &[("of", list([text("a"), text("bb")]))]);
    let inside = body(&["w"], |inside| inside.node("", "text", &[("content", slot(0))]));
    let texts = plan.node("texts", "flow.each", &[("list", words), ("body", inside)]);
    let lengths = plan.node("lengths", "steal", &[("of", texts)]);
    plan.output("lengths", lengths);
    let ran = place.run(&plan.0, &registry);
    assert_eq!(ran.summary.exit_code(), 0, "{:?}", ran.summary.failures);
    assert_eq!(output(&place, "lengths"), "[ 1, 2 ]");
    assert_eq!(counter.get(), 4, "each text was made again");
}

#[test]
fn a_stopped_fan_out_goes_on_where_it_was() {
    let (place, counter) = (Place::new(), Counter::default());
    let cancel = Cancel::new();
    let mut registry = registry(&Counter::default());
    let (ran, stop) = (counter.clone(), cancel.clone());
    registry.register(op("slow", move |args, _| {
        if ran.add() == 2 {
            stop.stop();
        }
        Ok(Value::Int(args.int("of")? * 2))
    }));
    let mut plan = PlanBuilder::new();
    let values = plan.node("values", "list", &[("of", list((0..6).map(int)))]);
    let inside = body(&["n"], |inside| inside.node("", "slow", &[("of", slot(0))]));
    let all = plan.node("all", "flow.each", &[("list", values), ("body", inside)]);
    plan.output("all", all);
    let machine = pipe_runtime::Machine { threads: 1, memory: None, gpus: Vec::new() };
    let options = RunOptions { machine: machine.clone(), cancel, ..place.options() };
    let stopped = place.run_with(&plan.0, &registry, &options);
    assert_eq!((stopped.summary.exit_code(), counter.get()), (75, 3));
    assert_eq!(stopped.states()["all"], NodeState::Skipped);
    assert_eq!(stopped.summary.failures, []);
    let options = RunOptions { machine, ..place.options() };
    let ended = place.run_with(&plan.0, &registry, &options);
    assert_eq!((ended.summary.exit_code(), counter.get()), (0, 6));
    assert_eq!(count(&ended, NodeState::Cached), 3);
    assert_eq!(output(&place, "all"), "[ 0, 2, 4, 6, 8, 10 ]");
}

#[test]
fn what_runs_each_time_does_so_within_a_body() {
    let (place, counter) = (Place::new(), Counter::default());
    let mut plan = PlanBuilder::new();
    let values = plan.node("values", "list", &[("of", list([int(1), int(2)]))]);
    let inside = body(&["n"], |inside| {
        let runs = Annotations { effect: true, ..Annotations::light() };
        inside.node_with("told", "number", &[("value", slot(0))], runs);
        slot(0)
    });
    let all = plan.node("all", "flow.each", &[("list", values), ("body", inside)]);
    plan.output("all", all);
    for round in 1..=2 {
        let ran = place.run(&plan.0, &registry(&counter));
        assert_eq!((ran.summary.exit_code(), counter.get()), (0, 2 * round));
        assert_eq!(output(&place, "all"), "[ 1, 2 ]");
    }
}

#[test]
fn a_row_function_gets_the_results_that_it_reads() {
    use pipe_row::ir::{BinaryOp, ColumnRef, Expr, RowFn, Ty};
    let place = Place::new();
    let mut registry = registry(&Counter::default());
    registry.register(op("above", |args, _| {
        let test = args.row_fn("test")?;
        assert_eq!(test.columns.len(), 1);
        let held = |at: i64| test.evaluate_one(&[pipe_row::ir::Scalar::Int(at)]).unwrap();
        let found = (0..10).filter(|at| held(*at) == pipe_row::ir::Scalar::Bool(true));
        Ok(Value::Int(i64::try_from(found.count()).unwrap()))
    }));
    let column = |name: &str| ColumnRef { name: name.to_owned(), ty: Ty::Int, optional: false };
    let sides = [Expr::Column(0), Expr::Column(1)].map(Box::new);
    let [row, limit] = sides;
    let function = RowFn {
        columns: vec![column("value"), column("limit")],
        body: Expr::Binary(BinaryOp::Greater, row, limit),
        ty: Ty::Bool,
        optional: false,
    };
    let mut plan = PlanBuilder::new();
    let limits = plan.node("limits", "list", &[("of", list([int(2), int(7)]))]);
    let inside = body(&["limit"], |inside| {
        let test = Arg::Reading { function: function.clone(), reads: vec![slot(0)] };
        inside.node("", "above", &[("test", test)])
    });
    let counts = plan.node("counts", "flow.each", &[("list", limits), ("body", inside)]);
    plan.output("counts", counts);
    let ran = place.run(&plan.0, &registry);
    assert_eq!(ran.summary.exit_code(), 0, "{:?}", ran.summary.failures);
    assert_eq!(output(&place, "counts"), "[ 7, 2 ]");
}

#[test]
fn several_variables_are_fields_of_an_item() {
    let (place, counter) = (Place::new(), Counter::default());
    let mut plan = PlanBuilder::new();
    let pair =
        |a: i64, b: i64| Arg::Record([("x".to_owned(), int(a)), ("y".to_owned(), int(b))].into());
    let pairs = plan.node("pairs", "list", &[("of", list([pair(1, 2), pair(3, 4)]))]);
    let inside =
        body(&["p", "q"], |inside| inside.node("", "add", &[("a", slot(0)), ("b", slot(1))]));
    let fields = list([text("y"), text("x")]);
    let sums =
        plan.node("sums", "flow.each", &[("list", pairs), ("body", inside), ("fields", fields)]);
    plan.output("sums", sums);
    let ran = place.run(&plan.0, &registry(&counter));
    assert_eq!(output(&place, "sums"), "[ 3, 7 ]");
    assert!(ran.states().contains_key("sums[p=2, q=1]"), "{:?}", ran.states());
}

fn view(place: &Place, plan: &Plan) -> States {
    states(plan, &place.store(), &Registry::new()).unwrap()
}

fn shown(states: &States, plan: &Plan, driver: &str) -> Vec<(String, Expected)> {
    let id = plan.nodes.iter().find(|node| node.name == driver).unwrap().id;
    let made = states.made.get(&id).into_iter().flatten();
    made.map(|made| (made.node.name.clone(), made.status.state)).collect()
}

#[test]
fn the_plan_shows_what_a_driver_would_make() {
    let (place, counter) = (Place::new(), Counter::default());
    let plan = hundreds(&[1, 2]).0;
    let before = view(&place, &plan);
    assert_eq!(before.planned[1].state, Expected::Expand);
    assert!(before.made.is_empty(), "the list is not known yet");
    place.run(&plan, &registry(&counter));
    let after = view(&place, &plan);
    assert!(after.planned.iter().all(|status| status.state == Expected::Cached));
    assert!(after.made.is_empty(), "nothing would expand");
    let grown = hundreds(&[1, 2, 3]).0;
    let store = place.store();
    assert!(view(&place, &grown).made.is_empty(), "the list itself would run");
    // The list is there, but what is made of its items is not.
    let mut other = PlanBuilder::new();
    let values = other.node("values", "list", &[("of", list([int(1), int(2)]))]);
    let inside = body(&["v"], |inside| {
        let more = inside.node("more", "add", &[("a", slot(0)), ("b", int(100))]);
        inside.node("", "half", &[("of", more)])
    });
    let halves = other.node("halves", "flow.each", &[("list", values), ("body", inside)]);
    let last = other.node("last", "list", &[("of", halves)]);
    other.output("last", last);
    let other = other.0;
    let found = states(&other, &store, &Registry::new()).unwrap();
    let of = |name: &str, state| (name.to_owned(), state);
    assert_eq!(
        shown(&found, &other, "halves"),
        [
            of("halves[v=1].more", Expected::Cached),
            of("halves[v=1]", Expected::Run),
            of("halves[v=2].more", Expected::Cached),
            of("halves[v=2]", Expected::Run)
        ]
    );
    assert_eq!(found.planned[1].state, Expected::Expand);
    assert_eq!(counter.get(), 2, "looking runs nothing");
    let found = why(&other, &store, &Registry::new(), "halves[v=2]").unwrap().unwrap();
    assert_eq!(found.status.state, Expected::Run);
    let found = why(&plan, &store, &Registry::new(), "total[value=2]").unwrap().unwrap();
    assert_eq!(found.status.state, Expected::Cached, "although its driver is stored");
    assert!(why(&plan, &store, &Registry::new(), "total[value=9]").unwrap().is_none());
}

#[test]
fn a_branch_that_is_not_taken_is_not_shown() {
    let (place, counter) = (Place::new(), Counter::default());
    place.run(&choice(1), &choosing(&counter));
    let mut plan = choice(1);
    let chosen = plan.nodes.last_mut().unwrap();
    if let Some(Arg::Body(then)) = chosen.args.get("then") {
        let mut then = then.clone();
        then.nodes[0].args.insert("b".to_owned(), int(3));
        then.nodes[0].key = pipe_compiler::key::Key([1; 32]);
        chosen.args.insert("then".to_owned(), Arg::Body(then));
    }
    chosen.key = pipe_compiler::key::Key([2; 32]);
    let found = view(&place, &plan);
    assert_eq!(
        shown(&found, &plan, "chosen"),
        [("chosen[then]".to_owned(), Expected::Run)],
        "the condition is known"
    );
}

#[test]
fn a_driver_shows_why_it_expands() {
    let (place, counter) = (Place::new(), Counter::default());
    place.run(&hundreds(&[1, 2]).0, &registry(&counter));
    let ran = place.run(&hundreds(&[1, 2, 3]).0, &registry(&counter));
    assert_eq!(ran.why("total"), "input `values` changed");
    assert_eq!(ran.why("total[value=3]"), "first run");
}
