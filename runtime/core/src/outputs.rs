//! Outputs: what a program asks for, written beside it.
//!
//! A single artifact becomes `NAME.EXTENSION`, a folder artifact or anything with artifacts inside a
//! folder `NAME/`, everything else `NAME.json`. Each appears by one rename. What is there already with the
//! right content is left alone; what somebody has edited is written again.

use crate::content;
use crate::op::OpError;
use crate::shown;
use crate::store::{OutputRow, Store, remove_all, signature};
use crate::value::{Artifact, Value};
use serde_json::{Map, Number, Value as Json, json};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// An output that was written, or was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its name.
    pub name: String,
    /// Where.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// A check that was decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// Whether it holds.
    pub passed: bool,
    /// Its value, or why there is none.
    pub value: Value,
    /// `0.74 >= 0.8`, empty when it is not a comparison.
    pub shown: String,
    /// Its documentation.
    pub doc: Option<String>,
}

/// File of the checks, and what the store calls it among the outputs.
pub(crate) const CHECKS: &str = "checks.json";

/// A file of an earlier run that is no output any more.
pub(crate) struct Stale {
    /// What the store knows of it.
    pub(crate) row: OutputRow,
    /// Whether it was removed; an edited one stays. Nothing when it is gone already.
    pub(crate) removed: Option<bool>,
}

/// Writes below one folder, and remembers in the store what it wrote.
pub(crate) struct Outputs<'a> {
    folder: &'a Path,
    store: &'a Store,
    parts: Parts<'a>,
    rows: Vec<OutputRow>,
}

/// Names of what is not whole yet. They tell of which run it is, so that a later one removes what a killed run left.
struct Parts<'a> {
    /// What the store puts before the number of a run.
    store: String,
    run: i64,
    /// Runs of the store whose processes live.
    alive: &'a BTreeSet<i64>,
}

impl Parts<'_> {
    /// Where something is written before it takes its place at `path`.
    fn beside(&self, path: &Path) -> PathBuf {
        let name = path.file_name().unwrap_or_default().display();
        path.with_file_name(format!(".{name}.{}-{}.part", self.store, self.run))
    }

    /// Remove what killed runs of this store left in a folder.
    fn sweep(&self, folder: &Path) {
        let left = |name: &str| {
            let (_, run) = name.strip_suffix(".part")?.rsplit_once(&format!(".{}-", self.store))?;
            run.parse().ok().filter(|run| name.starts_with('.') && !self.alive.contains(run))
        };
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            if left(&entry.file_name().to_string_lossy()).is_some() {
                // What cannot be removed now is tried again by the next run.
                let _ = remove_all(&entry.path());
            }
        }
    }
}

impl<'a> Outputs<'a> {
    /// The outputs of a run, where these runs of the store are alive.
    pub(crate) fn new(
        folder: &'a Path,
        store: &'a Store,
        run: i64,
        alive: &'a BTreeSet<i64>,
    ) -> Self {
        let place = std::path::absolute(store.folder()).unwrap_or_else(|_| store.folder().into());
        let digest = blake3::hash(place.as_os_str().as_encoded_bytes()).to_hex();
        let name = digest.chars().take(8).collect();
        let parts = Parts { store: name, run, alive };
        parts.sweep(folder);
        Self { folder, store, parts, rows: Vec::new() }
    }

    /// What was written, for the store.
    pub(crate) fn into_rows(self) -> Vec<OutputRow> {
        self.rows
    }

    /// Write one output.
    pub(crate) fn write(&mut self, name: &str, value: &Value) -> Result<Written, OpError> {
        let name = safe(name);
        let fail = |error: io::Error| unwritten(self.folder, &error);
        fs::create_dir_all(self.folder).map_err(fail)?;
        let mut inner = Vec::new();
        value.artifacts(&mut inner);
        let (path, bytes) = match value {
            Value::Artifact(artifact) => {
                let path = self.folder.join(file_name(&name, artifact));
                (path.clone(), self.copy(&name, artifact, &path)?)
            }
            _ if inner.is_empty() => {
                let path = self.folder.join(format!("{name}.json"));
                let bytes = self.write_text(&name, &path, &pretty(&to_json(value)))?;
                (path, bytes)
            }
            _ => self.write_folder(&name, value)?,
        };
        Ok(Written { name, path, bytes })
    }

    /// Write `checks.json`.
    pub(crate) fn write_checks(&mut self, checks: &[Check]) -> Result<(), OpError> {
        let fail = |error: io::Error| unwritten(self.folder, &error);
        let each = |check: &Check| {
            json!({
                "name": check.name,
                "passed": check.passed,
                "value": to_json(&check.value),
                "shown": check.shown,
                "doc": check.doc,
            })
        };
        let list = Json::Array(checks.iter().map(each).collect());
        fs::create_dir_all(self.folder).map_err(fail)?;
        self.write_text(CHECKS, &self.folder.join(CHECKS), &pretty(&list)).map(drop)
    }

    /// Write a text that is no artifact of the store; gives its size.
    fn write_text(&mut self, name: &str, path: &Path, text: &str) -> Result<u64, OpError> {
        let fail = |error: io::Error| unwritten(path, &error);
        write_if_other(path, text.as_bytes(), &self.parts).map_err(fail)?;
        let whole = std::path::absolute(path).map_err(fail)?;
        let bytes = text.len() as u64;
        self.rows.push(OutputRow {
            path: whole.to_string_lossy().into_owned(),
            name: name.to_owned(),
            digest: blake3::hash(text.as_bytes()).to_hex().to_string(),
            bytes,
            signature: signature::of_blob(&whole, &[]).map_err(fail)?,
        });
        Ok(bytes)
    }

    /// Remove what earlier runs of this program wrote here and no output names any more, as far as nobody has edited
    /// it. Outputs that are `open` could not be decided now, and keep what they have.
    pub(crate) fn remove_stale(
        &self,
        file: &str,
        open: &BTreeSet<String>,
    ) -> Result<Vec<Stale>, OpError> {
        let fail = |error: io::Error| unwritten(self.folder, &error);
        let folder = std::path::absolute(self.folder).map_err(fail)?;
        // Some disks take `A.json` and `a.json` for one file.
        let current: BTreeSet<String> =
            self.rows.iter().map(|row| row.path.to_lowercase()).collect();
        let mut stale = Vec::new();
        for row in self.store.outputs_of(file)? {
            let path = Path::new(&row.path);
            let kept = current.contains(&row.path.to_lowercase()) || open.contains(&row.name);
            if kept || !path.starts_with(&folder) {
                continue;
            }
            let removed = match content::content(path) {
                Err(_) => None,
                Ok(found) if found.digest != row.digest => Some(false),
                Ok(_) => {
                    remove_all(path).map_err(|error| unwritten(path, &error))?;
                    // A folder of parts goes with the last of them.
                    if let Some(parent) = path.parent().filter(|parent| *parent != folder) {
                        let _ = fs::remove_dir(parent);
                    }
                    Some(true)
                }
            };
            stale.push(Stale { row, removed });
        }
        Ok(stale)
    }

    /// A record or list with artifacts inside: a folder with `value.json` that names their files.
    fn write_folder(&mut self, name: &str, value: &Value) -> Result<(PathBuf, u64), OpError> {
        let folder = self.folder.join(name);
        let fail = |error: io::Error| unwritten(&folder, &error);
        if folder.is_file() {
            fs::remove_file(&folder).map_err(fail)?;
        }
        fs::create_dir_all(&folder).map_err(fail)?;
        self.parts.sweep(&folder);
        let mut total = 0;
        let shape = self.place(name, &folder, "", value, &mut total)?;
        self.write_text(name, &folder.join("value.json"), &pretty(&shape))?;
        Ok((folder, total))
    }

    fn place(
        &mut self,
        output: &str,
        folder: &Path,
        place: &str,
        value: &Value,
        total: &mut u64,
    ) -> Result<Json, OpError> {
        let below = |name: &str| {
            if place.is_empty() { safe(name) } else { format!("{place}.{}", safe(name)) }
        };
        Ok(match value {
            Value::Artifact(artifact) => {
                let name = file_name(if place.is_empty() { output } else { place }, artifact);
                *total += self.copy(output, artifact, &folder.join(&name))?;
                json!({ "file": name, "kind": artifact.kind })
            }
            Value::List(items) => {
                let mut list = Vec::new();
                for (at, item) in items.iter().enumerate() {
                    list.push(self.place(output, folder, &below(&at.to_string()), item, total)?);
                }
                Json::Array(list)
            }
            Value::Record(fields) => {
                let mut map = Map::new();
                for (name, field) in fields {
                    let placed = self.place(output, folder, &below(name), field, total)?;
                    map.insert(name.clone(), placed);
                }
                Json::Object(map)
            }
            other => to_json(other),
        })
    }

    /// Copy an artifact to `to` unless it is there already, unchanged since it was written.
    fn copy(&mut self, name: &str, artifact: &Artifact, to: &Path) -> Result<u64, OpError> {
        let fail = |error: io::Error| unwritten(to, &error);
        let whole = std::path::absolute(to).map_err(fail)?;
        let path = whole.to_string_lossy().into_owned();
        let known = self.store.output(&path)?.filter(|row| row.digest == artifact.digest);
        let now = signature::of_blob(&whole, &artifact.files).ok();
        let same = known.is_some_and(|row| now.as_ref() == Some(&row.signature));
        if !same || has_others(&whole, artifact) {
            let blob = self.store.blobs().path(&artifact.digest);
            copy_in(&blob, &whole, artifact, &self.parts).map_err(fail)?;
        }
        let signature = signature::of_blob(&whole, &artifact.files).map_err(fail)?;
        self.rows.push(OutputRow {
            path,
            name: name.to_owned(),
            digest: artifact.digest.clone(),
            bytes: artifact.bytes,
            signature,
        });
        Ok(artifact.bytes)
    }
}

/// Whether a folder holds files that the artifact does not have.
fn has_others(folder: &Path, artifact: &Artifact) -> bool {
    !artifact.files.is_empty()
        && content::folder_files(folder).map_or(true, |found| found != artifact.files)
}

/// Copy (or reflink, where the disk can) beside the target, then rename: the target is whole or absent.
fn copy_in(from: &Path, to: &Path, artifact: &Artifact, parts: &Parts<'_>) -> io::Result<()> {
    let beside = parts.beside(to);
    remove_all(&beside)?;
    let copied = copy_all(from, &beside, artifact).and_then(|()| {
        if to.is_dir() {
            remove_all(to)?;
        } else if beside.is_dir() && to.exists() {
            fs::remove_file(to)?;
        }
        fs::rename(&beside, to)
    });
    if copied.is_err() {
        let _ = remove_all(&beside);
    }
    copied
}

fn copy_all(from: &Path, to: &Path, artifact: &Artifact) -> io::Result<()> {
    if artifact.files.is_empty() && from.is_file() {
        return copy_file(from, to);
    }
    fs::create_dir_all(to)?;
    for name in &artifact.files {
        let target = to.join(name);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        copy_file(&from.join(name), &target)?;
    }
    Ok(())
}

/// Blobs are read-only, outputs belong to the user.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    let mut permissions = fs::metadata(to)?.permissions();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        permissions.set_mode(0o644);
    }
    #[cfg(not(unix))]
    permissions.set_readonly(false);
    fs::set_permissions(to, permissions)
}

fn write_if_other(path: &Path, bytes: &[u8], parts: &Parts<'_>) -> io::Result<()> {
    if fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    let beside = parts.beside(path);
    if let Err(error) = fs::write(&beside, bytes) {
        let _ = fs::remove_file(&beside);
        return Err(error);
    }
    if path.is_dir() {
        remove_all(path)?;
    }
    fs::rename(&beside, path)
}

fn file_name(name: &str, artifact: &Artifact) -> String {
    if artifact.extension.is_empty() {
        name.to_owned()
    } else {
        format!("{name}.{}", safe(&artifact.extension))
    }
}

/// A name that is a plain file name everywhere.
pub(crate) fn safe(name: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '=');
    let text: String = name.chars().map(|c| if plain(c) { c } else { '_' }).take(120).collect();
    if text.is_empty() { "_".to_owned() } else { text }
}

fn unwritten(place: &Path, error: &io::Error) -> OpError {
    let place = place.display();
    if error.kind() == io::ErrorKind::StorageFull {
        return OpError::new(
            "output::full",
            format!("There is no space left for the output {place}."),
        )
        .help("Free some space, then run again: everything computed is in the store.");
    }
    OpError::new("output::unwritable", format!("The output {place} cannot be written: {error}."))
        .help("Choose another folder with --out, then run again: everything computed is in the store.")
}

fn pretty(json: &Json) -> String {
    let mut text = serde_json::to_string_pretty(json).unwrap_or_default();
    text.push('\n');
    text
}

/// A value as plain JSON: moments as RFC 3339, durations as written in programs, sizes in bytes; NaN and
/// infinities, which JSON lacks, as null.
#[must_use]
pub fn to_json(value: &Value) -> Json {
    match value {
        Value::None => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(value) | Value::Size(value) => json!(value),
        Value::Float(value) => Number::from_f64(*value).map_or(Json::Null, Json::Number),
        Value::Str(text) => Json::String(text.clone()),
        Value::Time(nanos) => Json::String(shown::time(*nanos)),
        Value::Duration(nanos) => Json::String(shown::duration(*nanos)),
        Value::List(items) => Json::Array(items.iter().map(to_json).collect()),
        Value::Record(fields) => Json::Object(
            fields.iter().map(|(name, field)| (name.clone(), to_json(field))).collect(),
        ),
        Value::Artifact(artifact) => json!({ "kind": artifact.kind, "digest": artifact.digest }),
    }
}
