//! The compiler's way to files: open texts first, then the disk.
//!
//! A program is checked as if from its own folder, so that messages name files as the program does.

use crate::documents::Documents;
use crate::place;
use pipe_compiler::host::{FileInfo, Host, HostError, HostErrorKind};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Larger files are not hashed for hints: an editor waits.
const LARGEST_HASHED: u64 = 1 << 30;

/// Files as one program sees them.
pub(crate) struct Overlay<'a> {
    folder: &'a Path,
    documents: &'a Documents,
    disk: Box<dyn Host + 'a>,
    /// Whether somebody waits for something else by now.
    interrupted: &'a dyn Fn() -> bool,
    stopped: Cell<bool>,
    asked: RefCell<BTreeSet<PathBuf>>,
}

impl<'a> Overlay<'a> {
    pub(crate) fn new(
        folder: &'a Path,
        documents: &'a Documents,
        disk: Box<dyn Host + 'a>,
        interrupted: &'a dyn Fn() -> bool,
    ) -> Self {
        let (stopped, asked) = (Cell::new(false), RefCell::default());
        Self { folder, documents, disk, interrupted, stopped, asked }
    }

    /// The files that were asked for, whether they exist or not, and whether the work was interrupted.
    pub(crate) fn finish(self) -> (BTreeSet<PathBuf>, bool) {
        (self.asked.into_inner(), self.stopped.get())
    }

    fn full(&self, path: &str) -> PathBuf {
        let full = place::normal(&self.folder.join(path));
        self.asked.borrow_mut().insert(full.clone());
        full
    }

    /// The text of an open document.
    fn text(&self, full: &Path) -> Option<&[u8]> {
        self.documents.get(full).map(|document| document.file.text.as_bytes())
    }

    fn on_disk<T>(
        &self,
        path: &str,
        full: &Path,
        ask: impl FnOnce(&dyn Host, &str) -> Result<T, HostError>,
    ) -> Result<T, HostError> {
        let full = full.to_string_lossy();
        ask(self.disk.as_ref(), &full)
            .map_err(|error| HostError { message: error.message.replace(&*full, path), ..error })
    }
}

impl Host for Overlay<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        let full = self.full(path);
        match self.text(&full) {
            Some(text) => Ok(text.to_owned()),
            None => self.on_disk(path, &full, |disk, full| disk.read(full)),
        }
    }

    fn stat(&self, path: &str) -> Result<FileInfo, HostError> {
        let full = self.full(path);
        match self.text(&full) {
            Some(text) => Ok(FileInfo { bytes: text.len() as u64, is_dir: false }),
            None => self.on_disk(path, &full, |disk, full| disk.stat(full)),
        }
    }

    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, HostError> {
        let full = self.full(path);
        match self.text(&full) {
            Some(text) => Ok(text.get(..bytes).unwrap_or(text).to_owned()),
            None => self.on_disk(path, &full, |disk, full| disk.head(full, bytes)),
        }
    }

    fn digest(&self, path: &str) -> Result<String, HostError> {
        let full = self.full(path);
        if self.disk.stat(&full.to_string_lossy()).is_ok_and(|info| info.bytes > LARGEST_HASHED) {
            let message = "it is too large to be hashed while somebody types";
            return Err(HostError::new(HostErrorKind::Unreadable, message));
        }
        self.on_disk(path, &full, |disk, full| disk.digest(full))
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, HostError> {
        let folder = format!("{}/", self.folder.to_string_lossy().trim_end_matches('/'));
        let full = if pattern.starts_with('/') {
            pattern.to_owned()
        } else {
            format!("{folder}{pattern}")
        };
        let found = self.disk.glob(&full)?;
        let relative = |path: String| path.strip_prefix(&folder).map(str::to_owned).unwrap_or(path);
        Ok(found.into_iter().map(relative).collect())
    }

    fn stopped(&self) -> bool {
        let stopped = self.stopped.get() || (self.interrupted)();
        self.stopped.set(stopped);
        stopped
    }
}
