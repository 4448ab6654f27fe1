//! Stat signatures: what tells, without reading, that a file is the one that was hashed before.

use std::fmt::Write;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in nanoseconds since 1970.
#[must_use]
pub fn now() -> i64 {
    nanos(SystemTime::now())
}

pub(crate) fn nanos(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
    }
}

/// Size, modification time, and where there is one the inode, of a file.
///
/// # Errors
/// When it cannot be looked at.
pub fn of_file(path: &Path) -> io::Result<String> {
    let meta = path.metadata()?;
    let mut text = format!("{}:{}", meta.len(), nanos(meta.modified()?));
    inode(&meta, &mut text);
    Ok(text)
}

#[cfg(unix)]
fn inode(meta: &std::fs::Metadata, text: &mut String) {
    use std::os::unix::fs::MetadataExt;
    let _ = write!(text, ":{}:{}.{}", meta.ino(), meta.ctime(), meta.ctime_nsec());
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata, _: &mut String) {}

/// Size and modification time of a blob, of each file of a folder. Inodes do not count: a store may
/// be moved.
///
/// # Errors
/// When a file is missing or cannot be looked at.
pub fn of_blob(path: &Path, files: &[String]) -> io::Result<String> {
    let mut text = String::new();
    let mut add = |path: &Path| {
        let meta = path.metadata()?;
        let _ = write!(text, "{}:{};", meta.len(), nanos(meta.modified()?));
        Ok::<_, io::Error>(())
    };
    if files.is_empty() {
        add(path)?;
    }
    files.iter().try_for_each(|name| add(&path.join(name)))?;
    Ok(text)
}

/// Modification time in a signature of [`of_file`].
pub(crate) fn modified(signature: &str) -> Option<i64> {
    signature.split(':').nth(1)?.parse().ok()
}
