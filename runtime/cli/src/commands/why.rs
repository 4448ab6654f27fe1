//! `pipe why FILE NODE`: which field of a node's key changed, from what to what.

use super::run::{failed, told};
use super::{Failure, Outcome, exit};
use crate::args::ProgramArgs;
use crate::ops;
use crate::render::style::{Look, pad};
use crate::session::Session;
use pipe_compiler::explain::bodies;
use pipe_compiler::key::FieldChange;
use pipe_compiler::plan::Plan;
use pipe_grammar::did_you_mean;
use pipe_runtime::Store;
use pipe_runtime::exec::Programs;
use pipe_runtime::states::{Expected, Why, why as explain};

/// Explain the state of `name`.
pub(crate) fn why(program: &ProgramArgs, name: &str, look: &Look) -> Outcome {
    let session = Session::new(program, None)?;
    let compiled = session.compile(false);
    told(&compiled, look);
    let Some(plan) = &compiled.plan else { return Ok(exit::PROBLEMS) };
    let store = match Store::find(&session.project.store).map_err(failed)? {
        Some(store) => store,
        None => Store::empty().map_err(failed)?,
    };
    let as_one = plan.nodes.iter().find(|node| node.fused.iter().any(|step| step.name == name));
    let node = plan.nodes.iter().find(|node| node.name == name).or(as_one);
    let asked = name;
    let name = node.map_or(name, |node| node.name.as_str());
    let registry = ops::registry(Programs::Refused);
    let Some(found) = explain(plan, &store, &registry, name).map_err(failed)? else {
        return recorded(plan, &store, name, look);
    };
    let node = &found.node;
    let file = compiled.sources.get(node.span.file);
    let place = file.map_or(String::new(), |file| {
        format!("{}:{}", file.name, file.place(node.span.start).line)
    });
    println!("{} = {}   {}", look.strong(&node.name), node.call, look.quiet(&place));
    if !node.fused.is_empty() {
        let steps: Vec<&str> = node.fused.iter().map(|step| step.name.as_str()).collect();
        println!("  runs in one pass: {}", steps.join(", "));
    }
    if asked != node.name {
        println!("  `{asked}` is a step of it and is not kept");
    }
    answer(&found, look);
    Ok(exit::OK)
}

fn answer(found: &Why, look: &Look) {
    let node = &found.node;
    let since = found.since.map_or(String::new(), |run| format!(" since run {run}"));
    match found.status.state {
        Expected::Cached => println!("  its result is in the store"),
        Expected::Maybe => {
            println!("  runs unless what it reads turns out as before: {}", found.status.why)
        }
        Expected::Run | Expected::Expand if found.changes.is_empty() => {
            println!("  runs: {}", found.status.why);
        }
        Expected::Run | Expected::Expand => {
            let fields = if found.changes.len() == 1 { "one field" } else { "some fields" };
            println!("  runs because {fields} of its key changed{since}:");
        }
    }
    changes(&found.changes, "    ", look);
    for (name, changed) in &found.origins {
        println!("  it reads what depends on {}, where:", look.strong(name));
        changes(changed, "    ", look);
    }
    // Without an earlier run there is nothing that it could have stayed equal to.
    if found.status.state != Expected::Cached && found.since.is_some() {
        let arguments: Vec<&str> = node
            .args
            .keys()
            .map(String::as_str)
            .filter(|name| !found.changes.iter().any(|change| change.field.starts_with(name)))
            .collect();
        println!("  unchanged: op version {}, {}", node.version, arguments.join(", "));
    }
}

/// An element of a driver of which it is not known now whether it will be asked for: what the last run knew of it.
fn recorded(plan: &Plan, store: &Store, name: &str, look: &Look) -> Outcome {
    let driver = plan.nodes.iter().find(|node| {
        let rest = name.strip_prefix(node.name.as_str());
        rest.is_some_and(|rest| rest.starts_with('[')) && bodies(node).next().is_some()
    });
    let Some(driver) = driver else { return Err(no_node(plan, name)) };
    let Some(last) = store.last_named(&plan.file, name).map_err(failed)? else {
        let message = format!("`{}` has no `{name}`, and no run had one", driver.name);
        return Err(Failure::usage(message)
            .help(format!("`pipe plan {}` shows what it makes, once that is known", plan.file)));
    };
    println!("{} of {}", look.strong(name), driver.name);
    println!("  whether it is needed is known once {} expands in the run", driver.name);
    match last.error {
        Some(error) => println!("  in run {} it {}: {}", last.run, last.state, error.message),
        None => println!("  in run {} it {}", last.run, said(&last.state)),
    }
    Ok(exit::OK)
}

fn said(state: &str) -> &str {
    match state {
        "cached" => "was cached",
        "skipped" => "was skipped",
        other => other,
    }
}

fn changes(changes: &[FieldChange], indent: &str, look: &Look) {
    let width = changes.iter().map(|change| change.field.chars().count()).max().unwrap_or(0);
    for change in changes {
        let old = change.old.as_deref().unwrap_or("nothing");
        let new = change.new.as_deref().unwrap_or("nothing");
        println!("{indent}{}  {old}  →  {}", pad(&change.field, width), look.strong(new));
    }
}

/// A name that no node has.
pub(crate) fn no_node(plan: &Plan, name: &str) -> Failure {
    let names: Vec<&str> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
    let failure = Failure::usage(format!("the plan has no node `{name}`"));
    match did_you_mean(name, names.iter().copied()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure.help(format!("its nodes are: {}", names.join(", "))),
    }
}
