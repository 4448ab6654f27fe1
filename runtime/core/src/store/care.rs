//! Care of the store: checking it, listing it, and keeping it within a budget.

use crate::op::OpError;
use crate::store::locks::{self, Attempt};
use crate::store::{Leaving, Store, disk, remove_all};
use crate::value::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Checkpoints that nobody came back for within this time are stale.
const STALE: Duration = Duration::from_secs(14 * 86_400);

/// Runs whose records are kept.
const RUNS: i64 = 500;

/// What is wrong with a blob or a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The result that is lost, by action key.
    pub action_key: String,
    /// The blob.
    pub digest: String,
    /// What is wrong, in words.
    pub what: &'static str,
}

/// What a check of the whole store found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Records of results.
    pub results: usize,
    /// Blobs.
    pub blobs: usize,
    /// Their size.
    pub bytes: u64,
    /// Damage: these results are computed again when they are needed.
    pub faults: Vec<Fault>,
    /// Blobs that no record knows, left by processes that were killed; cleaning removes them.
    pub orphans: Vec<String>,
    /// What the database says about itself, unless that is `ok`.
    pub database: Option<String>,
}

impl Verified {
    /// Whether everything recorded is there as it was.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.faults.is_empty() && self.database.is_none()
    }
}

/// What cleaning did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cleaned {
    /// Results removed, in this order.
    pub leaving: Vec<Leaving>,
    /// Blobs removed.
    pub blobs: usize,
    /// Bytes freed.
    pub freed: u64,
    /// Bytes of blobs that remain.
    pub left: u64,
}

/// One result, for listings.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its action key.
    pub action_key: String,
    /// Its op.
    pub op: String,
    /// Name of a node that had it.
    pub node: Option<String>,
    /// What it is.
    pub shown: String,
    /// Size of its blobs.
    pub bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// Seconds to compute it again, with what would have to run for it because it is not stored.
    pub recompute: f64,
    /// How often it was found, the more the later.
    pub hits: f64,
    /// Never evicted: somebody has pinned it.
    pub pinned: bool,
    /// Never evicted: an output comes from it.
    pub output: bool,
    /// When it was computed, nanoseconds since 1970.
    pub created: i64,
    /// When it was last of use.
    pub used: i64,
}

impl Store {
    /// Check everything: re-hash every blob, look for every record's blobs, list blobs without records.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn verify(&self) -> Result<Verified, OpError> {
        let mut found = Verified::default();
        let state: String = self
            .db
            .pragma_query_value(None, "integrity_check", |row| row.get(0))
            .map_err(|error| self.sql(error))?;
        found.database = (state != "ok").then_some(state);
        found.results = self.number("SELECT count(*) FROM results")?;
        let known: Vec<(String, String)> =
            self.pairs("SELECT digest, action_key FROM result_blobs")?;
        let wanted: BTreeSet<&str> = known.iter().map(|(digest, _)| digest.as_str()).collect();
        let there = self.blobs.list().map_err(|error| disk(&self.folder, &error))?;
        found.blobs = there.len();
        let mut sound = BTreeSet::new();
        for digest in there {
            found.bytes += size(&self.blobs.path(&digest));
            let intact = self.blobs.holds(&digest);
            if !wanted.contains(digest.as_str()) {
                found.orphans.push(digest);
            } else if intact {
                sound.insert(digest);
            } else {
                self.distrust(&digest)?;
            }
        }
        for (digest, action_key) in known {
            if !sound.contains(&digest) {
                let what = if self.blobs.has(&digest) {
                    "its content has changed"
                } else {
                    "it is missing"
                };
                found.faults.push(Fault { action_key, digest, what });
            }
        }
        Ok(found)
    }

    /// Make the next hit look at the content, whatever its signature.
    fn distrust(&self, digest: &str) -> Result<(), OpError> {
        self.db
            .execute("UPDATE blobs SET signature = '' WHERE digest = ?", [digest])
            .map_err(|error| self.sql(error))?;
        Ok(())
    }

    /// Remove what killed processes left, stale checkpoints, records whose content is missing and, when there is a budget in
    /// bytes, the results that are worth least per byte until the others fit. Pinned results and those that outputs come
    /// from stay, even when they alone are more than the budget.
    ///
    /// # Errors
    /// When a run uses the store now, or the disk fails.
    pub fn clean(&mut self, budget: Option<u64>) -> Result<Cleaned, OpError> {
        let place = self.folder.join("lock");
        self._shared = None;
        let alone = match locks::attempt_alone(&place)? {
            Attempt::Held(lock) => lock,
            Attempt::Busy => {
                self._shared = Some(locks::wait_shared(&place)?);
                return Err(OpError::new(
                    "store::in_use",
                    "Another process uses the store now, so nothing was removed.",
                )
                .help("Wait until it has ended, then clean again."));
            }
        };
        let cleaned = self.clean_alone(budget);
        drop(alone);
        self._shared = Some(locks::wait_shared(&place)?);
        cleaned
    }

    fn clean_alone(&mut self, budget: Option<u64>) -> Result<Cleaned, OpError> {
        let mut done = Cleaned::default();
        let fail = |error: std::io::Error| disk(&self.folder, &error);
        for name in ["tmp", "locks"] {
            for entry in self.folder.join(name).read_dir().map_err(fail)?.flatten() {
                remove_all(&entry.path()).map_err(fail)?;
            }
        }
        self.remove_stale_checkpoints()?;
        done.leaving = self.evict(budget)?;
        self.remove_unknown_blobs(&mut done)?;
        self.db
            .execute(
                "DELETE FROM runs WHERE state <> 'running' AND run NOT IN
                 (SELECT run FROM runs ORDER BY run DESC LIMIT ?)
                 AND run NOT IN (SELECT run FROM programs)",
                [RUNS],
            )
            .and_then(|_| {
                self.db.execute(
                    "DELETE FROM key_fields WHERE plan_key NOT IN (SELECT plan_key FROM nodes)",
                    [],
                )
            })
            .and_then(|_| {
                self.db.execute(
                    "DELETE FROM key_files WHERE plan_key NOT IN (SELECT plan_key FROM nodes)",
                    [],
                )
            })
            .map_err(|error| self.sql(error))?;
        self.forget_costs()?;
        self.db
            .execute_batch("PRAGMA wal_checkpoint(TRUNCATE);")
            .map_err(|error| self.sql(error))?;
        Ok(done)
    }

    fn remove_stale_checkpoints(&self) -> Result<(), OpError> {
        let Ok(entries) = self.folder.join("checkpoints").read_dir() else { return Ok(()) };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let recorded = self.number_of(
                "SELECT count(*) FROM results WHERE action_key = ?",
                &name.to_string_lossy(),
            )?;
            let age =
                newest(&entry.path()).and_then(|time| time.elapsed().ok()).unwrap_or_default();
            if recorded > 0 || age > STALE {
                remove_all(&entry.path()).map_err(|error| disk(&self.folder, &error))?;
            }
        }
        Ok(())
    }

    fn evict(&mut self, budget: Option<u64>) -> Result<Vec<Leaving>, OpError> {
        let selection = self.select(budget)?;
        self.let_go(&selection)?;
        Ok(selection.leaving)
    }

    fn remove_unknown_blobs(&self, done: &mut Cleaned) -> Result<(), OpError> {
        let fail = |error: std::io::Error| disk(&self.folder, &error);
        for digest in self.blobs.list().map_err(fail)? {
            let bytes = size(&self.blobs.path(&digest));
            if self.number_of("SELECT count(*) FROM result_blobs WHERE digest = ?", &digest)? > 0 {
                done.left += bytes;
                continue;
            }
            self.blobs.remove(&digest).map_err(fail)?;
            done.blobs += 1;
            done.freed += bytes;
        }
        self.db
            .execute("DELETE FROM blobs WHERE digest NOT IN (SELECT digest FROM result_blobs)", [])
            .map_err(|error| self.sql(error))?;
        Ok(())
    }

    /// Every result, the one that was of use last first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn list(&self) -> Result<Vec<Entry>, OpError> {
        let facts = self.facts()?;
        let mut query = self
            .db
            .prepare(
                "SELECT r.action_key, r.op, r.value, r.seconds, r.created, r.used,
                   (SELECT name FROM nodes n WHERE n.action_key = r.action_key ORDER BY run DESC LIMIT 1),
                   EXISTS (SELECT 1 FROM pins p WHERE p.action_key = r.action_key)
                 FROM results r ORDER BY r.used DESC, r.action_key",
            )
            .map_err(|error| self.sql(error))?;
        let rows = query.query_map([], |row| {
            let value: Option<String> = row.get(2)?;
            let value = value.and_then(|text| serde_json::from_str::<Value>(&text).ok());
            let (action_key, pinned): (String, bool) = (row.get(0)?, row.get(7)?);
            let at = facts.find(&action_key);
            let shelf = &facts.shelf;
            Ok(Entry {
                bytes: at.map_or(0, |at| shelf.bytes(at)),
                recompute: at.map_or(0.0, |at| shelf.recompute(at)),
                hits: at.map_or(0.0, |at| shelf.hits(at)),
                output: at.and_then(|at| shelf.item(at)).is_some_and(|item| item.kept) && !pinned,
                pinned,
                action_key,
                op: row.get(1)?,
                node: row.get(6)?,
                shown: value.map_or_else(|| "a large value".to_owned(), |value| value.describe()),
                seconds: row.get(3)?,
                created: row.get(4)?,
                used: row.get(5)?,
            })
        });
        rows.and_then(Iterator::collect).map_err(|error| self.sql(error))
    }

    fn number(&self, query: &str) -> Result<usize, OpError> {
        let number: i64 =
            self.db.query_row(query, [], |row| row.get(0)).map_err(|error| self.sql(error))?;
        Ok(usize::try_from(number).unwrap_or(0))
    }

    fn number_of(&self, query: &str, what: &str) -> Result<i64, OpError> {
        self.db
            .prepare_cached(query)
            .and_then(|mut query| query.query_row([what], |row| row.get(0)))
            .map_err(|error| self.sql(error))
    }

    fn pairs(&self, query: &str) -> Result<Vec<(String, String)>, OpError> {
        let mut query = self.db.prepare(query).map_err(|error| self.sql(error))?;
        query
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .and_then(Iterator::collect)
            .map_err(|error| self.sql(error))
    }
}

pub(super) fn size(path: &Path) -> u64 {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => {
            let entries = path.read_dir().map(Iterator::flatten);
            entries.map(|entries| entries.map(|entry| size(&entry.path())).sum()).unwrap_or(0)
        }
        Ok(meta) => meta.len(),
        Err(_) => 0,
    }
}

fn newest(path: &Path) -> Option<std::time::SystemTime> {
    let inside = fs::read_dir(path).ok()?.flatten();
    let times = inside.filter_map(|entry| entry.metadata().ok()?.modified().ok());
    times.max().or_else(|| path.metadata().ok()?.modified().ok())
}
