//! `pipe plan`: what a run would do with each node, and why.

use super::run::{failed, told};
use super::{Failure, Outcome, exit};
use crate::args::ProgramArgs;
use crate::ops;
use crate::render;
use crate::render::style::Look;
use crate::session::Session;
use pipe_compiler::explain;
use pipe_compiler::plan::{NodeId, Plan};
use pipe_runtime::Store;
use pipe_runtime::exec::Programs;
use pipe_runtime::states::{NodeStatus, States, states};
use serde_json::Value;

/// Forms of the answer.
pub(crate) enum Form {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// For Graphviz.
    Dot,
}

/// Show the plan on stdout.
pub(crate) fn plan(program: &ProgramArgs, form: &Form, look: &Look) -> Outcome {
    let Some(Planned { plan, store, states, shown }) = planned(program, look)? else {
        return Ok(exit::PROBLEMS);
    };
    match form {
        Form::Json => println!("{:#}", json(&plan, &states, &shown)),
        Form::Dot => print!("{}", explain::dot(&plan, &shown)),
        Form::Table => {
            print!("{}", render::plan::text(&plan, &states, &store, look).map_err(failed)?)
        }
    }
    Ok(exit::OK)
}

/// A plan with what a run would do.
pub(super) struct Planned {
    pub(super) plan: Plan,
    store: Store,
    states: States,
    /// The states of the plan's own nodes.
    pub(super) shown: Vec<explain::State>,
}

/// Plan a program and look into its store; nothing when it has problems, which are told.
pub(super) fn planned(program: &ProgramArgs, look: &Look) -> Result<Option<Planned>, Failure> {
    let session = Session::new(program, None)?;
    let compiled = session.compile(false);
    told(&compiled, look);
    let Some(plan) = compiled.plan else { return Ok(None) };
    let store = match Store::find(&session.project.store).map_err(failed)? {
        Some(store) => store,
        None => Store::empty().map_err(failed)?,
    };
    let states = states(&plan, &store, &ops::registry(Programs::Refused)).map_err(failed)?;
    let made = |id: NodeId| states.made.get(&id).map_or(0, Vec::len);
    let shown = states.planned.iter();
    let shown = shown.map(|status| explain::State { made: made(status.id), ..state(status) });
    let shown = shown.collect();
    Ok(Some(Planned { plan, store, states, shown }))
}

/// The plan as JSON, with the nodes that drivers would make as their `elements`, where those are known.
fn json(plan: &Plan, states: &States, shown: &[explain::State]) -> Value {
    let mut whole = explain::json(plan, shown);
    let nodes = whole.get_mut("nodes").and_then(Value::as_array_mut);
    for (node, json) in plan.nodes.iter().zip(nodes.into_iter().flatten()) {
        add_elements(json, node.id, states);
    }
    whole
}

fn add_elements(json: &mut Value, driver: NodeId, states: &States) {
    let Some(made) = states.made.get(&driver) else { return };
    let elements = made.iter().map(|made| {
        let mut json = explain::node_json(&made.node, Some(&state(&made.status)));
        add_elements(&mut json, made.node.id, states);
        json
    });
    let elements = elements.collect();
    if let Some(json) = json.as_object_mut() {
        json.insert("elements".to_owned(), Value::Array(elements));
    }
}

fn state(status: &NodeStatus) -> explain::State {
    let (state, why) = (render::plan::word(status.state).to_owned(), status.why.clone());
    explain::State { state, why, made: 0 }
}
