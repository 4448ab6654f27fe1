//! Content of artifacts: digests of files and folders.
//!
//! A file's digest is BLAKE3 of its bytes. A folder's is BLAKE3 of its sorted list of file names and
//! digests, so empty folders, times, owners and modes never count.

use crate::op::OpError;
use crate::value::{Artifact, Value};
use blake3::Hasher;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Deepest nesting of folders in an artifact.
const DEEPEST: usize = 16;

/// BLAKE3 of a file's content, hex, and its size.
///
/// # Errors
/// When it cannot be read.
pub fn file_digest(path: &Path) -> io::Result<(String, u64)> {
    let mut file = File::open(path)?;
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; 256 * 1024];
    let mut bytes = 0;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((hasher.finalize().to_hex().to_string(), bytes));
        }
        hasher.update(buffer.get(..read).unwrap_or_default());
        bytes += read as u64;
    }
}

/// Names of the files below a folder, sorted, with `/` between parts.
///
/// # Errors
/// When it cannot be read, or holds links, odd names or anything that is not a file or folder.
pub fn folder_files(folder: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    walk(folder, "", 0, &mut found)?;
    found.sort();
    Ok(found)
}

fn walk(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<String>) -> io::Result<()> {
    let odd = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    if depth > DEEPEST {
        return Err(odd(format!("folders nest more than {DEEPEST} deep")));
    }
    for entry in folder.read_dir()? {
        let entry = entry?;
        let name = entry.file_name();
        let name =
            name.to_str().ok_or_else(|| odd(format!("the name {} is not text", name.display())))?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), &format!("{prefix}{name}/"), depth + 1, found)?;
        } else if kind.is_file() {
            found.push(format!("{prefix}{name}"));
        } else {
            return Err(odd(format!("{prefix}{name} is neither a file nor a folder")));
        }
    }
    Ok(())
}

/// Size of what lies at `path`, a file or the files below a folder; nothing is opened.
///
/// # Errors
/// When it cannot be looked at or holds something that is neither file nor folder.
pub fn size(path: &Path) -> io::Result<u64> {
    let about = path.metadata()?;
    if !about.is_dir() {
        return Ok(about.len());
    }
    let lengths = folder_files(path)?.into_iter().map(|name| Ok(path.join(name).metadata()?.len()));
    lengths.sum()
}

/// What lies at a path: digest, size and names of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// BLAKE3, hex.
    pub digest: String,
    /// Size in all.
    pub bytes: u64,
    /// Names of the files of a folder, empty for a file.
    pub files: Vec<String>,
}

/// Digest of what lies at `path`, a file or a folder.
///
/// # Errors
/// When it cannot be read or holds something that is neither file nor folder.
pub fn content(path: &Path) -> io::Result<Content> {
    let kind = path.symlink_metadata()?;
    if kind.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is a link"));
    }
    if !kind.is_dir() {
        let (digest, bytes) = file_digest(path)?;
        return Ok(Content { digest, bytes, files: Vec::new() });
    }
    let files = folder_files(path)?;
    let mut hasher = Hasher::new();
    hasher.update(b"pipe-folder\x001");
    let mut total = 0;
    for name in &files {
        let (digest, bytes) = file_digest(&path.join(name))?;
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        hasher.update(digest.as_bytes());
        total += bytes;
    }
    Ok(Content { digest: hasher.finalize().to_hex().to_string(), bytes: total, files })
}

/// Describe what was written at `path` (file or folder) as an artifact.
///
/// # Errors
/// When it cannot be read back.
pub fn describe(
    path: &Path,
    kind: &str,
    extension: &str,
    meta: BTreeMap<String, Value>,
) -> Result<Artifact, OpError> {
    let content = content(path).map_err(|error| {
        OpError::new(
            "run::scratch",
            format!("The result at {} cannot be read back: {error}.", path.display()),
        )
    })?;
    let Content { digest, bytes, files } = content;
    Ok(Artifact {
        kind: kind.to_owned(),
        digest,
        bytes,
        files,
        extension: extension.to_owned(),
        meta,
    })
}
