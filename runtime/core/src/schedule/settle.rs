//! What follows from news: results are recorded, consumers move on, failures are told or tried again.

use super::expand::Expansion;
use super::task::{Computed, LOST, Message, News};
use super::{Engine, Running, State, index};
use crate::cancel::Urgency;
use crate::events::{Event, NodeState};
use crate::growing;
use crate::keys;
use crate::op::OpError;
use crate::store::locks::Lock;
use crate::store::{NewResult, remove_all};
use crate::worker::LATE;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// First pause before another try; it doubles each time up to [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Points of curves that are written together.
const METRICS: usize = 512;

impl Engine<'_> {
    /// Take in news; results that arrived together are recorded in one transaction.
    pub(super) fn take_in(&mut self, messages: Vec<Message>) -> Result<(), OpError> {
        let mut computed = Vec::new();
        let mut moved = BTreeSet::new();
        let mut locks = Vec::new();
        for message in messages {
            let Some(at) = self.tasks.get(&message.task).copied() else {
                self.hear_stray(message.task, message.news)?;
                continue;
            };
            match message.news {
                News::Finished { result, seconds } => {
                    self.tasks.remove(&message.task);
                    if !matches!(self.slot(at).state, State::Running(_)) {
                        continue;
                    }
                    let (timed_out, lock) = self.release(at);
                    locks.extend(lock);
                    self.slot_mut(at).seconds = seconds;
                    match *result {
                        Ok(result) => computed.push((at, result)),
                        Err(error) if timed_out => self.fail(at, self.timeout(at, &error))?,
                        Err(error) => self.failed(at, error)?,
                    }
                    moved.insert(at);
                }
                other => {
                    if matches!(other, News::Reserved(_)) {
                        self.tasks.remove(&message.task);
                    }
                    self.pass_on(at, other, &mut moved)?;
                }
            }
        }
        self.flush_metrics_if(METRICS)?;
        self.record(computed)?;
        drop(locks);
        self.propagate(moved)
    }

    fn pass_on(
        &mut self,
        at: usize,
        news: News,
        moved: &mut BTreeSet<usize>,
    ) -> Result<(), OpError> {
        let node = self.node(at).name.clone();
        match news {
            News::Progress { done, total, note } => {
                self.tell(Event::Progress { node, done, total, note })
            }
            News::Warning(message) => self.tell(Event::Warning { node, message }),
            News::Metric { name, step, value } => {
                self.metrics.push((node.clone(), name.clone(), step, value));
                self.tell(Event::Metric { node, name, step, value });
            }
            News::Resumed => self.tell_started(at, true),
            News::Finished { .. } => {}
            News::Reserved(lock) => {
                if matches!(self.slot(at).state, State::Reserving) {
                    self.reserved(at, lock)?;
                    moved.insert(at);
                }
            }
        }
        Ok(())
    }

    /// Record results, then tell of them. The order makes a killed process harmless.
    pub(super) fn record(&mut self, computed: Vec<(usize, Computed)>) -> Result<(), OpError> {
        let mut rows = Vec::new();
        for (at, result) in &computed {
            let node = self.node(*at);
            let slot = self.slot(*at);
            let keep = !keys::repeats(&node);
            let Some(action_key) = slot.action_key.clone().filter(|_| keep) else { continue };
            let lasting = !self.volatile.get(*at).copied().unwrap_or(true);
            let plan_key = lasting.then(|| node.key.to_string());
            if self.is_verified(*at) {
                continue;
            }
            let replace = self.asked_again(*at).is_some() || slot.lost;
            rows.push(NewResult {
                plan_key,
                run: self.run,
                seconds: slot.seconds,
                own_seconds: if growing::is_driver(&node) { 0.0 } else { slot.seconds },
                parents: self.made_from(*at),
                replace,
                ..new_result(&node.op, action_key, result)
            });
        }
        let recorded = if rows.is_empty() { Ok(()) } else { self.store.record(&rows) };
        for (at, result) in computed {
            match &recorded {
                Ok(()) if self.is_verified(at) => self.compare(at, result)?,
                Ok(()) => self.done(at, result)?,
                Err(error) => self.fail(at, error.clone())?,
            }
        }
        Ok(())
    }

    /// Action keys of the stored results that a node's result is made from. A value that a driver has bound stands for what
    /// the driver has read; a driver's own result is made from those of its elements as well.
    pub(super) fn made_from(&self, at: usize) -> BTreeSet<String> {
        let mut open: Vec<usize> = self.node(at).inputs().into_iter().map(index).collect();
        open.extend(self.expansions.get(&at).into_iter().flat_map(Expansion::parts));
        let mut seen: BTreeSet<usize> = open.iter().copied().collect();
        let mut keys = BTreeSet::new();
        while let Some(input) = open.pop() {
            if self.is_given(input) {
                for driver in self.owners.get(&input).into_iter().flatten() {
                    let node = self.node(*driver);
                    let read = node.inputs().into_iter().map(index);
                    open.extend(read.filter(|next| seen.insert(*next)));
                }
            } else if !keys::repeats(&self.node(input)) {
                keys.extend(self.slot(input).action_key.clone());
            }
        }
        keys
    }

    pub(super) fn done(&mut self, at: usize, result: Computed) -> Result<(), OpError> {
        self.done_as(at, result, None)
    }

    /// The node has its result; `told` says something else of it than what it is.
    pub(super) fn done_as(
        &mut self,
        at: usize,
        result: Computed,
        told: Option<String>,
    ) -> Result<(), OpError> {
        let node = self.node(at);
        let last = self.store.last_node(&self.nodes.plan.file, &node.name, &node.op)?;
        let unchanged = told.is_none()
            && last.and_then(|last| last.digest).is_some_and(|last| last == result.digest);
        let shown = told.unwrap_or_else(|| result.value.describe());
        let slot = self.slot_mut(at);
        slot.value = Some(Arc::new(result.value));
        slot.digest = Some(result.digest);
        slot.context = result.context;
        slot.peak_bytes = result.peak_bytes;
        slot.how = Some(NodeState::Ran);
        slot.error = None;
        let seconds = slot.seconds;
        let action_key = slot.action_key.clone();
        self.set_state(at, State::Done);
        if let Some(key) = action_key {
            let _ = remove_all(&self.store.checkpoint_path(&key));
        }
        self.tell(Event::NodeFinished {
            node: node.name.clone(),
            state: NodeState::Ran,
            seconds,
            result: shown,
            unchanged,
            error: None,
        });
        Ok(())
    }

    /// An attempt failed: try again, bring back what was lost, end as stopped, or fail.
    fn failed(&mut self, at: usize, error: OpError) -> Result<(), OpError> {
        if error.is_cancelled() {
            self.stopped = true;
            self.skip(at);
            return Ok(());
        }
        if error.code == LATE {
            self.set_state(at, State::Ready);
            return Ok(());
        }
        if error.code == LOST && !self.slot(at).revived {
            return self.revive_inputs(at);
        }
        let node = self.node(at);
        let (tries, retry) = (self.slot(at).tries, node.runs.retry);
        if !error.transient || tries >= retry {
            return self.fail(at, error);
        }
        let pause = PAUSE.saturating_mul(1 << tries.min(16)).min(LONGEST_PAUSE);
        let message = format!("{} Trying again ({} of {retry}).", error.message, tries + 1);
        self.tell(Event::Warning { node: node.name.clone(), message });
        self.slot_mut(at).tries += 1;
        self.set_state(at, State::Resting(Instant::now() + pause));
        Ok(())
    }

    fn timeout(&self, at: usize, error: &OpError) -> OpError {
        if !error.is_cancelled() {
            return error.clone();
        }
        let node = self.node(at);
        let limit = crate::shown::duration(node.runs.timeout.unwrap_or(0));
        OpError::new(
            "run::timeout",
            format!("`{}` ran longer than its @timeout of {limit}.", node.name),
        )
        .help("Raise the limit; a training continues from its last checkpoint.")
    }

    pub(super) fn give_up(&mut self, at: usize) -> Result<(), OpError> {
        let error = self.timeout(at, &OpError::cancelled());
        if let State::Running(running) = &mut self.slot_mut(at).state {
            running.stop.force();
        }
        self.release(at);
        self.fail(at, error)?;
        self.propagate(BTreeSet::from([at]))
    }

    pub(super) fn fail(&mut self, at: usize, error: OpError) -> Result<(), OpError> {
        let slot = self.slot_mut(at);
        slot.how = Some(NodeState::Failed);
        slot.error = Some(error.clone());
        slot.lock = None;
        let seconds = slot.seconds;
        self.set_state(at, State::Failed);
        self.tell(Event::NodeFinished {
            node: self.node(at).name.clone(),
            state: NodeState::Failed,
            seconds,
            result: String::new(),
            unchanged: false,
            error: Some(error),
        });
        Ok(())
    }

    pub(super) fn skip(&mut self, at: usize) {
        let slot = self.slot_mut(at);
        slot.how = Some(NodeState::Skipped);
        slot.lock = None;
        let seconds = slot.seconds;
        self.set_state(at, State::Skipped);
        self.tell(Event::NodeFinished {
            node: self.node(at).name.clone(),
            state: NodeState::Skipped,
            seconds,
            result: String::new(),
            unchanged: false,
            error: None,
        });
    }

    /// Let the consumers of nodes that have ended move on, and theirs.
    pub(super) fn propagate(&mut self, ended: BTreeSet<usize>) -> Result<(), OpError> {
        let mut look = BTreeSet::new();
        let push = |engine: &Self, at: usize, look: &mut BTreeSet<usize>| {
            if matches!(engine.slot(at).state, State::Done | State::Failed | State::Skipped) {
                look.extend(engine.consumers.get(at).into_iter().flatten().copied());
            }
        };
        ended.into_iter().for_each(|at| push(self, at, &mut look));
        while let Some(at) = look.pop_first() {
            let waiting = matches!(self.slot(at).state, State::Waiting);
            self.advance(at)?;
            if waiting {
                push(self, at, &mut look);
            }
        }
        Ok(())
    }

    /// Give back what a running node held; says whether it had run out of time. The lock of its key comes
    /// along: it is let go of once the result is recorded.
    pub(super) fn release(&mut self, at: usize) -> (bool, Option<Lock>) {
        if !matches!(self.slot(at).state, State::Running(_)) {
            return (false, None);
        }
        let State::Running(running) = self.set_state(at, State::Waiting) else {
            return (false, None);
        };
        self.tasks.remove(&running.task);
        self.let_go(running)
    }

    /// Give back what an attempt held.
    pub(super) fn let_go(&mut self, running: Running) -> (bool, Option<Lock>) {
        if let Some(grant) = running.grant {
            self.resources.give(grant);
        }
        if let Some(group) = &running.group {
            self.leave_group(running.task, group);
        }
        (running.timed_out, running.lock)
    }

    /// End: what has not begun is skipped, and told so.
    pub(crate) fn close(&mut self) {
        if self.options.cancel.urgency() != Urgency::None {
            self.force_strays();
        }
        for at in 0..self.slots.len() {
            let open = !matches!(
                self.slot(at).state,
                State::Idle | State::Done | State::Failed | State::Skipped
            );
            if open {
                if let State::Running(running) = &mut self.slot_mut(at).state {
                    running.stop.force();
                }
                self.release(at);
                self.stopped = true;
                self.skip(at);
            }
        }
    }

    fn flush_metrics_if(&mut self, many: usize) -> Result<(), OpError> {
        if self.metrics.len() >= many { self.flush_metrics() } else { Ok(()) }
    }

    pub(super) fn flush_metrics(&mut self) -> Result<(), OpError> {
        if self.metrics.is_empty() {
            return Ok(());
        }
        let points = std::mem::take(&mut self.metrics);
        self.store.write_metrics(self.run, &points)
    }
}

/// What is recorded of a result, but for the run that it comes from.
pub(super) fn new_result(op: &str, action_key: String, result: &Computed) -> NewResult {
    NewResult {
        action_key,
        plan_key: None,
        op: op.to_owned(),
        value: result.value.clone(),
        digest: result.digest.clone(),
        context: result.context.clone(),
        run: 0,
        seconds: 0.0,
        own_seconds: 0.0,
        parents: BTreeSet::new(),
        signatures: result.signatures.clone(),
        replace: false,
    }
}
