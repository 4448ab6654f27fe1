//! Runs: their nodes, curves and outputs.

use crate::op::OpError;
use crate::store::about::{self, About, Roots};
use crate::store::{Store, budget, signature};
use pipe_compiler::key::KeyFields;
use pipe_compiler::plan::FileArg;
use rusqlite::{OptionalExtension, Row, TransactionBehavior, params};
use std::collections::{BTreeMap, BTreeSet};

/// A node of a run, to be written.
#[derive(Clone, Debug)]
pub struct NodeRow {
    /// Its name.
    pub name: String,
    /// Its op.
    pub op: String,
    /// Its plan key.
    pub plan_key: String,
    /// The readable fields behind the plan key.
    pub fields: Option<KeyFields>,
    /// Its action key, once known.
    pub action_key: Option<String>,
    /// `ran`, `cached`, `failed` or `skipped`.
    pub state: &'static str,
    /// Wall time.
    pub seconds: f64,
    /// Digest of its value.
    pub digest: Option<String>,
    /// Why it failed.
    pub error: Option<OpError>,
    /// Where it was computed.
    pub context: BTreeMap<String, String>,
    /// Peak memory of its worker, where known.
    pub peak_bytes: Option<u64>,
    /// Files that it reads, with their digests.
    pub files: Vec<FileArg>,
}

/// What the last run knew of a node.
#[derive(Clone, Debug)]
pub struct LastNode {
    /// That run.
    pub run: i64,
    /// Plan key then.
    pub plan_key: String,
    /// `ran`, `cached`, `failed` or `skipped`.
    pub state: String,
    /// Digest of its value then.
    pub digest: Option<String>,
    /// Why it failed then.
    pub error: Option<OpError>,
    /// The readable fields behind the plan key then.
    pub fields: Option<KeyFields>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunEnd {
    /// `done`, `failed` or `stopped`.
    pub state: &'static str,
    /// Wall time.
    pub seconds: f64,
    /// Counts of nodes.
    pub ran: usize,
    /// From the store.
    pub cached: usize,
    /// Failed.
    pub failed: usize,
    /// Skipped.
    pub skipped: usize,
    /// Checks that are false.
    pub checks_failed: usize,
    /// Exit code of the command; none when another run has taken its place.
    pub exit_code: Option<u8>,
}

/// A run, for listings.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// Its number.
    pub run: i64,
    /// The program.
    pub file: String,
    /// Nanoseconds since 1970.
    pub started: i64,
    /// Wall time, once ended.
    pub seconds: Option<f64>,
    /// `running`, `done`, `failed`, `stopped` or `interrupted`.
    pub state: String,
    /// Nodes that ran.
    pub ran: i64,
    /// Nodes from the store.
    pub cached: i64,
    /// Nodes that failed.
    pub failed: i64,
    /// Nodes that were skipped.
    pub skipped: i64,
    /// Checks that are false.
    pub checks_failed: i64,
    /// Exit code of the command, once ended.
    pub exit_code: Option<i64>,
    /// The folder that the command was given in; the program's path is relative to it.
    pub folder: Option<String>,
}

/// A file written outside the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputRow {
    /// Its path, absolute.
    pub path: String,
    /// Name of the output.
    pub name: String,
    /// Digest of the content that it was made from.
    pub digest: String,
    /// Size.
    pub bytes: u64,
    /// Signature after writing.
    pub signature: String,
}

impl Store {
    /// Begin a run; gives its number. Runs whose processes are gone are marked as interrupted.
    ///
    /// # Errors
    /// When the database fails.
    pub fn begin_run(&self, file: &str, settings: &str, about: &About) -> Result<i64, OpError> {
        let about = serde_json::to_string(about).ok();
        self.db
            .execute(
                "INSERT INTO runs (file, params, started, state, about)
                 VALUES (?1, ?2, ?3, 'running', ?4)",
                params![file, settings, signature::now(), about],
            )
            .map_err(|error| self.sql(error))?;
        Ok(self.db.last_insert_rowid())
    }

    /// Mark runs that say they are running, except those that are, as interrupted.
    ///
    /// # Errors
    /// When the database fails.
    pub fn mark_interrupted(&self, alive: &BTreeSet<i64>) -> Result<(), OpError> {
        let mut query = self
            .db
            .prepare_cached("SELECT run FROM runs WHERE state = 'running'")
            .map_err(|error| self.sql(error))?;
        let running: Vec<i64> = query
            .query_map([], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(|error| self.sql(error))?;
        for run in running.iter().filter(|run| !alive.contains(run)) {
            self.db
                .execute("UPDATE runs SET state = 'interrupted' WHERE run = ?", [run])
                .map_err(|error| self.sql(error))?;
        }
        Ok(())
    }

    /// Write the nodes of a run, its outputs and checks, its end, and that `used` results were of use, in one
    /// transaction.
    ///
    /// # Errors
    /// When the database fails.
    pub fn finish_run(
        &mut self,
        run: i64,
        end: &RunEnd,
        nodes: &[NodeRow],
        roots: &Roots,
        used: &BTreeSet<String>,
    ) -> Result<(), OpError> {
        let folder = self.folder.clone();
        let fail = |error: rusqlite::Error| super::sql(&folder, &error);
        let write =
            self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        for node in nodes {
            write_node(&write, run, node).map_err(fail)?;
        }
        about::write_roots(&write, run, roots).map_err(fail)?;
        let now = signature::now();
        for action_key in used {
            write
                .prepare_cached("UPDATE results SET used = ?2 WHERE action_key = ?1")
                .and_then(|mut update| update.execute(params![action_key, now]))
                .map_err(fail)?;
        }
        budget::count_uses(&write, run, used).map_err(fail)?;
        write
            .execute(
                "UPDATE runs SET state = ?2, seconds = ?3, ran = ?4, cached = ?5, failed = ?6,
                 skipped = ?7, checks_failed = ?8, exit_code = ?9 WHERE run = ?1",
                params![
                    run,
                    end.state,
                    end.seconds,
                    count(end.ran),
                    count(end.cached),
                    count(end.failed),
                    count(end.skipped),
                    count(end.checks_failed),
                    end.exit_code
                ],
            )
            .map_err(fail)?;
        write.commit().map_err(fail)
    }

    /// What the last run that had a node of this name and op knew of it; runs of `file` come first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn last_node(&self, file: &str, name: &str, op: &str) -> Result<Option<LastNode>, OpError> {
        self.db
            .prepare_cached(
                "SELECT n.run, n.plan_key, n.state, n.digest, n.error, k.fields
                 FROM nodes n JOIN runs r ON r.run = n.run
                 LEFT JOIN key_fields k ON k.plan_key = n.plan_key
                 WHERE n.name = ?1 AND n.op = ?2
                 ORDER BY r.file = ?3 DESC, n.run DESC LIMIT 1",
            )
            .and_then(|mut query| query.query_row([name, op, file], last_node).optional())
            .map_err(|error| self.sql(error))
    }

    /// What the last run that had a node of this name knew of it, whatever its op; runs of `file` come first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn last_named(&self, file: &str, name: &str) -> Result<Option<LastNode>, OpError> {
        self.db
            .prepare_cached(
                "SELECT n.run, n.plan_key, n.state, n.digest, n.error, k.fields
                 FROM nodes n JOIN runs r ON r.run = n.run
                 LEFT JOIN key_fields k ON k.plan_key = n.plan_key
                 WHERE n.name = ?1
                 ORDER BY r.file = ?2 DESC, n.run DESC LIMIT 1",
            )
            .and_then(|mut query| query.query_row([name, file], last_node).optional())
            .map_err(|error| self.sql(error))
    }

    /// Wall time of each node's last computation, by name: what it will probably take again.
    ///
    /// # Errors
    /// When the database fails.
    pub fn last_seconds(&self, name: &str, op: &str) -> Result<Option<f64>, OpError> {
        self.db
            .prepare_cached(
                "SELECT seconds FROM nodes WHERE name = ?1 AND op = ?2 AND state = 'ran'
                 ORDER BY run DESC LIMIT 1",
            )
            .and_then(|mut query| query.query_row([name, op], |row| row.get(0)).optional())
            .map_err(|error| self.sql(error))
    }

    /// Record points of a node's curves; those at later steps of an earlier attempt are replaced.
    ///
    /// # Errors
    /// When the database fails.
    pub fn write_metrics(
        &mut self,
        run: i64,
        points: &[(String, String, u64, f64)],
    ) -> Result<(), OpError> {
        let folder = self.folder.clone();
        let fail = |error: rusqlite::Error| super::sql(&folder, &error);
        let write =
            self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        for (node, name, step, value) in points {
            let step = i64::try_from(*step).unwrap_or(i64::MAX);
            write
                .prepare_cached("INSERT INTO metrics VALUES (?1, ?2, ?3, ?4, ?5)")
                .and_then(|mut insert| insert.execute(params![run, node, name, step, value]))
                .map_err(fail)?;
        }
        write.commit().map_err(fail)
    }

    /// A node's curves in a run: points by name of the curve, in order of steps.
    ///
    /// # Errors
    /// When the database fails.
    pub fn curves(
        &self,
        run: i64,
        node: &str,
    ) -> Result<BTreeMap<String, Vec<(u64, f64)>>, OpError> {
        let mut query = self
            .db
            .prepare_cached(
                "SELECT name, step, value FROM metrics WHERE run = ?1 AND node = ?2 ORDER BY step",
            )
            .map_err(|error| self.sql(error))?;
        let rows = query
            .query_map(params![run, node], |row| {
                let value: Option<f64> = row.get(2)?;
                Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, value.unwrap_or(f64::NAN)))
            })
            .and_then(|rows| rows.collect::<rusqlite::Result<Vec<_>>>())
            .map_err(|error| self.sql(error))?;
        let mut curves: BTreeMap<String, Vec<(u64, f64)>> = BTreeMap::new();
        for (name, step, value) in rows {
            curves.entry(name).or_default().push((step.unsigned_abs(), value));
        }
        Ok(curves)
    }

    /// What the store wrote at `path` before.
    ///
    /// # Errors
    /// When the database fails.
    pub fn output(&self, path: &str) -> Result<Option<OutputRow>, OpError> {
        self.db
            .prepare_cached(
                "SELECT path, name, digest, bytes, signature FROM outputs WHERE path = ?",
            )
            .and_then(|mut query| query.query_row([path], output_row).optional())
            .map_err(|error| self.sql(error))
    }

    /// All that runs of this program have written outside the store, by path.
    ///
    /// # Errors
    /// When the database fails.
    pub fn outputs_of(&self, file: &str) -> Result<Vec<OutputRow>, OpError> {
        self.db
            .prepare_cached(
                "SELECT path, name, digest, bytes, signature FROM outputs o
                 WHERE (SELECT file FROM runs r WHERE r.run = o.run) = ? ORDER BY path",
            )
            .and_then(|mut query| query.query_map([file], output_row).and_then(Iterator::collect))
            .map_err(|error| self.sql(error))
    }

    /// Forget that the store wrote at `path`.
    ///
    /// # Errors
    /// When the database fails.
    pub fn forget_output(&self, path: &str) -> Result<(), OpError> {
        self.db
            .execute("DELETE FROM outputs WHERE path = ?", [path])
            .map(drop)
            .map_err(|error| self.sql(error))
    }

    /// Record what was written outside the store.
    ///
    /// # Errors
    /// When the database fails.
    pub fn write_outputs(&mut self, run: i64, outputs: &[OutputRow]) -> Result<(), OpError> {
        let folder = self.folder.clone();
        let fail = |error: rusqlite::Error| super::sql(&folder, &error);
        let write =
            self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        for row in outputs {
            let bytes = i64::try_from(row.bytes).unwrap_or(i64::MAX);
            write
                .execute(
                    "INSERT OR REPLACE INTO outputs VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![row.path, run, row.name, row.digest, bytes, row.signature],
                )
                .map_err(fail)?;
        }
        write.commit().map_err(fail)
    }
}

fn last_node(row: &Row<'_>) -> rusqlite::Result<LastNode> {
    Ok(LastNode {
        run: row.get(0)?,
        plan_key: row.get(1)?,
        state: row.get(2)?,
        digest: row.get(3)?,
        error: json(row.get(4)?),
        fields: json(row.get(5)?),
    })
}

pub(super) fn output_row(row: &Row<'_>) -> rusqlite::Result<OutputRow> {
    Ok(OutputRow {
        path: row.get(0)?,
        name: row.get(1)?,
        digest: row.get(2)?,
        bytes: row.get::<_, i64>(3)?.unsigned_abs(),
        signature: row.get(4)?,
    })
}

fn write_node(write: &rusqlite::Transaction<'_>, run: i64, node: &NodeRow) -> rusqlite::Result<()> {
    let peak = node.peak_bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
    write
        .prepare_cached(
            "INSERT OR REPLACE INTO nodes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute(params![
            run,
            node.name,
            node.op,
            node.plan_key,
            node.action_key,
            node.state,
            node.seconds,
            node.digest,
            node.error.as_ref().and_then(|error| serde_json::to_string(error).ok()),
            (!node.context.is_empty()).then(|| serde_json::to_string(&node.context).ok()).flatten(),
            peak
        ])?;
    if let Some(fields) = node.fields.as_ref().and_then(|fields| serde_json::to_string(fields).ok())
    {
        write
            .prepare_cached("INSERT OR IGNORE INTO key_fields VALUES (?1, ?2)")?
            .execute(params![node.plan_key, fields])?;
    }
    for file in &node.files {
        let path = std::path::absolute(&file.path).unwrap_or_else(|_| file.path.clone().into());
        write
            .prepare_cached("INSERT OR REPLACE INTO key_files VALUES (?1, ?2, ?3)")?
            .execute(params![node.plan_key, path.to_string_lossy(), file.digest])?;
    }
    Ok(())
}

fn json<T: serde::de::DeserializeOwned>(text: Option<String>) -> Option<T> {
    serde_json::from_str(&text?).ok()
}
