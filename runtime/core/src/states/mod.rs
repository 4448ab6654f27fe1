//! What a run would do with each node, and why: for `pipe plan` and `pipe why`.

mod compared;
mod view;

use crate::growing::Growing;
use crate::op::OpError;
use crate::registry::Registry;
use crate::schedule::index;
use crate::store::Store;
use compared::Compared;
pub use compared::own_changes;
use pipe_compiler::key::FieldChange;
use pipe_compiler::plan::{GIVEN, Node, NodeId, Plan};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use view::View;

/// What will happen to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// Its result is in the store.
    Cached,
    /// It will run.
    Run,
    /// It runs unless what it reads turns out as it was before.
    Maybe,
    /// It stands for nodes that are not known yet.
    Expand,
}

/// What will happen to a node, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// The node.
    pub id: NodeId,
    /// What will happen.
    pub state: Expected,
    /// Why, in words; empty for cached ones.
    pub why: String,
}

/// Why a node runs, in detail.
#[derive(Clone, Debug)]
pub struct Why {
    /// The node.
    pub node: Node,
    /// What will happen to it, and the short answer.
    pub status: NodeStatus,
    /// The run that it is compared with.
    pub since: Option<i64>,
    /// Fields of its own that changed.
    pub changes: Vec<FieldChange>,
    /// Names of the nodes it reads whose results may be others now.
    pub inputs: Vec<String>,
    /// The nodes further up where the change began, with what changed there.
    pub origins: Vec<(String, Vec<FieldChange>)>,
}

/// What a run would do with the nodes of a plan, and with those that its drivers would make.
#[derive(Clone, Debug, Default)]
pub struct States {
    /// Of each node of the plan.
    pub planned: Vec<NodeStatus>,
    /// By driver: the nodes that it makes as far as that is known now, in the order in which it asks. Those of drivers
    /// among them stand under their own numbers.
    pub made: BTreeMap<NodeId, Vec<MadeNode>>,
}

/// A node that a driver would make.
#[derive(Clone, Debug)]
pub struct MadeNode {
    /// The node. What it reads may be a value that has no node of its own in the plan.
    pub node: Node,
    /// What will happen to it.
    pub status: NodeStatus,
}

/// The states of all nodes. A driver that would expand is expanded here as far as the store has the values that it
/// needs.
///
/// # Errors
/// When the store cannot be read.
pub fn states(plan: &Plan, store: &Store, registry: &Registry) -> Result<States, OpError> {
    Ok(View::of(plan, store, registry, None)?.states())
}

/// Why a node that is about to run does so, in a few words.
pub(crate) fn why_runs(
    store: &Store,
    nodes: &Growing<'_>,
    node: &Node,
    lost: bool,
) -> Result<String, OpError> {
    let last = store.last_node(&nodes.plan.file, &node.name, &node.op)?;
    Ok(Compared::new(nodes, node, last).text(node, lost, |_| false))
}

/// Why the node of that name runs, in detail; nothing when there is no such node. An element of a driver is found when
/// what the driver needs is in the store.
///
/// # Errors
/// When the store cannot be read.
pub fn why(
    plan: &Plan,
    store: &Store,
    registry: &Registry,
    name: &str,
) -> Result<Option<Why>, OpError> {
    let view = View::of(plan, store, registry, Some(name))?;
    let Some(at) = view.find(name) else { return Ok(None) };
    let node = view.nodes.node(at);
    let last = store.last_node(&plan.file, &node.name, &node.op)?;
    let compared = Compared::new(&view.nodes, &node, last);
    let mut origins = Vec::new();
    let mut above = BTreeSet::new();
    let mut look: Vec<usize> = node.inputs().into_iter().map(index).collect();
    while let Some(at) = look.pop() {
        let Some(upper) = view.nodes.get(at).filter(|_| above.insert(at)) else { continue };
        look.extend(upper.inputs().into_iter().map(index));
        if upper.op == GIVEN {
            continue;
        }
        let last = store.last_node(&plan.file, &upper.name, &upper.op)?;
        let changed = Compared::new(&view.nodes, &upper, last).own;
        if !changed.is_empty() {
            origins.push((upper.name.clone(), changed));
        }
    }
    Ok(Some(Why {
        status: view.status(at),
        since: compared.last.as_ref().map(|last| last.run),
        changes: compared.own,
        inputs: compared.inputs,
        origins,
        node: Node::clone(&node),
    }))
}
