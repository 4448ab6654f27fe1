//! The end of a run: checks are decided, outputs written, and those of earlier runs that are none any more removed.

use crate::args::resolve_arg;
use crate::events::Event;
use crate::numbers;
use crate::op::{ArgValue, OpError};
use crate::outputs::{CHECKS, Check, Outputs, Stale, safe};
use crate::run::{Failure, RunOptions, RunSummary};
use crate::schedule::{Engine, index};
use crate::shown;
use crate::store::{RootRow, Roots};
use crate::value::Value;
use pipe_compiler::plan::{Arg, Comparison, Root, RootKind};
use std::collections::{BTreeMap, BTreeSet};

/// Decide the checks and write the outputs, also when a check is false or a node has failed. Gives what the record keeps of
/// both.
pub(crate) fn finish_roots(
    engine: &mut Engine<'_>,
    options: &RunOptions,
    alive: &BTreeSet<i64>,
    summary: &mut RunSummary,
) -> Result<Roots, OpError> {
    let plan = engine.nodes.plan;
    let mut values = BTreeMap::new();
    for root in &plan.roots {
        values.insert(root.name.as_str(), root_value(engine, &root.value));
    }
    let value = |root: &Root| values.get(root.name.as_str()).and_then(|value| value.as_ref().ok());
    let outputs = || plan.roots.iter().filter(|root| root.kind == RootKind::Output);
    for root in plan.roots.iter().filter(|root| root.kind == RootKind::Check) {
        if value(root).is_some() || !summary.stopped {
            summary.checks.push(decide(engine, root, values.get(root.name.as_str())));
        }
    }
    let mut folder = Outputs::new(&options.out, engine.store, engine.run, alive);
    for root in outputs() {
        match value(root) {
            None | Some(Value::None) => {}
            Some(value) => match folder.write(&root.name, value) {
                Ok(done) => summary.outputs.push(done),
                Err(error) => {
                    let node = format!("output {}", root.name);
                    summary.unwritten.push(Failure { node, error });
                }
            },
        }
    }
    if !summary.checks.is_empty()
        && let Err(error) = folder.write_checks(&summary.checks)
    {
        summary.unwritten.push(Failure { node: CHECKS.to_owned(), error });
    }
    // What could not be decided now keeps the file of an earlier run.
    let open = outputs().filter(|root| value(root).is_none()).map(|root| safe(&root.name));
    let open: BTreeSet<String> =
        if summary.stopped { open.chain([CHECKS.to_owned()]).collect() } else { open.collect() };
    let stale = folder.remove_stale(&plan.file, &open);
    let rows = folder.into_rows();
    if !engine.unchanged_outputs(&rows)? {
        engine.store.write_outputs(engine.run, &rows)?;
    }
    match stale {
        Ok(stale) => tell_stale(engine, stale)?,
        Err(error) => {
            summary.unwritten.push(Failure { node: "outputs".to_owned(), error });
        }
    }
    for check in &summary.checks {
        engine.tell(Event::CheckDecided {
            name: check.name.clone(),
            passed: check.passed,
            value: check.value.clone(),
            shown: check.shown.clone(),
            doc: check.doc.clone(),
        });
    }
    for root in outputs().filter(|root| value(root) == Some(&Value::None)) {
        engine.tell(Event::OutputEmpty { name: root.name.clone() });
    }
    for done in &summary.outputs {
        engine.tell(Event::OutputWritten {
            name: done.name.clone(),
            path: done.path.display().to_string(),
            bytes: done.bytes,
        });
    }
    summary.checks_failed = summary.checks.iter().filter(|check| !check.passed).count();
    summary.failures.extend(summary.unwritten.iter().cloned());
    Ok(record(engine, &values, &summary.checks))
}

/// What the record keeps of outputs and checks. The number of a check is the left side of its comparison.
fn record(
    engine: &Engine<'_>,
    values: &BTreeMap<&str, Result<Value, String>>,
    checks: &[Check],
) -> Roots {
    let mut roots = Roots::default();
    for root in &engine.nodes.plan.roots {
        let value = values.get(root.name.as_str()).and_then(|value| value.as_ref().ok());
        let check =
            checks.iter().find(|check| root.kind == RootKind::Check && check.name == root.name);
        let left = root.shows.as_ref().filter(|_| check.is_some());
        let left = left.and_then(|shows| root_value(engine, &shows.left).ok());
        if let Some(value) = left.as_ref().or(value) {
            numbers::find(&root.name, value, &mut roots.numbers);
        }
        let mut inputs = Vec::new();
        root.value.inputs(&mut inputs);
        let nodes = inputs.iter().filter_map(|input| engine.nodes.get(index(input)));
        let mut reads: Vec<String> = nodes.map(|node| node.name.clone()).collect();
        reads.dedup();
        let shown = match (check, value) {
            (Some(check), _) if !check.shown.is_empty() => check.shown.clone(),
            (Some(check), None) => match &check.value {
                Value::Str(why) => why.clone(),
                other => other.describe(),
            },
            (_, Some(value)) => value.describe(),
            (None, None) => String::new(),
        };
        roots.rows.push(RootRow {
            name: root.name.clone(),
            kind: if root.kind == RootKind::Check { "check" } else { "output" }.to_owned(),
            reads,
            passed: check.map(|check| check.passed),
            shown,
            doc: root.doc.clone(),
        });
    }
    roots
}

/// Forget files that are no outputs any more, and say which are gone and which stay.
fn tell_stale(engine: &mut Engine<'_>, stale: Vec<Stale>) -> Result<(), OpError> {
    for Stale { row, removed } in stale {
        engine.store.forget_output(&row.path)?;
        match removed {
            Some(true) => engine.tell(Event::OutputRemoved { name: row.name, path: row.path }),
            Some(false) => engine.tell(Event::Warning {
                node: format!("output {}", row.name),
                message: format!(
                    "{} is of an earlier run, and was edited since: it stays.",
                    row.path
                ),
            }),
            None => {}
        }
    }
    Ok(())
}

/// The value of an output or check; else which node is missing.
fn root_value(engine: &Engine<'_>, arg: &Arg) -> Result<Value, String> {
    match resolve_arg(arg, &|input| engine.value_of(input)) {
        Ok(ArgValue::Value(value)) => Ok(value),
        Ok(_) => Err("it is not a value".to_owned()),
        Err(_) => {
            let mut inputs = Vec::new();
            arg.inputs(&mut inputs);
            let missing = inputs.iter().find(|input| engine.value_of(input).is_none());
            let node = missing.and_then(|input| engine.nodes.get(index(input)));
            Err(node.map_or_else(String::new, |node| format!("`{}` has no result", node.name)))
        }
    }
}

fn decide(engine: &Engine<'_>, root: &Root, value: Option<&Result<Value, String>>) -> Check {
    let (passed, value) = match value {
        Some(Ok(value)) => (*value == Value::Bool(true), value.clone()),
        Some(Err(why)) => (false, Value::Str(why.clone())),
        None => (false, Value::None),
    };
    let shown = root.shows.as_ref().map(|shows| compared(engine, shows)).unwrap_or_default();
    Check { name: root.name.clone(), passed, value, shown, doc: root.doc.clone() }
}

fn compared(engine: &Engine<'_>, shows: &Comparison) -> String {
    let side = |arg: &Arg| {
        root_value(engine, arg).map(|value| match value {
            Value::Float(value) => shown::float(value),
            other => other.describe(),
        })
    };
    match (side(&shows.left), side(&shows.right)) {
        (Ok(left), Ok(right)) => format!("{left} {} {right}", shows.op),
        _ => String::new(),
    }
}
