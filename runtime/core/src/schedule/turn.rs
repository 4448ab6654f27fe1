//! From one plan to the next: what runs goes on, and is found again by its key.
//!
//! A program that changes while it runs is planned anew, and the new plan takes the place of the old one. Attempts that
//! run then become strays. A node of the new plan that would compute the same takes its stray over, wherever it stands
//! now and whatever it is called; a stray that nothing can ask for any more is told to stop, and saves its checkpoint.

use super::resources::Resources;
use super::settle::new_result;
use super::task::{Message, News, Shared, TaskNumber};
use super::{Engine, Running, State, torch};
use crate::decoded::DecodedCache;
use crate::growing::is_driver;
use crate::keys;
use crate::op::{Args, OpError};
use crate::run::RunOptions;
use crate::store::{FileDigests, NewResult, Store};
use crate::worker::Pool;
use crossbeam_channel::{Receiver, unbounded};
use pipe_compiler::key::Key;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Attempts without a node, by number.
pub(super) type Strays = BTreeMap<TaskNumber, Stray>;

/// An attempt that an earlier plan began.
pub(super) struct Stray {
    op: String,
    key: Key,
    action_key: Option<String>,
    args: Option<Arc<Args>>,
    /// Action keys of the results that it reads.
    parents: BTreeSet<String>,
    /// The result is recorded when it comes, under the plan key too unless inputs of it compute anew each time.
    keep: bool,
    lasting: bool,
    running: Running,
    stopped: bool,
}

/// What goes on when a run ends and the next one begins: attempts, what they hold of the machine, workers and what they
/// have loaded.
pub(crate) struct Carried {
    pub(super) strays: Strays,
    pub(super) groups: BTreeMap<String, torch::Group>,
    pub(super) resources: Resources,
    pub(super) shared: Arc<Shared>,
    pub(super) messages: Receiver<Message>,
    pub(super) workers: Arc<Pool>,
}

impl Carried {
    /// For a first run: nothing goes on.
    pub(crate) fn new(store: &Store, options: &RunOptions) -> Self {
        let (send, messages) = unbounded();
        let shared = Shared {
            blobs: store.blobs().clone(),
            decoded: DecodedCache::new(options.decoded_bytes),
            digests: FileDigests::new(store.folder(), true),
            messages: send,
        };
        Self {
            strays: Strays::new(),
            groups: BTreeMap::new(),
            resources: Resources::new(options.machine.clone()),
            shared: Arc::new(shared),
            messages,
            workers: Arc::new(Pool::new(options.worker.clone())),
        }
    }

    /// Whether attempts go on.
    pub(crate) fn is_busy(&self) -> bool {
        !self.strays.is_empty()
    }
}

impl Engine<'_> {
    /// Take the attempt over that computes what the node would. False when there is none.
    pub(super) fn adopt_stray(&mut self, at: usize) -> bool {
        if self.strays.is_empty() {
            return false;
        }
        let (node, slot) = (self.node(at), self.slot(at));
        let same = |stray: &Stray| {
            let by_action = slot.action_key.is_some() && stray.action_key == slot.action_key;
            !stray.stopped && stray.op == node.op && (by_action || stray.key == node.key)
        };
        let Some(task) = self.strays.iter().find(|(_, stray)| same(stray)).map(|(task, _)| *task)
        else {
            return false;
        };
        let Some(stray) = self.strays.remove(&task) else { return false };
        let slot = self.slot_mut(at);
        (slot.action_key, slot.args) = (stray.action_key, stray.args);
        self.tasks.insert(task, at);
        self.set_state(at, State::Running(stray.running));
        self.tell_goes_on(at);
        true
    }

    /// Tell strays to stop that no node can ask for any more.
    pub(super) fn stop_strays(&mut self) {
        if self.strays.values().all(|stray| stray.stopped) {
            return;
        }
        let mut awaited = BTreeSet::new();
        for at in 0..self.slots.len() {
            let node = self.node(at);
            match self.slot(at).state {
                // Its elements may be anything.
                State::Waiting | State::Expanding if is_driver(&node) => return,
                State::Waiting => drop(awaited.insert(node.op.clone())),
                _ => {}
            }
        }
        for stray in self.strays.values_mut() {
            if !stray.stopped && !awaited.contains(&stray.op) {
                stray.stopped = true;
                stray.running.stop.ask();
            }
        }
    }

    /// Tell all strays to stop, at once.
    pub(super) fn force_strays(&mut self) {
        for (_, mut stray) in std::mem::take(&mut self.strays) {
            stray.running.stop.force();
            drop(self.let_go(stray.running));
        }
    }

    /// A stray's news: its result is worth keeping, the rest is of no interest.
    pub(super) fn hear_stray(&mut self, task: TaskNumber, news: News) -> Result<(), OpError> {
        let News::Finished { result, seconds } = news else { return Ok(()) };
        let Some(stray) = self.strays.remove(&task) else { return Ok(()) };
        if let (Ok(result), Some(action_key), true) = (&*result, stray.action_key, stray.keep) {
            let plan_key = stray.lasting.then(|| stray.key.to_string());
            let row = new_result(&stray.op, action_key, result);
            let (run, own_seconds, parents) = (self.run, seconds, stray.parents);
            let row = NewResult { plan_key, run, seconds, own_seconds, parents, ..row };
            self.store.record(&[row])?;
        }
        drop(self.let_go(stray.running));
        Ok(())
    }

    /// End, for another plan: what runs becomes strays.
    pub(crate) fn carry(mut self) -> Carried {
        let tasks = std::mem::take(&mut self.tasks);
        for (task, at) in tasks {
            if !matches!(self.slot(at).state, State::Running(_)) {
                continue;
            }
            let State::Running(running) = self.set_state(at, State::Idle) else { continue };
            let node = self.node(at);
            let stray = Stray {
                op: node.op.clone(),
                key: node.key,
                action_key: self.slot(at).action_key.clone(),
                args: self.slot(at).args.clone(),
                parents: self.made_from(at),
                keep: !keys::repeats(&node),
                lasting: !self.volatile.get(at).copied().unwrap_or(true),
                running,
                stopped: false,
            };
            self.strays.insert(task, stray);
        }
        Carried {
            strays: self.strays,
            groups: self.groups,
            resources: self.resources,
            shared: self.shared,
            messages: self.messages,
            workers: self.workers,
        }
    }
}
