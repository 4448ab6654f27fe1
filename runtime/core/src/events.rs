//! Events: the only output of the core. Renderers, `--events` files and the worker protocol share them.

use crate::op::OpError;
use crate::value::Value;
use serde::{Deserialize, Serialize};

/// How a node ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    /// Ran to its end.
    Ran,
    /// Its result was in the store.
    Cached,
    /// It failed.
    Failed,
    /// Something it needs failed, or the run was stopped.
    Skipped,
}

/// What happened. In `--events` files each line also has `time` (RFC 3339, UTC).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A run begins.
    RunStarted {
        /// Number of the run in the store.
        run: i64,
        /// The program.
        file: String,
        /// Nodes in the plan.
        nodes: usize,
        /// Nodes that are expected to run.
        to_run: usize,
    },
    /// A node begins.
    NodeStarted {
        /// Its name.
        node: String,
        /// Its op.
        op: String,
        /// Why it runs, in words.
        why: String,
        /// Continues from a checkpoint.
        resumed: bool,
    },
    /// A driver has asked for results: those of these nodes, which are told of like all others. It may do so again.
    NodeExpanded {
        /// The driver.
        node: String,
        /// Names of the nodes.
        elements: Vec<String>,
    },
    /// Progress within a node.
    Progress {
        /// Its name.
        node: String,
        /// Units done.
        done: u64,
        /// Units in all; 0 when unknown.
        total: u64,
        /// A short note.
        note: String,
    },
    /// A point of a curve.
    Metric {
        /// Its node.
        node: String,
        /// Name of the curve.
        name: String,
        /// Step.
        step: u64,
        /// Value.
        value: f64,
    },
    /// Something worth knowing.
    Warning {
        /// Its node.
        node: String,
        /// What.
        message: String,
    },
    /// A node ended.
    NodeFinished {
        /// Its name.
        node: String,
        /// How.
        state: NodeState,
        /// Wall time; 0 for cached ones.
        seconds: f64,
        /// Short description of the result (`1,200 rows`), empty when there is none.
        result: String,
        /// The result's digest equals that of the last run although the node ran (early cut-off).
        unchanged: bool,
        /// Why it failed.
        error: Option<OpError>,
    },
    /// A check was decided.
    CheckDecided {
        /// Its name.
        name: String,
        /// Whether it holds.
        passed: bool,
        /// Its value, or why there is none.
        value: Value,
        /// `0.74 >= 0.8`, empty when the check is not a comparison.
        shown: String,
        /// Its documentation.
        doc: Option<String>,
    },
    /// An output is `none`, so nothing was written.
    OutputEmpty {
        /// Its name.
        name: String,
    },
    /// A file of an earlier run is gone, because it is no output any more.
    OutputRemoved {
        /// Name of the output then.
        name: String,
        /// Where it was.
        path: String,
    },
    /// An output was written.
    OutputWritten {
        /// Its name.
        name: String,
        /// Where.
        path: String,
        /// Bytes.
        bytes: u64,
    },
    /// The run ended.
    RunFinished {
        /// Nodes that ran.
        ran: usize,
        /// Nodes whose results were in the store.
        cached: usize,
        /// Nodes that failed.
        failed: usize,
        /// Nodes that were skipped.
        skipped: usize,
        /// Checks that are false.
        checks_failed: usize,
        /// Wall time.
        seconds: f64,
        /// Stopped by a signal with its state saved.
        stopped: bool,
        /// The program changed meanwhile: another run has taken over.
        #[serde(default)]
        superseded: bool,
    },
}
