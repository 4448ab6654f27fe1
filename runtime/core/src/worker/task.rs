//! One task of a worker: its members until all have ended, also when the worker dies on the way.

use super::pool::Pool;
use super::process::{Killer, Line, Process, Setup};
use crate::op::OpError;
use crate::protocol::{Member, Reply, Request, TaskId};
use crate::schedule::task::TaskNumber;
use crate::value::Value;
use pipe_compiler::plan::FileArg;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A member of a worker's task.
#[derive(Clone, Debug)]
pub(crate) struct TaskMember {
    /// The attempt that it is.
    pub(crate) number: TaskNumber,
    pub(crate) member: Member,
    /// Bytes of its inputs by digest, for choosing the worker.
    pub(crate) weights: BTreeMap<String, u64>,
    /// Files that it reads, with their signatures before.
    pub(crate) files: Vec<(FileArg, String)>,
}

/// What a task tells the scheduler.
#[derive(Debug)]
pub(crate) enum Tell {
    Started {
        resumed: bool,
    },
    Checkpointed,
    Progress {
        done: u64,
        total: u64,
        note: String,
    },
    Metric {
        name: String,
        step: u64,
        value: f64,
    },
    Warning(String),
    Ended {
        result: Result<Value, OpError>,
        produced: BTreeMap<String, PathBuf>,
        context: BTreeMap<String, String>,
        /// Of the worker, where it is known.
        peak_bytes: Option<u64>,
    },
}

static NEXT: AtomicU64 = AtomicU64::new(1);

/// The scheduler's hold on a running task: members may be added, cancelled, or all ended at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupTask(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    line: Option<(TaskId, Line, Killer)>,
    members: BTreeMap<String, TaskMember>,
    /// Members that came while no worker was at work.
    pending: Vec<TaskMember>,
    /// Members that should stop, also when their worker has yet to begin.
    cancelled: BTreeSet<String>,
    ended: bool,
}

impl GroupTask {
    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a member of this name is in the task or on its way to it.
    pub(crate) fn has(&self, node: &str) -> bool {
        let inner = self.inner();
        let waits = |member: &TaskMember| member.member.node == node;
        inner.members.contains_key(node) || inner.pending.iter().any(waits)
    }

    /// Add a member. It joins at the next step, or when the worker begins. False when the task has ended.
    pub(crate) fn add(&self, member: TaskMember) -> bool {
        let mut inner = self.inner();
        if inner.ended {
            return false;
        }
        // An earlier member of this name may have been told to stop.
        inner.cancelled.remove(&member.member.node);
        let sent = inner.line.as_ref().is_some_and(|(task, line, _)| {
            line.send(&Request::Add { task: *task, member: Box::new(member.member.clone()) })
        });
        if sent {
            inner.members.insert(member.member.node.clone(), member);
        } else {
            inner.pending.push(member);
        }
        true
    }

    /// The members that came meanwhile; without any, the task has ended.
    fn take_pending(&self) -> Vec<TaskMember> {
        let mut inner = self.inner();
        inner.ended = inner.pending.is_empty();
        std::mem::take(&mut inner.pending)
    }

    /// Ask a member to stop at its next step with a checkpoint.
    pub(crate) fn cancel(&self, node: &str) {
        let mut inner = self.inner();
        inner.cancelled.insert(node.to_owned());
        if let Some((task, line, _)) = &inner.line {
            line.send(&Request::Cancel { task: *task, node: node.to_owned() });
        }
    }

    /// End the worker, and with it the task.
    pub(crate) fn kill(&self) {
        let inner = self.inner();
        let nodes: Vec<String> = inner.members.keys().cloned().collect();
        if let Some((_, _, killer)) = &inner.line {
            killer.kill();
        }
        drop(inner);
        self.inner().cancelled.extend(nodes);
    }
}

/// Run members in one worker until all have ended, telling `tell` of everything. After a crash the members
/// that had not ended run again in halves, so that one cannot fail the others; one that crashes alone fails.
pub(crate) fn run_task(
    pool: &Pool,
    setup: &Setup,
    members: Vec<TaskMember>,
    group: &GroupTask,
    tell: &dyn Fn(&TaskMember, Tell),
) {
    let mut batches = vec![members];
    loop {
        let batch = batches.pop().unwrap_or_else(|| group.take_pending());
        if batch.is_empty() {
            return;
        }
        let Err((mut left, death)) = run_batch(pool, setup, batch, group, tell) else { continue };
        if left.len() > 1 {
            for member in &left {
                let half = "The worker died; this step runs again with fewer beside it.";
                tell(member, Tell::Warning(half.to_owned()));
            }
            let rest = left.split_off(left.len() / 2);
            batches.extend([rest, left]);
            continue;
        }
        for member in left {
            let stopped = group.inner().cancelled.contains(&member.member.node);
            let error = if stopped { OpError::cancelled() } else { death.clone() };
            tell(&member, ended(Err(error)));
        }
    }
}

fn ended(result: Result<Value, OpError>) -> Tell {
    let (produced, context) = (BTreeMap::new(), BTreeMap::new());
    Tell::Ended { result, produced, context, peak_bytes: None }
}

/// Run one batch. An error has the members that had not ended when the worker died.
fn run_batch(
    pool: &Pool,
    setup: &Setup,
    batch: Vec<TaskMember>,
    group: &GroupTask,
    tell: &dyn Fn(&TaskMember, Tell),
) -> Result<(), (Vec<TaskMember>, OpError)> {
    let wanted = batch.iter().flat_map(|member| member.weights.clone()).collect();
    let mut process = match pool.take(setup, &wanted) {
        Ok(process) => process,
        Err(error) => {
            // No worker can be had: halves would not help.
            for member in &batch {
                tell(member, ended(Err(OpError { transient: false, ..error.clone() })));
            }
            return Ok(());
        }
    };
    let task = NEXT.fetch_add(1, Ordering::Relaxed);
    {
        let mut inner = group.inner();
        inner.members = batch.iter().map(|one| (one.member.node.clone(), one.clone())).collect();
        let line = process.line();
        let members = batch.iter().map(|one| one.member.clone()).collect();
        line.send(&Request::Run { task, members });
        for node in inner.cancelled.clone() {
            line.send(&Request::Cancel { task, node });
        }
        inner.line = Some((task, line, process.killer()));
    }
    let result = follow(&mut process, task, group, tell);
    let mut inner = group.inner();
    inner.line = None;
    let left: Vec<TaskMember> = std::mem::take(&mut inner.members).into_values().collect();
    drop(inner);
    match result {
        Ok(()) => {
            for member in &left {
                tell(member, ended(Err(late())));
            }
            pool.put(process);
            Ok(())
        }
        Err(death) => Err((left, death)),
    }
}

/// A member that came after the last step of its task; it belongs into another one.
fn late() -> OpError {
    OpError::new(LATE, "The task ended before this member could join.")
}

/// Code of [`late`], which the worker uses too.
pub(crate) const LATE: &str = "run::late";

/// Pass on replies until the task is done.
fn follow(
    process: &mut Process,
    task: TaskId,
    group: &GroupTask,
    tell: &dyn Fn(&TaskMember, Tell),
) -> Result<(), OpError> {
    let mut context = process.description().context.clone();
    context.insert("libtorch".to_owned(), process.description().torch.clone());
    loop {
        let (node, news) = match process.read()? {
            Reply::Done { task: done, holds, peak_bytes: _ } if done == task => {
                process.holds = holds;
                return Ok(());
            }
            Reply::Done { .. } | Reply::Ready { .. } => continue,
            Reply::Finished { task: other, .. } | Reply::Started { task: other, .. }
                if other != task =>
            {
                continue;
            }
            Reply::Started { node, resumed_at, .. } => {
                (node, Tell::Started { resumed: resumed_at > 0 })
            }
            Reply::Progress { node, done, total, note } => {
                (node, Tell::Progress { done, total, note })
            }
            Reply::Metric { node, name, step, value } => {
                (node, Tell::Metric { name, step, value: value.unwrap_or(f64::NAN) })
            }
            Reply::Warning { node, message } => (node, Tell::Warning(message)),
            Reply::Checkpointed { node, .. } => (node, Tell::Checkpointed),
            Reply::Finished { node, result, produced, peak_bytes, .. } => {
                let peak_bytes = Some(peak_bytes).filter(|bytes| *bytes > 0);
                (node, Tell::Ended { result, produced, context: context.clone(), peak_bytes })
            }
        };
        let over = matches!(news, Tell::Ended { .. });
        let mut inner = group.inner();
        let member =
            if over { inner.members.remove(&node) } else { inner.members.get(&node).cloned() };
        drop(inner);
        if let Some(member) = member {
            tell(&member, news);
        }
    }
}
