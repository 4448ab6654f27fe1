//! Computing again on purpose: `--fresh`, `--force`, and `--verify`, which compares with what is stored.

use super::task::Computed;
use super::{Engine, State};
use crate::content;
use crate::growing::is_driver;
use crate::op::OpError;
use crate::store::{Blobs, Recorded, StoredResult};
use crate::value::{Artifact, Value};
use pipe_compiler::plan::Promise;

/// What came of a comparison with a stored result.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// It is the same, bit for bit.
    Same,
    /// Floats differ within what the op promises.
    Within,
    /// The two were computed in different places, and what they are made of says nothing.
    Elsewhere(String),
    /// This differs.
    Differs(String),
}

impl Engine<'_> {
    /// Why the node is computed although its result may be stored, if it is.
    pub(super) fn asked_again(&self, at: usize) -> Option<&'static str> {
        if self.options.fresh {
            Some("asked for with --fresh")
        } else if self.options.force.contains(&self.node(at).name) {
            Some("asked for with --force")
        } else if self.verified.contains(&at) {
            Some("compared with what is stored")
        } else {
            None
        }
    }

    /// Nodes of the plan that run whether or not anybody needs them.
    pub(super) fn asked_for(&self) -> impl Iterator<Item = usize> + '_ {
        let forced = !self.options.force.is_empty() || !self.verified.is_empty();
        let all = if forced { self.nodes.plan.nodes.len() } else { 0 };
        (0..all).filter(|at| self.asked_again(*at).is_some())
    }

    /// Choose the nodes to compare: other ones in each run, so that all have their turn.
    pub(super) fn choose_verified(&mut self) -> Result<(), OpError> {
        if self.options.verify == 0 {
            return Ok(());
        }
        let mut candidates = Vec::new();
        for (at, node) in self.nodes.plan.nodes.iter().enumerate() {
            let comparable = node.runs.promise != Promise::Timed && !is_driver(node);
            if !comparable || self.volatile.get(at).copied().unwrap_or(true) {
                continue;
            }
            if let Recorded::Whole(_) = self.store.result_of_plan(&node.key.to_string())? {
                let turn = blake3::hash(format!("{} {}", node.key, self.run).as_bytes());
                candidates.push((*turn.as_bytes(), at));
            }
        }
        candidates.sort_unstable();
        self.verified = candidates.iter().take(self.options.verify).map(|(_, at)| *at).collect();
        Ok(())
    }

    /// The stored result has the last word: what was computed again is compared with it and not kept.
    pub(super) fn compare(&mut self, at: usize, computed: Computed) -> Result<(), OpError> {
        let key = self.slot(at).action_key.clone().unwrap_or_default();
        let Recorded::Whole(stored) = self.store.result(&key)? else {
            // It was lost meanwhile, so there is nothing to compare with.
            return self.done(at, computed);
        };
        let node = self.node(at);
        let verdict = verdict(&stored, &computed, node.runs.promise, &self.shared.blobs);
        let told = match verdict {
            Verdict::Same => "as stored".to_owned(),
            Verdict::Within => "as stored, within what the op promises".to_owned(),
            Verdict::Elsewhere(why) => format!("not compared: {why}"),
            Verdict::Differs(what) => {
                let message = format!(
                    "`{}` gave another result than the one that run {} stored: {what} differs.",
                    node.name, stored.run
                );
                let error = OpError::new("run::not_reproduced", message).help(
                    "What is stored stays. Remove what the step takes from elsewhere (time, random numbers, files that are not declared), or forget the result with `pipe store forget`.",
                );
                return self.fail(at, error);
            }
        };
        self.done_as(
            at,
            Computed { value: stored.value, digest: stored.digest, ..computed },
            Some(told),
        )
    }

    /// Whether what the node gives is compared and not kept.
    pub(super) fn is_verified(&self, at: usize) -> bool {
        self.verified.contains(&at) && !matches!(self.slot(at).state, State::Done)
    }
}

fn verdict(stored: &StoredResult, computed: &Computed, promise: Promise, blobs: &Blobs) -> Verdict {
    if stored.digest == computed.digest {
        return Verdict::Same;
    }
    let Some(what) = first_difference("", &stored.value, &computed.value, blobs, 0.0) else {
        return Verdict::Same;
    };
    let Promise::Numeric(tolerance) = promise else { return Verdict::Differs(what) };
    // In an equal place a numeric op promises bits as well.
    let places = |name: &str| (stored.context.get(name), computed.context.get(name));
    let moved = computed.context.keys().chain(stored.context.keys()).find(|name| {
        let (before, now) = places(name);
        before != now
    });
    let Some(name) = moved else { return Verdict::Differs(what) };
    match first_difference("", &stored.value, &computed.value, blobs, tolerance) {
        None => Verdict::Within,
        Some(what) if what.ends_with(CONTENT) => {
            let (before, now) = places(name);
            let word = |value: Option<&String>| value.map_or("unknown", String::as_str).to_owned();
            Verdict::Elsewhere(format!("{name} is {} and was {}", word(now), word(before)))
        }
        Some(what) => Verdict::Differs(what),
    }
}

/// Ends the name of an artifact whose content differs.
const CONTENT: &str = " (content)";

/// The first part that differs, by name. Floats are equal within `tolerance`, relative to the larger one.
fn first_difference(
    name: &str,
    left: &Value,
    right: &Value,
    blobs: &Blobs,
    tolerance: f64,
) -> Option<String> {
    let whole = || if name.is_empty() { "the value".to_owned() } else { format!("`{name}`") };
    let inner = |part: &str| match name {
        "" => part.to_owned(),
        name => format!("{name}.{part}"),
    };
    match (left, right) {
        (Value::Record(left), Value::Record(right)) if left.keys().eq(right.keys()) => {
            left.iter().zip(right).find_map(|((part, left), (_, right))| {
                first_difference(&inner(part), left, right, blobs, tolerance)
            })
        }
        (Value::List(left), Value::List(right)) if left.len() == right.len() => {
            left.iter().zip(right).enumerate().find_map(|(at, (left, right))| {
                first_difference(&format!("{name}[{at}]"), left, right, blobs, tolerance)
            })
        }
        (Value::Artifact(left), Value::Artifact(right)) => {
            let inside = (left.digest != right.digest).then(|| differing_file(left, right, blobs));
            inside
                .map(|file| file.map_or_else(whole, |file| format!("`{}`", inner(&file))) + CONTENT)
        }
        (Value::Float(left), Value::Float(right)) => {
            let close = (left - right).abs() <= tolerance * left.abs().max(right.abs());
            (left.to_bits() != right.to_bits() && !close).then(whole)
        }
        (left, right) => (left.digest() != right.digest()).then(whole),
    }
}

/// The first file that two folders do not share.
fn differing_file(left: &Artifact, right: &Artifact, blobs: &Blobs) -> Option<String> {
    let (left, right) = (blobs.path(&left.digest), blobs.path(&right.digest));
    if !left.is_dir() || !right.is_dir() {
        return None;
    }
    let mut names = content::folder_files(&left).ok()?;
    names.extend(content::folder_files(&right).ok()?);
    names.sort();
    names.dedup();
    let digest =
        |folder: &std::path::Path, name: &str| content::file_digest(&folder.join(name)).ok();
    names.into_iter().find(|name| digest(&left, name) != digest(&right, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn blobs() -> (tempfile::TempDir, Blobs) {
        let folder = tempfile::tempdir().unwrap();
        let store = crate::Store::open(&folder.path().join(".pipe")).unwrap();
        let blobs = store.blobs().clone();
        (folder, blobs)
    }

    fn stored(value: Value, threads: &str) -> StoredResult {
        StoredResult {
            action_key: String::new(),
            digest: value.digest(),
            value,
            context: BTreeMap::from([("threads".to_owned(), threads.to_owned())]),
            run: 1,
            seconds: 0.0,
        }
    }

    fn computed(value: Value, threads: &str) -> Computed {
        let StoredResult { value, digest, context, .. } = stored(value, threads);
        Computed { value, digest, signatures: BTreeMap::new(), context, peak_bytes: None }
    }

    /// Exact ops give the same bits everywhere, numeric ones in an equal place; elsewhere floats may differ a little.
    #[test]
    fn results_are_compared_within_what_the_op_promises() {
        let (_folder, blobs) = blobs();
        let record = |f1: f64, n: i64| {
            Value::Record(BTreeMap::from([
                ("f1".to_owned(), Value::Float(f1)),
                ("n".to_owned(), Value::Int(n)),
            ]))
        };
        let judge = |now: Value, threads: &str, promise| {
            verdict(&stored(record(0.5, 3), "2"), &computed(now, threads), promise, &blobs)
        };
        let numeric = Promise::Numeric(1e-6);
        let differs = |name: &str| Verdict::Differs(format!("`{name}`"));
        assert_eq!(judge(record(0.5, 3), "1", Promise::Exact), Verdict::Same);
        assert_eq!(judge(record(0.500_000_1, 3), "1", Promise::Exact), differs("f1"));
        assert_eq!(judge(record(0.500_000_1, 3), "2", numeric), differs("f1"));
        assert_eq!(judge(record(0.500_000_1, 3), "1", numeric), Verdict::Within);
        assert_eq!(judge(record(0.501, 3), "1", numeric), differs("f1"));
        assert_eq!(judge(record(0.5, 4), "1", numeric), differs("n"));
    }
}
