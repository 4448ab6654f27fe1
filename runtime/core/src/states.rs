//! What a run would do with each node, and why: for `pipe plan` and `pipe why`.

use crate::keys::{self, root_inputs};
use crate::op::OpError;
use crate::store::{LastNode, Recorded, Store};
use crate::value::Value;
use pipe_compiler::key::{FieldChange, KeyFields};
use pipe_compiler::plan::{Input, Node, NodeId, Plan};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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

/// The states of all nodes of a plan.
///
/// # Errors
/// When the store cannot be read.
pub fn states(plan: &Plan, store: &Store) -> Result<Vec<NodeStatus>, OpError> {
    let volatile = keys::volatile(plan);
    let mut values: BTreeMap<u32, Value> = BTreeMap::new();
    let mut states: Vec<NodeStatus> = Vec::with_capacity(plan.nodes.len());
    for (node, volatile) in plan.nodes.iter().zip(volatile) {
        let (found, lost) = look_up(plan, store, node, volatile, &values)?;
        if let Some(value) = found {
            values.insert(node.id.0, value);
            states.push(NodeStatus { id: node.id, state: Expected::Cached, why: String::new() });
            continue;
        }
        let open = |input: &&Input| !values.contains_key(&input.node.0);
        let waits = node.inputs().iter().any(open);
        let always = !node.runs.cache || node.runs.effect;
        let last = store.last_node(&plan.file, &node.name, &node.op)?;
        let compared = Compared::new(plan, node, last);
        let state = if waits && !always && compared.only_inputs() {
            Expected::Maybe
        } else {
            Expected::Run
        };
        let why = compared.text(node, lost, |name| {
            let at = plan.nodes.iter().position(|node| node.name == name);
            at.and_then(|at| states.get(at)).is_some_and(|status| status.state != Expected::Cached)
        });
        states.push(NodeStatus { id: node.id, state, why });
    }
    leave_unneeded(plan, &mut states);
    Ok(states)
}

/// What nobody needs, because all that reads it is in the store, does not run.
fn leave_unneeded(plan: &Plan, states: &mut [NodeStatus]) {
    let mut wanted = vec![false; plan.nodes.len()];
    let want = |inputs: &[&Input], wanted: &mut Vec<bool>| {
        for input in inputs {
            if let Some(flag) = wanted.get_mut(input.node.0 as usize) {
                *flag = true;
            }
        }
    };
    want(&root_inputs(plan), &mut wanted);
    for (at, node) in plan.nodes.iter().enumerate().rev() {
        let Some(status) = states.get_mut(at) else { continue };
        let own = node.runs.effect || !node.runs.cache;
        if !own && !wanted.get(at).copied().unwrap_or(false) {
            status.state = Expected::Cached;
            status.why.clear();
        } else if status.state != Expected::Cached {
            want(&node.inputs(), &mut wanted);
        }
    }
}

fn look_up(
    plan: &Plan,
    store: &Store,
    node: &Node,
    volatile: bool,
    values: &BTreeMap<u32, Value>,
) -> Result<(Option<Value>, bool), OpError> {
    if !node.runs.cache || node.runs.effect {
        return Ok((None, false));
    }
    let mut lost = false;
    if !volatile {
        match store.result_of_plan(&node.key.to_string())? {
            Recorded::Whole(result) => return Ok((Some(result.value), false)),
            Recorded::Lost => lost = true,
            Recorded::Absent => {}
        }
    }
    let value_of = |input: &Input| values.get(&input.node.0);
    if plan.nodes.is_empty() || node.inputs().iter().any(|input| value_of(input).is_none()) {
        return Ok((None, lost));
    }
    let Some(fields) = keys::action_fields(node, &value_of) else { return Ok((None, lost)) };
    match store.result(&fields.key().to_string())? {
        Recorded::Whole(result) => Ok((Some(result.value), false)),
        Recorded::Lost => Ok((None, true)),
        Recorded::Absent => Ok((None, lost)),
    }
}

/// Why a node that is about to run does so, in a few words.
pub(crate) fn why_runs(
    store: &Store,
    plan: &Plan,
    node: &Node,
    fresh: bool,
    lost: bool,
) -> Result<String, OpError> {
    if fresh {
        return Ok("asked for with --fresh".to_owned());
    }
    let last = store.last_node(&plan.file, &node.name, &node.op)?;
    Ok(Compared::new(plan, node, last).text(node, lost, |_| false))
}

/// Why the node of that name runs, in detail; nothing when there is no such node.
///
/// # Errors
/// When the store cannot be read.
pub fn why(plan: &Plan, store: &Store, name: &str) -> Result<Option<Why>, OpError> {
    let Some(node) = plan.nodes.iter().find(|node| node.name == name) else { return Ok(None) };
    let states = states(plan, store)?;
    let Some(status) = states.get(node.id.0 as usize).cloned() else { return Ok(None) };
    let last = store.last_node(&plan.file, &node.name, &node.op)?;
    let compared = Compared::new(plan, node, last);
    let mut origins = Vec::new();
    let mut above = BTreeSet::new();
    let mut look: Vec<u32> = node.inputs().iter().map(|input| input.node.0).collect();
    while let Some(at) = look.pop() {
        let Some(upper) = plan.nodes.get(at as usize).filter(|_| above.insert(at)) else {
            continue;
        };
        look.extend(upper.inputs().iter().map(|input| input.node.0));
        let last = store.last_node(&plan.file, &upper.name, &upper.op)?;
        let changed = Compared::new(plan, upper, last).own;
        if !changed.is_empty() {
            origins.push((upper.name.clone(), changed));
        }
    }
    Ok(Some(Why {
        status,
        since: compared.last.as_ref().map(|last| last.run),
        changes: compared.own,
        inputs: compared.inputs,
        origins,
    }))
}

/// A node beside what the last run knew of it.
struct Compared {
    last: Option<LastNode>,
    own: Vec<FieldChange>,
    inputs: Vec<String>,
}

impl Compared {
    fn new(plan: &Plan, node: &Node, last: Option<LastNode>) -> Self {
        let now = keys::plan_fields(plan, node);
        let before = last.as_ref().and_then(|last| last.fields.clone());
        let (own, inputs) = match (before, now) {
            (Some(before), Some(now)) => {
                (own_changes(&before, &now), changed_inputs(plan, node, &before, &now))
            }
            _ => (Vec::new(), Vec::new()),
        };
        Self { last, own, inputs }
    }

    /// Whether nothing but its inputs can have changed since a result that may serve again.
    fn only_inputs(&self) -> bool {
        let had_result = self.last.as_ref().is_some_and(|last| last.digest.is_some());
        had_result && self.own.is_empty()
    }

    fn text(&self, node: &Node, lost: bool, will_run: impl Fn(&str) -> bool) -> String {
        if node.runs.effect {
            return "it has an effect outside the store".to_owned();
        }
        if !node.runs.cache {
            return "@cache(off)".to_owned();
        }
        let Some(last) = &self.last else { return "first run".to_owned() };
        if !self.own.is_empty() {
            return listed(&self.own, last.run);
        }
        if let Some(first) = self.inputs.first() {
            let verb = if will_run(first) { "will run" } else { "changed" };
            let more = match self.inputs.len() {
                1 => String::new(),
                number => format!(" and {} more", number - 1),
            };
            return format!("input `{first}` {verb}{more}");
        }
        if lost {
            return "its result was lost or changed".to_owned();
        }
        match (last.state.as_str(), &last.error) {
            ("failed", Some(error)) => format!("it failed in run {}: {}", last.run, error.message),
            ("failed", None) => format!("it failed in run {}", last.run),
            ("skipped", _) => format!("run {} did not get to it", last.run),
            _ => "its result is no longer in the store".to_owned(),
        }
    }
}

fn own_changes(before: &KeyFields, now: &KeyFields) -> Vec<FieldChange> {
    let bare = |fields: &KeyFields| KeyFields { inputs: BTreeMap::new(), ..fields.clone() };
    KeyFields::diff(&bare(before), &bare(now))
}

fn changed_inputs(plan: &Plan, node: &Node, before: &KeyFields, now: &KeyFields) -> Vec<String> {
    let mut names = Vec::new();
    // With equal keys of the steps before, a step alone and one that runs as one with others read the same.
    let same = before.inputs == now.inputs;
    for (place, key) in now.reads() {
        if same || before.reads().get(place) == Some(key) {
            continue;
        }
        let argument = place.split(['.', '[']).next().unwrap_or(place);
        let mut inputs = Vec::new();
        node.args.get(argument).into_iter().for_each(|arg| arg.inputs(&mut inputs));
        let read = inputs.iter().filter_map(|input| plan.nodes.get(input.node.0 as usize));
        let matching = read.filter(|input| key.starts_with(&input.key.to_string()));
        for input in matching {
            if !names.contains(&input.name) {
                names.push(input.name.clone());
            }
        }
    }
    names
}

fn listed(changes: &[FieldChange], since: i64) -> String {
    let one = |change: &FieldChange| match (&change.old, &change.new) {
        (Some(old), Some(new)) if is_digest(old) && is_digest(new) => {
            format!("the content of `{}` changed", change.field)
        }
        (Some(old), Some(new)) => {
            format!("`{}` changed from {} to {}", change.field, short(old), short(new))
        }
        (None, _) => format!("`{}` is new", change.field),
        (_, None) => format!("`{}` is gone", change.field),
    };
    let shown: Vec<String> = changes.iter().take(2).map(one).collect();
    let more = changes.len().saturating_sub(2);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more} since run {since}", shown.join(", "))
}

fn short(text: &str) -> String {
    let shown: String = text.chars().take(40).collect();
    if shown.len() < text.len() { format!("{shown}...") } else { shown }
}

/// A digest, or a list of digests: nothing that people read.
fn is_digest(text: &str) -> bool {
    let bare = text.trim_matches(['[', ']']);
    bare.split(", ")
        .all(|part| part.len() == 64 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
