//! Stopping a run from outside, without polling.

use crossbeam_channel::{Receiver, Sender, unbounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A handle that stops a run: once gently, twice at once. Clones share it.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    level: AtomicU8,
    wake: Sender<()>,
    woken: Receiver<()>,
}

/// How urgently a run should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// It should go on.
    None,
    /// Trainings save a checkpoint at the next step, then it ends.
    Soon,
    /// It ends now; what runs is given up.
    Now,
}

impl Default for Cancel {
    fn default() -> Self {
        let (wake, woken) = unbounded();
        Self(Arc::new(Inner { level: AtomicU8::new(0), wake, woken }))
    }
}

impl Cancel {
    /// A handle for a new run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Let trainings save a checkpoint at their next step, and end the run.
    pub fn stop(&self) {
        self.raise(1);
    }

    /// End the run now.
    pub fn now(&self) {
        self.raise(2);
    }

    /// What was asked for so far.
    #[must_use]
    pub fn urgency(&self) -> Urgency {
        match self.0.level.load(Ordering::SeqCst) {
            0 => Urgency::None,
            1 => Urgency::Soon,
            _ => Urgency::Now,
        }
    }

    fn raise(&self, level: u8) {
        self.0.level.fetch_max(level, Ordering::SeqCst);
        let _ = self.0.wake.send(());
    }

    pub(crate) fn woken(&self) -> &Receiver<()> {
        &self.0.woken
    }
}
