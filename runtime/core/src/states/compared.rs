//! A node beside what the last run knew of it: what changed, in words.

use crate::growing::Growing;
use crate::keys;
use crate::store::LastNode;
use pipe_compiler::key::{FieldChange, KeyFields};
use pipe_compiler::plan::Node;
use std::collections::BTreeMap;

/// A node beside what the last run knew of it.
pub(super) struct Compared {
    pub(super) last: Option<LastNode>,
    /// Fields of its own that changed.
    pub(super) own: Vec<FieldChange>,
    /// Names of the inputs that may be others now.
    pub(super) inputs: Vec<String>,
}

impl Compared {
    pub(super) fn new(nodes: &Growing<'_>, node: &Node, last: Option<LastNode>) -> Self {
        let now = keys::fields_of(nodes, node);
        let before = last.as_ref().and_then(|last| last.fields.clone());
        let (own, inputs) = match (before, now) {
            (Some(before), Some(now)) => {
                (own_changes(&before, &now), changed_inputs(nodes, node, &before, &now))
            }
            _ => (Vec::new(), Vec::new()),
        };
        Self { last, own, inputs }
    }

    /// Whether nothing but its inputs can have changed since a result that may serve again.
    pub(super) fn only_inputs(&self) -> bool {
        let had_result = self.last.as_ref().is_some_and(|last| last.digest.is_some());
        had_result && self.own.is_empty()
    }

    pub(super) fn text(&self, node: &Node, lost: bool, will_run: impl Fn(&str) -> bool) -> String {
        if node.runs.effect {
            return "it has an effect outside the store".to_owned();
        }
        if !node.runs.cache {
            return "@cache(off)".to_owned();
        }
        if keys::repeats(node) {
            return "its body holds what runs each time".to_owned();
        }
        let Some(last) = &self.last else { return "first run".to_owned() };
        if !self.own.is_empty() {
            return listed(&self.own, last.run);
        }
        if let Some(first) = self.inputs.first() {
            let verb = if will_run(first) { "will run" } else { "changed" };
            let more = match self.inputs.len() {
                1 => String::new(),
                number => format!(" and {} more", number - 1),
            };
            return format!("input `{first}` {verb}{more}");
        }
        if lost {
            return "its result was lost or changed".to_owned();
        }
        match (last.state.as_str(), &last.error) {
            ("failed", Some(error)) => format!("it failed in run {}: {}", last.run, error.message),
            ("failed", None) => format!("it failed in run {}", last.run),
            ("skipped", _) => format!("run {} did not get to it", last.run),
            _ => "its result is no longer in the store".to_owned(),
        }
    }
}

/// What differs between two keys apart from what they read.
#[must_use]
pub fn own_changes(before: &KeyFields, now: &KeyFields) -> Vec<FieldChange> {
    let bare = |fields: &KeyFields| KeyFields { inputs: BTreeMap::new(), ..fields.clone() };
    KeyFields::diff(&bare(before), &bare(now))
}

fn changed_inputs(
    nodes: &Growing<'_>,
    node: &Node,
    before: &KeyFields,
    now: &KeyFields,
) -> Vec<String> {
    let mut names = Vec::new();
    let (earlier, inputs) = (before.reads(), node.inputs());
    // With equal keys of the steps before, a step alone and one that runs as one with others read the same.
    let same = before.inputs == now.inputs;
    for (place, key) in now.reads() {
        if same || earlier.get(&place) == Some(&key) {
            continue;
        }
        let read = inputs.iter().filter_map(|input| nodes.get(input.node.0 as usize));
        let matching = read.filter(|input| key.starts_with(&input.key.to_string()));
        for input in matching {
            if !names.contains(&input.name) {
                names.push(input.name.clone());
            }
        }
    }
    names
}

fn listed(changes: &[FieldChange], since: i64) -> String {
    let one = |change: &FieldChange| match (&change.old, &change.new) {
        (Some(old), Some(new)) if is_digest(old) && is_digest(new) => {
            format!("the content of `{}` changed", change.field)
        }
        (Some(old), Some(new)) => {
            format!("`{}` changed from {} to {}", change.field, short(old), short(new))
        }
        (None, _) => format!("`{}` is new", change.field),
        (_, None) => format!("`{}` is gone", change.field),
    };
    let shown: Vec<String> = changes.iter().take(2).map(one).collect();
    let more = changes.len().saturating_sub(2);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more} since run {since}", shown.join(", "))
}

fn short(text: &str) -> String {
    let shown: String = text.chars().take(40).collect();
    if shown.len() < text.len() { format!("{shown}...") } else { shown }
}

/// A digest, or a list of digests: nothing that people read.
fn is_digest(text: &str) -> bool {
    let bare = text.trim_matches(['[', ']']);
    bare.split(", ")
        .all(|part| part.len() == 64 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
