//! Nodes that run in a worker, alone or as members of a group.

use super::resources::Grant;
use super::task::{
    Computed, Message, News, Shared, TaskNumber, adopt, check_files, check_unchanged, files_of,
};
use super::{Engine, State, Stop, dispatch};
use crate::op::OpError;
use crate::protocol::Member;
use crate::store::{disk, locks, remove_all};
use crate::value::Value;
use crate::worker::{self, GroupTask, Setup, TaskMember, Tell};
use pipe_compiler::plan::Worker;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A task whose members came from one batch group; they share one worker and one grant.
pub(super) struct Group {
    task: GroupTask,
    setup: Setup,
    grant: Option<Grant>,
    members: BTreeSet<TaskNumber>,
}

/// Bytes of loaded artifacts that a worker may keep.
const WORKER_CACHE: u64 = 1 << 30;

impl Engine<'_> {
    /// Whether the node's group runs now, so that it may join without room of its own.
    pub(super) fn can_join(&self, at: usize) -> bool {
        let running = self.shared_by(at).and_then(|group| self.groups.get(&group));
        // What had its name in an earlier plan may still be at its checkpoint.
        running.is_some_and(|running| !running.task.has(&self.node(at).name))
    }

    /// What the members of the node's batch group share: equal content, whichever plan it came with.
    fn shared_by(&self, at: usize) -> Option<String> {
        let node = self.node(at);
        let batch = node.runs.batch.as_deref().filter(|_| node.runs.worker == Worker::Torch)?;
        let args = self.slot(at).args.as_deref()?;
        let shared = batch.args.iter().map(|name| format!(" {:?}", args.0.get(name)));
        let place = format!("{} {} {}", batch.label, node.runs.device, node.runs.gpu);
        Some(shared.fold(place, |key, arg| key + &arg))
    }

    /// Hand the node to a worker: as a new task, or to the running one of its group.
    pub(super) fn start_in_worker(
        &mut self,
        at: usize,
        grant: Option<Grant>,
    ) -> Result<(), OpError> {
        let node = self.node(at);
        let number = TaskNumber::next();
        let group = self.shared_by(at);
        if self.options.worker.is_none() {
            self.set_running(at, number, grant, Stop::Flag(Arc::default()));
            return self.refuse(at, worker::missing());
        }
        let member = match self.member(at, number) {
            Ok(member) => member,
            Err(error) => {
                self.set_running(at, number, grant, Stop::Flag(Arc::default()));
                return self.refuse(at, error);
            }
        };
        let resumed = member.member.checkpoint.as_deref().is_some_and(dispatch::holds_something);
        self.tell_started(at, resumed);
        let stop = |task: &GroupTask| Stop::Worker {
            group: task.clone(),
            node: node.name.clone(),
            asked: false,
        };
        if let Some(running) = group.as_ref().and_then(|group| self.groups.get_mut(group))
            && !running.task.has(&node.name)
            && running.task.add(member.clone())
        {
            running.members.insert(number);
            let stop = stop(&running.task);
            self.set_running(at, number, None, stop);
            self.set_group(at, group);
            return Ok(());
        }
        let task = GroupTask::default();
        let setup = self.setup(at, group.as_deref(), grant.as_ref());
        let own = match &group {
            Some(group) => {
                let members = BTreeSet::from([number]);
                let new = Group { task: task.clone(), setup: setup.clone(), grant, members };
                if let Some(before) = self.groups.insert(group.clone(), new) {
                    self.inherit(group, before);
                }
                None
            }
            None => grant,
        };
        self.set_running(at, number, own, stop(&task));
        self.set_group(at, group);
        let (pool, shared) = (self.workers.clone(), self.shared.clone());
        let spawned = std::thread::Builder::new().name(format!("worker for {}", node.name)).spawn(
            move || {
                let _lease = lease(&setup.device);
                let starts = Mutex::new(BTreeMap::new());
                let tell =
                    |member: &TaskMember, news: Tell| pass_on(&shared, &starts, member, news);
                worker::run_task(&pool, &setup, vec![member], &task, &tell);
            },
        );
        match spawned {
            Ok(_) => Ok(()),
            Err(error) => self.refuse(at, dispatch::no_thread(&error)),
        }
    }

    /// A new task of a group whose last one is about to end takes over what that holds.
    fn inherit(&mut self, group: &str, before: Group) {
        if let Some(now) = self.groups.get_mut(group) {
            now.members.extend(before.members);
            match (&now.grant, before.grant) {
                (None, grant) => now.grant = grant,
                (Some(_), Some(grant)) => self.resources.give(grant),
                (Some(_), None) => {}
            }
        }
    }

    fn set_group(&mut self, at: usize, group: Option<String>) {
        if let State::Running(running) = &mut self.slot_mut(at).state {
            running.group = group;
        }
    }

    /// The attempt is no longer a member of its group's task; the last one gives back what the group held.
    pub(super) fn leave_group(&mut self, task: TaskNumber, group: &str) {
        let Some(running) = self.groups.get_mut(group) else { return };
        running.members.remove(&task);
        if running.members.is_empty()
            && let Some(ended) = self.groups.remove(group)
            && let Some(grant) = ended.grant
        {
            self.resources.give(grant);
        }
    }

    fn setup(&self, at: usize, group: Option<&str>, grant: Option<&Grant>) -> Setup {
        let runs = &self.node(at).runs;
        if let Some(running) = group.and_then(|group| self.groups.get(group)) {
            return running.setup.clone();
        }
        let gpu = grant.and_then(|grant| grant.gpus.first());
        Setup {
            device: gpu.map_or_else(|| runs.device.clone(), |gpu| format!("cuda:{gpu}")),
            threads: runs.threads.clamp(1, self.options.machine.threads.max(1)),
            deterministic: self.options.deterministic,
            cache_bytes: WORKER_CACHE,
        }
    }

    fn member(&self, at: usize, number: TaskNumber) -> Result<TaskMember, OpError> {
        let task = self.task(at, number, Arc::default());
        let files = files_of(&task.args);
        let before = check_files(&files, &self.shared.digests)?;
        let artifacts = task.args.all_artifacts();
        let place = |digest: &str| self.shared.blobs.path(digest);
        let inputs = artifacts
            .iter()
            .map(|artifact| (artifact.digest.clone(), place(&artifact.digest)))
            .collect();
        let weights =
            artifacts.iter().map(|artifact| (artifact.digest.clone(), artifact.bytes)).collect();
        for folder in [Some(&task.scratch), task.checkpoint.as_ref()].into_iter().flatten() {
            std::fs::create_dir_all(folder).map_err(|error| disk(folder, &error))?;
        }
        let node = self.node(at);
        let member = Member {
            node: node.name.clone(),
            op: node.op.clone(),
            args: task.args.as_ref().clone(),
            inputs,
            scratch: task.scratch,
            checkpoint: task.checkpoint,
        };
        let files = files.into_iter().zip(before).collect();
        Ok(TaskMember { number, member, weights, files })
    }
}

/// A GPU is used by one process of this program at a time, whatever their stores.
fn lease(device: &str) -> Option<locks::Lock> {
    let number = device.strip_prefix("cuda:")?;
    locks::wait(&std::env::temp_dir().join(format!("pipe-gpu-{number}.lock"))).ok()
}

/// From a task to the scheduler. A result is brought into the store here, on the task's thread.
fn pass_on(
    shared: &Shared,
    starts: &Mutex<BTreeMap<String, Instant>>,
    member: &TaskMember,
    news: Tell,
) {
    let mut starts = starts.lock().unwrap_or_else(PoisonError::into_inner);
    let start = *starts.entry(member.member.node.clone()).or_insert_with(Instant::now);
    drop(starts);
    let news = match news {
        Tell::Started { resumed: false } => return,
        Tell::Started { resumed: true } => News::Resumed,
        Tell::Checkpointed => return,
        Tell::Progress { done, total, note } => News::Progress { done, total, note },
        Tell::Metric { name, step, value } => News::Metric { name, step, value },
        Tell::Warning(message) => News::Warning(message),
        Tell::Ended { result, produced, context, peak_bytes } => {
            let take = |value| take_in(shared, member, value, &produced, context);
            let result = result.and_then(take).map(|found| Computed { peak_bytes, ..found });
            let _ = remove_all(&member.member.scratch);
            News::Finished { result: Box::new(result), seconds: start.elapsed().as_secs_f64() }
        }
    };
    let _ = shared.messages.send(Message { task: member.number, news });
}

fn take_in(
    shared: &Shared,
    member: &TaskMember,
    value: Value,
    produced: &BTreeMap<String, PathBuf>,
    context: BTreeMap<String, String>,
) -> Result<Computed, OpError> {
    let (files, before): (Vec<_>, Vec<_>) = member.files.iter().cloned().unzip();
    check_unchanged(&files, &before)?;
    let inside = |path: &Path| path.starts_with(&member.member.scratch);
    if !produced.values().all(|path| inside(path)) {
        return Err(OpError::new(
            "worker::protocol",
            "The worker wrote outside the folder it was given.",
        ));
    }
    let signatures = adopt(&shared.blobs, &value, produced)?;
    Ok(Computed { digest: value.digest(), value, signatures, context, peak_bytes: None })
}
