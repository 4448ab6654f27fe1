//! Runs of small plans: what runs, what does not, and what is left behind.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use pipe_compiler::plan::{Annotations, Arg};
use pipe_runtime::events::{Event, NodeState};
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use pipe_runtime::{Cancel, Machine, Registry, RunOptions};
use std::sync::{Arc, Barrier};
use support::{Counter, Place, PlanBuilder, field, file, int, op, registry, text};

/// a = value, b = a / 2, c = b + 1, output c.
fn halves(value: i64) -> PlanBuilder {
    let mut plan = PlanBuilder::new();
    let a = plan.node("a", "number", &[("value", int(value))]);
    let b = plan.node("b", "half", &[("of", a)]);
    let c = plan.node("c", "add", &[("a", b), ("b", int(1))]);
    plan.output("c", c);
    plan
}

#[test]
fn a_second_run_computes_nothing_and_writes_the_same() {
    let (place, counter) = (Place::new(), Counter::default());
    let registry = registry(&counter);
    let plan = halves(10).0;
    let first = place.run(&plan, &registry);
    assert_eq!((first.summary.ran, first.summary.cached, counter.get()), (3, 0, 3));
    assert_eq!(first.why("a"), "first run");
    assert_eq!(std::fs::read_to_string(place.out().join("c.json")).unwrap(), "6\n");
    let second = place.run(&plan, &registry);
    assert_eq!((second.summary.ran, second.summary.cached, counter.get()), (0, 3, 3));
    assert!(matches!(second.events.first(), Some(Event::RunStarted { to_run: 0, nodes: 3, .. })));
    assert!(matches!(second.events.last(), Some(Event::RunFinished { cached: 3, .. })));
    assert_eq!(second.summary.exit_code(), 0);
}

#[test]
fn an_equal_result_cuts_off_what_follows() {
    let (place, counter) = (Place::new(), Counter::default());
    let registry = registry(&counter);
    place.run(&halves(10).0, &registry);
    let ran = place.run(&halves(11).0, &registry);
    let states = ran.states();
    assert_eq!(states["a"], NodeState::Ran);
    assert_eq!(states["b"], NodeState::Ran);
    assert_eq!(states["c"], NodeState::Cached, "10 / 2 == 11 / 2");
    assert!(ran.why("a").contains("value"), "{}", ran.why("a"));
    assert_eq!(ran.why("b"), "input `a` changed");
    let again = place.run(&halves(11).0, &registry);
    assert_eq!(again.summary.ran, 0, "the new plan key leads to the old result");
}

#[test]
fn fresh_computes_everything_again() {
    let (place, counter) = (Place::new(), Counter::default());
    let registry = registry(&counter);
    place.run(&halves(10).0, &registry);
    let options = RunOptions { fresh: true, ..place.options() };
    let ran = place.run_with(&halves(10).0, &registry, &options);
    assert_eq!((ran.summary.ran, counter.get()), (3, 6));
    let unchanged = |event: &Event| matches!(event, Event::NodeFinished { unchanged: true, .. });
    assert_eq!(ran.events.iter().filter(|event| unchanged(event)).count(), 3);
}

#[test]
fn branches_run_at_the_same_time() {
    let place = Place::new();
    let barrier = Arc::new(Barrier::new(3));
    let mut registry = Registry::new();
    registry.register(op("meet", move |args, _| {
        barrier.wait();
        Ok(Value::Int(args.int("value")?))
    }));
    let mut plan = PlanBuilder::new();
    for at in 0..3 {
        let node = plan.node(&format!("n{at}"), "meet", &[("value", int(at))]);
        plan.output(&format!("n{at}"), node);
    }
    assert_eq!(place.run(&plan.0, &registry).summary.ran, 3);
}

#[test]
fn threads_are_not_overcommitted() {
    let place = Place::new();
    let busy = Counter::default();
    let mut registry = Registry::new();
    let counter = busy.clone();
    registry.register(op("wide", move |args, context| {
        assert_eq!(context.threads(), 2);
        assert_eq!(counter.add() % 2, 0, "two wide ops at once");
        std::thread::sleep(std::time::Duration::from_millis(5));
        counter.add();
        Ok(Value::Int(args.int("value")?))
    }));
    let mut plan = PlanBuilder::new();
    for at in 0..4 {
        let runs = Annotations { threads: 2, ..Annotations::light() };
        let node = plan.node_with(&format!("n{at}"), "wide", &[("value", int(at))], runs);
        plan.output(&format!("n{at}"), node);
    }
    let machine = Machine { threads: 3, memory: None, gpus: Vec::new() };
    let ran = place.run_with(&plan.0, &registry, &RunOptions { machine, ..place.options() });
    assert_eq!(ran.summary.failed, 0, "{:?}", ran.summary.failures);
}

#[test]
fn a_failure_stops_only_what_needs_it() {
    let (place, counter) = (Place::new(), Counter::default());
    let mut registry = registry(&counter);
    registry
        .register(op("fail", |_, _| Err(OpError::new("run::bad_row", "Line 3 is not a number."))));
    let mut plan = PlanBuilder::new();
    let bad = plan.node("bad", "fail", &[]);
    let after = plan.node("after", "half", &[("of", bad)]);
    let good = plan.node("good", "number", &[("value", int(4))]);
    plan.output("good", good);
    plan.check("after", after);
    let ran = place.run(&plan.0, &registry);
    let states = ran.states();
    assert_eq!(states["bad"], NodeState::Failed);
    assert_eq!(states["after"], NodeState::Skipped);
    assert_eq!(states["good"], NodeState::Ran);
    assert_eq!(ran.summary.exit_code(), 3);
    assert_eq!(ran.error("bad").message, "Line 3 is not a number.");
    assert!(place.out().join("good.json").exists());
    let checks = std::fs::read_to_string(place.out().join("checks.json")).unwrap();
    assert!(checks.contains("`after` has no result"), "{checks}");
    let again = place.run(&plan.0, &registry);
    assert_eq!(again.states()["bad"], NodeState::Failed, "failures are not cached");
    assert!(again.why("bad").contains("it failed in run 1"), "{}", again.why("bad"));
}

#[test]
fn a_panic_is_a_failure() {
    let place = Place::new();
    let mut registry = Registry::new();
    registry.register(op("panic", |_, _| panic!("no such thing")));
    let mut plan = PlanBuilder::new();
    let node = plan.node("p", "panic", &[]);
    plan.output("p", node);
    let error = place.run(&plan.0, &registry).error("p");
    assert_eq!(error.code, "run::panic");
    assert!(error.message.contains("no such thing"));
}

#[test]
fn only_transient_errors_are_tried_again() {
    let (place, counter) = (Place::new(), Counter::default());
    let mut registry = Registry::new();
    for (name, transient) in [("flaky", true), ("broken", false)] {
        let counter = counter.clone();
        registry.register(op(name, move |_, _| {
            if counter.add() % 3 == 2 {
                return Ok(Value::Int(1));
            }
            Err(OpError { transient, ..OpError::new("run::net", "No answer.") })
        }));
    }
    let runs = Annotations { retry: 2, ..Annotations::light() };
    let mut plan = PlanBuilder::new();
    let node = plan.node_with("n", "flaky", &[], runs.clone());
    plan.output("n", node);
    let ran = place.run(&plan.0, &registry);
    assert_eq!((ran.summary.ran, counter.get()), (1, 3), "{:?}", ran.summary);
    let mut plan = PlanBuilder::new();
    let node = plan.node_with("n", "broken", &[], runs);
    plan.output("n", node);
    assert_eq!((place.run(&plan.0, &registry).summary.failed, counter.get()), (1, 4));
}

#[test]
fn time_limits_stop_an_op() {
    let place = Place::new();
    let mut registry = Registry::new();
    registry.register(op("endless", |_, context| {
        while !context.cancelled() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        Err(OpError::cancelled())
    }));
    let mut plan = PlanBuilder::new();
    let runs = Annotations { timeout: Some(20_000_000), ..Annotations::light() };
    let node = plan.node_with("slow", "endless", &[], runs);
    plan.output("slow", node);
    let error = place.run(&plan.0, &registry).error("slow");
    assert_eq!(error.code, "run::timeout");
    assert!(error.message.contains("20ms"), "{error}");
}

/// An op that counts to five in its checkpoint folder and is stopped from outside at three.
fn counting(cancel: Cancel, steps: Counter) -> Registry {
    let mut registry = Registry::new();
    registry.register(op("count", move |_, context| {
        let place = context.checkpoint().unwrap().join("step");
        let from: u64 = std::fs::read_to_string(&place).map_or(0, |text| text.parse().unwrap());
        for step in from..5 {
            if context.cancelled() {
                return Err(OpError::cancelled());
            }
            let before = steps.add();
            std::fs::write(&place, (step + 1).to_string()).unwrap();
            if before == 2 {
                cancel.stop();
                while !context.cancelled() {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            }
        }
        Ok(Value::Int(5))
    }));
    registry
}

#[test]
fn a_stopped_run_goes_on_where_it_was() {
    let (place, steps) = (Place::new(), Counter::default());
    let options = place.options();
    let registry = counting(options.cancel.clone(), steps.clone());
    let mut plan = PlanBuilder::new();
    let node = plan.node("n", "count", &[]);
    let after = plan.node("after", "count", &[("x", node)]);
    plan.output("after", after);
    let stopped = place.run_with(&plan.0, &registry, &options);
    assert_eq!(stopped.summary.exit_code(), 75);
    assert_eq!(stopped.states()["n"], NodeState::Skipped);
    assert_eq!(steps.get(), 3);
    let ran = place.run(&plan.0, &registry);
    assert_eq!(ran.summary.exit_code(), 0, "{:?}", ran.summary);
    assert_eq!(steps.get(), 5 + 5, "two steps of the first, all of the second");
    let resumed = |event: &Event| matches!(event, Event::NodeStarted { node, resumed: true, .. } if node == "n");
    assert!(ran.events.iter().any(resumed));
    let left = place.store_path().join("checkpoints").read_dir().unwrap().count();
    assert_eq!(left, 0, "recorded results need no checkpoint");
}

#[test]
fn what_is_never_cached_runs_each_time_and_what_reads_it_is_cut_off() {
    let (place, counter) = (Place::new(), Counter::default());
    let registry = registry(&counter);
    let mut plan = PlanBuilder::new();
    let runs = Annotations { cache: false, ..Annotations::light() };
    let now = plan.node_with("now", "number", &[("value", int(7))], runs);
    let half = plan.node("half", "half", &[("of", now)]);
    plan.output("half", half);
    place.run(&plan.0, &registry);
    let again = place.run(&plan.0, &registry);
    assert_eq!(again.states()["now"], NodeState::Ran);
    assert_eq!(again.states()["half"], NodeState::Cached);
    assert_eq!(again.why("now"), "@cache(off)");
}

#[test]
fn lost_and_damaged_content_is_computed_again() {
    let (place, counter) = (Place::new(), Counter::default());
    let registry = registry(&counter);
    let mut plan = PlanBuilder::new();
    let words = plan.node("words", "text", &[("content", text("some words"))]);
    plan.output("words", words);
    place.run(&plan.0, &registry);
    let blob = || {
        let store = place.store();
        let digest = store.blobs().list().unwrap().remove(0);
        store.blobs().path(&digest)
    };
    std::fs::remove_file(blob()).unwrap();
    assert!(!place.store().verify().unwrap().is_clean());
    let lost = place.run(&plan.0, &registry);
    assert_eq!(lost.summary.ran, 1);
    assert_eq!(lost.why("words"), "its result was lost or changed");
    let path = blob();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "other words!").unwrap();
    assert_eq!(place.run(&plan.0, &registry).summary.ran, 1);
    assert_eq!(std::fs::read_to_string(blob()).unwrap(), "some words");
    assert!(place.store().verify().unwrap().is_clean());
    assert_eq!(place.run(&plan.0, &registry).summary.ran, 0);
}

#[test]
fn content_lost_during_a_run_brings_its_producer_back() {
    let (place, counter) = (Place::new(), Counter::default());
    let mut registry = registry(&counter);
    let removed = Counter::default();
    let blobs = place.store().blobs().clone();
    registry.register(op("thief", move |args, context| {
        let artifact = args.artifact("of")?;
        if removed.add() == 0 {
            std::fs::remove_file(blobs.path(&artifact.digest)).unwrap();
        }
        context.path(artifact).map(|_| Value::Bool(true))
    }));
    let mut plan = PlanBuilder::new();
    let words = plan.node("words", "text", &[("content", text("some words"))]);
    let stolen = plan.node("stolen", "thief", &[("of", words)]);
    plan.output("stolen", stolen);
    let ran = place.run(&plan.0, &registry);
    assert_eq!(ran.summary.failed, 0, "{:?}", ran.summary);
    assert_eq!(counter.get(), 2, "the text was written twice");
}

#[test]
fn a_file_that_changes_under_an_op_is_not_recorded() {
    let place = Place::new();
    let data = place.folder.path().join("data.csv");
    std::fs::write(&data, "1").unwrap();
    let mut registry = Registry::new();
    let path = data.clone();
    registry.register(op("read", move |args, _| {
        if args.bool("meddle")? {
            std::fs::write(&path, "22").unwrap();
        }
        Ok(Value::Str(std::fs::read_to_string(&args.files("path")?[0].path).unwrap()))
    }));
    let plan = |meddle: bool| {
        let mut plan = PlanBuilder::new();
        let flag = Arg::Const(pipe_compiler::value::Const::Bool(meddle));
        let read = plan.node("read", "read", &[("path", file(&data)), ("meddle", flag)]);
        plan.output("read", read);
        plan.0
    };
    let meddled = place.run(&plan(true), &registry);
    assert_eq!(meddled.error("read").code, "run::file_changed");
    assert_eq!(place.store().verify().unwrap().results, 0);
    let stale = plan(false);
    std::fs::write(&data, "333").unwrap();
    let error = place.run(&stale, &registry).error("read");
    assert!(error.message.contains("since the run was planned"), "{error}");
    assert_eq!(place.run(&plan(false), &registry).summary.ran, 1);
}

#[test]
fn outputs_are_whole_and_repaired() {
    let (place, counter) = (Place::new(), Counter::default());
    let mut registry = registry(&counter);
    registry.register(op("folder", |_, context| {
        let folder = context.scratch("model")?;
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        std::fs::write(folder.join("config.json"), "{}").unwrap();
        std::fs::write(folder.join("inner/weights"), "w").unwrap();
        Ok(Value::Artifact(context.adopt(&folder, "model", "", Default::default())?))
    }));
    let mut plan = PlanBuilder::new();
    let words = plan.node("words", "text", &[("content", text("words"))]);
    let model = plan.node("model", "folder", &[]);
    let both = Arg::Record([("words".to_owned(), words.clone()), ("n".to_owned(), int(2))].into());
    plan.output("words", words);
    plan.output("model", model);
    plan.output("both", both);
    plan.check("false", Arg::Const(pipe_compiler::value::Const::Bool(false)));
    let ran = place.run(&plan.0, &registry);
    assert_eq!(ran.summary.exit_code(), 3, "a false check");
    assert_eq!(ran.summary.outputs.len(), 3);
    let out = place.out();
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(read("words.txt"), "words");
    assert_eq!(read("model/inner/weights"), "w");
    assert_eq!(read("both/words.txt"), "words");
    let shape: serde_json::Value = serde_json::from_str(&read("both/value.json")).unwrap();
    assert_eq!(shape["words"]["file"], "words.txt");
    let before = out.join("model/config.json").metadata().unwrap().modified().unwrap();
    std::fs::write(out.join("words.txt"), "edited").unwrap();
    std::fs::write(out.join("model/extra"), "x").unwrap();
    assert_eq!(place.run(&plan.0, &registry).summary.ran, 0);
    assert_eq!(read("words.txt"), "words");
    assert!(!out.join("model/extra").exists());
    let blob = place.store().verify().unwrap();
    assert!(blob.is_clean(), "editing an output does not touch the store");
    place.run(&plan.0, &registry);
    let _ = before;
    let left: Vec<_> = out.read_dir().unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".part")), "{left:?}");
}

#[test]
fn an_op_cannot_give_away_what_is_not_its_own() {
    let (place, counter) = (Place::new(), Counter::default());
    let mut registry = registry(&counter);
    let mine = place.folder.path().join("mine.txt");
    std::fs::write(&mine, "mine").unwrap();
    let path = mine.clone();
    registry.register(op("give", move |_, context| {
        Ok(Value::Artifact(context.adopt(&path, "text", "txt", Default::default())?))
    }));
    registry.register(op("pass", |args, context| {
        let path = context.path(args.artifact("of")?)?;
        Ok(Value::Artifact(context.adopt(&path, "text", "txt", Default::default())?))
    }));
    let mut plan = PlanBuilder::new();
    let give = plan.node("give", "give", &[]);
    let words = plan.node("words", "text", &[("content", text("words"))]);
    let pass = plan.node("pass", "pass", &[("of", words)]);
    plan.output("give", give);
    plan.output("pass", pass);
    let ran = place.run(&plan.0, &registry);
    assert_eq!(ran.error("give").code, "run::result");
    assert_eq!(std::fs::read_to_string(mine).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(place.out().join("pass.txt")).unwrap(), "words");
    assert!(place.store().verify().unwrap().is_clean());
}

#[test]
fn fields_of_results_are_inputs_of_their_own() {
    let (place, counter) = (Place::new(), Counter::default());
    let mut registry = registry(&counter);
    registry.register(op("pair", |args, _| {
        Ok(Value::record([("fixed", Value::Int(8)), ("other", Value::Int(args.int("value")?))]))
    }));
    let plan = |value: i64| {
        let mut plan = PlanBuilder::new();
        let pair = plan.node("pair", "pair", &[("value", int(value))]);
        let half = plan.node("half", "half", &[("of", field(&pair, "fixed"))]);
        plan.output("half", half);
        plan.0
    };
    place.run(&plan(1), &registry);
    let ran = place.run(&plan(2), &registry);
    assert_eq!(ran.states()["pair"], NodeState::Ran);
    assert_eq!(ran.states()["half"], NodeState::Cached);
}

#[test]
fn two_runs_at_once_compute_equal_nodes_once() {
    let (place, counter) = (Place::new(), Counter::default());
    let begun = Arc::new(Barrier::new(2));
    let mut registry = Registry::new();
    let (ran, gate) = (counter.clone(), begun.clone());
    registry.register(op("slow", move |_, _| {
        ran.add();
        gate.wait();
        std::thread::sleep(std::time::Duration::from_millis(30));
        Ok(Value::Int(1))
    }));
    let mut plan = PlanBuilder::new();
    let slow = plan.node("slow", "slow", &[]);
    plan.output("slow", slow);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| place.run(&plan.0, &registry));
        begun.wait();
        let second = place.run(&plan.0, &registry);
        let first = first.join().unwrap();
        assert_eq!(first.states()["slow"], NodeState::Ran);
        assert_eq!(second.states()["slow"], NodeState::Cached, "it waited for the first");
    });
    assert_eq!(counter.get(), 1);
}

#[test]
fn a_wide_plan_of_thousands_runs_and_is_found_again() {
    let (place, counter) = (Place::new(), Counter::default());
    let registry = registry(&counter);
    let mut plan = PlanBuilder::new();
    let mut last = plan.node("n0", "number", &[("value", int(0))]);
    for at in 1..500 {
        last = plan.node(&format!("n{at}"), "add", &[("a", last), ("b", int(at))]);
    }
    plan.output("sum", last);
    assert_eq!(place.run(&plan.0, &registry).summary.ran, 500);
    let again = place.run(&plan.0, &registry);
    assert_eq!((again.summary.ran, again.summary.cached), (0, 500));
}
