//! Replies to the core. Progress is thinned to what a person can see.

use pipe_runtime::protocol::{Reply, write_frame};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const BETWEEN_PROGRESS: Duration = Duration::from_millis(100);

/// Where replies go.
pub struct Sink {
    out: Mutex<Box<dyn Write + Send>>,
    shown: Mutex<BTreeMap<String, Instant>>,
    /// Set when nobody reads any more.
    gone: Arc<AtomicBool>,
}

impl Sink {
    /// Writes frames to `out`, and sets `gone` when that fails.
    #[must_use]
    pub fn new(out: Box<dyn Write + Send>, gone: Arc<AtomicBool>) -> Self {
        Self { out: Mutex::new(out), shown: Mutex::default(), gone }
    }

    /// Sends a reply.
    pub fn send(&self, reply: &Reply) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if write_frame(&mut *out, reply).and_then(|()| out.flush()).is_err() {
            self.gone.store(true, Ordering::Release);
        }
    }

    /// Sends progress of a member, unless it was shown a moment ago.
    pub fn progress(&self, node: &str, done: u64, total: u64, note: &str) {
        let now = Instant::now();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let recent =
            shown.get(node).is_some_and(|last| now.duration_since(*last) < BETWEEN_PROGRESS);
        if recent && done != total {
            return;
        }
        shown.insert(node.to_owned(), now);
        drop(shown);
        self.send(&Reply::Progress { node: node.to_owned(), done, total, note: note.to_owned() });
    }
}
