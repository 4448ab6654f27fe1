//! Keys at run time: the compiler's fields, filled with plan keys or with digests of values.

use crate::growing::Growing;
use crate::value::Value;
use pipe_compiler::key::{self, KeyFields};
use pipe_compiler::plan::{Arg, Input, Node, Plan};

/// The readable fields behind a node's plan key.
#[must_use]
pub fn plan_fields(plan: &Plan, node: &Node) -> Option<KeyFields> {
    key::plan_fields(node, |id| plan.nodes.get(id.0 as usize).map(|node| node.key))
}

/// The readable fields behind the plan key of a node that may have been made in the run.
pub(crate) fn fields_of(nodes: &Growing<'_>, node: &Node) -> Option<KeyFields> {
    key::plan_fields(node, |id| nodes.key_of(id))
}

/// Whether a node computes anew each time: an effect, `@cache(off)`, or a driver with such nodes in its bodies.
pub(crate) fn repeats(node: &Node) -> bool {
    let inside = |arg: &Arg| match arg {
        Arg::Body(body) => body.nodes.iter().any(repeats),
        _ => false,
    };
    node.runs.effect || !node.runs.cache || node.args.values().any(inside)
}

/// The readable fields behind a node's action key, given the values of its inputs.
pub(crate) fn action_fields<'v>(
    node: &Node,
    value_of: &dyn Fn(&Input) -> Option<&'v Value>,
) -> Option<KeyFields> {
    key::action_fields(node, |input| Some(value_of(input)?.project(&input.path).ok()?.digest()))
}

/// Every node result that the roots read.
pub(crate) fn root_inputs(plan: &Plan) -> Vec<&Input> {
    let mut inputs = Vec::new();
    for root in &plan.roots {
        root.value.inputs(&mut inputs);
        if let Some(shows) = &root.shows {
            shows.left.inputs(&mut inputs);
            shows.right.inputs(&mut inputs);
        }
    }
    inputs
}

/// Whether each node may give another result next time although nothing changed: `@cache(off)`, effects,
/// and whatever reads them. Plan keys say nothing about those.
pub(crate) fn volatile(plan: &Plan) -> Vec<bool> {
    let mut volatile: Vec<bool> = Vec::with_capacity(plan.nodes.len());
    for node in &plan.nodes {
        let reads = |input: &&Input| volatile.get(input.node.0 as usize).copied().unwrap_or(false);
        volatile.push(repeats(node) || node.inputs().iter().any(reads));
    }
    volatile
}
