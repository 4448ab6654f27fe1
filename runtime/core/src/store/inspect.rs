//! Looking back at runs: what the record of one holds, in full.

use crate::op::OpError;
use crate::store::{About, Git, OutputRow, RootRow, Roots, RunRow, Store};
use pipe_compiler::key::KeyFields;
use pipe_compiler::value::Const;
use rusqlite::{OptionalExtension, Row, params};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// A run in full, without its nodes and roots.
#[derive(Clone, Debug)]
pub struct RunSeen {
    /// What listings show.
    pub row: RunRow,
    /// Values of the program's params.
    pub params: BTreeMap<String, Const>,
    /// Where it came from.
    pub about: About,
    /// State of the repository.
    pub git: Option<Git>,
    /// Most memory of the process of pipe.
    pub peak_bytes: Option<u64>,
}

/// A node of a run.
#[derive(Clone, Debug)]
pub struct NodeSeen {
    /// Its name.
    pub name: String,
    /// Its op.
    pub op: String,
    /// Its plan key.
    pub plan_key: String,
    /// Its action key, once known.
    pub action_key: Option<String>,
    /// `ran`, `cached`, `failed` or `skipped`.
    pub state: String,
    /// Wall time; 0 for cached ones.
    pub seconds: f64,
    /// Digest of its value.
    pub digest: Option<String>,
    /// Why it failed.
    pub error: Option<OpError>,
    /// Where it was computed.
    pub context: BTreeMap<String, String>,
    /// Peak memory of its worker.
    pub peak_bytes: Option<u64>,
    /// The readable fields behind the plan key.
    pub fields: Option<KeyFields>,
}

/// A file that a node read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRead {
    /// Its path, absolute.
    pub path: String,
    /// BLAKE3 of its content then, hex.
    pub digest: String,
}

/// Columns of [`run_row`].
const RUN: &str =
    "run, file, started, seconds, state, ran, cached, failed, skipped, checks_failed, exit_code,
  json_extract(about, '$.folder')";

impl Store {
    /// The last runs, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn runs(&self, most: usize) -> Result<Vec<RunRow>, OpError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let query = format!("SELECT {RUN} FROM runs ORDER BY run DESC LIMIT ?");
        self.rows(&query, [most], run_row)
    }

    /// A run in full.
    ///
    /// # Errors
    /// When the database fails.
    pub fn run_seen(&self, run: i64) -> Result<Option<RunSeen>, OpError> {
        let query = format!("SELECT {RUN}, params, about, git, peak_bytes FROM runs WHERE run = ?");
        let read = |row: &Row<'_>| {
            Ok(RunSeen {
                row: run_row(row)?,
                params: json(row.get(12)?).unwrap_or_default(),
                about: json(row.get(13)?).unwrap_or_default(),
                git: json(row.get(14)?),
                peak_bytes: row.get::<_, Option<i64>>(15)?.map(i64::unsigned_abs),
            })
        };
        self.rows(&query, [run], read).map(|rows| rows.into_iter().next())
    }

    /// The nodes of a run, by name.
    ///
    /// # Errors
    /// When the database fails.
    pub fn nodes_seen(&self, run: i64) -> Result<Vec<NodeSeen>, OpError> {
        let query =
            "SELECT n.name, n.op, n.plan_key, n.action_key, n.state, n.seconds, n.digest, n.error,
               n.context, n.peak_bytes, k.fields
             FROM nodes n LEFT JOIN key_fields k ON k.plan_key = n.plan_key
             WHERE n.run = ? ORDER BY n.name";
        self.rows(query, [run], |row| {
            Ok(NodeSeen {
                name: row.get(0)?,
                op: row.get(1)?,
                plan_key: row.get(2)?,
                action_key: row.get(3)?,
                state: row.get(4)?,
                seconds: row.get(5)?,
                digest: row.get(6)?,
                error: json(row.get(7)?),
                context: json(row.get(8)?).unwrap_or_default(),
                peak_bytes: row.get::<_, Option<i64>>(9)?.map(i64::unsigned_abs),
                fields: json(row.get(10)?),
            })
        })
    }

    /// Outputs and checks of a run with their numbers.
    ///
    /// # Errors
    /// When the database fails.
    pub fn roots_seen(&self, run: i64) -> Result<Roots, OpError> {
        let query =
            "SELECT name, kind, reads, passed, shown, doc FROM roots WHERE run = ? ORDER BY name";
        let rows = self.rows(query, [run], |row| {
            Ok(RootRow {
                name: row.get(0)?,
                kind: row.get(1)?,
                reads: json(row.get(2)?).unwrap_or_default(),
                passed: row.get(3)?,
                shown: row.get(4)?,
                doc: row.get(5)?,
            })
        })?;
        let query = "SELECT place, value FROM numbers WHERE run = ?";
        let numbers = self.rows(query, [run], |row| {
            Ok((row.get(0)?, row.get::<_, Option<f64>>(1)?.unwrap_or(f64::NAN)))
        })?;
        Ok(Roots { rows, numbers: numbers.into_iter().collect() })
    }

    /// Where each curve of a run ended, by node and name: the last step and its value.
    ///
    /// # Errors
    /// When the database fails.
    pub fn curve_ends(&self, run: i64) -> Result<Vec<(String, String, u64, f64)>, OpError> {
        let query = "SELECT node, name, max(step), value FROM metrics WHERE run = ?
             GROUP BY node, name ORDER BY node, name";
        self.rows(query, [run], |row| {
            let value: Option<f64> = row.get(3)?;
            let step: i64 = row.get(2)?;
            Ok((row.get(0)?, row.get(1)?, step.unsigned_abs(), value.unwrap_or(f64::NAN)))
        })
    }

    /// Files that the node under a plan key read.
    ///
    /// # Errors
    /// When the database fails.
    pub fn files_of_key(&self, plan_key: &str) -> Result<Vec<FileRead>, OpError> {
        let query = "SELECT path, digest FROM key_files WHERE plan_key = ? ORDER BY path";
        self.rows(query, [plan_key], |row| Ok(FileRead { path: row.get(0)?, digest: row.get(1)? }))
    }

    /// Paths under which content with this digest was last seen.
    ///
    /// # Errors
    /// When the database fails.
    pub fn paths_of(&self, digest: &str) -> Result<Vec<String>, OpError> {
        self.rows("SELECT path FROM files WHERE digest = ? ORDER BY path", [digest], |row| {
            row.get(0)
        })
    }

    /// What the outputs hold that a run was the last to change, by path.
    ///
    /// # Errors
    /// When the database fails.
    pub fn outputs_of_run(&self, run: i64) -> Result<Vec<OutputRow>, OpError> {
        let query =
            "SELECT path, name, digest, bytes, signature FROM outputs WHERE run = ? ORDER BY path";
        self.rows(query, [run], super::runs::output_row)
    }

    /// The run that wrote what lies at `path` now.
    ///
    /// # Errors
    /// When the database fails.
    pub fn writer_of(&self, path: &str) -> Result<Option<i64>, OpError> {
        self.db
            .prepare_cached("SELECT run FROM outputs WHERE path = ?")
            .and_then(|mut query| query.query_row([path], |row| row.get(0)).optional())
            .map_err(|error| self.sql(error))
    }

    /// The run that computed the result under an action key, how long that took, and where.
    ///
    /// # Errors
    /// When the database fails.
    pub fn computed(&self, action_key: &str) -> Result<Option<(i64, f64)>, OpError> {
        self.db
            .prepare_cached("SELECT run, seconds FROM results WHERE action_key = ?")
            .and_then(|mut query| {
                query.query_row([action_key], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .map_err(|error| self.sql(error))
    }

    /// The last run that had a node, an output or a check of this name.
    ///
    /// # Errors
    /// When the database fails.
    pub fn last_run_with(&self, name: &str) -> Result<Option<i64>, OpError> {
        self.db
            .query_row(
                "SELECT max(run) FROM (SELECT run FROM nodes WHERE name = ?1
                 UNION ALL SELECT run FROM roots WHERE name = ?1)",
                params![name],
                |row| row.get(0),
            )
            .map_err(|error| self.sql(error))
    }

    fn rows<T, P: rusqlite::Params>(
        &self,
        query: &str,
        values: P,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, OpError> {
        self.db
            .prepare_cached(query)
            .and_then(|mut query| query.query_map(values, read).and_then(Iterator::collect))
            .map_err(|error| self.sql(error))
    }
}

fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        run: row.get(0)?,
        file: row.get(1)?,
        started: row.get(2)?,
        seconds: row.get(3)?,
        state: row.get(4)?,
        ran: row.get(5)?,
        cached: row.get(6)?,
        failed: row.get(7)?,
        skipped: row.get(8)?,
        checks_failed: row.get(9)?,
        exit_code: row.get(10)?,
        folder: row.get(11)?,
    })
}

fn json<T: DeserializeOwned>(text: Option<String>) -> Option<T> {
    serde_json::from_str(&text?).ok()
}
