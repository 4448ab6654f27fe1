//! `pipe lineage WHAT`: from an output or a node back to the files it was made from, and which of them have changed since.

use super::record::Record;
use super::run::failed;
use super::{Failure, Outcome, exit};
use crate::args::RecordArgs;
use crate::project::absolute;
use crate::render;
use crate::render::style::Look;
use pipe_grammar::did_you_mean;
use pipe_runtime::content;
use pipe_runtime::op::OpError;
use pipe_runtime::store::{FileDigests, NodeSeen, OutputRow, Roots, Store};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A file on the way, and how it is now.
pub(crate) struct Source {
    pub(crate) path: String,
    /// Digest of its content then.
    pub(crate) digest: String,
    pub(crate) now: Now,
}

/// How a file is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Now {
    /// As it was.
    Same,
    /// Its content has changed.
    Changed,
    /// There is none.
    Gone,
    /// There is none, but this one has the content.
    Moved(String),
}

/// A node on the way.
pub(crate) struct Step {
    pub(crate) node: NodeSeen,
    /// Names of the nodes that it reads, or that a driver made.
    pub(crate) reads: Vec<String>,
    pub(crate) files: Vec<Source>,
    /// The run that computed its result, where that is known.
    pub(crate) computed: Option<i64>,
}

/// All of the way.
pub(crate) struct Lineage {
    pub(crate) run: i64,
    pub(crate) file: String,
    /// What was asked about, in words.
    pub(crate) what: String,
    /// The file of an output that was asked about.
    pub(crate) output: Option<Source>,
    /// Nodes at its end.
    pub(crate) ends: Vec<String>,
    pub(crate) steps: BTreeMap<String, Step>,
}

impl Lineage {
    /// Files on the way that are not as they were.
    pub(crate) fn changed(&self) -> usize {
        let files = self.steps.values().flat_map(|step| &step.files);
        let other: BTreeSet<&str> =
            files.filter(|file| file.now != Now::Same).map(|file| file.path.as_str()).collect();
        other.len()
    }
}

/// Show where `what` comes from.
pub(crate) fn lineage(
    what: &str,
    run: Option<&str>,
    place: &RecordArgs,
    as_json: bool,
    look: &Look,
) -> Outcome {
    let record = open(what, place)?;
    let found = find(&record, what, run)?;
    let lineage = follow(&record.store, found).map_err(failed)?;
    if as_json {
        println!("{:#}", json(&lineage));
    } else {
        print!("{}", render::lineage::text(&lineage, look));
    }
    Ok(exit::OK)
}

/// The store that is named, or that of this folder; for a file, else the one of a folder above it.
fn open(what: &str, place: &RecordArgs) -> Result<Record, Failure> {
    let opened = Record::of(place);
    let path = Path::new(what);
    if opened.is_ok() || place.store.is_some() || place.of.is_some() || !path.exists() {
        return opened;
    }
    let whole = absolute(path);
    let mut folders = whole.ancestors().map(|folder| folder.join(".pipe"));
    match folders.find(|store| store.join("store.db").is_file()) {
        Some(store) => Record::open(Some(&store), None),
        None => opened,
    }
}

struct Found {
    run: i64,
    file: String,
    what: String,
    output: Option<OutputRow>,
    nodes: Vec<NodeSeen>,
    ends: Vec<String>,
}

fn find(record: &Record, what: &str, run: Option<&str>) -> Result<Found, Failure> {
    let store = &record.store;
    let output = output_at(store, what).map_err(failed)?;
    let named = match run {
        Some(run) => Some(record.run(run)?.row.run),
        None => None,
    };
    let number = match (named, &output) {
        (Some(run), _) => Some(run),
        (None, Some(output)) => store.writer_of(&output.path).map_err(failed)?,
        (None, None) => store.last_run_with(what).map_err(failed)?,
    };
    let Some(number) = number else { return Err(unknown(record, what)?) };
    let seen = record.run(&number.to_string())?;
    let roots = store.roots_seen(number).map_err(failed)?;
    let nodes = store.nodes_seen(number).map_err(failed)?;
    let name = output.as_ref().map_or(what, |output| output.name.as_str());
    let ends = match roots.rows.iter().find(|root| root.name == name) {
        Some(root) => root.reads.clone(),
        None if output.as_ref().is_some_and(|output| output.name == "checks.json") => {
            of_checks(&roots)
        }
        None if nodes.iter().any(|node| node.name == name) => vec![name.to_owned()],
        None => return Err(unknown(record, what)?),
    };
    let what = what.to_owned();
    Ok(Found { run: number, file: seen.row.file, what, output, nodes, ends })
}

fn of_checks(roots: &Roots) -> Vec<String> {
    let checks = roots.rows.iter().filter(|root| root.kind == "check");
    let mut names: Vec<String> = checks.flat_map(|root| root.reads.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// The output that was written at this path, or as a part of which it was.
fn output_at(store: &Store, what: &str) -> Result<Option<OutputRow>, OpError> {
    let whole = absolute(Path::new(what));
    let real = whole.canonicalize().ok();
    let places = [Some(whole), real];
    for place in places.iter().flatten().flat_map(|path| path.ancestors()) {
        if let Some(row) = store.output(&place.to_string_lossy())? {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

fn unknown(record: &Record, what: &str) -> Result<Failure, Failure> {
    let failure = if Path::new(what).exists() {
        Failure::usage(format!("no run that is on record wrote {what}"))
    } else {
        Failure::usage(format!("no run had an output, check or node called `{what}`"))
    };
    let Some(last) = record.runs(1)?.into_iter().next() else {
        return Ok(failure.help("there are no runs yet: `pipe run FILE` makes one"));
    };
    let nodes = record.store.nodes_seen(last.run).map_err(failed)?;
    let roots = record.store.roots_seen(last.run).map_err(failed)?;
    let names: Vec<&str> = roots
        .rows
        .iter()
        .map(|root| root.name.as_str())
        .chain(nodes.iter().map(|node| node.name.as_str()))
        .collect();
    Ok(match did_you_mean(what, names.iter().copied()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => {
            let outputs = roots.rows.iter().filter(|root| root.kind == "output");
            let outputs: Vec<&str> = outputs.map(|root| root.name.as_str()).take(8).collect();
            failure.help(format!("outputs of the last run are: {}", outputs.join(", ")))
        }
    })
}

/// Walk from the ends back to the files.
fn follow(store: &Store, found: Found) -> Result<Lineage, OpError> {
    let Found { run, file, what, output, nodes, ends } = found;
    let digests = FileDigests::new(store.folder(), false);
    let by_key: BTreeMap<String, String> =
        nodes.iter().map(|node| (node.plan_key.clone(), node.name.clone())).collect();
    let elements = elements(&nodes, &by_key);
    let mut by_name: BTreeMap<String, NodeSeen> =
        nodes.into_iter().map(|node| (node.name.clone(), node)).collect();
    let mut steps = BTreeMap::new();
    let mut open = ends.clone();
    while let Some(name) = open.pop() {
        let Some(node) = by_name.remove(&name) else { continue };
        let mut reads = reads(&node, &by_key);
        reads.extend(elements.get(&name).into_iter().flatten().cloned());
        open.extend(reads.iter().cloned());
        let read = store.files_of_key(&node.plan_key)?;
        let mut files = Vec::with_capacity(read.len());
        for file in read {
            let now = now(store, &digests, &file.path, &file.digest)?;
            files.push(Source { path: file.path, digest: file.digest, now });
        }
        let computed = match (node.state.as_str(), &node.action_key) {
            ("ran", _) => Some(run),
            ("cached", Some(key)) => store.computed(key)?.map(|(run, _)| run),
            _ => None,
        };
        steps.insert(name, Step { node, reads, files, computed });
    }
    let output = output.map(|row| {
        let now = match content::content(Path::new(&row.path)) {
            Ok(found) if found.digest == row.digest => Now::Same,
            Ok(_) => Now::Changed,
            Err(_) => Now::Gone,
        };
        Source { path: row.path, digest: row.digest, now }
    });
    Ok(Lineage { run, file, what, output, ends, steps })
}

/// Names of the nodes whose keys are inputs of this one's, in the order of its arguments.
fn reads(node: &NodeSeen, by_key: &BTreeMap<String, String>) -> Vec<String> {
    let Some(fields) = &node.fields else { return Vec::new() };
    let mut names: Vec<String> = Vec::new();
    for text in fields.steps.iter().chain([fields]).flat_map(|step| step.inputs.values()) {
        let name = text.get(..64).and_then(|key| by_key.get(key));
        if let Some(name) = name.filter(|name| **name != node.name && !names.contains(name)) {
            names.push(name.clone());
        }
    }
    names
}

/// By driver: the results that it asked for, without the nodes that those are made of.
fn elements(
    nodes: &[NodeSeen],
    by_key: &BTreeMap<String, String>,
) -> BTreeMap<String, Vec<String>> {
    let names: BTreeSet<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut inner = BTreeSet::new();
    for node in nodes.iter().filter(|node| node.name.contains('[')) {
        inner.extend(reads(node, by_key));
    }
    for name in names.iter().filter(|name| !inner.contains(**name)) {
        let places: Vec<usize> = name.match_indices('[').map(|(at, _)| at).collect();
        let drivers = places.iter().rev().filter_map(|at| name.get(..*at));
        if let Some(driver) = drivers.into_iter().find(|driver| names.contains(driver)) {
            found.entry(driver.to_owned()).or_default().push((*name).to_owned());
        }
    }
    found
}

fn now(store: &Store, digests: &FileDigests, path: &str, digest: &str) -> Result<Now, OpError> {
    match digests.digest(Path::new(path)) {
        Ok(found) if found == digest => return Ok(Now::Same),
        Ok(_) => return Ok(Now::Changed),
        Err(_) => {}
    }
    let has = |other: &PathBuf| digests.digest(other).is_ok_and(|found| found == digest);
    let others = store.paths_of(digest)?.into_iter().map(PathBuf::from);
    let mut others = others.filter(|other| other != Path::new(path)).filter(has);
    Ok(others.next().map_or(Now::Gone, |other| Now::Moved(other.display().to_string())))
}

/// The word for how a file is now.
pub(crate) fn word(now: &Now) -> &'static str {
    match now {
        Now::Same => "unchanged",
        Now::Changed => "changed",
        Now::Gone => "missing",
        Now::Moved(_) => "moved",
    }
}

fn json(lineage: &Lineage) -> Value {
    let file = |source: &Source| {
        let to = match &source.now {
            Now::Moved(to) => Some(to),
            _ => None,
        };
        json!({ "path": source.path, "digest": source.digest, "now": word(&source.now), "moved_to": to })
    };
    let nodes = lineage.steps.values().map(|step| {
        json!({
            "name": step.node.name,
            "op": step.node.op,
            "key": step.node.plan_key,
            "digest": step.node.digest,
            "state": step.node.state,
            "computed_in": step.computed,
            "reads": step.reads,
            "files": step.files.iter().map(file).collect::<Vec<_>>(),
        })
    });
    json!({
        "what": lineage.what,
        "run": lineage.run,
        "program": lineage.file,
        "output": lineage.output.as_ref().map(file),
        "ends": lineage.ends,
        "nodes": nodes.collect::<Vec<_>>(),
        "changed": lineage.changed(),
    })
}
