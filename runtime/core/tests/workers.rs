//! Nodes in worker processes: results, affinity, cancelling, crashes, groups.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use pipe_compiler::plan::{Annotations, Batch, Worker};
use pipe_compiler::value::Const;
use pipe_runtime::events::{Event, NodeState};
use pipe_runtime::value::Value;
use pipe_runtime::{Registry, RunOptions, worker};
use std::path::Path;
use support::{Place, PlanBuilder, Ran, body, int, list, op, slot, text};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pipe-runtime-test");

fn torch() -> Annotations {
    Annotations { worker: Worker::Torch, threads: 2, ..Annotations::light() }
}

fn options(place: &Place) -> RunOptions {
    RunOptions { worker: Some(PROGRAM.into()), ..place.options() }
}

fn run(place: &Place, plan: &PlanBuilder) -> Ran {
    place.run_with(&plan.0, &Registry::new(), &options(place))
}

fn output(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.out().join(name)).unwrap().trim().to_owned()
}

#[test]
fn a_worker_says_what_it_is() {
    let found = worker::describe(Path::new(PROGRAM)).unwrap();
    assert_eq!((found.torch.as_str(), found.device.as_str()), ("0.0.0", "cpu"));
    let error = worker::describe(Path::new("/nowhere/pipe-torch")).unwrap_err();
    assert_eq!(error.code, "worker::start");
}

#[test]
fn one_worker_serves_the_run_and_its_files_are_adopted() {
    let place = Place::new();
    let mut plan = PlanBuilder::new();
    let words = plan.node_with("words", "w.write", &[("value", text("some words"))], torch());
    let first = plan.node_with("first", "w.process", &[("after", words.clone())], torch());
    let second = plan.node_with("second", "w.process", &[("after", first.clone())], torch());
    plan.output("words", words);
    plan.output("first", first);
    plan.output("second", second);
    let ran = run(&place, &plan);
    assert_eq!(ran.summary.ran, 3, "{:?}", ran.summary.failures);
    assert_eq!(output(&place, "words.txt"), "some words");
    assert_eq!(output(&place, "first.json"), output(&place, "second.json"), "one process");
    assert!(place.store().verify().unwrap().is_clean());
    let nodes = place.store().nodes_seen(ran.summary.run).unwrap();
    for node in nodes {
        assert_eq!(node.peak_bytes, Some(7 << 20), "{}", node.name);
        assert_eq!(node.context.get("libtorch").map(String::as_str), Some("0.0.0"));
    }
    let without = RunOptions { worker: None, ..place.options() };
    let again = place.run_with(&plan.0, &Registry::new(), &without);
    assert_eq!(again.summary.cached, 3, "what is cached needs no worker");
}

#[test]
fn without_a_worker_program_the_error_says_what_to_do() {
    let place = Place::new();
    let mut plan = PlanBuilder::new();
    let node = plan.node_with("n", "w.echo", &[("value", int(1))], torch());
    plan.output("n", node);
    let error = place.run(&plan.0, &Registry::new()).error("n");
    assert_eq!(error.code, "worker::missing");
    assert!(error.help.unwrap().contains("make setup"));
}

#[test]
fn a_crash_is_told_with_the_last_words_and_fails_one_node() {
    let place = Place::new();
    let mut plan = PlanBuilder::new();
    let bad = plan.node_with("bad", "w.crash", &[], torch());
    let good = plan.node_with("good", "w.echo", &[("value", int(7))], torch());
    plan.output("bad", bad);
    plan.output("good", good);
    let ran = run(&place, &plan);
    let error = ran.error("bad");
    assert_eq!(error.code, "worker::crashed");
    assert!(error.message.contains("signal 6"), "{error}");
    assert!(error.message.contains("tensor of the wrong shape"), "{error}");
    assert_eq!(output(&place, "good.json"), "7");
}

#[test]
fn a_group_shares_a_worker_and_a_crash_fails_its_member_alone() {
    let place = Place::new();
    let batch = Batch { label: "any".to_owned(), args: Vec::new() };
    let runs = Annotations { group: Some(1), batch: Some(batch.into()), ..torch() };
    let mut plan = PlanBuilder::new();
    for at in 0..4 {
        let args = [("until", int(20 + at))];
        let node = plan.node_with(&format!("n{at}"), "w.steps", &args, runs.clone());
        plan.output(&format!("n{at}"), node);
    }
    let shared = run(&place, &plan);
    assert_eq!(shared.summary.ran, 4, "{:?}", shared.summary.failures);
    let processes: std::collections::BTreeSet<String> =
        (0..4).map(|at| output(&place, &format!("n{at}.json"))).collect();
    assert_eq!(processes.len(), 1, "four members, two threads each, one worker");
    let place = Place::new();
    let bad = plan.node_with("bad", "w.crash", &[], runs);
    plan.output("bad", bad);
    let ran = run(&place, &plan);
    let states = ran.states();
    assert_eq!(states["bad"], NodeState::Failed);
    assert_eq!((ran.summary.ran, ran.summary.failed), (4, 1), "{:?}", ran.summary.failures);
}

/// What a loop makes in the run shares a group like what stands in the plan, as far as the arguments are equal that make one.
#[test]
fn elements_of_a_loop_share_a_worker() {
    let place = Place::new();
    let batch = Batch { label: "w.steps".to_owned(), args: vec!["base".to_owned()] };
    let runs = Annotations { batch: Some(batch.into()), ..torch() };
    let mut plan = PlanBuilder::new();
    let mut walk = |name: &str, base: i64, items: [i64; 4]| {
        let each = body(&["until"], |inside| {
            inside.node_with(
                "",
                "w.steps",
                &[("until", slot(0)), ("base", int(base))],
                runs.clone(),
            )
        });
        let items = list(items.map(int));
        let args = [("list", items), ("body", each), ("captures", list([]))];
        let node = plan.node(name, "flow.each", &args);
        plan.output(name, node);
    };
    walk("first", 1, [20, 21, 22, 23]);
    walk("second", 1, [24, 25, 26, 27]);
    let ran = run(&place, &plan);
    assert_eq!(ran.summary.failed, 0, "{:?}", ran.summary.failures);
    let found = |name: &str| output(&place, &format!("{name}.json"));
    let processes: std::collections::BTreeSet<String> = ["first", "second"]
        .iter()
        .flat_map(|name| {
            let text = found(name);
            text.split([',', '[', ']', '\n', ' ']).map(str::to_owned).collect::<Vec<_>>()
        })
        .filter(|word| !word.is_empty())
        .collect();
    assert_eq!(processes.len(), 1, "eight members of one group: {processes:?}");
}

#[test]
fn members_join_a_group_at_any_moment() {
    let place = Place::new();
    let runs = Annotations { group: Some(1), ..torch() };
    let mut registry = Registry::new();
    registry.register(op("later", |args, _| {
        std::thread::sleep(std::time::Duration::from_millis(args.int("millis")?.unsigned_abs()));
        Ok(Value::Int(args.int("millis")?))
    }));
    let mut plan = PlanBuilder::new();
    for at in 0..12 {
        let when = plan.node(&format!("when{at}"), "later", &[("millis", int(at * 4))]);
        let args = [("until", int(4)), ("when", when)];
        let node = plan.node_with(&format!("n{at}"), "w.steps", &args, runs.clone());
        plan.output(&format!("n{at}"), node);
    }
    let ran = place.run_with(&plan.0, &registry, &options(&place));
    assert_eq!(ran.summary.ran, 24, "{:?}", ran.summary.failures);
}

#[test]
fn a_stopped_worker_task_goes_on_from_its_checkpoint() {
    let place = Place::new();
    let mut plan = PlanBuilder::new();
    let node = plan.node_with("n", "w.steps", &[("until", int(40))], torch());
    plan.output("n", node);
    let options = options(&place);
    let cancel = options.cancel.clone();
    let mut store = place.store();
    let mut stop = |event: Event| {
        if matches!(event, Event::Progress { done, .. } if done >= 5) {
            cancel.stop();
        }
    };
    let stopped =
        pipe_runtime::run(&plan.0, &Registry::new(), &mut store, &options, &mut stop).unwrap();
    drop(store);
    assert_eq!((stopped.exit_code(), stopped.skipped), (75, 1));
    let ran = run(&place, &plan);
    assert_eq!(ran.summary.exit_code(), 0);
    let resumed = |event: &Event| matches!(event, Event::NodeStarted { resumed: true, .. });
    assert!(ran.events.iter().any(resumed));
    let first = ran.events.iter().find_map(|event| match event {
        Event::Progress { done, .. } => Some(*done),
        _ => None,
    });
    assert!(first.is_some_and(|step| step > 5), "{first:?}");
}

#[test]
fn time_limits_stop_a_worker_and_now_means_now() {
    let place = Place::new();
    let mut plan = PlanBuilder::new();
    let runs = Annotations { timeout: Some(30_000_000), ..torch() };
    let node = plan.node_with("n", "w.steps", &[("until", int(1_000_000))], runs);
    plan.output("n", node);
    assert_eq!(run(&place, &plan).error("n").code, "run::timeout");
    let options = options(&place);
    options.cancel.now();
    let ran = place.run_with(&plan.0, &Registry::new(), &options);
    assert_eq!(ran.summary.exit_code(), 75);
}

#[test]
fn values_cross_unharmed() {
    let place = Place::new();
    let mut plan = PlanBuilder::new();
    let odd =
        Const::List(vec![Const::Float(f64::NAN), Const::Float(0.1 + 0.2), Const::Int(i64::MIN)]);
    let args = [("value", pipe_compiler::plan::Arg::Const(odd))];
    let node = plan.node_with("n", "w.echo", &args, torch());
    plan.output("n", node);
    run(&place, &plan);
    let store = place.store();
    let last = store.last_node("test.pipe", "n", "w.echo").unwrap().unwrap();
    let list = [f64::NAN, 0.1 + 0.2].map(Value::Float).into_iter().chain([Value::Int(i64::MIN)]);
    assert_eq!(last.digest, Some(Value::List(list.collect()).digest()));
}
