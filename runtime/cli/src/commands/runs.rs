//! `pipe runs [FILE]` and `pipe runs show RUN`: what ran, how it ended, and all that is on record of one run.

use super::record::Record;
use super::run::failed;
use super::{Outcome, exit};
use crate::args::RecordArgs;
use crate::render::record::{self, Shown};
use crate::render::style::Look;
use pipe_runtime::Store;
use pipe_runtime::op::OpError;
use pipe_runtime::shown::time;
use pipe_runtime::store::{NodeSeen, Roots, RunRow, RunSeen};
use serde_json::{Value, json};
use std::path::Path;

/// List the last runs on stdout.
pub(crate) fn list(
    file: Option<&Path>,
    store: Option<&Path>,
    most: usize,
    as_json: bool,
    look: &Look,
) -> Outcome {
    let record = Record::open(store, file)?;
    let runs = record.runs(most)?;
    let mut with_roots = Vec::with_capacity(runs.len());
    for run in runs {
        let roots = record.store.roots_seen(run.run).map_err(failed)?;
        with_roots.push((run, roots));
    }
    if as_json {
        let each = |(run, roots): &(RunRow, Roots)| row_json(run, roots);
        println!("{:#}", Value::Array(with_roots.iter().map(each).collect()));
    } else if with_roots.is_empty() {
        eprintln!("no runs yet: `pipe run FILE` makes one");
    } else {
        print!("{}", record::list(&with_roots, look));
    }
    Ok(exit::OK)
}

/// Show all that is on record of a run.
pub(crate) fn show(wanted: &str, place: &RecordArgs, as_json: bool, look: &Look) -> Outcome {
    let record = Record::of(place)?;
    let run = record.run(wanted)?;
    let shown = gather(&record.store, run).map_err(failed)?;
    if as_json {
        println!("{:#}", json(&shown));
    } else {
        print!("{}", record::run(&shown, look));
    }
    Ok(exit::OK)
}

fn gather(store: &Store, run: RunSeen) -> Result<Shown, OpError> {
    let id = run.row.run;
    Ok(Shown {
        nodes: store.nodes_seen(id)?,
        roots: store.roots_seen(id)?,
        outputs: store.outputs_of_run(id)?,
        curves: store.curve_ends(id)?,
        run,
    })
}

fn row_json(run: &RunRow, roots: &Roots) -> Value {
    let ended = run.seconds.map(|seconds| time(run.started.saturating_add((seconds * 1e9) as i64)));
    json!({
        "run": run.run,
        "file": run.file,
        "folder": run.folder,
        "state": run.state,
        "outcome": record::outcome(run),
        "exit_code": run.exit_code,
        "started": time(run.started),
        "ended": ended,
        "seconds": run.seconds,
        "ran": run.ran,
        "cached": run.cached,
        "failed": run.failed,
        "skipped": run.skipped,
        "checks_failed": run.checks_failed,
        "numbers": roots.numbers,
    })
}

fn json(shown: &Shown) -> Value {
    let Shown { run, nodes, roots, outputs, curves } = shown;
    let about = &run.about;
    let params: serde_json::Map<String, Value> = run
        .params
        .iter()
        .map(|(name, value)| (name.clone(), Value::String(value.to_string())))
        .collect();
    let kind = |wanted: &'static str| roots.rows.iter().filter(move |root| root.kind == wanted);
    let checks = kind("check").map(|root| {
        json!({
            "name": root.name, "passed": root.passed, "shown": root.shown, "doc": root.doc,
            "value": roots.numbers.get(&root.name), "reads": root.reads,
        })
    });
    let written = kind("output").map(|root| {
        let files = outputs.iter().filter(|file| file.name == root.name);
        let files = files
            .map(|file| json!({ "path": file.path, "bytes": file.bytes, "digest": file.digest }));
        json!({
            "name": root.name, "shown": root.shown, "doc": root.doc, "reads": root.reads,
            "files": files.collect::<Vec<_>>(),
        })
    });
    let curves = curves.iter().map(|(node, name, step, value)| {
        json!({ "node": node, "name": name, "step": step, "value": value })
    });
    let more = json!({
        "command": about.command,
        "user": about.user,
        "host": about.host,
        "versions": shown.versions(),
        "machine": about.machine,
        "git": run.git,
        "sources": about.sources,
        "memory": { "pipe": run.peak_bytes, "workers": shown.worker_peak() },
        "params": params,
        "checks": checks.collect::<Vec<_>>(),
        "outputs": written.collect::<Vec<_>>(),
        "curves": curves.collect::<Vec<_>>(),
        "nodes": record::slowest(nodes).into_iter().map(node_json).collect::<Vec<_>>(),
    });
    let mut whole = row_json(&run.row, roots);
    if let (Some(whole), Value::Object(more)) = (whole.as_object_mut(), more) {
        whole.extend(more);
    }
    whole
}

fn node_json(node: &NodeSeen) -> Value {
    json!({
        "name": node.name,
        "op": node.op,
        "state": node.state,
        "seconds": node.seconds,
        "key": node.plan_key,
        "action_key": node.action_key,
        "digest": node.digest,
        "context": node.context,
        "peak_bytes": node.peak_bytes,
        "error": node.error,
    })
}
