//! `pipe diff RUN RUN`: what two runs differ by: program, params, keys of nodes, checks, numbers, times.

use super::record::Record;
use super::run::failed;
use super::{Outcome, exit};
use crate::args::RecordArgs;
use crate::render;
use crate::render::record::outcome;
use crate::render::style::Look;
use pipe_compiler::key::{FieldChange, KeyFields};
use pipe_runtime::Store;
use pipe_runtime::op::OpError;
use pipe_runtime::states::own_changes;
use pipe_runtime::store::{NodeSeen, RootRow, Roots, RunSeen};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// One of the two runs.
pub(crate) struct Side {
    pub(crate) run: RunSeen,
    pub(crate) nodes: Vec<NodeSeen>,
    pub(crate) roots: Roots,
}

/// A node that both runs have, under other keys.
pub(crate) struct ChangedNode {
    pub(crate) name: String,
    /// Fields of its own that differ.
    pub(crate) changes: Vec<FieldChange>,
    /// Nodes that it reads and that differ too.
    pub(crate) reads: Vec<String>,
}

/// What two runs differ by.
#[derive(Default)]
pub(crate) struct Difference {
    /// Params by name: value in the old and in the new run.
    pub(crate) params: Vec<(String, Option<String>, Option<String>)>,
    /// Texts of the program: file, and digest in each.
    pub(crate) sources: Vec<(String, Option<String>, Option<String>)>,
    /// Nodes under the same key in both.
    pub(crate) same: usize,
    pub(crate) changed: Vec<ChangedNode>,
    /// The same key under another name.
    pub(crate) renamed: Vec<(String, String)>,
    pub(crate) removed: Vec<String>,
    pub(crate) added: Vec<String>,
    /// By place: the number in each.
    pub(crate) numbers: Vec<(String, Option<f64>, Option<f64>)>,
}

/// Compare two runs.
pub(crate) fn diff(
    old: &str,
    new: &str,
    place: &RecordArgs,
    as_json: bool,
    look: &Look,
) -> Outcome {
    let record = Record::of(place)?;
    let (old, new) = (record.run(old)?, record.run(new)?);
    let side = |run| side(&record.store, run).map_err(failed);
    let (old, new) = (side(old)?, side(new)?);
    let found = compare(&old, &new);
    if as_json {
        println!("{:#}", json(&old, &new, &found));
    } else {
        print!("{}", render::diff::text(&old, &new, &found, look));
    }
    Ok(exit::OK)
}

fn side(store: &Store, run: RunSeen) -> Result<Side, OpError> {
    let id = run.row.run;
    Ok(Side { nodes: store.nodes_seen(id)?, roots: store.roots_seen(id)?, run })
}

fn compare(old: &Side, new: &Side) -> Difference {
    let params = |side: &Side| -> BTreeMap<String, String> {
        side.run.params.iter().map(|(name, value)| (name.clone(), value.to_string())).collect()
    };
    let mut found = Difference {
        params: differing(&params(old), &params(new)),
        sources: differing(&old.run.about.sources, &new.run.about.sources),
        numbers: both(&old.roots.numbers, &new.roots.numbers),
        ..Difference::default()
    };
    compare_nodes(old, new, &mut found);
    found
}

/// Names in both or either, with both values.
fn both<T: Clone>(
    old: &BTreeMap<String, T>,
    new: &BTreeMap<String, T>,
) -> Vec<(String, Option<T>, Option<T>)> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let pair = |name: &String| (name.clone(), old.get(name).cloned(), new.get(name).cloned());
    names.into_iter().map(pair).collect()
}

fn differing<T: Clone + PartialEq>(
    old: &BTreeMap<String, T>,
    new: &BTreeMap<String, T>,
) -> Vec<(String, Option<T>, Option<T>)> {
    both(old, new).into_iter().filter(|(_, old, new)| old != new).collect()
}

fn compare_nodes(old: &Side, new: &Side, found: &mut Difference) {
    let by_name = |side: &Side| -> BTreeMap<String, usize> {
        side.nodes.iter().enumerate().map(|(at, node)| (node.name.clone(), at)).collect()
    };
    let (before, after) = (by_name(old), by_name(new));
    let names_by_key: BTreeMap<&str, &str> =
        new.nodes.iter().map(|node| (node.plan_key.as_str(), node.name.as_str())).collect();
    let mut lost = BTreeMap::new();
    for (name, at) in &before {
        let Some(node) = old.nodes.get(*at) else { continue };
        let Some(now) = after.get(name).and_then(|at| new.nodes.get(*at)) else {
            lost.insert(node.plan_key.as_str(), name.as_str());
            continue;
        };
        if node.plan_key == now.plan_key {
            found.same += 1;
            continue;
        }
        let (changes, reads) = match (&node.fields, &now.fields) {
            (Some(old), Some(new)) => (own_changes(old, new), reads(old, new, &names_by_key)),
            _ => (Vec::new(), Vec::new()),
        };
        found.changed.push(ChangedNode { name: name.clone(), changes, reads });
    }
    for (name, at) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        let key = new.nodes.get(*at).map_or("", |node| node.plan_key.as_str());
        match lost.remove(key) {
            Some(old) => found.renamed.push((old.to_owned(), name.clone())),
            None => found.added.push(name.clone()),
        }
    }
    found.removed = lost.into_values().map(str::to_owned).collect();
    found.removed.sort();
}

/// Names of the nodes that stand for other inputs now.
fn reads(old: &KeyFields, new: &KeyFields, names: &BTreeMap<&str, &str>) -> Vec<String> {
    let inputs = |fields: &KeyFields| -> BTreeSet<String> {
        let steps = fields.steps.iter().chain([fields]);
        let texts = steps.flat_map(|step| step.inputs.values());
        texts.map(|text| text.get(..64).unwrap_or(text).to_owned()).collect()
    };
    let before = inputs(old);
    let changed = inputs(new).into_iter().filter(|key| !before.contains(key));
    changed.filter_map(|key| names.get(key.as_str()).map(|name| (*name).to_owned())).collect()
}

fn json(old: &Side, new: &Side, found: &Difference) -> Value {
    let head = |side: &Side| {
        let row = &side.run.row;
        json!({
            "run": row.run, "file": row.file, "outcome": outcome(row), "exit_code": row.exit_code,
            "seconds": row.seconds, "ran": row.ran, "cached": row.cached, "failed": row.failed,
            "git": side.run.git, "sources": side.run.about.sources,
        })
    };
    let pairs = |pairs: &[(String, Option<String>, Option<String>)]| -> Vec<Value> {
        let each = pairs.iter();
        each.map(|(name, old, new)| json!({ "name": name, "old": old, "new": new })).collect()
    };
    let changed = found
        .changed
        .iter()
        .map(|node| json!({ "name": node.name, "changes": node.changes, "reads": node.reads }));
    let renamed = found.renamed.iter().map(|(old, new)| json!({ "old": old, "new": new }));
    let numbers = found.numbers.iter().map(|(place, old, new)| {
        json!({ "place": place, "old": old, "new": new, "difference": old.zip(*new).map(|(old, new)| new - old) })
    });
    let check = |root: Option<&RootRow>| {
        root.map(|root| json!({ "passed": root.passed, "shown": root.shown }))
    };
    let checks = check_pairs(old, new)
        .into_iter()
        .map(|(name, old, new)| json!({ "name": name, "old": check(old), "new": check(new) }));
    let times = times(old, new).into_iter().map(|(name, old, new)| {
        let time = |node: Option<&NodeSeen>| {
            node.map(|node| json!({ "state": node.state, "seconds": node.seconds }))
        };
        json!({ "name": name, "old": time(old), "new": time(new) })
    });
    json!({
        "old": head(old),
        "new": head(new),
        "params": pairs(&found.params),
        "sources": pairs(&found.sources),
        "nodes": {
            "same": found.same,
            "changed": changed.collect::<Vec<_>>(),
            "renamed": renamed.collect::<Vec<_>>(),
            "removed": found.removed,
            "added": found.added,
        },
        "checks": checks.collect::<Vec<_>>(),
        "numbers": numbers.collect::<Vec<_>>(),
        "times": times.collect::<Vec<_>>(),
    })
}

type Pair<'s, T> = (String, Option<&'s T>, Option<&'s T>);

/// Checks of either run, by name.
pub(crate) fn check_pairs<'s>(old: &'s Side, new: &'s Side) -> Vec<Pair<'s, RootRow>> {
    fn of(side: &Side) -> BTreeMap<String, &RootRow> {
        let checks = side.roots.rows.iter().filter(|root| root.kind == "check");
        checks.map(|root| (root.name.clone(), root)).collect()
    }
    both(&of(old), &of(new))
}

/// Nodes that took time in either run, those whose time differs most first.
pub(crate) fn times<'s>(old: &'s Side, new: &'s Side) -> Vec<Pair<'s, NodeSeen>> {
    fn of(side: &Side) -> BTreeMap<String, &NodeSeen> {
        side.nodes.iter().map(|node| (node.name.clone(), node)).collect()
    }
    let seconds = |node: Option<&NodeSeen>| node.map_or(0.0, |node| node.seconds);
    let mut pairs = both(&of(old), &of(new));
    pairs.retain(|(_, old, new)| seconds(*old) + seconds(*new) > 0.0);
    let apart = |pair: &Pair<'_, NodeSeen>| (seconds(pair.1) - seconds(pair.2)).abs();
    pairs.sort_by(|a, b| apart(b).total_cmp(&apart(a)).then_with(|| a.0.cmp(&b.0)));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(nodes: &[(&str, &str)], numbers: &[(&str, f64)]) -> Side {
        let node = |(name, key): &(&str, &str)| NodeSeen {
            name: (*name).to_owned(),
            op: "data.sort".to_owned(),
            plan_key: (*key).to_owned(),
            action_key: None,
            state: "ran".to_owned(),
            seconds: 1.0,
            digest: None,
            error: None,
            context: BTreeMap::new(),
            peak_bytes: None,
            fields: None,
        };
        let store = Store::empty().unwrap();
        let run = store.begin_run("a.pipe", "{}", &pipe_runtime::store::About::default()).unwrap();
        Side {
            run: store.run_seen(run).unwrap().unwrap(),
            nodes: nodes.iter().map(node).collect(),
            roots: Roots {
                rows: Vec::new(),
                numbers: numbers.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            },
        }
    }

    #[test]
    fn nodes_are_the_same_renamed_changed_or_gone() {
        let old = side(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")], &[("f1", 0.5)]);
        let new = side(&[("a", "1"), ("bee", "2"), ("c", "33"), ("e", "5")], &[("f1", 0.75)]);
        let found = compare(&old, &new);
        assert_eq!(found.same, 1);
        assert_eq!(found.renamed, [("b".to_owned(), "bee".to_owned())]);
        assert_eq!(found.changed.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["c"]);
        assert_eq!((found.removed, found.added), (vec!["d".to_owned()], vec!["e".to_owned()]));
        assert_eq!(found.numbers, [("f1".to_owned(), Some(0.5), Some(0.75))]);
    }
}
