//! What is recorded of a run besides its nodes: where it came from, what its outputs and checks were.
//!
//! The runtime reads no environment: whoever starts a run gathers [`About`] and hands it over.

use crate::op::OpError;
use crate::store::Store;
use rusqlite::{Transaction, params};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where a run came from, as far as it is known when it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// The command line, program first, without what must stay secret.
    pub command: Vec<String>,
    /// The folder that it was given in; paths of the program are relative to it.
    pub folder: String,
    /// Who ran it.
    pub user: Option<String>,
    /// On which machine.
    pub host: Option<String>,
    /// Versions of the programs involved, by name.
    pub versions: BTreeMap<String, String>,
    /// What the machine has.
    pub machine: MachineAbout,
    /// BLAKE3 of each text of the program, hex, by its file as given.
    pub sources: BTreeMap<String, String>,
}

/// What a machine has, for the record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineAbout {
    /// Kind of processor, where the system tells.
    pub processor: Option<String>,
    /// Threads of the processor.
    pub threads: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Kinds of the GPUs, one each.
    pub gpus: Vec<String>,
}

/// State of the Git repository that a program lies in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Git {
    /// The commit, hex; nothing before the first one.
    pub commit: Option<String>,
    /// The branch, unless a commit is checked out by itself.
    pub branch: Option<String>,
    /// What differs from the commit; nothing when it is clean.
    pub changes: Option<Changes>,
}

/// Tracked files that differ from the commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// How many.
    pub files: usize,
    /// The first of them, as Git names them.
    pub names: Vec<String>,
    /// BLAKE3 over their names, kinds of change and contents, hex: equal states have equal digests.
    pub digest: String,
}

/// An output or a check of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootRow {
    /// Its name.
    pub name: String,
    /// `output` or `check`.
    pub kind: String,
    /// Names of the nodes that it reads.
    pub reads: Vec<String>,
    /// Of a check: whether it holds.
    pub passed: Option<bool>,
    /// `0.74 >= 0.8`, or the value in a few words.
    pub shown: String,
    /// Its documentation.
    pub doc: Option<String>,
}

/// Outputs and checks of a run, with the numbers that they hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roots {
    /// One row each.
    pub rows: Vec<RootRow>,
    /// By place: `quality.f1`.
    pub numbers: BTreeMap<String, f64>,
}

impl Store {
    /// Record what is known of a run once it has ended: the state of the repository, and the most memory that the process
    /// had, in bytes.
    ///
    /// # Errors
    /// When the database fails.
    pub fn complete_run(
        &self,
        run: i64,
        git: Option<&Git>,
        peak_bytes: Option<u64>,
    ) -> Result<(), OpError> {
        let git = git.and_then(|git| serde_json::to_string(git).ok());
        let peak = peak_bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
        self.db
            .execute(
                "UPDATE runs SET git = ?2, peak_bytes = ?3 WHERE run = ?1",
                params![run, git, peak],
            )
            .map(drop)
            .map_err(|error| self.sql(error))
    }
}

/// Write outputs and checks of a run.
pub(super) fn write_roots(
    write: &Transaction<'_>,
    run: i64,
    roots: &Roots,
) -> rusqlite::Result<()> {
    for root in &roots.rows {
        let reads = serde_json::to_string(&root.reads).unwrap_or_default();
        write
            .prepare_cached("INSERT OR REPLACE INTO roots VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
            .execute(params![run, root.name, root.kind, reads, root.passed, root.shown, root.doc])?;
    }
    for (place, value) in &roots.numbers {
        write
            .prepare_cached("INSERT OR REPLACE INTO numbers VALUES (?1, ?2, ?3)")?
            .execute(params![run, place, value])?;
    }
    Ok(())
}
