//! What a plan is made of: nodes, their arguments, and what the runtime must obey.

use super::args::{Args, Shared};
use super::body::{Body, Bound};
use crate::key::Key;
use crate::value::Const;
use pipe_grammar::Span;
use pipe_row::ir::RowFn;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of a node in its plan; nodes are in topological order, so inputs have smaller numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u32);

/// One op call, ready to run once its inputs have values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its number.
    pub id: NodeId,
    /// Display name: the `let` it belongs to, `adapters[rank=8]`, or `joined.join` for inner steps; unique in the plan.
    pub name: String,
    /// Registered op, e.g. `data.join`.
    pub op: String,
    /// Version of the op's meaning, from its signature.
    pub version: u32,
    /// The tool that computes it with its version (`torch 2.11.0`), when the signature names one; enters the key.
    #[serde(default)]
    pub tool: Option<Shared<String>>,
    /// Arguments by parameter name. Defaults are filled in, so the map is complete and canonical.
    pub args: Args,
    /// Arguments that stay out of keys (`@nokey`).
    pub nokey: Shared<Vec<String>>,
    /// Plan key.
    pub key: Key,
    /// Type of the result, as written in `.pipe`.
    pub ty: Shared<String>,
    /// Columns of the result when it is a table.
    pub columns: Option<Shared<Vec<Column>>>,
    /// Where the call stands.
    pub span: Span,
    /// The call as messages show it, shortened: `detect.pca_window(joined, window: 60s, ...)`.
    pub call: Shared<String>,
    /// `##` of the declaration.
    pub doc: Option<Shared<String>>,
    /// What the runtime must obey.
    pub runs: Annotations,
    /// For a node that stands for a chain of row ops: the nodes of the chain as they were keyed, first to last. The table
    /// of each but the first is the result of the one before it, whatever its argument says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fused: Vec<Node>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name, any text.
    pub name: String,
    /// Its scalar type.
    pub ty: pipe_row::ir::Ty,
    /// Whether values may be missing.
    pub optional: bool,
}

/// An argument of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arg {
    /// A value known at plan time.
    Const(Const),
    /// The result of another node, or a part of it.
    Input(Input),
    /// A function of a row.
    Row(RowFn),
    /// A function of a row that reads results too: its last `reads.len()` columns stand for them, one each. They are
    /// scalars; the runtime puts their values in place of the columns.
    Reading {
        /// The function.
        function: RowFn,
        /// What its last columns stand for: inputs (in a body, slots too).
        reads: Vec<Arg>,
    },
    /// The body of a driver.
    Body(Box<Body>),
    /// In a body only: what stands in one of its slots.
    Bound(Bound),
    /// Columns of a table type given as `row: T`, or read from the file's head; sorted by name in keys.
    Columns(Vec<Column>),
    /// Files read at plan time: sorted paths with the digests of their contents. Only digests enter keys.
    Files(Vec<FileArg>),
    /// A list with something in it that is not constant.
    List(Vec<Arg>),
    /// A record with something in it that is not constant.
    Record(BTreeMap<String, Arg>),
}

/// One file that an op reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileArg {
    /// Path as the runtime opens it.
    pub path: String,
    /// BLAKE3 of the content, hex.
    pub digest: String,
}

/// `node.path.to.field`: `docs.train` is the field `train` of the result of node `docs`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Input {
    /// Whose result.
    pub node: NodeId,
    /// Fields taken from it, outermost first (record fields, or readable fields of an artifact).
    pub path: Vec<String>,
}

/// Execution annotations. None of them changes what is computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Annotations {
    /// Where the op runs: in this process, or in a torch worker.
    pub worker: Worker,
    /// CPU threads the node takes: from the signature (`threads: "all"` becomes the machine's count), never from load.
    pub threads: u32,
    /// GPUs asked for by `@gpu`.
    pub gpu: u32,
    /// `cuda` or `cpu`, decided by the plan.
    pub device: String,
    /// Bytes asked for by `@memory`.
    pub memory: Option<u64>,
    /// Bytes that it needs at the least, where a bound is known.
    #[serde(default)]
    pub estimate: Option<u64>,
    /// No other node runs beside it.
    pub exclusive: bool,
    /// Longest path from a source, in nodes.
    pub level: u32,
    /// Nodes with one group id may run as one task (batch group slot).
    pub group: Option<u32>,
    /// What makes nodes of this one's kind a group, also those that a driver makes later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<Shared<Batch>>,
    /// Lies on the critical path (by estimated cost).
    pub critical: bool,
    /// `@retry(n)`.
    pub retry: u32,
    /// `@timeout(d)`, nanoseconds.
    pub timeout: Option<i64>,
    /// `@cache(off)` gives false.
    pub cache: bool,
    /// What equal keys promise.
    pub promise: Promise,
    /// Whether the op can consume its input batch by batch (`step`).
    pub streamable: bool,
    /// Has an effect outside the store.
    pub effect: bool,
}

/// What makes nodes one batch group: a label, and arguments that are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The op, or what several ops have in common.
    pub label: String,
    /// Names of the arguments.
    pub args: Vec<String>,
}

/// Where an op runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Worker {
    /// A thread of the `pipe` process.
    Here,
    /// The worker program `pipe-torch`.
    Torch,
}

/// What two runs of one key may differ by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Promise {
    /// Equal bytes.
    Exact,
    /// Equal within this relative tolerance; equal bytes in an equal context.
    Numeric(f64),
    /// Depends on timing.
    Timed,
}

/// What the program asks for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Root {
    /// Name of the `output` or `check`.
    pub name: String,
    /// Which of the two.
    pub kind: RootKind,
    /// Its value: an input, a constant, or a list or record of them.
    pub value: Arg,
    /// `##` of the declaration.
    pub doc: Option<String>,
    /// Where it is declared.
    pub span: Span,
    /// For a check: the operands of its comparison, to show `0.74 >= 0.80`.
    pub shows: Option<Comparison>,
}

/// `left op right` of a check, so that its report can print both sides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// Left operand.
    pub left: Arg,
    /// `>=`.
    pub op: String,
    /// Right operand.
    pub right: Arg,
}

/// Kinds of roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RootKind {
    /// Written to the output folder.
    Output,
    /// A bool; false makes the run exit with 3.
    Check,
}

/// The whole plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The program's file as given.
    pub file: String,
    /// Nodes in topological order; `nodes[i].id == NodeId(i)`.
    pub nodes: Vec<Node>,
    /// Outputs and checks in file order.
    pub roots: Vec<Root>,
    /// Params with their values, for the run record.
    pub params: BTreeMap<String, Const>,
    /// Most nodes on one level.
    pub widest: u32,
}

impl Arg {
    /// Every node result that this argument reads.
    pub fn inputs<'a>(&'a self, found: &mut Vec<&'a Input>) {
        match self {
            Self::Input(input) => found.push(input),
            Self::List(items) => items.iter().for_each(|item| item.inputs(found)),
            Self::Record(fields) => fields.values().for_each(|field| field.inputs(found)),
            Self::Reading { reads, .. } => reads.iter().for_each(|read| read.inputs(found)),
            Self::Const(_)
            | Self::Row(_)
            | Self::Columns(_)
            | Self::Files(_)
            | Self::Body(_)
            | Self::Bound(_) => {}
        }
    }
}

impl Node {
    /// A text that the nodes of one batch group share, and no others. Their inputs have the numbers of one plan.
    #[must_use]
    pub fn batch_key(&self) -> Option<String> {
        let batch = self.runs.batch.as_deref()?;
        let shared = batch.args.iter().map(|name| format!(" {:?}", self.args.get(name)));
        Some(shared.fold(batch.label.clone(), |key, arg| key + &arg))
    }

    /// Every node result that this node reads, in argument-name order.
    #[must_use]
    pub fn inputs(&self) -> Vec<&Input> {
        let mut found = Vec::new();
        self.args.values().for_each(|arg| arg.inputs(&mut found));
        found
    }
}
