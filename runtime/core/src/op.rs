//! The op contract: what an operation is, and what it may see.
//!
//! An op sees only its arguments and its [`Context`]. It reads input artifacts through the context,
//! writes new ones into its scratch folder, reports progress, and stops when it is cancelled.

use crate::value::{Artifact, Value};
use crossbeam_channel::{Receiver, never};
use pipe_compiler::plan::{Column, FileArg};
use pipe_row::ir::RowFn;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// A decoded form of an artifact, shared between ops.
pub type Decoded = Arc<dyn Any + Send + Sync>;

/// One operation.
pub trait Op: Send + Sync {
    /// Its name in the standard library, `data.join`.
    fn name(&self) -> &'static str;

    /// Version of its meaning; equal to the signature's (a test compares them).
    fn version(&self) -> u32;

    /// Compute the result. A pure function of `args` (within the op's promise).
    ///
    /// # Errors
    /// An [`OpError`] whose message tells a user what went wrong and where.
    fn run(&self, args: &Args, context: &dyn Context) -> Result<Value, OpError>;

    /// The op as a fold, when it can consume its subject batch by batch.
    /// Then `run` over a whole input equals the fold of its batches, whatever their sizes.
    fn streaming(&self) -> Option<&dyn Streaming> {
        None
    }
}

/// An op that consumes batches: batch computation is `finish(fold(step, start(args)))`.
pub trait Streaming {
    /// State before the first batch.
    ///
    /// # Errors
    /// When the arguments do not make sense.
    fn start(&self, args: &Args) -> Result<Box<dyn Any + Send>, OpError>;

    /// Take in one batch (a table artifact).
    ///
    /// # Errors
    /// When the batch does not fit.
    fn step(
        &self,
        state: &mut (dyn Any + Send),
        batch: &Artifact,
        context: &dyn Context,
    ) -> Result<(), OpError>;

    /// The result after the last batch.
    ///
    /// # Errors
    /// When no result can be made of what was seen.
    fn finish(&self, state: Box<dyn Any + Send>, context: &dyn Context) -> Result<Value, OpError>;
}

/// An argument at run time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgValue {
    /// A value.
    Value(Value),
    /// A function of a row.
    Row(RowFn),
    /// Columns of a table type.
    Columns(Vec<Column>),
    /// Files to read, with the digests that the plan saw.
    Files(Vec<FileArg>),
    /// A list in which not everything is a value (row functions, say).
    List(Vec<ArgValue>),
    /// A record in which not everything is a value.
    Record(BTreeMap<String, ArgValue>),
}

/// Arguments by name. Complete: defaults are filled in by the plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Args(pub BTreeMap<String, ArgValue>);

/// What an op may use besides its arguments.
pub trait Context: Sync {
    /// Where the content of an input artifact lies (a file, or a folder).
    ///
    /// # Errors
    /// When the store has lost it.
    fn path(&self, artifact: &Artifact) -> Result<PathBuf, OpError>;

    /// A decoded form of the artifact, made by `decode` once and shared while memory allows.
    /// There is one such form per kind of artifact.
    ///
    /// # Errors
    /// Those of `decode`.
    fn decoded(
        &self,
        artifact: &Artifact,
        decode: &dyn Fn(&Path) -> Result<Decoded, OpError>,
    ) -> Result<Decoded, OpError>;

    /// A fresh path in this node's scratch folder, to write a new artifact to.
    ///
    /// # Errors
    /// When the folder cannot be made.
    fn scratch(&self, name: &str) -> Result<PathBuf, OpError>;

    /// Describe what was written at `path` (file or folder) as an artifact. The core adopts it later.
    ///
    /// # Errors
    /// When it cannot be read back.
    fn adopt(
        &self,
        path: &Path,
        kind: &str,
        extension: &str,
        meta: BTreeMap<String, Value>,
    ) -> Result<Artifact, OpError>;

    /// Folder for checkpoints, bound to the action key; it survives a killed process.
    fn checkpoint(&self) -> Option<&Path>;

    /// Whether the op should stop at its next safe point; then it saves a checkpoint and returns [`OpError::cancelled`].
    fn cancelled(&self) -> bool;

    /// Gives a message when the op should stop, for an op that waits for something else. One that is never told so looks
    /// at [`Context::cancelled`].
    fn stopped(&self) -> &Receiver<()> {
        static NEVER: LazyLock<Receiver<()>> = LazyLock::new(never);
        &NEVER
    }

    /// Report progress: `done` of `total` units (steps, rows, bytes), with a short note such as `loss 2.11`.
    fn progress(&self, done: u64, total: u64, note: &str);

    /// Record a point of a curve, e.g. `loss` at step 40.
    fn metric(&self, name: &str, step: u64, value: f64);

    /// Tell the user something that is not an error.
    fn warn(&self, message: &str);

    /// Threads that the plan gives this node.
    fn threads(&self) -> u32;

    /// `cpu` or `cuda:0`, from the plan.
    fn device(&self) -> &str;
}

/// Why an op failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpError {
    /// Stable code, `run::slug`.
    pub code: String,
    /// One or two plain sentences, with file and line where there is one.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Whether trying again may help (network, lost worker); only then `@retry` applies.
    pub transient: bool,
}

impl OpError {
    /// An error with a code such as `run::bad_row`.
    #[must_use]
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), help: None, transient: false }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// The op stopped because it was told to, with its state saved.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new("run::cancelled", "stopped")
    }

    /// Whether this is the answer to a cancel.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.code == "run::cancelled"
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OpError {}
