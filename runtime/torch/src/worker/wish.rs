//! What the core wants of each member, from the reader thread to the members, without waiting for a step to end.

use pipe_runtime::protocol::TaskId;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a member should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Carry on.
    GoOn,
    /// Stop with a checkpoint.
    Cancel,
    /// Stop and leave nothing.
    Drop,
}

/// The wish for one member.
#[derive(Clone, Debug)]
pub struct Ear {
    own: Arc<AtomicU8>,
    all: Arc<AtomicBool>,
}

impl Ear {
    /// What it should do now.
    #[must_use]
    pub fn wish(&self) -> Wish {
        match self.own.load(Ordering::Acquire) {
            2 => Wish::Drop,
            0 if !self.all.load(Ordering::Acquire) => Wish::GoOn,
            _ => Wish::Cancel,
        }
    }
}

/// Wishes for all members, also those that have not begun.
#[derive(Debug, Default)]
pub struct Wishes {
    members: Mutex<BTreeMap<(TaskId, String), Arc<AtomicU8>>>,
    /// Every member should stop with a checkpoint: a signal, or nobody is left to serve.
    pub all: Arc<AtomicBool>,
}

impl Wishes {
    /// The ear of a member.
    #[must_use]
    pub fn ear(&self, task: TaskId, node: &str) -> Ear {
        Ear { own: self.entry(task, node), all: Arc::clone(&self.all) }
    }

    /// Tells a member.
    pub fn tell(&self, task: TaskId, node: &str, wish: Wish) {
        let code = match wish {
            Wish::GoOn => 0,
            Wish::Cancel => 1,
            Wish::Drop => 2,
        };
        self.entry(task, node).store(code, Ordering::Release);
    }

    /// Forgets a task that ended.
    pub fn forget(&self, task: TaskId) {
        self.members
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|(of, _), _| *of != task);
    }

    fn entry(&self, task: TaskId, node: &str) -> Arc<AtomicU8> {
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(members.entry((task, node.to_owned())).or_default())
    }
}
