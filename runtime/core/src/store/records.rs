//! Results by key.

use crate::op::OpError;
use crate::store::{Store, signature};
use crate::value::{Artifact, Value};
use rusqlite::{OptionalExtension, Transaction, params};
use std::collections::{BTreeMap, BTreeSet};

/// Values of this many bytes of JSON and more lie in a blob.
const INLINE: usize = 4096;

/// A result as the store has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredResult {
    /// Its action key.
    pub action_key: String,
    /// The value.
    pub value: Value,
    /// The value's digest.
    pub digest: String,
    /// Where it was computed: threads, device, versions.
    pub context: BTreeMap<String, String>,
    /// The run that computed it.
    pub run: i64,
    /// How long that took.
    pub seconds: f64,
}

/// A result to record. Its blobs have been adopted.
#[derive(Clone, Debug)]
pub struct NewResult {
    /// Its action key.
    pub action_key: String,
    /// Plan key that leads to it, unless it depends on something that is never cached.
    pub plan_key: Option<String>,
    /// The op.
    pub op: String,
    /// The value.
    pub value: Value,
    /// The value's digest.
    pub digest: String,
    /// Where it was computed.
    pub context: BTreeMap<String, String>,
    /// The run.
    pub run: i64,
    /// How long it took.
    pub seconds: f64,
    /// Seconds of its producer alone: nothing for a driver, whose time is that of its elements.
    pub own_seconds: f64,
    /// Action keys of the results that it was made from.
    pub parents: BTreeSet<String>,
    /// Signatures of the blobs that were adopted for it, by digest.
    pub signatures: BTreeMap<String, String>,
    /// Take the place of an earlier result under the same key.
    pub replace: bool,
}

/// Outcome of looking a result up.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// It is there, and so is its content.
    Whole(Box<StoredResult>),
    /// There was one, but its content is lost or changed; the record is gone now.
    Lost,
    /// There is none.
    Absent,
}

impl Store {
    /// The result under an action key, with its content checked.
    ///
    /// # Errors
    /// When the database fails.
    pub fn result(&self, action_key: &str) -> Result<Recorded, OpError> {
        match self.read_result(action_key)? {
            None => Ok(Recorded::Absent),
            Some(Err(())) => self.lose(action_key),
            Some(Ok(result)) if self.intact(&result.value)? => {
                Ok(Recorded::Whole(Box::new(result)))
            }
            Some(Ok(_)) => self.lose(action_key),
        }
    }

    /// The result that a plan key leads to, with its content checked.
    ///
    /// # Errors
    /// When the database fails.
    pub fn result_of_plan(&self, plan_key: &str) -> Result<Recorded, OpError> {
        let mut query = self
            .db
            .prepare_cached("SELECT action_key FROM plan_index WHERE plan_key = ?")
            .map_err(|error| self.sql(error))?;
        let action_key: Option<String> = query
            .query_row([plan_key], |row| row.get(0))
            .optional()
            .map_err(|error| self.sql(error))?;
        action_key.map_or(Ok(Recorded::Absent), |key| self.result(&key))
    }

    /// Action key and digest of the result that a plan key leads to, as recorded; its content is not
    /// looked at.
    ///
    /// # Errors
    /// When the database fails.
    pub fn recorded_of_plan(&self, plan_key: &str) -> Result<Option<(String, String)>, OpError> {
        self.db
            .prepare_cached(
                "SELECT r.action_key, r.digest FROM plan_index p
                 JOIN results r ON r.action_key = p.action_key WHERE p.plan_key = ?",
            )
            .and_then(|mut query| {
                query.query_row([plan_key], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .map_err(|error| self.sql(error))
    }

    fn lose(&self, action_key: &str) -> Result<Recorded, OpError> {
        self.forget(action_key)?;
        Ok(Recorded::Lost)
    }

    fn read_result(&self, action_key: &str) -> Result<Option<Result<StoredResult, ()>>, OpError> {
        type Row = (Option<String>, Option<String>, String, String, i64, f64);
        let mut query = self
            .db
            .prepare_cached(
                "SELECT value, blob, digest, context, run, seconds FROM results WHERE action_key = ?",
            )
            .map_err(|error| self.sql(error))?;
        let row: Option<Row> = query
            .query_row([action_key], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
            })
            .optional()
            .map_err(|error| self.sql(error))?;
        let Some((value, blob, digest, context, run, seconds)) = row else { return Ok(None) };
        let text = match (value, blob) {
            (Some(text), _) => Some(text),
            (None, Some(blob)) if self.blob_intact(&blob, &[])? => {
                std::fs::read_to_string(self.blobs.path(&blob)).ok()
            }
            (None, _) => None,
        };
        let value = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let context = serde_json::from_str(&context).unwrap_or_default();
        let action_key = action_key.to_owned();
        let whole = |value| StoredResult { action_key, value, digest, context, run, seconds };
        Ok(Some(value.map(whole).ok_or(())))
    }

    /// Whether the content of every artifact within the value is there and unchanged.
    ///
    /// # Errors
    /// When the database fails.
    pub fn intact(&self, value: &Value) -> Result<bool, OpError> {
        let mut artifacts = Vec::new();
        value.artifacts(&mut artifacts);
        for artifact in artifacts {
            if !self.blob_intact(&artifact.digest, &artifact.files)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The signature is checked; the content only when that changed.
    pub(crate) fn blob_intact(&self, digest: &str, files: &[String]) -> Result<bool, OpError> {
        let Ok(now) = signature::of_blob(&self.blobs.path(digest), files) else { return Ok(false) };
        let mut query = self
            .db
            .prepare_cached("SELECT signature FROM blobs WHERE digest = ?")
            .map_err(|error| self.sql(error))?;
        let known: Option<String> = query
            .query_row([digest], |row| row.get(0))
            .optional()
            .map_err(|error| self.sql(error))?;
        if known.as_deref() == Some(now.as_str()) {
            return Ok(true);
        }
        if !self.blobs.holds(digest) {
            return Ok(false);
        }
        self.db
            .execute(
                "INSERT INTO blobs VALUES (?1, 0, ?2, ?3)
                 ON CONFLICT (digest) DO UPDATE SET signature = excluded.signature",
                params![digest, now, signature::now()],
            )
            .map_err(|error| self.sql(error))?;
        Ok(true)
    }

    /// Remove a result's record, so that it is computed again.
    ///
    /// # Errors
    /// When the database fails.
    pub fn forget(&self, action_key: &str) -> Result<(), OpError> {
        self.db
            .execute("DELETE FROM results WHERE action_key = ?", [action_key])
            .map_err(|error| self.sql(error))?;
        Ok(())
    }

    /// Record results in one transaction.
    ///
    /// # Errors
    /// When the database fails; then none of them is recorded.
    pub fn record(&mut self, results: &[NewResult]) -> Result<(), OpError> {
        let mut rows = Vec::with_capacity(results.len());
        for result in results {
            let json = serde_json::to_string(&result.value).unwrap_or_default();
            let long = json.len() >= INLINE;
            let blob =
                if long { Some((self.blobs.put(json.as_bytes())?, json.len())) } else { None };
            rows.push((result, if long { None } else { Some(json) }, blob));
        }
        let folder = self.folder.clone();
        let fail = |error: rusqlite::Error| super::sql(&folder, &error);
        let write = self
            .db
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .map_err(fail)?;
        for (result, json, blob) in rows {
            insert(&write, result, json, blob).map_err(fail)?;
        }
        write.commit().map_err(fail)
    }

    /// Let a plan key lead to a result.
    ///
    /// # Errors
    /// When the database fails.
    pub fn point(&self, plan_key: &str, action_key: &str) -> Result<(), OpError> {
        self.db
            .execute("INSERT OR REPLACE INTO plan_index VALUES (?1, ?2)", [plan_key, action_key])
            .map_err(|error| self.sql(error))?;
        Ok(())
    }
}

type Blob = ((String, String), usize);

/// Run a statement that was prepared before.
fn run(
    write: &Transaction<'_>,
    text: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<usize> {
    write.prepare_cached(text)?.execute(values)
}

fn insert(
    write: &Transaction<'_>,
    result: &NewResult,
    json: Option<String>,
    blob: Option<Blob>,
) -> rusqlite::Result<()> {
    let now = signature::now();
    if result.replace {
        run(write, "DELETE FROM results WHERE action_key = ?", [&result.action_key])?;
    }
    let context = serde_json::to_string(&result.context).unwrap_or_default();
    let digest_of_blob = blob.as_ref().map(|((digest, _), _)| digest.clone());
    run(
        write,
        "INSERT OR IGNORE INTO results VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)",
        params![
            result.action_key,
            result.op,
            json,
            digest_of_blob,
            result.digest,
            context,
            result.run,
            result.seconds,
            now
        ],
    )?;
    super::budget::write_cost(write, result)?;
    let mut blobs = BTreeMap::new();
    if let Some(((digest, signature), bytes)) = blob {
        blobs.insert(digest, (bytes as u64, Some(signature)));
    }
    let mut artifacts: Vec<&Artifact> = Vec::new();
    result.value.artifacts(&mut artifacts);
    for artifact in artifacts {
        let signature = result.signatures.get(&artifact.digest).cloned();
        blobs.insert(artifact.digest.clone(), (artifact.bytes, signature));
    }
    for (digest, (bytes, signature)) in blobs {
        run(
            write,
            "INSERT OR IGNORE INTO result_blobs VALUES (?1, ?2)",
            params![result.action_key, digest],
        )?;
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        match signature {
            Some(signature) => run(
                write,
                "INSERT INTO blobs VALUES (?1, ?2, ?3, ?4) ON CONFLICT (digest)
                 DO UPDATE SET bytes = excluded.bytes, signature = excluded.signature",
                params![digest, bytes, signature, now],
            )?,
            None => run(
                write,
                "INSERT OR IGNORE INTO blobs VALUES (?1, ?2, '', ?3)",
                params![digest, bytes, now],
            )?,
        };
    }
    if let Some(plan_key) = &result.plan_key {
        run(
            write,
            "INSERT OR REPLACE INTO plan_index VALUES (?1, ?2)",
            params![plan_key, result.action_key],
        )?;
    }
    Ok(())
}
