//! The store, `.pipe/`: a database of runs, keys and results, and blobs under their digests.
//!
//! Order of writing makes it safe to be killed at any moment: bytes to a scratch folder, synced, renamed
//! to their digest, and only then the records in one transaction. A record whose blob is missing or has
//! changed is a miss, never an error: its producer runs again.

mod about;
mod blobs;
mod budget;
mod care;
mod files;
mod inspect;
pub mod locks;
mod pins;
mod place;
mod records;
mod runs;
pub mod signature;

pub use about::{About, Changes, Git, MachineAbout, RootRow, Roots};
pub use blobs::Blobs;
pub(crate) use blobs::remove_all;
pub use budget::{Leaving, Selection, Why};
pub use care::{Cleaned, Entry, Fault, Verified};
pub use files::FileDigests;
pub(crate) use files::settled;
pub use inspect::{FileRead, NodeSeen, RunSeen};
pub use pins::Pin;
pub use place::{place, refuse_network};
pub use records::{NewResult, Recorded, StoredResult};
pub use runs::{LastNode, NodeRow, OutputRow, RunEnd, RunRow};

use crate::op::OpError;
use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Each format of the database as what it adds to the one before: a new store gets all of them, an older one those that
/// it lacks when it is opened. A format that was released is never edited.
const FORMATS: [&str; 3] =
    [include_str!("schema.sql"), include_str!("format2.sql"), include_str!("format3.sql")];

/// Format of the database that this version reads and writes; those before it are brought up to it.
pub const FORMAT: i64 = FORMATS.len() as i64;

/// Marks the file as a store's database (`PIPE` in ASCII).
const APPLICATION: i64 = 0x5049_5045;

/// How long one process waits for another's write.
const PATIENCE: Duration = Duration::from_secs(30);

/// A store, open.
pub struct Store {
    folder: PathBuf,
    db: Connection,
    blobs: Blobs,
    _shared: Option<locks::Lock>,
}

impl Store {
    /// Open the store at `folder`, or make one.
    ///
    /// # Errors
    /// When the folder cannot be used: a file is in its place, it cannot be written, it lies on a network
    /// file system, or a later version of `pipe` has written it.
    pub fn open(folder: &Path) -> Result<Self, OpError> {
        let folder = make(folder)?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        refuse_network(&folder, &mounts)?;
        let shared = locks::wait_shared(&folder.join("lock"))?;
        Self::connect(folder, Some(shared))
    }

    /// Open the store at `folder` if there is one.
    ///
    /// # Errors
    /// When there is one that cannot be used.
    pub fn find(folder: &Path) -> Result<Option<Self>, OpError> {
        if folder.join("store.db").is_file() { Self::open(folder).map(Some) } else { Ok(None) }
    }

    /// A store without anything in it, for questions before there is one.
    ///
    /// # Errors
    /// When the database library fails.
    pub fn empty() -> Result<Self, OpError> {
        let folder = PathBuf::from(".pipe");
        let db = Connection::open_in_memory().map_err(|error| sql(&folder, &error))?;
        bring_up(&db, 0).map_err(|error| sql(&folder, &error))?;
        Ok(Self { blobs: Blobs::new(&folder), folder, db, _shared: None })
    }

    fn connect(folder: PathBuf, shared: Option<locks::Lock>) -> Result<Self, OpError> {
        let db = connect(&folder)?;
        Ok(Self { blobs: Blobs::new(&folder), folder, db, _shared: shared })
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its blobs.
    #[must_use]
    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// Lock file of an action key.
    #[must_use]
    pub fn lock_path(&self, action_key: &str) -> PathBuf {
        self.folder.join("locks").join(action_key)
    }

    /// Folder for the checkpoints of an action key.
    #[must_use]
    pub fn checkpoint_path(&self, action_key: &str) -> PathBuf {
        self.folder.join("checkpoints").join(action_key)
    }

    fn sql(&self, error: rusqlite::Error) -> OpError {
        sql(&self.folder, &error)
    }
}

/// Make the folders of a store; gives its absolute path.
fn make(folder: &Path) -> Result<PathBuf, OpError> {
    let fail = |error: io::Error| disk(folder, &error);
    if folder.exists() && !folder.is_dir() {
        return Err(OpError::new(
            "store::not_a_folder",
            format!("The store should be at {}, and there is a file.", folder.display()),
        )
        .help("Move the file away, or set PIPE_STORE to another folder."));
    }
    for name in ["blobs", "tmp", "locks", "checkpoints"] {
        fs::create_dir_all(folder.join(name)).map_err(fail)?;
    }
    let ignore = folder.join(".gitignore");
    if !ignore.exists() {
        fs::write(&ignore, "*\n").map_err(fail)?;
        let tag = "Signature: 8a477f597d28d172789f06886806bc55\n# Made by pipe; all of it can be computed again.\n";
        fs::write(folder.join("CACHEDIR.TAG"), tag).map_err(fail)?;
    }
    folder.canonicalize().map_err(fail)
}

pub(crate) fn connect(folder: &Path) -> Result<Connection, OpError> {
    let fail = |error: rusqlite::Error| sql(folder, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(folder.join("store.db"), flags).map_err(fail)?;
    db.busy_timeout(PATIENCE).map_err(fail)?;
    db.set_prepared_statement_cache_capacity(64);
    if format(&db).map_err(fail)? < FORMAT {
        let _alone = locks::wait(&folder.join("locks/setup"))?;
        let found = format(&db).map_err(fail)?;
        if found == 0 {
            db.pragma_update(None, "journal_mode", "WAL").map_err(fail)?;
        }
        bring_up(&db, found).map_err(fail)?;
    }
    let found = format(&db).map_err(fail)?;
    if found != FORMAT {
        return Err(OpError::new(
            "store::format",
            format!(
                "The store {} has format {found}, and this version of pipe knows format {FORMAT}.",
                folder.display()
            ),
        )
        .help(
            "Use the version of pipe that made it, remove it, or set PIPE_STORE to another folder.",
        ));
    }
    db.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;").map_err(fail)?;
    Ok(db)
}

fn format(db: &Connection) -> rusqlite::Result<i64> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Add what the formats after `found` have, all or nothing.
fn bring_up(db: &Connection, found: i64) -> rusqlite::Result<()> {
    let missing = FORMATS.iter().skip(usize::try_from(found).unwrap_or(FORMATS.len()));
    let missing: String = missing.copied().collect();
    if missing.is_empty() {
        return Ok(());
    }
    let whole = format!(
        "BEGIN IMMEDIATE; {missing} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; COMMIT;"
    );
    db.execute_batch(&whole).inspect_err(|_| drop(db.execute_batch("ROLLBACK;")))
}

/// What a failure of the file system means for the store.
pub(crate) fn disk(place: &Path, error: &io::Error) -> OpError {
    let place = place.display();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => full(&place.to_string()),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => OpError::new(
            "store::unwritable",
            format!("The store cannot be written at {place}: {error}."),
        )
        .help("Make the folder writable, or set PIPE_STORE to another one."),
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => OpError::new(
            "store::not_a_folder",
            format!("The store needs a folder at {place}, and something else is there."),
        )
        .help("Move it away, or set PIPE_STORE to another folder."),
        _ => OpError::new("store::disk", format!("The store failed at {place}: {error}.")),
    }
}

fn full(place: &str) -> OpError {
    OpError::new("store::full", format!("There is no space left on the disk that holds {place}."))
        .help("Free some space (`pipe store gc` removes results that can be computed again), then run again.")
}

/// What a failure of the database means for the store.
pub(crate) fn sql(folder: &Path, error: &rusqlite::Error) -> OpError {
    use rusqlite::ErrorCode as Code;
    let place = folder.display();
    match error.sqlite_error_code() {
        Some(Code::DiskFull) => full(&place.to_string()),
        Some(Code::ReadOnly | Code::CannotOpen | Code::PermissionDenied) => OpError::new(
            "store::unwritable",
            format!("The database of the store {place} cannot be written: {error}."),
        )
        .help("Make the folder writable, or set PIPE_STORE to another one."),
        Some(Code::NotADatabase | Code::DatabaseCorrupt) => OpError::new(
            "store::damaged",
            format!("The database of the store {place} is damaged: {error}."),
        )
        .help("Remove the folder; everything in it can be computed again."),
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => OpError::new(
            "store::busy",
            format!("Another process has kept the store {place} locked for too long."),
        )
        .help("Wait for it, then run again."),
        _ => OpError::new(
            "store::database",
            format!("The database of the store {place} failed: {error}."),
        ),
    }
}
