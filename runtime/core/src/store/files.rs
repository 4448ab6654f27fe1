//! Digests of files that programs read, remembered under their stat signature.
//!
//! The racy rule: a file whose modification time is within two seconds of the moment it was hashed may
//! have been changed again within the clock's grain, so such an entry is not trusted.

use crate::content;
use crate::op::OpError;
use crate::store::{self, signature};
use rusqlite::{Connection, OptionalExtension, params};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Modification times this close to the hashing are not trusted, in nanoseconds.
const GRAIN: i64 = 2_000_000_000;

/// A memory of file digests in a store. The database is opened at the first question.
pub struct FileDigests {
    folder: PathBuf,
    make: bool,
    db: Mutex<Option<Option<Connection>>>,
}

impl FileDigests {
    /// A memory in the store at `folder`. When there is no store yet, `make` makes one, else nothing is
    /// remembered.
    #[must_use]
    pub fn new(folder: &Path, make: bool) -> Self {
        Self { folder: folder.to_owned(), make, db: Mutex::new(None) }
    }

    /// BLAKE3 of a file's content, hex.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn digest(&self, path: &Path) -> io::Result<String> {
        let whole = std::path::absolute(path)?;
        let name = whole.to_string_lossy();
        let before = signature::of_file(path)?;
        let mut slot = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let db = slot.get_or_insert_with(|| self.open()).as_ref();
        if let Some(known) = db.and_then(|db| remembered(db, &name, &before).ok().flatten()) {
            return Ok(known);
        }
        let hashed = signature::now();
        let (digest, _) = content::file_digest(path)?;
        if signature::of_file(path)? == before
            && let Some(db) = db
        {
            let _ = db.execute(
                "INSERT OR REPLACE INTO files VALUES (?1, ?2, ?3, ?4)",
                params![name, before, digest, hashed],
            );
        }
        Ok(digest)
    }

    fn open(&self) -> Option<Connection> {
        let there = self.folder.join("store.db").is_file();
        if there {
            store::connect(&self.folder).ok()
        } else if self.make {
            let opened: Result<_, OpError> = store::Store::open(&self.folder);
            opened.ok().map(|store| store.db)
        } else {
            None
        }
    }
}

fn remembered(db: &Connection, name: &str, now: &str) -> rusqlite::Result<Option<String>> {
    let row: Option<(String, String, i64)> = db
        .prepare_cached("SELECT signature, digest, hashed FROM files WHERE path = ?")?
        .query_row([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    Ok(row.and_then(|(signature, digest, hashed)| {
        (signature == now && settled(&signature, hashed)).then_some(digest)
    }))
}

/// The racy rule: whether a file of this signature had not been written within the clock's grain when it was hashed.
pub(crate) fn settled(signature: &str, hashed: i64) -> bool {
    signature::modified(signature).is_some_and(|time| time < hashed - GRAIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_settled_file_is_hashed_once_and_a_fresh_one_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let digests = FileDigests::new(&folder.path().join(".pipe"), true);
        let file = folder.path().join("data.csv");
        std::fs::write(&file, "a").unwrap();
        let entries = |signature: &str| {
            let db = digests.db.lock().unwrap();
            let db = db.as_ref().unwrap().as_ref().unwrap();
            remembered(db, &file.to_string_lossy(), signature).unwrap()
        };
        let first = digests.digest(&file).unwrap();
        assert_eq!(entries(&signature::of_file(&file).unwrap()), None, "written just now");
        let old = SystemTime::now() - Duration::from_secs(3600);
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(old).unwrap();
        assert_eq!(digests.digest(&file).unwrap(), first);
        assert_eq!(entries(&signature::of_file(&file).unwrap()), Some(first.clone()));
        std::fs::write(&file, "b").unwrap();
        assert_ne!(digests.digest(&file).unwrap(), first);
    }

    #[test]
    fn without_a_store_nothing_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join(".pipe");
        let file = folder.path().join("data.csv");
        std::fs::write(&file, "a").unwrap();
        FileDigests::new(&place, false).digest(&file).unwrap();
        assert!(!place.exists());
    }
}
