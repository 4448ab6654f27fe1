//! What an op sees of the world when it runs in the worker.

use crate::worker::cache::Cache;
use crate::worker::sink::Sink;
use crate::worker::wish::{Ear, Wish};
use pipe_runtime::content;
use pipe_runtime::op::{Context, OpError};
use pipe_runtime::protocol::{Member, Reply};
use pipe_runtime::value::{Artifact, Value};
use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What all members of a worker share.
pub struct Shared {
    /// Replies.
    pub sink: Sink,
    /// Loaded artifacts.
    pub cache: Mutex<Cache>,
    /// The device that the worker is pinned to.
    pub device: String,
    /// Threads.
    pub threads: u32,
}

/// The context of one member.
pub struct MemberContext {
    node: String,
    inputs: BTreeMap<String, PathBuf>,
    scratch: PathBuf,
    checkpoint: Option<PathBuf>,
    produced: Mutex<BTreeMap<String, PathBuf>>,
    ear: Ear,
    shared: Arc<Shared>,
    next: AtomicU64,
}

impl MemberContext {
    /// For a member of a task.
    #[must_use]
    pub fn new(member: &Member, ear: Ear, shared: Arc<Shared>) -> Self {
        Self {
            node: member.node.clone(),
            inputs: member.inputs.clone(),
            scratch: member.scratch.clone(),
            checkpoint: member.checkpoint.clone(),
            produced: Mutex::default(),
            ear,
            shared,
            next: AtomicU64::new(0),
        }
    }

    /// What the core wants of this member.
    #[must_use]
    pub fn wish(&self) -> Wish {
        self.ear.wish()
    }

    /// Where each artifact that was made lies, by digest.
    #[must_use]
    pub fn produced(&self) -> BTreeMap<String, PathBuf> {
        self.produced.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Context for MemberContext {
    fn path(&self, artifact: &Artifact) -> Result<PathBuf, OpError> {
        let made = self.produced.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.inputs.get(&artifact.digest).or_else(|| made.get(&artifact.digest));
        found.cloned().ok_or_else(|| {
            OpError::new(
                "run::input",
                format!(
                    "The worker was not told where the {} {} lies.",
                    artifact.kind, artifact.digest
                ),
            )
        })
    }

    fn decoded(
        &self,
        artifact: &Artifact,
        decode: &dyn Fn(&Path) -> Result<Arc<dyn Any + Send + Sync>, OpError>,
    ) -> Result<Arc<dyn Any + Send + Sync>, OpError> {
        let held =
            self.shared.cache.lock().unwrap_or_else(PoisonError::into_inner).get(&artifact.digest);
        if let Some(value) = held {
            return Ok(value);
        }
        let value = decode(&self.path(artifact)?)?;
        let mut cache = self.shared.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.put(&artifact.digest, artifact.bytes, Arc::clone(&value));
        Ok(value)
    }

    fn scratch(&self, name: &str) -> Result<PathBuf, OpError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let folder = self.scratch.join(number.to_string());
        std::fs::create_dir_all(&folder)
            .map_err(|error| crate::fault::file_error("make", &folder, &error))?;
        Ok(folder.join(name))
    }

    fn adopt(
        &self,
        path: &Path,
        kind: &str,
        extension: &str,
        meta: BTreeMap<String, Value>,
    ) -> Result<Artifact, OpError> {
        let artifact = content::describe(path, kind, extension, meta)?;
        let mut produced = self.produced.lock().unwrap_or_else(PoisonError::into_inner);
        produced.insert(artifact.digest.clone(), path.to_owned());
        Ok(artifact)
    }

    fn checkpoint(&self) -> Option<&Path> {
        self.checkpoint.as_deref()
    }

    fn cancelled(&self) -> bool {
        self.wish() != Wish::GoOn
    }

    fn progress(&self, done: u64, total: u64, note: &str) {
        self.shared.sink.progress(&self.node, done, total, note);
    }

    fn metric(&self, name: &str, step: u64, value: f64) {
        let value = value.is_finite().then_some(value);
        self.shared.sink.send(&Reply::Metric {
            node: self.node.clone(),
            name: name.to_owned(),
            step,
            value,
        });
    }

    fn warn(&self, message: &str) {
        self.shared
            .sink
            .send(&Reply::Warning { node: self.node.clone(), message: message.to_owned() });
    }

    fn threads(&self) -> u32 {
        self.shared.threads
    }

    fn device(&self) -> &str {
        &self.shared.device
    }
}
