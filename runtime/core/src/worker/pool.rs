//! Workers that wait for work.

use super::process::{Process, Setup};
use crate::op::OpError;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Workers set up otherwise that may wait meanwhile: each holds memory.
const WAITING: usize = 2;

/// Workers that have nothing to do, kept for the run.
pub(crate) struct Pool {
    program: Option<PathBuf>,
    idle: Mutex<Vec<Process>>,
}

impl Pool {
    pub(crate) fn new(program: Option<PathBuf>) -> Self {
        Self { program, idle: Mutex::default() }
    }

    /// A worker with this set-up: the one that holds the most of `wanted` (bytes by digest), else any that
    /// waits, else a new one.
    pub(crate) fn take(
        &self,
        setup: &Setup,
        wanted: &BTreeMap<String, u64>,
    ) -> Result<Process, OpError> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let held = |process: &Process| -> u64 {
            process.holds.iter().filter_map(|digest| wanted.get(digest)).sum()
        };
        let fitting = idle.iter().enumerate().filter(|(_, process)| process.setup == *setup);
        if let Some(at) = fitting.max_by_key(|(_, process)| held(process)).map(|(at, _)| at) {
            return Ok(idle.swap_remove(at));
        }
        let gone = if idle.len() < WAITING { None } else { Some(idle.remove(0)) };
        drop(idle);
        drop(gone);
        Process::start(self.program.as_deref().ok_or_else(super::missing)?, setup)
    }

    /// Give a worker back.
    pub(crate) fn put(&self, process: Process) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(process);
    }
}
