//! What becomes of the files of earlier runs.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

mod support;

use pipe_compiler::plan::{Arg, Plan};
use pipe_compiler::value::Const;
use pipe_runtime::events::Event;
use std::fs;
use support::{Counter, Place, PlanBuilder, Ran, int, op, registry, text};

fn none() -> Arg {
    Arg::Const(Const::None)
}

/// Outputs by name: artifacts for texts, numbers for the rest.
fn plan(outputs: &[(&str, Arg)]) -> Plan {
    let mut plan = PlanBuilder::new();
    for (name, value) in outputs {
        let value = match value {
            Arg::Const(Const::Str(content)) => {
                plan.node(&format!("{name}_text"), "text", &[("content", text(content))])
            }
            other => other.clone(),
        };
        plan.output(name, value);
    }
    plan.0
}

fn files(place: &Place) -> Vec<String> {
    let Ok(entries) = place.out().read_dir() else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn removed(ran: &Ran) -> Vec<&str> {
    let removed = ran.events.iter().filter_map(|event| match event {
        Event::OutputRemoved { name, .. } => Some(name.as_str()),
        _ => None,
    });
    removed.collect()
}

#[test]
fn nothing_is_written_for_none_and_an_old_file_goes() {
    let (place, registry) = (Place::new(), registry(&Counter::default()));
    place.run(&plan(&[("model", text("old")), ("count", int(3))]), &registry);
    assert_eq!(files(&place), ["count.json", "model.txt"]);
    let ran = place.run(&plan(&[("model", none()), ("count", none())]), &registry);
    assert_eq!(files(&place), [""; 0]);
    assert_eq!(removed(&ran), ["count", "model"]);
    let empty = ran.events.iter().filter(|event| matches!(event, Event::OutputEmpty { .. }));
    assert_eq!((empty.count(), ran.summary.exit_code(), ran.summary.outputs.len()), (2, 0, 0));
    let again = place.run(&plan(&[("model", none()), ("count", none())]), &registry);
    assert_eq!(removed(&again), [""; 0]);
}

#[test]
fn an_output_with_another_name_or_kind_leaves_no_file_behind() {
    let (place, registry) = (Place::new(), registry(&Counter::default()));
    place.run(&plan(&[("a", text("words")), ("b", int(1))]), &registry);
    let ran = place.run(&plan(&[("c", text("words")), ("b", text("1"))]), &registry);
    assert_eq!(files(&place), ["b.txt", "c.txt"]);
    assert_eq!(removed(&ran), ["a", "b"]);
    let both = Arg::List(vec![int(1), int(2)]);
    place.run(&plan(&[("c", both)]), &registry);
    assert_eq!(files(&place), ["c.json"]);
}

#[test]
fn a_folder_of_parts_goes_with_the_last_of_them() {
    let (place, registry) = (Place::new(), registry(&Counter::default()));
    let mut parts = PlanBuilder::new();
    let one = parts.node("one", "text", &[("content", text("one"))]);
    parts.output("pair", Arg::List(vec![one, int(2)]));
    place.run(&parts.0, &registry);
    assert_eq!(files(&place), ["pair"]);
    place.run(&plan(&[("pair", int(2))]), &registry);
    assert_eq!(files(&place), ["pair.json"]);
}

#[test]
fn what_somebody_has_edited_stays() {
    let (place, registry) = (Place::new(), registry(&Counter::default()));
    place.run(&plan(&[("notes", text("mine")), ("other", int(1))]), &registry);
    fs::write(place.out().join("notes.txt"), "edited").unwrap();
    fs::write(place.out().join("own.txt"), "not an output").unwrap();
    let ran = place.run(&plan(&[("other", int(1))]), &registry);
    assert_eq!(files(&place), ["notes.txt", "other.json", "own.txt"]);
    let warned = ran.events.iter().any(|event| {
        matches!(event, Event::Warning { node, message } if node == "output notes" && message.contains("edited"))
    });
    assert!(warned, "{:?}", ran.events);
    let again = place.run(&plan(&[("other", int(1))]), &registry);
    assert!(!again.events.iter().any(|event| matches!(event, Event::Warning { .. })));
}

#[test]
fn an_output_that_failed_keeps_its_file_and_so_do_other_programs() {
    let place = Place::new();
    let mut registry = registry(&Counter::default());
    registry
        .register(op("fail", |_, _| Err(pipe_runtime::op::OpError::new("run::test", "It fails."))));
    place.run(&plan(&[("kept", int(1))]), &registry);
    let mut failing = PlanBuilder::new();
    let bad = failing.node("bad", "fail", &[]);
    failing.output("kept", bad);
    assert_eq!(place.run(&failing.0, &registry).summary.exit_code(), 3);
    assert_eq!(files(&place), ["kept.json"]);
    let mut other = plan(&[("second", int(2))]);
    other.file = "other.pipe".to_owned();
    let ran = place.run(&other, &registry);
    assert_eq!(
        (files(&place), removed(&ran)),
        (vec!["kept.json".to_owned(), "second.json".to_owned()], vec![])
    );
}

#[test]
fn checks_that_a_program_no_longer_has_leave_no_file() {
    let (place, registry) = (Place::new(), registry(&Counter::default()));
    let mut checked = PlanBuilder::new();
    checked.check("good", Arg::Const(Const::Bool(true)));
    checked.output("a", int(1));
    place.run(&checked.0, &registry);
    assert_eq!(files(&place), ["a.json", "checks.json"]);
    place.run(&plan(&[("a", int(1))]), &registry);
    assert_eq!(files(&place), ["a.json"]);
}
