//! Stopping a run from outside, without polling.

use crossbeam_channel::{Receiver, Sender, unbounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// A handle that stops a run: once gently, twice at once. Clones share it.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    level: AtomicU8,
    superseded: AtomicBool,
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
        Self(Arc::new(Inner {
            level: AtomicU8::new(0),
            superseded: AtomicBool::new(false),
            wake,
            woken,
        }))
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

    /// Another plan is wanted: the run ends, and what it has begun goes on for the next run of the same [`crate::Runs`].
    pub fn supersede(&self) {
        self.0.superseded.store(true, Ordering::SeqCst);
        let _ = self.0.wake.send(());
    }

    /// Before a run of the plan that is wanted now.
    pub fn begin(&self) {
        self.0.superseded.store(false, Ordering::SeqCst);
    }

    /// Whether another plan is wanted.
    #[must_use]
    pub fn is_superseded(&self) -> bool {
        self.0.superseded.load(Ordering::SeqCst)
    }

    /// Wait for a wish to stop while nothing runs.
    #[must_use]
    pub fn wishes(&self) -> &Receiver<()> {
        &self.0.woken
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
}

/// The wish that one op stops: a flag to look at, and a message for an op that waits for something else.
#[derive(Debug)]
pub struct StopFlag {
    raised: AtomicBool,
    wake: Sender<()>,
    woken: Receiver<()>,
}

impl Default for StopFlag {
    fn default() -> Self {
        let (wake, woken) = unbounded();
        Self { raised: AtomicBool::new(false), wake, woken }
    }
}

impl StopFlag {
    /// The op should stop.
    pub fn raise(&self) {
        if !self.raised.swap(true, Ordering::SeqCst) {
            let _ = self.wake.send(());
        }
    }

    /// Whether it should.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }

    /// Gives one message when it should.
    #[must_use]
    pub fn woken(&self) -> &Receiver<()> {
        &self.woken
    }
}
