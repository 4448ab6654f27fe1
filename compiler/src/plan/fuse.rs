//! Chains of row ops over one table as one node, so that rows are read and written once.
//!
//! `data.derive`, `data.filter` and `data.select` that nothing else reads become steps of the op `data.rows`. Keys are
//! taken before: the node has the key of its last step, and its inner steps keep theirs inside ([`Node::fused`]), so a
//! second reader that turns an inner step into a node again changes no key and runs nothing behind it anew.

use super::graph::{moves, renumber};
use super::{Arg, Args, Input, Node, NodeId, Plan, Worker};
use crate::value::Const;
use std::collections::BTreeMap;

/// The op that runs the steps.
const OP: &str = "data.rows";
/// Its version; what the steps mean is in their own versions.
const VERSION: u32 = 1;
/// The ops that can be steps.
const STEPS: [&str; 3] = ["data.derive", "data.filter", "data.select"];

/// Fuses the chains of a plan. Gives the old places of the nodes that are left, in order.
pub(super) fn fuse(plan: &mut Plan) -> Vec<usize> {
    let readers = readers(plan);
    let inner = |input: &Input| {
        let step = plan.nodes.get(input.node.0 as usize)?;
        let alone = readers.get(input.node.0 as usize) == Some(&1);
        (alone && input.path.is_empty() && is_step(step)).then_some(input.node.0 as usize)
    };
    let before: Vec<Option<usize>> = plan
        .nodes
        .iter()
        .map(|node| if is_step(node) { table_of(node).and_then(&inner) } else { None })
        .collect();
    let mut left = vec![true; plan.nodes.len()];
    for inner in before.iter().flatten() {
        if let Some(left) = left.get_mut(*inner) {
            *left = false;
        }
    }
    let kept: Vec<usize> =
        (0..plan.nodes.len()).filter(|at| left.get(*at) == Some(&true)).collect();
    if kept.len() == plan.nodes.len() {
        return kept;
    }
    let mut numbers: Vec<Option<NodeId>> = vec![None; plan.nodes.len()];
    for (number, at) in (0u32..).zip(&kept) {
        if let Some(place) = numbers.get_mut(*at) {
            *place = Some(NodeId(number));
        }
    }
    let mut nodes: Vec<Option<Node>> =
        std::mem::take(&mut plan.nodes).into_iter().map(Some).collect();
    for (number, at) in (0u32..).zip(&kept) {
        let mut chain = Vec::new();
        let mut next = Some(*at);
        while let Some(at) = next {
            chain.extend(nodes.get_mut(at).and_then(Option::take));
            next = before.get(at).copied().flatten();
        }
        chain.reverse();
        let Some(mut node) = one_node(chain) else { continue };
        node.id = NodeId(number);
        for args in node.fused.iter_mut().map(|step| &mut step.args).chain([&mut node.args]) {
            args.update(|arg| {
                moves(arg, &numbers).then(|| {
                    let mut arg = arg.clone();
                    renumber(&mut arg, &numbers);
                    arg
                })
            });
        }
        plan.nodes.push(node);
    }
    for root in &mut plan.roots {
        renumber(&mut root.value, &numbers);
        if let Some(shows) = &mut root.shows {
            renumber(&mut shows.left, &numbers);
            renumber(&mut shows.right, &numbers);
        }
    }
    kept
}

/// How often each node's result is read, by nodes and by roots.
fn readers(plan: &Plan) -> Vec<usize> {
    let mut inputs = Vec::new();
    for root in &plan.roots {
        root.value.inputs(&mut inputs);
        if let Some(shows) = &root.shows {
            shows.left.inputs(&mut inputs);
            shows.right.inputs(&mut inputs);
        }
    }
    let mut readers = vec![0; plan.nodes.len()];
    let of_nodes = plan.nodes.iter().flat_map(Node::inputs);
    for input in inputs.into_iter().chain(of_nodes) {
        if let Some(count) = readers.get_mut(input.node.0 as usize) {
            *count += 1;
        }
    }
    readers
}

/// Whether a node may be a step: a row op without attributes that reads its table and nothing else.
fn is_step(node: &Node) -> bool {
    let runs = &node.runs;
    let plain = runs.worker == Worker::Here
        && runs.memory.is_none()
        && runs.retry == 0
        && runs.timeout.is_none()
        && runs.cache
        && !runs.effect;
    plain
        && STEPS.contains(&node.op.as_str())
        && node.nokey.is_empty()
        && node.inputs().len() == 1
        && table_of(node).is_some()
}

fn table_of(node: &Node) -> Option<&Input> {
    match node.args.get("table") {
        Some(Arg::Input(input)) => Some(input),
        _ => None,
    }
}

/// The node of a chain, which is the chain's only node when there is one. The tables of later steps are those before
/// them; in the node they stand as the first one's.
fn one_node(mut chain: Vec<Node>) -> Option<Node> {
    if chain.len() < 2 {
        return chain.pop();
    }
    let table = Arg::Input(table_of(chain.first()?)?.clone());
    for step in &mut chain {
        step.args.insert("table".to_owned(), table.clone());
    }
    let mut node = chain.last()?.clone();
    let steps = chain.iter().map(|step| {
        let args = step.args.iter().filter(|(name, _)| *name != "table");
        let mut fields: BTreeMap<String, Arg> =
            args.map(|(name, arg)| (name.clone(), arg.clone())).collect();
        fields.insert("op".to_owned(), Arg::Const(Const::Str(step.op.clone())));
        Arg::Record(fields)
    });
    node.args =
        Args::from([("steps".to_owned(), Arg::List(steps.collect())), ("table".to_owned(), table)]);
    node.op = OP.to_owned();
    node.version = VERSION;
    node.fused = chain;
    Some(node)
}
