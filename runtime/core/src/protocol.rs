//! The worker protocol: length-prefixed JSON frames over the pipes of a worker program.
//!
//! A frame is a little-endian `u32` length and that many bytes of JSON. The core sends [`Request`]s, the
//! worker answers with [`Reply`]s. A *task* has 1..n *members* (nodes that run together); members may be
//! added, dropped or cancelled at step boundaries. Data never crosses: inputs and outputs are files.

use crate::op::{Args, OpError};
use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Version of this protocol; both sides must agree.
pub const PROTOCOL: u32 = 1;

/// Number of a task in one worker.
pub type TaskId = u64;

/// One node of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// The node's name; every reply about it carries this.
    pub node: String,
    /// Registered op.
    pub op: String,
    /// Arguments.
    pub args: Args,
    /// Where the content of each input artifact lies, by digest.
    pub inputs: BTreeMap<String, PathBuf>,
    /// Folder below `.pipe/tmp` that the worker may write results to; only the core adopts them.
    pub scratch: PathBuf,
    /// Folder for checkpoints, bound to the action key.
    pub checkpoint: Option<PathBuf>,
}

/// From the core to a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// First frame.
    Hello {
        /// Must equal [`PROTOCOL`].
        protocol: u32,
        /// `cpu` or `cuda:N`; the worker is pinned to it.
        device: String,
        /// Threads from the plan.
        threads: u32,
        /// Deterministic kernels only.
        deterministic: bool,
        /// Bytes of loaded artifacts that the worker may keep.
        cache_bytes: u64,
    },
    /// Run a task.
    Run {
        /// Its number.
        task: TaskId,
        /// Its members, at least one.
        members: Vec<Member>,
    },
    /// A member joins a running task at the next step boundary.
    Add {
        /// The task.
        task: TaskId,
        /// Who joins.
        member: Box<Member>,
    },
    /// A member leaves at the next step boundary; its checkpoint is removed.
    Drop {
        /// The task.
        task: TaskId,
        /// Who leaves.
        node: String,
    },
    /// A member stops at the next step boundary with its checkpoint saved.
    Cancel {
        /// The task.
        task: TaskId,
        /// Who stops.
        node: String,
    },
    /// Finish nothing more and exit.
    Shutdown,
}

/// From a worker to the core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// Answer to hello.
    Ready {
        /// Must equal [`PROTOCOL`].
        protocol: u32,
        /// Version of libtorch, `2.11.0`.
        torch: String,
        /// Device in use.
        device: String,
        /// Threads in use.
        threads: u32,
        /// Context to record with results: instruction set, build, determinism.
        context: BTreeMap<String, String>,
    },
    /// A member has begun.
    Started {
        /// The task.
        task: TaskId,
        /// The member.
        node: String,
        /// Step that it continues from; 0 for a fresh start.
        resumed_at: u64,
    },
    /// Progress of a member.
    Progress {
        /// The member.
        node: String,
        /// Units done.
        done: u64,
        /// Units in all.
        total: u64,
        /// A short note.
        note: String,
    },
    /// A point of a member's curve.
    Metric {
        /// The member.
        node: String,
        /// Curve.
        name: String,
        /// Step.
        step: u64,
        /// Value; NaN and infinities come as null and are read as NaN.
        value: Option<f64>,
    },
    /// Something worth knowing.
    Warning {
        /// The member.
        node: String,
        /// What.
        message: String,
    },
    /// A checkpoint of a member is complete on disk.
    Checkpointed {
        /// The member.
        node: String,
        /// Step it holds.
        step: u64,
    },
    /// A member ended. Artifacts in the value lie under its scratch folder at the given places.
    Finished {
        /// The task.
        task: TaskId,
        /// The member.
        node: String,
        /// Its result.
        result: Result<Value, OpError>,
        /// Where each new artifact lies, by digest.
        produced: BTreeMap<String, PathBuf>,
    },
    /// Every member of the task has ended.
    Done {
        /// The task.
        task: TaskId,
        /// Digests of artifacts that the worker holds in memory now, most recent first.
        holds: Vec<String>,
        /// Peak resident bytes of the worker.
        peak_bytes: u64,
    },
}
