//! Drivers: asked what they want, given the nodes for it, and asked again when those have ended.
//!
//! An expanding driver holds no thread and no lock. It stands among the readers of what it asked for, so it moves on as
//! any node does. Its own result is recorded like that of an op, and a later run finds it without expanding.

use super::task::{Computed, panicked};
use super::{Engine, Slot, State, index};
use crate::args::resolve_arg;
use crate::driver::{Driver, Next, Point, Trial};
use crate::events::{Event, NodeState};
use crate::growing::wanted;
use crate::keys;
use crate::op::{ArgValue, OpError};
use crate::store::Store;
use crate::value::Value;
use pipe_compiler::plan::Arg;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

/// How far a driver has come.
pub(crate) struct Expansion {
    driver: Arc<dyn Driver>,
    trials: Vec<Trial>,
    /// Points that were asked for and have no result yet, with where the result will be.
    asked: Vec<(Point, Arg)>,
    /// Nodes that must end before the driver is asked again; those that have ended are taken off the end.
    open: Vec<usize>,
    /// How many points of each body were asked for.
    counts: BTreeMap<String, usize>,
    /// What the points that were asked for last wait for.
    waits: Vec<usize>,
    /// All that was ever waited for: the results are parts of the driver's.
    parts: BTreeSet<usize>,
    start: Instant,
}

/// What came of asking a driver.
enum Asked {
    /// It waits for nodes.
    Waits,
    /// It has ended without a result.
    Ended,
    /// It has its result.
    Value(Value),
}

impl Expansion {
    fn new(driver: Arc<dyn Driver>) -> Self {
        Self {
            driver,
            trials: Vec::new(),
            asked: Vec::new(),
            open: Vec::new(),
            counts: BTreeMap::new(),
            waits: Vec::new(),
            parts: BTreeSet::new(),
            start: Instant::now(),
        }
    }

    /// Nodes that the driver waits for.
    pub(super) fn open(&self) -> impl Iterator<Item = usize> + '_ {
        self.open.iter().copied()
    }

    /// Nodes whose results are parts of the driver's.
    pub(super) fn parts(&self) -> impl Iterator<Item = usize> + '_ {
        self.parts.iter().copied()
    }
}

impl Engine<'_> {
    /// A driver has its inputs and no stored result: it is asked at the next turn.
    pub(super) fn begin_expansion(&mut self, at: usize) -> Result<(), OpError> {
        let node = self.node(at);
        let driver = match self.registry.driver(&node.op) {
            Some(driver) if driver.version() == node.version => driver.clone(),
            found => {
                let found = found.map(|driver| driver.version());
                return self.fail(at, super::dispatch::wrong_op(&node.op, node.version, found));
            }
        };
        self.expansions.insert(at, Expansion::new(driver));
        self.set_state(at, State::Expanding);
        self.due.insert(at);
        Ok(())
    }

    /// Ask the drivers that may go on, until none may.
    pub(super) fn expand_due(&mut self) -> Result<(), OpError> {
        while !self.due.is_empty() {
            let mut computed = Vec::new();
            let mut ended = BTreeSet::new();
            for at in std::mem::take(&mut self.due) {
                match self.expand(at)? {
                    Asked::Waits => {}
                    Asked::Ended => drop(ended.insert(at)),
                    Asked::Value(value) => {
                        let digest = value.digest();
                        let (signatures, context) = (BTreeMap::new(), BTreeMap::new());
                        let result =
                            Computed { value, digest, signatures, context, peak_bytes: None };
                        computed.push((at, result));
                        ended.insert(at);
                    }
                }
            }
            self.record(computed)?;
            self.propagate(ended)?;
        }
        Ok(())
    }

    /// Ask a driver as long as what it wants is there already.
    fn expand(&mut self, at: usize) -> Result<Asked, OpError> {
        loop {
            if !matches!(self.slot(at).state, State::Expanding) {
                return Ok(Asked::Ended);
            }
            if !self.all_ended(at) {
                return Ok(Asked::Waits);
            }
            if !self.settle_trials(at)? {
                continue;
            }
            let Some(expansion) = self.expansions.get(&at) else { return Ok(Asked::Ended) };
            let seconds = expansion.start.elapsed().as_secs_f64();
            let next = self.ask(at, expansion);
            self.slot_mut(at).seconds = seconds;
            let more = match next {
                Ok(Next::Done(value)) => {
                    self.tell_started(at, false);
                    return Ok(Asked::Value(value));
                }
                Ok(Next::Ask(points)) => self.add_points(at, points)?,
                Err(error) => Err(error),
            };
            if let Err(error) = more {
                self.tell_started(at, false);
                self.fail(at, error)?;
                return Ok(Asked::Ended);
            }
        }
    }

    fn ask(&self, at: usize, expansion: &Expansion) -> Result<Next, OpError> {
        let args = self.slot(at).args.clone().unwrap_or_default();
        let driver = &expansion.driver;
        match catch_unwind(AssertUnwindSafe(|| driver.next(&args, &expansion.trials))) {
            Ok(Ok(Next::Ask(points))) if points.is_empty() => {
                Err(OpError::new("run::result", format!("{} asked for nothing.", driver.name()))
                    .help("This is a mistake in the driver; please report it."))
            }
            Ok(next) => next,
            Err(panic) => Err(panicked(driver.name(), panic.as_ref())),
        }
    }

    /// Whether all that a driver asked for has ended.
    pub(super) fn all_ended(&mut self, at: usize) -> bool {
        let Some(expansion) = self.expansions.get_mut(&at) else { return true };
        let mut open = std::mem::take(&mut expansion.open);
        while open.pop_if(|node| self.has_ended(*node)).is_some() {}
        let ended = open.is_empty();
        if let Some(expansion) = self.expansions.get_mut(&at) {
            expansion.open = open;
        }
        ended
    }

    /// Results of what was asked become trials. False when the driver has ended, or waits again for what was lost.
    fn settle_trials(&mut self, at: usize) -> Result<bool, OpError> {
        let Some(expansion) = self.expansions.get_mut(&at) else { return Ok(false) };
        let waits = std::mem::take(&mut expansion.waits);
        let asked = std::mem::take(&mut expansion.asked);
        let is = |node: &usize, state: fn(&State) -> bool| state(&self.slot(*node).state);
        if waits
            .iter()
            .any(|node| is(node, |state| matches!(state, State::Failed | State::Skipped)))
        {
            // The failure has been told; what needs it is skipped, as everywhere.
            self.skip(at);
            return Ok(false);
        }
        let again: Vec<usize> = waits
            .iter()
            .copied()
            .filter(|node| !is(node, |state| matches!(state, State::Done)))
            .collect();
        if !again.is_empty() {
            if let Some(expansion) = self.expansions.get_mut(&at) {
                (expansion.open, expansion.waits, expansion.asked) = (again, waits, asked);
            }
            return Ok(false);
        }
        let mut trials = Vec::with_capacity(asked.len());
        for (point, result) in asked {
            match resolve_arg(&result, &|input| self.value_of(input)) {
                Ok(ArgValue::Value(result)) => trials.push(Trial { point, result }),
                other => {
                    let unfit = || OpError::new("run::plan", "A body gives what is no value.");
                    return self.fail(at, other.err().unwrap_or_else(unfit)).map(|()| false);
                }
            }
        }
        if let Some(expansion) = self.expansions.get_mut(&at) {
            expansion.trials.extend(trials);
        }
        Ok(true)
    }

    /// Make the nodes for the points, and see to it that they run. The inner error is the driver's.
    fn add_points(
        &mut self,
        at: usize,
        points: Vec<Point>,
    ) -> Result<Result<(), OpError>, OpError> {
        let Some(mut expansion) = self.expansions.remove(&at) else { return Ok(Ok(())) };
        let made = self.make_points(at, points, &mut expansion);
        let open: BTreeSet<usize> = expansion.open().collect();
        self.expansions.insert(at, expansion);
        let (names, nodes) = match made {
            Ok(made) => made,
            Err(error) => return Ok(Err(error)),
        };
        self.tell_started(at, false);
        let node = self.node(at).name.clone();
        self.tell(Event::NodeExpanded { node, elements: names });
        self.want(open)?;
        for made in nodes {
            if matches!(self.slot(made).state, State::Idle) && self.slot(made).how.is_none() {
                self.leave_unneeded(made);
            }
        }
        Ok(Ok(()))
    }

    /// The names of what is waited for, and all nodes of the elements.
    fn make_points(
        &mut self,
        at: usize,
        points: Vec<Point>,
        expansion: &mut Expansion,
    ) -> Result<(Vec<String>, BTreeSet<usize>), OpError> {
        let node = self.node(at);
        self.nodes.allow(&node, &points, &expansion.counts)?;
        let mut names = Vec::new();
        let mut nodes = BTreeSet::new();
        for point in points {
            let mut element = self.nodes.make(at, &point)?;
            self.grow();
            for (given, value) in std::mem::take(&mut element.given) {
                self.owners.entry(given).or_default().insert(at);
                self.give(given, value);
            }
            *expansion.counts.entry(point.body.clone()).or_default() += 1;
            for waited in wanted(&self.nodes, &element) {
                if self.is_given(waited) || !expansion.parts.insert(waited) {
                    continue;
                }
                expansion.open.push(waited);
                expansion.waits.push(waited);
                if let Some(readers) =
                    self.consumers.get_mut(waited).filter(|list| !list.contains(&at))
                {
                    readers.push(at);
                }
                if element.nodes.contains(&waited) {
                    names.push(self.node(waited).name.clone());
                }
            }
            nodes.extend(element.nodes);
            expansion.asked.push((point, element.result));
        }
        Ok((names, nodes))
    }

    /// Room for what is known of nodes that were made.
    fn grow(&mut self) {
        for at in self.slots.len()..self.nodes.len() {
            let node = self.node(at);
            let inputs: BTreeSet<usize> = node.inputs().into_iter().map(index).collect();
            let reads = inputs.iter().any(|input| self.volatile.get(*input) == Some(&true));
            self.volatile.push(reads || keys::repeats(&node));
            self.slots.push(Slot::new());
            self.priority.push(0.0);
            self.consumers.push(Vec::new());
            for input in inputs {
                if let Some(list) = self.consumers.get_mut(input) {
                    list.push(at);
                }
            }
        }
    }

    /// A value that a driver binds is there from the beginning.
    fn give(&mut self, at: usize, value: Value) {
        if matches!(self.slot(at).state, State::Done) {
            return;
        }
        let slot = self.slot_mut(at);
        slot.digest = Some(value.digest());
        slot.value = Some(Arc::new(value));
        slot.how = Some(NodeState::Cached);
        self.set_state(at, State::Done);
    }

    /// The content of an input is gone although its record was there: its producer runs again. What a driver has bound
    /// comes back with the list that it came from, and the driver asks anew.
    pub(super) fn revive_inputs(&mut self, at: usize) -> Result<(), OpError> {
        let mut look: BTreeSet<usize> = self.node(at).inputs().into_iter().map(index).collect();
        let mut after = State::Waiting;
        while let Some(input) = look.pop_last() {
            let Some(value) = self.slot(input).value.clone() else { continue };
            if self.store.intact(&value)? {
                continue;
            }
            if self.is_given(input) {
                for driver in self.owners.get(&input).cloned().unwrap_or_default() {
                    if matches!(self.slot(driver).state, State::Expanding) {
                        look.extend(self.node(driver).inputs().into_iter().map(index));
                        self.set_state(driver, State::Idle);
                        self.due.remove(&driver);
                        after = State::Idle;
                    }
                }
                continue;
            }
            // What it was made from may be gone as well, and passed on what is missing.
            look.extend(self.node(input).inputs().into_iter().map(index));
            if let Some(expansion) = self.expansions.get(&input) {
                look.extend(expansion.parts());
            }
            forget(self.store, self.slots.get(input))?;
            let slot = self.slot_mut(input);
            slot.value = None;
            slot.lost = true;
            self.set_state(input, State::Idle);
        }
        self.slot_mut(at).revived = true;
        self.set_state(at, after);
        self.demand()
    }
}

fn forget(store: &Store, slot: Option<&Slot>) -> Result<(), OpError> {
    match slot.and_then(|slot| slot.action_key.as_deref()) {
        Some(key) => store.forget(key),
        None => Ok(()),
    }
}
