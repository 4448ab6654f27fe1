//! The client of the worker program `pipe-torch`: starts it, speaks the protocol, and survives its death.
//!
//! A [`Process`] is one worker, pinned to a device. A [`Pool`] holds those that wait for work and hands out
//! the one that has the most of a task's inputs in memory. Workers end when their pipe closes, so none
//! outlives this process, however it ends.

mod pool;
mod process;
mod task;

pub(crate) use pool::Pool;
pub(crate) use process::{Process, Setup};
pub(crate) use task::{GroupTask, LATE, TaskMember, Tell, run_task};

use crate::op::OpError;
use std::collections::BTreeMap;
use std::path::Path;

/// What a worker says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Version of libtorch.
    pub torch: String,
    /// Device in use.
    pub device: String,
    /// Threads in use.
    pub threads: u32,
    /// Instruction set, build, determinism.
    pub context: BTreeMap<String, String>,
}

/// Start the worker program, ask what it is, and let it go.
///
/// # Errors
/// When it cannot be started or does not answer as a worker does.
pub fn describe(program: &Path) -> Result<Description, OpError> {
    let threads = crate::Machine::default().threads;
    let setup = Setup { device: "cpu".to_owned(), threads, deterministic: false, cache_bytes: 0 };
    Process::start(program, &setup).map(|process| process.description().clone())
}

/// The worker program was not found.
pub(crate) fn missing() -> OpError {
    OpError::new(
        "worker::missing",
        "This step needs the worker program pipe-torch, and it was not found beside pipe.",
    )
    .help("Run `make setup` and build again, or set PIPE_TORCH to the program.")
}
