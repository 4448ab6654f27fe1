//! What the runtime obeys: levels, threads, devices, batch groups, and the critical path.

use super::{Annotations, Plan, Worker};
use crate::eval::Draft;
use crate::host::Machine;
use std::collections::BTreeMap;

/// Estimated cost of a heavy op against a light one.
const HEAVY: u64 = 100;

/// Fill the annotations of a plan whose nodes stand in topological order.
pub(super) fn annotate(plan: &mut Plan, drafts: &[&Draft], machine: Machine) {
    let reads = Reads::of(plan);
    levels(plan, &reads);
    for (node, draft) in plan.nodes.iter_mut().zip(drafts) {
        resources(&mut node.runs, draft, machine);
    }
    groups(plan);
    critical(plan, &reads, drafts);
}

/// What a node takes of the machine.
pub(super) fn resources(runs: &mut Annotations, draft: &Draft, machine: Machine) {
    runs.threads = if draft.all_threads { machine.threads.max(1) } else { 1 };
    let gpu = draft.attributes.gpu.filter(|_| runs.worker == Worker::Torch);
    if let Some(gpu) = gpu.filter(|gpu| gpu.count > 0 && gpu.count <= machine.gpus) {
        runs.gpu = gpu.count;
        runs.device = "cuda".into();
    }
    let large = |memory| memory > machine.memory / 2 && machine.memory > 0;
    runs.exclusive = runs.memory.is_some_and(large);
}

/// What each node reads, by numbers, one node after the other.
struct Reads {
    /// Where the numbers of each node end.
    ends: Vec<usize>,
    inputs: Vec<usize>,
}

impl Reads {
    fn of(plan: &Plan) -> Self {
        let mut reads = Self { ends: Vec::with_capacity(plan.nodes.len()), inputs: Vec::new() };
        for node in &plan.nodes {
            reads.inputs.extend(node.inputs().iter().map(|input| input.node.0 as usize));
            reads.ends.push(reads.inputs.len());
        }
        reads
    }

    /// The inputs of each node, in order.
    fn each(&self) -> impl Iterator<Item = &[usize]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let inputs = self.inputs.get(start..*end).unwrap_or_default();
            start = *end;
            inputs
        })
    }
}

/// The longest path from a source, and the most nodes on one level.
fn levels(plan: &mut Plan, reads: &Reads) {
    let mut levels: Vec<u32> = Vec::with_capacity(plan.nodes.len());
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for inputs in reads.each() {
        let before = inputs.iter().filter_map(|input| levels.get(*input));
        let level = before.max().map_or(0, |level| level + 1);
        levels.push(level);
        *counts.entry(level).or_default() += 1;
    }
    for (node, level) in plan.nodes.iter_mut().zip(levels) {
        node.runs.level = level;
    }
    plan.widest = counts.values().copied().max().unwrap_or(0);
}

/// Nodes that share what the signature's `group` names get one number.
fn groups(plan: &mut Plan) {
    let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, node) in plan.nodes.iter().enumerate() {
        if let Some(key) = node.batch_key() {
            members.entry(key).or_default().push(at);
        }
    }
    let groups = members.into_values().filter(|group| group.len() > 1);
    for (number, group) in (0u32..).zip(groups) {
        for at in group {
            if let Some(node) = plan.nodes.get_mut(at) {
                node.runs.group = Some(number);
            }
        }
    }
}

/// Mark the most expensive path through the plan.
fn critical(plan: &mut Plan, reads: &Reads, drafts: &[&Draft]) {
    let mut best: Vec<(u64, Option<usize>)> = Vec::with_capacity(plan.nodes.len());
    for (inputs, draft) in reads.each().zip(drafts) {
        let own = if draft.heavy { HEAVY } else { 1 };
        let longest = inputs
            .iter()
            .filter_map(|input| Some((best.get(*input)?.0, *input)))
            .max_by_key(|(cost, input)| (*cost, std::cmp::Reverse(*input)));
        best.push(match longest {
            Some((cost, input)) => (cost + own, Some(input)),
            None => (own, None),
        });
    }
    let last =
        best.iter().enumerate().max_by_key(|(at, (cost, _))| (*cost, std::cmp::Reverse(*at)));
    let mut at = last.map(|(at, _)| at);
    while let Some(here) = at {
        if let Some(node) = plan.nodes.get_mut(here) {
            node.runs.critical = true;
        }
        at = best.get(here).and_then(|(_, before)| *before);
    }
}
