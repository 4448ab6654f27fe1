//! Chains of row ops over one table as one node, so that rows are read and written once.
//!
//! `data.derive`, `data.filter` and `data.select` that nothing else reads become steps of the op `data.rows`. Keys are
//! taken before: the node has the key of its last step, and its inner steps keep theirs inside ([`Node::fused`]), so a
//! second reader that turns an inner step into a node again changes no key and runs nothing behind it anew.

use super::graph::{moves, renumber};
use super::{Arg, Args, Body, Input, Node, NodeId, Plan, Worker};
use crate::value::Const;
use std::collections::{BTreeMap, BTreeSet};

/// The op that runs the steps.
const OP: &str = "data.rows";
/// Its version; what the steps mean is in their own versions.
const VERSION: u32 = 1;
/// The ops that can be steps.
const STEPS: [&str; 3] = ["data.derive", "data.filter", "data.select"];

/// Fuses the chains of a plan. Gives the old places of the nodes that are left, in order.
pub(super) fn fuse(plan: &mut Plan) -> Vec<usize> {
    let mut outside = Vec::new();
    for root in &plan.roots {
        root.value.inputs(&mut outside);
        if let Some(shows) = &root.shows {
            shows.left.inputs(&mut outside);
            shows.right.inputs(&mut outside);
        }
    }
    let before = before(&plan.nodes, &outside);
    let Some(numbers) = joined(&mut plan.nodes, &before) else {
        return (0..plan.nodes.len()).collect();
    };
    for root in &mut plan.roots {
        renumber(&mut root.value, &numbers);
        if let Some(shows) = &mut root.shows {
            renumber(&mut shows.left, &numbers);
            renumber(&mut shows.right, &numbers);
        }
    }
    (0..numbers.len()).filter(|at| numbers.get(*at).copied().flatten().is_some()).collect()
}

/// Fuses the chains of a body, each time it is made into one node.
pub(super) fn fuse_body(body: &mut Body) {
    let mut outside = Vec::new();
    body.result.inputs(&mut outside);
    let before = before(&body.nodes, &outside);
    if let Some(numbers) = joined(&mut body.nodes, &before) {
        renumber(&mut body.result, &numbers);
    }
}

/// For each node the step that runs as one with it: the one that makes its table, when nothing else reads that.
fn before(nodes: &[Node], outside: &[&Input]) -> Vec<Option<usize>> {
    let mut readers = vec![0_usize; nodes.len()];
    let of_nodes = nodes.iter().flat_map(Node::inputs);
    for input in outside.iter().copied().chain(of_nodes) {
        if let Some(count) = readers.get_mut(input.node.0 as usize) {
            *count += 1;
        }
    }
    let inner = |table: &Arg| {
        let Arg::Input(input) = table else { return None };
        let at = input.node.0 as usize;
        let alone = readers.get(at) == Some(&1) && input.path.is_empty();
        (alone && nodes.get(at).is_some_and(is_step)).then_some(at)
    };
    let before = |node: &Node| if is_step(node) { table_of(node).and_then(inner) } else { None };
    nodes.iter().map(before).collect()
}

/// Each chain as one node in the place of its last step. Gives the new numbers of the nodes that are left; `None` when there
/// is no chain.
fn joined(nodes: &mut Vec<Node>, before: &[Option<usize>]) -> Option<Vec<Option<NodeId>>> {
    let inner: BTreeSet<usize> = before.iter().copied().flatten().collect();
    if inner.is_empty() {
        return None;
    }
    let mut numbers: Vec<Option<NodeId>> = vec![None; nodes.len()];
    let left = (0..nodes.len()).filter(|at| !inner.contains(at));
    for (number, at) in (0u32..).zip(left) {
        if let Some(place) = numbers.get_mut(at) {
            *place = Some(NodeId(number));
        }
    }
    let mut old: Vec<Option<Node>> = std::mem::take(nodes).into_iter().map(Some).collect();
    for (at, number) in numbers.iter().enumerate() {
        let Some(id) = *number else { continue };
        let mut chain = Vec::new();
        let mut next = Some(at);
        while let Some(at) = next {
            chain.extend(old.get_mut(at).and_then(Option::take));
            next = before.get(at).copied().flatten();
        }
        chain.reverse();
        let Some(mut node) = one_node(chain) else { continue };
        node.id = id;
        for args in node.fused.iter_mut().map(|step| &mut step.args).chain([&mut node.args]) {
            args.update(|arg| {
                moves(arg, &numbers).then(|| {
                    let mut arg = arg.clone();
                    renumber(&mut arg, &numbers);
                    arg
                })
            });
        }
        nodes.push(node);
    }
    Some(numbers)
}

/// Whether a node may be a step: a row op without attributes that reads its table, and beside it only single results that its
/// functions of rows name.
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
        && table_of(node).is_some()
        && node.args.iter().all(|(name, arg)| name == "table" || is_closed(arg))
}

/// Whether an argument reads nothing but what functions of rows do.
fn is_closed(arg: &Arg) -> bool {
    match arg {
        Arg::Input(_) | Arg::Bound(_) | Arg::Body(_) => false,
        Arg::List(items) => items.iter().all(is_closed),
        Arg::Record(fields) => fields.values().all(is_closed),
        Arg::Const(_) | Arg::Row(_) | Arg::Reading { .. } | Arg::Columns(_) | Arg::Files(_) => true,
    }
}

/// The table of a step: a result, or in a body what stands in a slot.
fn table_of(node: &Node) -> Option<&Arg> {
    node.args.get("table").filter(|table| matches!(table, Arg::Input(_) | Arg::Bound(_)))
}

/// The node of a chain, which is the chain's only node when there is one. The tables of later steps are those before
/// them; in the node they stand as the first one's.
fn one_node(mut chain: Vec<Node>) -> Option<Node> {
    if chain.len() < 2 {
        return chain.pop();
    }
    let table = table_of(chain.first()?)?.clone();
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
