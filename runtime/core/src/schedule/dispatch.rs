//! Starting what is ready, and waiting for news.

use super::resources::Grant;
use super::task::{Message, News, Task, TaskNumber};
use super::{Engine, Rank, Running, State, Stop};
use crate::cancel::{StopFlag, Urgency};
use crate::events::Event;
use crate::op::OpError;
use crate::store::locks::{self, Attempt, Lock};
use pipe_compiler::plan::Worker;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an op may take to stop once its time is up; then it is given up.
const GRACE: Duration = Duration::from_secs(10);

/// Smaller nodes may pass a node that waits for room this often.
const PASSES: u32 = 16;

/// Stack of an op's thread.
const STACK: usize = 8 << 20;

impl Engine<'_> {
    /// Start ready nodes, those on the longest way to the end first, as far as the machine has room.
    pub(super) fn dispatch(&mut self) -> Result<(), OpError> {
        loop {
            if self.options.cancel.urgency() != Urgency::None {
                self.stop_all();
                return Ok(());
            }
            self.expand_due()?;
            let mut passed = None;
            while let Some(at) = self.next_ready(passed) {
                if self.begin(at)? {
                    continue;
                }
                if self.slot(at).passed > PASSES {
                    break;
                }
                passed = Some(at);
            }
            // A result that came from the store meanwhile may be what a driver waited for.
            if self.due.is_empty() {
                return Ok(());
            }
        }
    }

    /// The most urgent ready node, or the next one after `passed`, which has no room now.
    fn next_ready(&self, passed: Option<usize>) -> Option<usize> {
        let place = |at: usize| (Reverse(Rank(self.priority.get(at).copied().unwrap_or(0.0))), at);
        let after = passed.map_or(Bound::Unbounded, |at| Bound::Excluded(place(at)));
        self.ready.range((after, Bound::Unbounded)).next().map(|(_, at)| *at)
    }

    /// Start one node. False when there is no room for it now.
    fn begin(&mut self, at: usize) -> Result<bool, OpError> {
        let node = self.node(at);
        if !self.resources.possible(&node.runs) {
            let what = format!("`{}` asks for a GPU, and there is none.", node.name);
            let error = OpError::new("run::no_gpu", what)
                .help("Write `@gpu(1, else: \"cpu\")` to let the CPU do it.");
            self.fail(at, error)?;
            self.propagate(BTreeSet::from([at]))?;
            return Ok(true);
        }
        let grant = if self.can_join(at) { None } else { self.resources.take(&node.runs) };
        if grant.is_none() && !self.can_join(at) {
            self.slot_mut(at).passed += 1;
            return Ok(false);
        }
        if !self.reserve(at)? {
            grant.into_iter().for_each(|grant| self.resources.give(grant));
            return Ok(true);
        }
        match node.runs.worker {
            Worker::Here => self.start_here(at, grant)?,
            Worker::Torch => self.start_in_worker(at, grant)?,
        }
        Ok(true)
    }

    /// The node runs from now on.
    pub(super) fn set_running(
        &mut self,
        at: usize,
        task: TaskNumber,
        grant: Option<Grant>,
        stop: Stop,
    ) {
        let limit = self.node(at).runs.timeout.and_then(|nanos| u64::try_from(nanos).ok());
        let lock = self.slot_mut(at).lock.take();
        let deadline = limit.map(|nanos| Instant::now() + Duration::from_nanos(nanos));
        self.tasks.insert(task, at);
        self.set_state(
            at,
            State::Running(Running {
                grant,
                stop,
                task,
                group: None,
                deadline,
                timed_out: false,
                lock,
            }),
        );
    }

    /// Make sure that no other process computes the same. False when the node's state has changed: its
    /// result has come from the store, or it waits for the other process.
    fn reserve(&mut self, at: usize) -> Result<bool, OpError> {
        let node = self.node(at);
        let keep = node.runs.cache && !node.runs.effect;
        let Some(key) = self.slot(at).action_key.clone().filter(|_| keep) else { return Ok(true) };
        if self.slot(at).lock.is_some() {
            return Ok(true);
        }
        let path = self.store.lock_path(&key);
        match locks::attempt(&path)? {
            Attempt::Held(lock) => self.reserved(at, Ok(lock)).map(|()| !self.has_ended(at)),
            Attempt::Busy => {
                self.set_state(at, State::Reserving);
                let task = TaskNumber::next();
                self.tasks.insert(task, at);
                let messages = self.shared.messages.clone();
                std::thread::spawn(move || {
                    let news = News::Reserved(locks::wait(&path));
                    let _ = messages.send(Message { task, news });
                });
                Ok(false)
            }
        }
    }

    /// The lock is ours: the other process may have left the result that we want.
    pub(super) fn reserved(
        &mut self,
        at: usize,
        lock: Result<Lock, OpError>,
    ) -> Result<(), OpError> {
        match lock {
            Err(error) => self.fail(at, error)?,
            Ok(lock) => {
                if !self.find_by_action_key(at)? {
                    self.slot_mut(at).lock = Some(lock);
                    self.set_state(at, State::Ready);
                    return Ok(());
                }
            }
        }
        self.propagate(BTreeSet::from([at]))
    }

    pub(super) fn has_ended(&self, at: usize) -> bool {
        matches!(self.slot(at).state, State::Done | State::Failed | State::Skipped)
    }

    fn start_here(&mut self, at: usize, grant: Option<Grant>) -> Result<(), OpError> {
        let node = self.node(at);
        let (number, stop) = (TaskNumber::next(), Arc::new(StopFlag::default()));
        self.set_running(at, number, grant, Stop::Flag(stop.clone()));
        let op = match self.registry.find(&node.op) {
            Some(op) if op.version() == node.version => op.clone(),
            found => {
                let error = wrong_op(&node.op, node.version, found.map(|op| op.version()));
                return self.refuse(at, error);
            }
        };
        let task = self.task(at, number, stop);
        let resumed = task.checkpoint.as_ref().is_some_and(|folder| holds_something(folder));
        self.tell_started(at, resumed);
        let thread =
            std::thread::Builder::new().name(format!("op {}", node.name)).stack_size(STACK);
        match thread.spawn(move || task.run(op.as_ref())) {
            Ok(_) => Ok(()),
            Err(error) => self.refuse(at, no_thread(&error)),
        }
    }

    /// A node that was about to run cannot.
    pub(super) fn refuse(&mut self, at: usize, error: OpError) -> Result<(), OpError> {
        self.release(at);
        self.fail(at, error)?;
        self.propagate(BTreeSet::from([at]))
    }

    pub(super) fn task(&self, at: usize, number: TaskNumber, stop: Arc<StopFlag>) -> Task {
        let (node, slot) = (self.node(at), self.slot(at));
        let checkpoint = slot.action_key.as_deref().map(|key| self.store.checkpoint_path(key));
        Task {
            number,
            args: slot.args.clone().unwrap_or_default(),
            scratch: self.scratch.join(number.to_string()),
            checkpoint: checkpoint.filter(|_| node.runs.cache),
            stop,
            threads: node.runs.threads.clamp(1, self.options.machine.threads.max(1)),
            device: node.runs.device.clone(),
            shared: self.shared.clone(),
        }
    }

    pub(super) fn tell_started(&mut self, at: usize, resumed: bool) {
        let slot = self.slot_mut(at);
        if slot.started && (slot.resumed || !resumed) {
            return;
        }
        slot.started = true;
        slot.resumed = resumed;
        let node = self.node(at);
        let why = match self.asked_again(at) {
            Some(why) => why.to_owned(),
            None => {
                let lost = self.slot(at).lost;
                crate::states::why_runs(self.store, &self.nodes, &node, lost).unwrap_or_default()
            }
        };
        self.tell(Event::NodeStarted {
            node: node.name.clone(),
            op: node.op.clone(),
            why,
            resumed,
        });
    }

    /// A node that began under an earlier plan.
    pub(super) fn tell_goes_on(&mut self, at: usize) {
        self.slot_mut(at).started = true;
        let node = self.node(at);
        self.tell(Event::NodeStarted {
            node: node.name.clone(),
            op: node.op.clone(),
            why: "goes on".to_owned(),
            resumed: false,
        });
    }

    /// Sleep until there is news, a time limit, a pause that is over, or a wish to stop.
    pub(super) fn wait(&mut self) -> Result<(), OpError> {
        let timer = self.next_time().map_or_else(crossbeam_channel::never, crossbeam_channel::at);
        let mut messages = Vec::new();
        crossbeam_channel::select! {
            recv(self.messages) -> message => messages.extend(message),
            recv(self.options.cancel.wishes()) -> _ => {}
            recv(timer) -> _ => {}
        }
        messages.extend(self.messages.try_iter());
        self.take_in(messages)?;
        self.look_at_clock()
    }

    fn next_time(&self) -> Option<Instant> {
        let time = |state: &State| match state {
            State::Running(running) => running.deadline,
            State::Resting(until) => Some(*until),
            _ => None,
        };
        self.active.iter().filter_map(|at| time(&self.slot(*at).state)).min()
    }

    fn look_at_clock(&mut self) -> Result<(), OpError> {
        let now = Instant::now();
        for at in self.active.clone() {
            let mut over = false;
            match &mut self.slot_mut(at).state {
                State::Resting(until) if *until <= now => {
                    self.set_state(at, State::Ready);
                }
                State::Running(running) if running.deadline.is_some_and(|end| end <= now) => {
                    over = running.timed_out;
                    running.timed_out = true;
                    running.deadline = Some(now + GRACE);
                    running.stop.ask();
                }
                _ => {}
            }
            if over {
                self.give_up(at)?;
            }
        }
        Ok(())
    }

    /// A wish to stop: what runs is told so, and nothing new begins.
    fn stop_all(&mut self) {
        let ready = self.ready.iter().map(|(_, at)| *at);
        for at in ready.chain(self.active.iter().copied()).collect::<Vec<_>>() {
            match &mut self.slot_mut(at).state {
                State::Running(running) => running.stop.ask(),
                State::Ready | State::Reserving | State::Resting(_) => {
                    self.stopped = true;
                    self.skip(at);
                }
                _ => {}
            }
        }
    }
}

pub(super) fn holds_something(folder: &std::path::Path) -> bool {
    folder.read_dir().is_ok_and(|mut entries| entries.next().is_some())
}

pub(super) fn no_thread(error: &std::io::Error) -> OpError {
    OpError::new("run::thread", format!("No thread could be started: {error}."))
}

pub(super) fn wrong_op(op: &str, wanted: u32, found: Option<u32>) -> OpError {
    let what = match found {
        None => format!("This program of pipe has no op `{op}`."),
        Some(found) => format!(
            "The plan wants version {wanted} of `{op}`, and this program of pipe has version {found}."
        ),
    };
    OpError::new("run::unknown_op", what)
        .help("Rebuild pipe: its standard library and its ops disagree.")
}
