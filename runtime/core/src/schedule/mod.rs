//! The scheduler: runs what the wanted results need, and nothing else.
//!
//! It is level-triggered: [`Engine::demand`] looks at the plan, at what is wanted and at what is there,
//! and says what must happen. It may be asked again at any time, which is how a result that the store has
//! lost, or a plan that has changed, is dealt with. All decisions are made on one thread; tasks run on
//! their own and send [`Message`]s, so nothing polls and nothing is shared that could race.

mod demand;
mod dispatch;
mod expand;
mod lookup;
mod resources;
mod settle;
pub(crate) mod task;
mod torch;
mod turn;
mod verify;

pub use resources::Machine;
pub(crate) use turn::Carried;

use crate::cancel::StopFlag;
use crate::events::{Event, NodeState};
use crate::growing::{Growing, NodeRef};
use crate::op::{Args, OpError};
use crate::registry::Registry;
use crate::run::{Place, RunOptions};
use crate::store::locks::Lock;
use crate::store::{OutputRow, Store};
use crate::value::Value;
use crate::worker::{GroupTask, Pool};
use crossbeam_channel::Receiver;
use pipe_compiler::plan::{Input, Plan};
use resources::{Grant, Resources};
use std::cmp::{Ordering as Ordered, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use task::{Message, Shared, TaskNumber};
use turn::Strays;

/// Where a node stands.
#[derive(Debug)]
pub(crate) enum State {
    /// Nobody needs it (yet).
    Idle,
    /// Some of its inputs have no value yet.
    Waiting,
    /// It could start.
    Ready,
    /// A driver that waits for what it asked for, or may be asked again.
    Expanding,
    /// Another process computes the same; its result may serve.
    Reserving,
    /// It runs.
    Running(Running),
    /// It failed in passing and tries again then.
    Resting(Instant),
    /// It has a value.
    Done,
    /// It failed.
    Failed,
    /// Something it needs failed, or the run was stopped.
    Skipped,
}

/// What a running node holds.
#[derive(Debug)]
pub(crate) struct Running {
    /// Its share of the machine; members of a group hold it together.
    grant: Option<Grant>,
    stop: Stop,
    /// The attempt.
    task: TaskNumber,
    /// The group that it is a member of, by what the members share.
    group: Option<String>,
    deadline: Option<Instant>,
    timed_out: bool,
    /// Held so that no other process computes the same.
    lock: Option<Lock>,
}

/// How a running node is told to stop.
#[derive(Debug)]
pub(crate) enum Stop {
    /// An op in this process looks at a flag.
    Flag(Arc<StopFlag>),
    /// A worker gets a request.
    Worker { group: GroupTask, node: String, asked: bool },
}

impl Stop {
    /// Stop at the next safe point, with a checkpoint.
    fn ask(&mut self) {
        match self {
            Self::Flag(flag) => flag.raise(),
            Self::Worker { group, node, asked } => {
                if !std::mem::replace(asked, true) {
                    group.cancel(node);
                }
            }
        }
    }

    /// Stop now. An op in this process is left alone, its answer is not heard.
    fn force(&mut self) {
        self.ask();
        if let Self::Worker { group, .. } = self {
            group.kill();
        }
    }
}

/// All that is known of a node in this run.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) state: State,
    pub(crate) value: Option<Arc<Value>>,
    pub(crate) digest: Option<String>,
    pub(crate) args: Option<Arc<Args>>,
    pub(crate) action_key: Option<String>,
    /// The result was found under the plan key, so what led to it is on record.
    pub(crate) by_plan: bool,
    pub(crate) how: Option<NodeState>,
    pub(crate) seconds: f64,
    pub(crate) error: Option<OpError>,
    pub(crate) context: BTreeMap<String, String>,
    pub(crate) peak_bytes: Option<u64>,
    lock: Option<Lock>,
    tries: u32,
    passed: u32,
    lost: bool,
    revived: bool,
    started: bool,
    resumed: bool,
}

impl Slot {
    fn new() -> Self {
        Self {
            state: State::Idle,
            value: None,
            digest: None,
            args: None,
            action_key: None,
            by_plan: false,
            how: None,
            seconds: 0.0,
            error: None,
            context: BTreeMap::new(),
            peak_bytes: None,
            lock: None,
            tries: 0,
            passed: 0,
            lost: false,
            revived: false,
            started: false,
            resumed: false,
        }
    }
}

/// A priority, in order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rank(f64);

impl Eq for Rank {}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordered {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordered> {
        Some(self.cmp(other))
    }
}

/// How driving a plan ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driven {
    /// Everything that is wanted is there or cannot be.
    Ended,
    /// Another plan takes its place; what runs goes on.
    Superseded,
}

/// One run of one plan.
pub(crate) struct Engine<'a> {
    pub(crate) nodes: Growing<'a>,
    registry: &'a Registry,
    pub(crate) store: &'a mut Store,
    options: &'a RunOptions,
    events: &'a mut dyn FnMut(Event),
    pub(crate) run: i64,
    pub(crate) slots: Vec<Slot>,
    consumers: Vec<Vec<usize>>,
    volatile: Vec<bool>,
    priority: Vec<f64>,
    /// Ready nodes, the most urgent first.
    ready: BTreeSet<(Reverse<Rank>, usize)>,
    /// Nodes that run, rest, or wait for another process.
    active: BTreeSet<usize>,
    /// The nodes that attempts are for.
    tasks: BTreeMap<TaskNumber, usize>,
    /// Attempts that an earlier plan began and this one has not asked for (yet).
    strays: Strays,
    resources: Resources,
    shared: Arc<Shared>,
    messages: Receiver<Message>,
    workers: Arc<Pool>,
    groups: BTreeMap<String, torch::Group>,
    expansions: BTreeMap<usize, expand::Expansion>,
    /// Drivers to be asked at the next turn.
    due: BTreeSet<usize>,
    /// The drivers that have bound a given value.
    owners: BTreeMap<usize, BTreeSet<usize>>,
    scratch: PathBuf,
    metrics: Vec<(String, String, u64, f64)>,
    pub(crate) used: BTreeSet<String>,
    /// Nodes of the plan that are computed again to compare what they give with what is stored.
    verified: BTreeSet<usize>,
    /// Events of the first look at the store, told once the number of nodes to run is known.
    held: Option<Vec<Event>>,
    pub(crate) stopped: bool,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        registry: &'a Registry,
        store: &'a mut Store,
        options: &'a RunOptions,
        events: &'a mut dyn FnMut(Event),
        place: &Place,
        carried: Carried,
    ) -> Self {
        let mut consumers = vec![Vec::new(); plan.nodes.len()];
        for (at, node) in plan.nodes.iter().enumerate() {
            let inputs: BTreeSet<usize> = node.inputs().iter().map(|input| index(input)).collect();
            for input in inputs {
                if let Some(list) = consumers.get_mut(input) {
                    list.push(at);
                }
            }
        }
        let Carried { strays, groups, resources, shared, messages, workers } = carried;
        Self {
            nodes: Growing::new(plan),
            registry,
            store,
            options,
            events,
            run: place.run,
            slots: plan.nodes.iter().map(|_| Slot::new()).collect(),
            consumers,
            volatile: crate::keys::volatile(plan),
            priority: vec![0.0; plan.nodes.len()],
            ready: BTreeSet::new(),
            active: BTreeSet::new(),
            tasks: BTreeMap::new(),
            strays,
            resources,
            shared,
            messages,
            workers,
            groups,
            expansions: BTreeMap::new(),
            due: BTreeSet::new(),
            owners: BTreeMap::new(),
            scratch: place.scratch.clone(),
            metrics: Vec::new(),
            used: BTreeSet::new(),
            verified: BTreeSet::new(),
            held: Some(Vec::new()),
            stopped: false,
        }
    }

    /// Run until everything that is wanted is there or cannot be, or until another plan is wanted.
    pub(crate) fn drive(&mut self) -> Result<Driven, OpError> {
        self.choose_verified()?;
        self.demand()?;
        self.announce();
        let driven = loop {
            if self.options.cancel.is_superseded() {
                break Driven::Superseded;
            }
            self.dispatch()?;
            self.stop_strays();
            if self.is_idle() {
                break Driven::Ended;
            }
            self.wait()?;
        };
        self.flush_metrics()?;
        Ok(driven)
    }

    /// Whether nothing runs and nothing will.
    fn is_idle(&self) -> bool {
        let now = self.options.cancel.urgency() == crate::cancel::Urgency::Now;
        now || (self.ready.is_empty() && self.active.is_empty())
    }

    pub(crate) fn tell(&mut self, event: Event) {
        match &mut self.held {
            Some(held) => held.push(event),
            None => (self.events)(event),
        }
    }

    pub(crate) fn value_of(&self, input: &Input) -> Option<&Value> {
        self.slots.get(index(input))?.value.as_deref()
    }

    fn node(&self, at: usize) -> NodeRef<'a> {
        self.nodes.node(at)
    }

    fn slot(&self, at: usize) -> &Slot {
        &self.slots[at]
    }

    fn slot_mut(&mut self, at: usize) -> &mut Slot {
        &mut self.slots[at]
    }

    /// Whether the store knows all of these outputs as they are.
    pub(crate) fn unchanged_outputs(&self, rows: &[OutputRow]) -> Result<bool, OpError> {
        for row in rows {
            if self.store.output(&row.path)?.as_ref() != Some(row) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

pub(crate) fn index(input: &Input) -> usize {
    input.node.0 as usize
}
