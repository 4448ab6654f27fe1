//! Traces: what runs asked for, one node a line, to be replayed under other policies and budgets.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A node of a run, whether it ran then or was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Number of the run; lines of one run stand together, inputs before their readers.
    pub run: i64,
    /// Key of the result: equal keys are equal results.
    pub key: String,
    /// The op.
    pub op: String,
    /// Seconds that its producer takes.
    pub seconds: f64,
    /// Size of the result's blobs.
    pub bytes: u64,
    /// Keys of the results that it is made from, all of the same run.
    pub parents: Vec<String>,
    /// Who ran it.
    pub user: String,
    /// Which program of that user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// An output or a check reads it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub output: bool,
}

/// Runs in the order in which they happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The steps of each run.
    pub runs: Vec<Vec<Step>>,
}

impl Trace {
    /// Read JSON Lines.
    ///
    /// # Errors
    /// With the number of the line that is no step, goes back to an earlier run, repeats a key of its run, has a time that
    /// is none, or is made from what does not stand before it in its run.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut runs: Vec<Vec<Step>> = Vec::new();
        let mut before: BTreeSet<String> = BTreeSet::new();
        for (at, line) in text.lines().enumerate() {
            let fail = |what: String| format!("line {}: {what}", at + 1);
            let step: Step = serde_json::from_str(line).map_err(|error| fail(error.to_string()))?;
            let last = runs.last().and_then(|steps| steps.first()).map(|step| step.run);
            if last.is_some_and(|last| step.run < last) {
                return Err(fail(format!("run {} after run {}", step.run, last.unwrap_or(0))));
            }
            if last != Some(step.run) {
                runs.push(Vec::new());
                before.clear();
            }
            if let Some(unknown) = step.parents.iter().find(|parent| !before.contains(*parent)) {
                return Err(fail(format!(
                    "`{unknown}` does not stand before it in run {}",
                    step.run
                )));
            }
            if !step.seconds.is_finite() || step.seconds < 0.0 {
                return Err(fail(format!("{} is no time", step.seconds)));
            }
            if !before.insert(step.key.clone()) {
                return Err(fail(format!("`{}` stands twice in run {}", step.key, step.run)));
            }
            if let Some(run) = runs.last_mut() {
                run.push(step);
            }
        }
        Ok(Self { runs })
    }

    /// Write JSON Lines.
    #[must_use]
    pub fn write(&self) -> String {
        let lines = self.runs.iter().flatten().filter_map(|step| serde_json::to_string(step).ok());
        lines.map(|line| line + "\n").collect()
    }

    /// Bytes of all different results together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let steps = self.runs.iter().flatten();
        let sizes: BTreeMap<&str, u64> =
            steps.map(|step| (step.key.as_str(), step.bytes)).collect();
        sizes.values().sum()
    }
}
