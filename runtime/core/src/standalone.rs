//! A context without a store: artifacts are files below one folder. For tests of ops, and tools.

use crate::cancel::StopFlag;
use crate::content;
use crate::op::{Context, Decoded, OpError};
use crate::value::{Artifact, Value};
use crossbeam_channel::Receiver;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A context without a store.
pub struct Standalone {
    folder: PathBuf,
    checkpoint: Option<PathBuf>,
    threads: u32,
    device: String,
    known: Mutex<BTreeMap<String, PathBuf>>,
    warnings: Mutex<Vec<String>>,
    metrics: Mutex<Vec<(String, u64, f64)>>,
    cancel: StopFlag,
    next: AtomicU64,
}

impl Standalone {
    /// A context that writes below `folder`, with two threads on the CPU.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            checkpoint: None,
            threads: 2,
            device: "cpu".to_owned(),
            known: Mutex::default(),
            warnings: Mutex::default(),
            metrics: Mutex::default(),
            cancel: StopFlag::default(),
            next: AtomicU64::new(0),
        }
    }

    /// Keep checkpoints in this folder.
    #[must_use]
    pub fn with_checkpoint(mut self, folder: impl Into<PathBuf>) -> Self {
        self.checkpoint = Some(folder.into());
        self
    }

    /// Run on this device.
    #[must_use]
    pub fn on(mut self, device: &str, threads: u32) -> Self {
        device.clone_into(&mut self.device);
        self.threads = threads;
        self
    }

    /// Ask the op to stop at its next safe point.
    pub fn cancel(&self) {
        self.cancel.raise();
    }

    /// What the op warned of so far.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Points of curves so far.
    #[must_use]
    pub fn metrics(&self) -> Vec<(String, u64, f64)> {
        self.metrics.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Context for Standalone {
    fn path(&self, artifact: &Artifact) -> Result<PathBuf, OpError> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&artifact.digest).cloned().ok_or_else(|| {
            OpError::new("store::lost", format!("There is no artifact {}.", artifact.digest))
        })
    }

    fn decoded(
        &self,
        artifact: &Artifact,
        decode: &dyn Fn(&Path) -> Result<Decoded, OpError>,
    ) -> Result<Decoded, OpError> {
        decode(&self.path(artifact)?)
    }

    fn scratch(&self, name: &str) -> Result<PathBuf, OpError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.join(number.to_string());
        std::fs::create_dir_all(&folder).map_err(|error| {
            OpError::new("run::scratch", format!("{} cannot be made: {error}.", folder.display()))
        })?;
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
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(artifact.digest.clone(), path.to_owned());
        Ok(artifact)
    }

    fn checkpoint(&self) -> Option<&Path> {
        self.checkpoint.as_deref()
    }

    fn cancelled(&self) -> bool {
        self.cancel.is_raised()
    }

    fn stopped(&self) -> &Receiver<()> {
        self.cancel.woken()
    }

    fn progress(&self, _: u64, _: u64, _: &str) {}

    fn metric(&self, name: &str, step: u64, value: f64) {
        let mut metrics = self.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        metrics.push((name.to_owned(), step, value));
    }

    fn warn(&self, message: &str) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.push(message.to_owned());
    }

    fn threads(&self) -> u32 {
        self.threads
    }

    fn device(&self) -> &str {
        &self.device
    }
}
