//! One attempt at one node on a thread of this process: what its op sees, and what becomes of its result.

use crate::cancel::StopFlag;
use crate::content;
use crate::decoded::DecodedCache;
use crate::op::{Args, Context, Decoded, Op, OpError};
use crate::store::{Blobs, FileDigests, disk, remove_all, signature};
use crate::value::{Artifact, Value};
use crossbeam_channel::{Receiver, Sender};
use pipe_compiler::plan::FileArg;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Progress of one node is passed on at most this often.
const QUIET: Duration = Duration::from_millis(50);

/// An attempt at a node. No two have one number, so the answer of an attempt that was given up finds nobody, and an
/// attempt may go on under the next plan, where its node has another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TaskNumber(u64);

impl TaskNumber {
    /// A number that no other attempt of this process has.
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Display for TaskNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// From tasks to the scheduler.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) task: TaskNumber,
    pub(crate) news: News,
}

#[derive(Debug)]
pub(crate) enum News {
    /// The lock of the node's action key is ours.
    Reserved(Result<crate::store::locks::Lock, OpError>),
    /// The op continues from a checkpoint.
    Resumed,
    Progress {
        done: u64,
        total: u64,
        note: String,
    },
    Metric {
        name: String,
        step: u64,
        value: f64,
    },
    Warning(String),
    Finished {
        result: Box<Result<Computed, OpError>>,
        seconds: f64,
    },
}

/// A result whose content lies in the store, before its record does.
#[derive(Debug)]
pub(crate) struct Computed {
    pub(crate) value: Value,
    pub(crate) digest: String,
    pub(crate) signatures: BTreeMap<String, String>,
    pub(crate) context: BTreeMap<String, String>,
    pub(crate) peak_bytes: Option<u64>,
}

/// What all tasks of a run share.
pub(crate) struct Shared {
    pub(crate) blobs: Blobs,
    pub(crate) decoded: DecodedCache,
    pub(crate) digests: FileDigests,
    pub(crate) messages: Sender<Message>,
}

/// One attempt.
pub(crate) struct Task {
    pub(crate) number: TaskNumber,
    pub(crate) args: Arc<Args>,
    pub(crate) scratch: PathBuf,
    pub(crate) checkpoint: Option<PathBuf>,
    pub(crate) stop: Arc<StopFlag>,
    pub(crate) threads: u32,
    pub(crate) device: String,
    pub(crate) shared: Arc<Shared>,
}

impl Task {
    /// Run the op, adopt what it made, and report. The attempt's scratch folder is gone afterwards.
    pub(crate) fn run(&self, op: &dyn Op) {
        let start = Instant::now();
        let result = self.attempt(op);
        let _ = remove_all(&self.scratch);
        let seconds = start.elapsed().as_secs_f64();
        self.send(News::Finished { result: Box::new(result), seconds });
    }

    fn attempt(&self, op: &dyn Op) -> Result<Computed, OpError> {
        let files = files_of(&self.args);
        let before = check_files(&files, &self.shared.digests)?;
        let context = TaskContext::new(self);
        let value = match catch_unwind(AssertUnwindSafe(|| op.run(&self.args, &context))) {
            Ok(result) => result?,
            Err(panic) => return Err(panicked(op.name(), panic.as_ref())),
        };
        check_unchanged(&files, &before)?;
        let made = context.made.into_inner().unwrap_or_else(PoisonError::into_inner);
        let signatures = adopt(&self.shared.blobs, &value, &made)?;
        let place = [("device", self.device.clone()), ("threads", self.threads.to_string())];
        let context = place.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Computed { digest: value.digest(), value, signatures, context, peak_bytes: None })
    }

    fn send(&self, news: News) {
        let _ = self.shared.messages.send(Message { task: self.number, news });
    }
}

/// Move the artifacts of a result into the store. Gives the signatures of the new blobs.
pub(crate) fn adopt(
    blobs: &Blobs,
    value: &Value,
    made: &BTreeMap<String, PathBuf>,
) -> Result<BTreeMap<String, String>, OpError> {
    let mut artifacts = Vec::new();
    value.artifacts(&mut artifacts);
    let mut signatures = BTreeMap::new();
    for artifact in artifacts {
        if signatures.contains_key(&artifact.digest) {
            continue;
        }
        match made.get(&artifact.digest) {
            Some(path) if path.exists() => {
                signatures.insert(artifact.digest.clone(), blobs.adopt(artifact, path)?);
            }
            _ if blobs.has(&artifact.digest) => {}
            _ => {
                return Err(OpError::new(
                    "run::result",
                    format!("The result names a {} that the op has not written.", artifact.kind),
                )
                .help("This is a mistake in the op; please report it."));
            }
        }
    }
    Ok(signatures)
}

/// Files that the arguments name.
pub(crate) fn files_of(args: &Args) -> Vec<FileArg> {
    use crate::op::ArgValue;
    fn walk(arg: &ArgValue, found: &mut Vec<FileArg>) {
        match arg {
            ArgValue::Files(files) => found.extend(files.iter().cloned()),
            ArgValue::List(items) => items.iter().for_each(|item| walk(item, found)),
            ArgValue::Record(fields) => fields.values().for_each(|field| walk(field, found)),
            ArgValue::Value(_) | ArgValue::Row(_) | ArgValue::Columns(_) => {}
        }
    }
    let mut found = Vec::new();
    args.0.values().for_each(|arg| walk(arg, &mut found));
    found
}

/// Make sure that files are still what the plan saw. Gives their signatures.
pub(crate) fn check_files(
    files: &[FileArg],
    digests: &FileDigests,
) -> Result<Vec<String>, OpError> {
    let check = |file: &FileArg| {
        let path = Path::new(&file.path);
        let read = |error: std::io::Error| {
            OpError::new("run::file", format!("{} cannot be read: {error}.", file.path))
        };
        let before = signature::of_file(path).map_err(read)?;
        if digests.digest(path).map_err(read)? == file.digest {
            return Ok(before);
        }
        Err(changed(&file.path, "since the run was planned"))
    };
    files.iter().map(check).collect()
}

/// Make sure that files did not change while the op read them.
pub(crate) fn check_unchanged(files: &[FileArg], before: &[String]) -> Result<(), OpError> {
    for (file, before) in files.iter().zip(before) {
        if signature::of_file(Path::new(&file.path)).ok().as_ref() != Some(before) {
            return Err(changed(&file.path, "while it was read, so the result was not kept"));
        }
    }
    Ok(())
}

fn changed(path: &str, when: &str) -> OpError {
    OpError::new("run::file_changed", format!("{path} changed {when}."))
        .help("Run again once nothing writes to it.")
}

pub(super) fn panicked(op: &str, panic: &(dyn Any + Send)) -> OpError {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    OpError::new("run::panic", format!("{op} failed in a way that it should not: {text}."))
        .help("Please report this together with the program.")
}

/// What the op of a task sees.
struct TaskContext<'a> {
    task: &'a Task,
    made: Mutex<BTreeMap<String, PathBuf>>,
    next: AtomicU64,
    spoke: Mutex<Option<Instant>>,
}

impl<'a> TaskContext<'a> {
    fn new(task: &'a Task) -> Self {
        Self { task, made: Mutex::default(), next: AtomicU64::new(0), spoke: Mutex::new(None) }
    }
}

impl Context for TaskContext<'_> {
    fn path(&self, artifact: &Artifact) -> Result<PathBuf, OpError> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = made.get(&artifact.digest) {
            return Ok(path.clone());
        }
        let path = self.task.shared.blobs.path(&artifact.digest);
        if path.exists() { Ok(path) } else { Err(lost(artifact)) }
    }

    fn decoded(
        &self,
        artifact: &Artifact,
        decode: &dyn Fn(&Path) -> Result<Decoded, OpError>,
    ) -> Result<Decoded, OpError> {
        let fresh = || decode(&self.path(artifact)?);
        self.task.shared.decoded.get(&artifact.digest, artifact.bytes, fresh)
    }

    fn scratch(&self, name: &str) -> Result<PathBuf, OpError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let folder = self.task.scratch.join(number.to_string());
        std::fs::create_dir_all(&folder).map_err(|error| disk(&folder, &error))?;
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
        if !path.starts_with(&self.task.scratch) {
            // Adopting moves: what is not the op's own stays where it is.
            let known = self.task.shared.blobs.has(&artifact.digest);
            return if known { Ok(artifact) } else { Err(foreign(path)) };
        }
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.insert(artifact.digest.clone(), path.to_owned());
        Ok(artifact)
    }

    fn checkpoint(&self) -> Option<&Path> {
        let folder = self.task.checkpoint.as_deref()?;
        std::fs::create_dir_all(folder).ok()?;
        Some(folder)
    }

    fn cancelled(&self) -> bool {
        self.task.stop.is_raised()
    }

    fn stopped(&self) -> &Receiver<()> {
        self.task.stop.woken()
    }

    fn progress(&self, done: u64, total: u64, note: &str) {
        let mut spoke = self.spoke.lock().unwrap_or_else(PoisonError::into_inner);
        let quiet = spoke.is_some_and(|last| last.elapsed() < QUIET);
        if quiet && done < total {
            return;
        }
        *spoke = Some(Instant::now());
        self.task.send(News::Progress { done, total, note: note.to_owned() });
    }

    fn metric(&self, name: &str, step: u64, value: f64) {
        self.task.send(News::Metric { name: name.to_owned(), step, value });
    }

    fn warn(&self, message: &str) {
        self.task.send(News::Warning(message.to_owned()));
    }

    fn threads(&self) -> u32 {
        self.task.threads
    }

    fn device(&self) -> &str {
        &self.task.device
    }
}

fn foreign(path: &Path) -> OpError {
    OpError::new("run::result", format!("{} lies outside the op's scratch folder.", path.display()))
        .help("This is a mistake in the op; please report it.")
}

/// Code of the error that says that an input's content is gone; its producer runs again.
pub(crate) const LOST: &str = "store::lost";

fn lost(artifact: &Artifact) -> OpError {
    OpError::new(LOST, format!("The store has lost a {} ({}).", artifact.kind, artifact.digest))
}
