//! Blobs: content under its own digest, `blobs/ab/cdef...`, a file or a folder.
//!
//! A blob appears by one rename after its bytes are on disk, and before any record refers to it. So a
//! killed process leaves at most blobs that no record knows, which cleaning removes.

use crate::content;
use crate::op::OpError;
use crate::store::{disk, signature};
use crate::value::Artifact;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The blobs of one store; cheap to clone and free to use from any thread.
#[derive(Clone, Debug)]
pub struct Blobs {
    folder: Arc<Path>,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl Blobs {
    pub(crate) fn new(store: &Path) -> Self {
        Self { folder: store.into() }
    }

    /// Where the content with this digest lies, or would.
    #[must_use]
    pub fn path(&self, digest: &str) -> PathBuf {
        let digest = if digest.len() > 2 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            digest
        } else {
            "none"
        };
        let (first, rest) = digest.split_at(2);
        self.folder.join("blobs").join(first).join(rest)
    }

    /// Whether something lies under this digest.
    #[must_use]
    pub fn has(&self, digest: &str) -> bool {
        self.path(digest).exists()
    }

    /// Move what lies at `from` under the artifact's digest, and make sure that it stays. Gives the
    /// signature of the blob.
    ///
    /// # Errors
    /// When the disk is full or refuses.
    pub fn adopt(&self, artifact: &Artifact, from: &Path) -> Result<String, OpError> {
        self.move_in(artifact, from).map_err(|error| disk(&self.folder, &error))
    }

    fn move_in(&self, artifact: &Artifact, from: &Path) -> io::Result<String> {
        let to = self.path(&artifact.digest);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        if artifact.files.is_empty() && from.is_file() {
            settle(from)?;
            fs::rename(from, &to)?;
        } else {
            for name in &artifact.files {
                settle(&from.join(name))?;
            }
            if to.exists() {
                fs::rename(&to, self.aside()?)?;
            }
            fs::rename(from, &to)?;
        }
        signature::of_blob(&to, &artifact.files)
    }

    /// Store bytes. Gives digest and signature.
    ///
    /// # Errors
    /// When the disk is full or refuses.
    pub fn put(&self, bytes: &[u8]) -> Result<(String, String), OpError> {
        let digest = blake3::hash(bytes).to_hex().to_string();
        let write = || {
            let from = self.aside()?;
            fs::write(&from, bytes)?;
            settle(&from)?;
            let to = self.path(&digest);
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::rename(&from, &to)?;
            signature::of_blob(&to, &[])
        };
        let signature = write().map_err(|error| disk(&self.folder, &error))?;
        Ok((digest, signature))
    }

    /// A fresh path in the store's folder for passing files, on the same disk as the blobs.
    fn aside(&self) -> io::Result<PathBuf> {
        let folder = self.folder.join("tmp");
        fs::create_dir_all(&folder)?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(folder.join(format!("aside-{}-{number}", std::process::id())))
    }

    /// Whether the content under this digest still has it, by reading all of it.
    #[must_use]
    pub fn holds(&self, digest: &str) -> bool {
        content::content(&self.path(digest)).is_ok_and(|content| content.digest == digest)
    }

    /// Remove what lies under this digest.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self, digest: &str) -> io::Result<()> {
        remove_all(&self.path(digest))
    }

    /// Digests of all blobs, sorted.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn list(&self) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        let Ok(shards) = self.folder.join("blobs").read_dir() else { return Ok(found) };
        for shard in shards {
            let shard = shard?;
            for entry in shard.path().read_dir()? {
                let name = entry?.file_name();
                found.push(format!("{}{}", shard.file_name().display(), name.display()));
            }
        }
        found.sort();
        Ok(found)
    }
}

/// Make a file's bytes safe on disk, and the file read-only: blobs never change.
fn settle(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    file.sync_data()?;
    let mut permissions = file.metadata()?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(path, permissions)
}

/// Remove a file or a folder; nothing there is fine.
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    let removed = match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
