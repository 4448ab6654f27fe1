//! The worker protocol: length-prefixed JSON frames over the pipes of a worker program.
//!
//! A frame is a little-endian `u32` length and that many bytes of JSON. The core sends [`Request`]s, the
//! worker answers with [`Reply`]s. A *task* has 1..n *members* (nodes that run together); members may be
//! added, dropped or cancelled at step boundaries. Data never crosses: inputs and outputs are files.

use crate::op::{Args, OpError};
use crate::value::Value;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// Version of this protocol; both sides must agree.
pub const PROTOCOL: u32 = 1;

/// Longest frame. Data never crosses, so a longer one is a mistake of the other side.
pub const LONGEST_FRAME: u32 = 64 << 20;

/// Write one frame and flush it.
///
/// # Errors
/// Those of the pipe, and when the frame is longer than [`LONGEST_FRAME`].
pub fn write_frame<T: Serialize>(to: &mut impl Write, frame: &T) -> io::Result<()> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, frame)?;
    let length = u32::try_from(bytes.len() - 4).ok().filter(|length| *length <= LONGEST_FRAME);
    let length = length.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a frame of {} bytes is too long", bytes.len()),
        )
    })?;
    if let Some(head) = bytes.get_mut(..4) {
        head.copy_from_slice(&length.to_le_bytes());
    }
    to.write_all(&bytes)?;
    to.flush()
}

/// Read one frame; `None` when the pipe was closed between frames.
///
/// # Errors
/// Those of the pipe; a frame that is cut off, too long, or not what is expected.
pub fn read_frame<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut head = [0; 4];
    let mut filled = 0;
    while filled < head.len() {
        match from.read(head.get_mut(filled..).unwrap_or_default()) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let length = u32::from_le_bytes(head);
    if length > LONGEST_FRAME {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a frame claims {length} bytes; something else writes to the worker's pipe"),
        ));
    }
    let mut bytes = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(serde_json::from_slice(&bytes)?))
}

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
        /// Peak resident bytes of the worker so far; 0 where the system does not tell.
        #[serde(default)]
        peak_bytes: u64,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_bad_ones_are_refused() {
        let mut pipe = Vec::new();
        let drop = Request::Drop { task: 3, node: "a".to_owned() };
        write_frame(&mut pipe, &drop).unwrap();
        write_frame(&mut pipe, &Request::Shutdown).unwrap();
        let mut from = pipe.as_slice();
        assert_eq!(read_frame(&mut from).unwrap(), Some(drop));
        assert_eq!(read_frame(&mut from).unwrap(), Some(Request::Shutdown));
        assert_eq!(read_frame::<Request>(&mut from).unwrap(), None);
        for end in 1..pipe.len() {
            let mut torn = pipe.get(..end).unwrap();
            while let Ok(Some(_)) = read_frame::<Request>(&mut torn) {}
        }
        assert!(read_frame::<Request>(&mut &b"Hello world"[..]).is_err());
    }
}
