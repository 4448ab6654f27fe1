//! The plan for people and programs: as JSON, as a graph for Graphviz, and as data for a renderer.
//!
//! Whether a node is cached is known to the store, not to the compiler: states are handed in.

use crate::drawing::{Drawing, Kind};
use crate::plan::{Arg, Body, Node, Plan};
use serde_json::{Value, json};
use std::fmt::Write;

/// What will happen to a node, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// `cached`, `run`, `maybe` or `expand`.
    pub state: String,
    /// Why, in words; empty for cached ones.
    pub why: String,
    /// Of a driver: how many nodes it makes, as far as that is known.
    pub made: usize,
}

/// The plan as `pipe plan --json` prints it: `{nodes: [{id, op, key, state, why, level, group, resources}], edges}`.
/// `states` has one state per node; without, every node will run.
#[must_use]
pub fn json(plan: &Plan, states: &[State]) -> Value {
    let nodes: Vec<Value> =
        plan.nodes.iter().enumerate().map(|(at, node)| node_json(node, states.get(at))).collect();
    let mut edges = Vec::new();
    for node in &plan.nodes {
        for input in sources(plan, node) {
            edges.push(json!([input.name, node.name]));
        }
    }
    let critical: Vec<&str> = critical_path(plan).iter().map(|node| node.name.as_str()).collect();
    json!({
        "file": plan.file,
        "nodes": nodes,
        "edges": edges,
        "roots": plan.roots.iter().map(|root| json!({ "name": root.name, "kind": root.kind })).collect::<Vec<_>>(),
        "critical": critical,
        "widest": plan.widest,
    })
}

/// A node as [`json`] shows it, also one that a driver would make.
#[must_use]
pub fn node_json(node: &Node, state: Option<&State>) -> Value {
    let runs = &node.runs;
    let mut shown = json!({
        "id": node.name,
        "op": node.op,
        "key": node.key,
        "state": state_of(node, state),
        "why": state.map_or("", |state| state.why.as_str()),
        "level": runs.level,
        "group": runs.group,
        "type": node.ty,
        "call": node.call,
        "doc": node.doc,
        "fused": node.fused.iter().map(|step| json!({
            "id": step.name,
            "op": step.op,
            "key": step.key,
            "call": step.call,
        })).collect::<Vec<_>>(),
        "resources": {
            "worker": runs.worker,
            "threads": runs.threads,
            "gpu": runs.gpu,
            "device": runs.device,
            "memory": runs.memory,
            "exclusive": runs.exclusive,
        },
    });
    let bodies: serde_json::Map<String, Value> =
        bodies(node).map(|(name, body)| (name.to_owned(), body_json(body))).collect();
    if let (Some(shown), false) = (shown.as_object_mut(), bodies.is_empty()) {
        shown.insert("bodies".into(), Value::Object(bodies));
    }
    shown
}

/// A driver that will run expands: which nodes it makes is known then.
pub(crate) fn state_of<'s>(node: &Node, state: Option<&'s State>) -> &'s str {
    match state.map_or("run", |state| state.state.as_str()) {
        "run" if bodies(node).next().is_some() => "expand",
        other => other,
    }
}

/// The bodies of a driver by the names of its arguments; nothing for other nodes.
pub fn bodies(node: &Node) -> impl Iterator<Item = (&str, &Body)> {
    node.args.iter().filter_map(|(name, arg)| match arg {
        Arg::Body(body) => Some((name.as_str(), &**body)),
        _ => None,
    })
}

/// What a driver makes for each point: names are relative, the body's own result has none.
fn body_json(body: &Body) -> Value {
    let nodes = body.nodes.iter().map(|node| {
        let mut shown =
            json!({ "name": node.name, "op": node.op, "type": node.ty, "call": node.call });
        let inner: serde_json::Map<String, Value> =
            bodies(node).map(|(name, body)| (name.to_owned(), body_json(body))).collect();
        if let (Some(shown), false) = (shown.as_object_mut(), inner.is_empty()) {
            shown.insert("bodies".into(), Value::Object(inner));
        }
        shown
    });
    json!({ "bound": body.bound, "nodes": nodes.collect::<Vec<_>>() })
}

/// The op of a node as people read it: `data.join`, or the steps of a fused one, `derive, filter in one pass`.
#[must_use]
pub fn shown_op(node: &Node) -> String {
    if node.fused.is_empty() {
        return node.op.clone();
    }
    let words = node.fused.iter().map(|step| step.op.rsplit('.').next().unwrap_or(&step.op));
    format!("{} in one pass", words.collect::<Vec<_>>().join(", "))
}

/// The plan as a Graphviz graph.
#[must_use]
pub fn dot(plan: &Plan, states: &[State]) -> String {
    let drawing = Drawing::of(plan, states);
    let mut text =
        String::from("digraph plan {\n  rankdir = LR;\n  node [shape = box, style = rounded];\n");
    for (at, shape) in drawing.shapes.iter().enumerate() {
        let state = shape.states.keys().next().map_or("", String::as_str);
        let style = match (state, shape.kind) {
            (_, Kind::Output | Kind::Check) => ", shape = plain",
            ("cached", _) => ", color = gray, fontcolor = gray",
            ("expand", _) => ", peripheries = 2",
            (_, Kind::Torch) => ", style = \"rounded,bold\"",
            _ => "",
        };
        let label = match shape.kind {
            Kind::Output | Kind::Check => shape.name.clone(),
            Kind::Here | Kind::Torch => format!("{}\n{}", shape.name, shape.op),
        };
        let _ = writeln!(text, "  n{at} [label = {}{style}];", quoted(&label));
    }
    for (from, to) in &drawing.edges {
        let _ = writeln!(text, "  n{from} -> n{to};");
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// The nodes whose results a node reads, each once, in plan order.
#[must_use]
pub fn sources<'p>(plan: &'p Plan, node: &Node) -> Vec<&'p Node> {
    let mut ids: Vec<_> = node.inputs().iter().map(|input| input.node).collect();
    ids.sort();
    ids.dedup();
    ids.iter().filter_map(|id| plan.nodes.get(id.0 as usize)).collect()
}

/// The most expensive path through the plan, from its source.
#[must_use]
pub fn critical_path(plan: &Plan) -> Vec<&Node> {
    plan.nodes.iter().filter(|node| node.runs.critical).collect()
}
