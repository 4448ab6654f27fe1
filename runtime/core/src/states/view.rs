//! Looking ahead without running: which results are there, and what drivers would ask for.
//!
//! It goes the way of the scheduler, from what is wanted backwards through the store and then forwards, but computes
//! nothing: where a value is missing, what depends on it is open.

use super::{Compared, Expected, MadeNode, NodeStatus, States};
use crate::args;
use crate::driver::{Driver, Next, Point, Trial};
use crate::growing::{self, Growing};
use crate::keys;
use crate::op::{ArgValue, Args, OpError};
use crate::registry::Registry;
use crate::schedule::index;
use crate::store::{Recorded, Store};
use crate::value::Value;
use pipe_compiler::plan::{Arg, GIVEN, Input, Node, Plan};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct View<'v> {
    pub(super) nodes: Growing<'v>,
    store: &'v Store,
    registry: &'v Registry,
    volatile: Vec<bool>,
    seen: BTreeSet<usize>,
    lost: BTreeSet<usize>,
    values: BTreeMap<usize, Value>,
    states: BTreeMap<usize, NodeStatus>,
    /// By driver: what it made.
    made: BTreeMap<usize, Vec<usize>>,
    /// A node that is asked about: the drivers that could make it expand although their results are stored.
    about: Option<&'v str>,
}

impl<'v> View<'v> {
    pub(super) fn of(
        plan: &'v Plan,
        store: &'v Store,
        registry: &'v Registry,
        about: Option<&'v str>,
    ) -> Result<Self, OpError> {
        let planned = about.is_some_and(|name| plan.nodes.iter().any(|node| node.name == name));
        let mut view = Self {
            nodes: Growing::new(plan),
            store,
            registry,
            volatile: keys::volatile(plan),
            seen: BTreeSet::new(),
            lost: BTreeSet::new(),
            values: BTreeMap::new(),
            states: BTreeMap::new(),
            made: BTreeMap::new(),
            about: about.filter(|_| !planned),
        };
        let roots = keys::root_inputs(plan).into_iter().map(index);
        let nodes = plan.nodes.iter().enumerate();
        let repeating = nodes.filter(|(_, node)| keys::repeats(node)).map(|(at, _)| at);
        let wanted = roots.chain(repeating).collect();
        view.want(wanted)?;
        Ok(view)
    }

    /// The node of that name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name == name && node.op != GIVEN)
    }

    /// What nobody needs, because all that reads it is in the store, does not run.
    pub(super) fn status(&self, at: usize) -> NodeStatus {
        let id = self.nodes.node(at).id;
        let unneeded = || NodeStatus { id, state: Expected::Cached, why: String::new() };
        self.states.get(&at).cloned().unwrap_or_else(unneeded)
    }

    pub(super) fn states(&self) -> States {
        let id = |at: usize| self.nodes.node(at).id;
        let node = |at: &usize| MadeNode {
            node: Node::clone(&self.nodes.node(*at)),
            status: self.status(*at),
        };
        States {
            planned: (0..self.nodes.plan.nodes.len()).map(|at| self.status(at)).collect(),
            made: self
                .made
                .iter()
                .map(|(driver, made)| (id(*driver), made.iter().map(node).collect()))
                .collect(),
        }
    }

    /// Find the states of these nodes and of what they need.
    fn want(&mut self, mut wanted: BTreeSet<usize>) -> Result<(), OpError> {
        let mut found = Vec::new();
        while let Some(at) = wanted.pop_last() {
            if !self.seen.insert(at) {
                continue;
            }
            found.push(at);
            if !self.find_by_plan_key(at)? || self.is_asked_about(at) {
                wanted.extend(self.nodes.node(at).inputs().into_iter().map(index));
            }
        }
        for at in found.into_iter().rev() {
            let status = self.settle(at)?;
            self.states.insert(at, status);
        }
        Ok(())
    }

    /// Whether this is a driver that may have made the node that is asked about.
    fn is_asked_about(&self, at: usize) -> bool {
        let node = self.nodes.node(at);
        let below = |name: &str| {
            name.strip_prefix(node.name.as_str()).is_some_and(|rest| rest.starts_with('['))
        };
        self.about.is_some_and(below) && growing::is_driver(&node)
    }

    fn find_by_plan_key(&mut self, at: usize) -> Result<bool, OpError> {
        if self.values.contains_key(&at) {
            return Ok(true);
        }
        if self.volatile.get(at).copied().unwrap_or(true) {
            return Ok(false);
        }
        let found = self.store.result_of_plan(&self.nodes.node(at).key.to_string())?;
        Ok(self.take(at, found))
    }

    fn take(&mut self, at: usize, found: Recorded) -> bool {
        match found {
            Recorded::Whole(result) => drop(self.values.insert(at, result.value)),
            Recorded::Lost => drop(self.lost.insert(at)),
            Recorded::Absent => {}
        }
        self.values.contains_key(&at)
    }

    fn value_of(&self, input: &Input) -> Option<&Value> {
        self.values.get(&index(input))
    }

    fn settle(&mut self, at: usize) -> Result<NodeStatus, OpError> {
        let node = self.nodes.node(at);
        let whole = node.inputs().iter().all(|input| self.value_of(input).is_some());
        let repeats = keys::repeats(&node);
        if !self.values.contains_key(&at) && whole && !repeats {
            let value_of = |input: &Input| self.value_of(input);
            if let Some(fields) = keys::action_fields(&node, &value_of) {
                let found = self.store.result(&fields.key().to_string())?;
                self.take(at, found);
            }
        }
        let cached = self.values.contains_key(&at);
        let expands = growing::is_driver(&node);
        if whole && expands && (!cached || self.is_asked_about(at)) {
            self.expand(at, &node)?;
        }
        if cached {
            return Ok(NodeStatus { id: node.id, state: Expected::Cached, why: String::new() });
        }
        let last = self.store.last_node(&self.nodes.plan.file, &node.name, &node.op)?;
        let compared = Compared::new(&self.nodes, &node, last);
        let state = if expands {
            Expected::Expand
        } else if !whole && !repeats && compared.only_inputs() {
            Expected::Maybe
        } else {
            Expected::Run
        };
        let why = compared.text(&node, self.lost.contains(&at), |name| {
            let at = self.nodes.iter().position(|node| node.name == name);
            let state = at.and_then(|at| self.states.get(&at)).map(|status| status.state);
            state.is_some_and(|state| state != Expected::Cached)
        });
        Ok(NodeStatus { id: node.id, state, why })
    }

    /// Make what the driver asks for, as far as results are there. A driver that refuses its arguments says so in the
    /// run.
    fn expand(&mut self, at: usize, node: &Node) -> Result<(), OpError> {
        let found =
            self.registry.driver(&node.op).filter(|driver| driver.version() == node.version);
        let Some(driver) = found.cloned() else { return Ok(()) };
        let Ok(args) = args::resolve(&node.args, &|input| self.value_of(input)) else {
            return Ok(());
        };
        let (mut trials, mut counts) = (Vec::new(), BTreeMap::new());
        loop {
            match next(driver.as_ref(), &args, &trials) {
                Some(Next::Done(value)) => {
                    if !keys::repeats(node) {
                        self.values.entry(at).or_insert(value);
                    }
                    return Ok(());
                }
                Some(Next::Ask(points)) if self.nodes.allow(node, &points, &counts).is_ok() => {
                    for point in &points {
                        *counts.entry(point.body.clone()).or_default() += 1;
                    }
                    match self.ask(at, points)? {
                        Some(found) => trials.extend(found),
                        None => return Ok(()),
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// The results of the points, when all of them are there.
    fn ask(&mut self, at: usize, points: Vec<Point>) -> Result<Option<Vec<Trial>>, OpError> {
        let mut asked: Vec<(Point, Arg)> = Vec::new();
        let mut wanted = BTreeSet::new();
        for point in points {
            let before = self.nodes.len();
            let Ok(element) = self.nodes.make(at, &point) else { return Ok(None) };
            self.grow();
            let made = element.nodes.iter().copied().filter(|at| *at >= before);
            self.made.entry(at).or_default().extend(made);
            wanted.extend(growing::wanted(&self.nodes, &element));
            for (given, value) in element.given {
                self.seen.insert(given);
                self.values.insert(given, value);
            }
            asked.push((point, element.result));
        }
        self.want(wanted)?;
        let mut trials = Vec::new();
        for (point, result) in asked {
            match args::resolve_arg(&result, &|input| self.value_of(input)) {
                Ok(ArgValue::Value(result)) => trials.push(Trial { point, result }),
                _ => return Ok(None),
            }
        }
        Ok(Some(trials))
    }

    fn grow(&mut self) {
        for at in self.volatile.len()..self.nodes.len() {
            let node = self.nodes.node(at);
            let reads = |input: &&Input| self.volatile.get(index(input)) == Some(&true);
            let volatile = keys::repeats(&node) || node.inputs().iter().any(reads);
            self.volatile.push(volatile);
        }
    }
}

/// Ask a driver; nothing when it refuses.
fn next(driver: &dyn Driver, args: &Args, trials: &[Trial]) -> Option<Next> {
    let asked = std::panic::AssertUnwindSafe(|| driver.next(args, trials));
    let next = std::panic::catch_unwind(asked).ok()?.ok()?;
    match &next {
        Next::Ask(points) if points.is_empty() => None,
        _ => Some(next),
    }
}
