//! Locks between processes on one store.
//!
//! A run holds the store's lock shared, cleaning takes it exclusively. Each action key has a lock
//! file, so that equal keys in two processes run once. Locks end with their process, however it ends.

use crate::op::OpError;
use crate::store::disk;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// A held lock; letting go of it removes its file.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
    remove: bool,
}

/// What an attempt to lock without waiting gives.
#[derive(Debug)]
pub enum Attempt {
    /// It is ours.
    Held(Lock),
    /// Another process holds it.
    Busy,
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.remove {
            let _ = std::fs::remove_file(&self.path);
        }
        let _ = self.file.unlock();
    }
}

/// Take the lock at `path` if it is free.
///
/// # Errors
/// When the file cannot be made.
pub fn attempt(path: &Path) -> Result<Attempt, OpError> {
    loop {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) if current(&file, path) => return Ok(Attempt::Held(held(file, path))),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Attempt::Busy),
            Err(TryLockError::Error(error)) => return Err(disk(path, &error)),
        }
    }
}

/// Take the lock at `path`, waiting as long as another holds it.
///
/// # Errors
/// When the file cannot be made.
pub fn wait(path: &Path) -> Result<Lock, OpError> {
    loop {
        let file = open(path)?;
        file.lock().map_err(|error| disk(path, &error))?;
        if current(&file, path) {
            return Ok(held(file, path));
        }
    }
}

/// Take a lock that many may hold, if no one has it exclusively.
///
/// # Errors
/// When the file cannot be made.
pub fn attempt_shared(path: &Path) -> Result<Attempt, OpError> {
    let file = open(path)?;
    match file.try_lock_shared() {
        Ok(()) => Ok(Attempt::Held(Lock { file, path: path.to_owned(), remove: false })),
        Err(TryLockError::WouldBlock) => Ok(Attempt::Busy),
        Err(TryLockError::Error(error)) => Err(disk(path, &error)),
    }
}

/// Take a lock that many may hold, waiting while one has it exclusively.
///
/// # Errors
/// When the file cannot be made.
pub fn wait_shared(path: &Path) -> Result<Lock, OpError> {
    let file = open(path)?;
    file.lock_shared().map_err(|error| disk(path, &error))?;
    Ok(Lock { file, path: path.to_owned(), remove: false })
}

/// Take the lock at `path` alone, if no one holds it; its file stays.
///
/// # Errors
/// When the file cannot be made.
pub fn attempt_alone(path: &Path) -> Result<Attempt, OpError> {
    let file = open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Attempt::Held(Lock { file, path: path.to_owned(), remove: false })),
        Err(TryLockError::WouldBlock) => Ok(Attempt::Busy),
        Err(TryLockError::Error(error)) => Err(disk(path, &error)),
    }
}

fn held(file: File, path: &Path) -> Lock {
    Lock { file, path: path.to_owned(), remove: true }
}

fn open(path: &Path) -> Result<File, OpError> {
    let made = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path);
    made.map_err(|error| disk(path, &error))
}

/// Whether the locked file is still the one at its path: its last holder may have removed it.
#[cfg(unix)]
fn current(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |held: std::fs::Metadata| -> io::Result<bool> {
        let now = path.metadata()?;
        Ok((held.dev(), held.ino()) == (now.dev(), now.ino()))
    };
    file.metadata().and_then(same).unwrap_or(false)
}

#[cfg(not(unix))]
fn current(_: &File, path: &Path) -> bool {
    path.is_file()
}
