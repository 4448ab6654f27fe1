//! The body of a driver: nodes that are made in the run, once for each point that the driver asks for.
//!
//! A body is closed. What it takes from outside comes through *slots*: first the variables that the driver binds, then
//! the captured results, in the order of the driver's argument `captures`. So the names of variables never enter a key,
//! and a node made from a body has the key that it would have if it had been written out: op, arguments, keys of the
//! captured nodes, and the digest of the bound value ([`given`]), never a position in a list.

use super::{Annotations, Arg, Args, Input, Node, NodeId, Promise, Worker};
use crate::key::{self, Key, KeyFields};
use crate::value::Const;
use pipe_grammar::Span;
use serde::{Deserialize, Serialize};

/// The op of a node that stands for a value which the run already has. It never runs.
pub const GIVEN: &str = "value.given";

/// What a driver makes for each point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Body {
    /// Names of the variables that the driver binds, for labels; slot `i` is variable `i`.
    pub bound: Vec<String>,
    /// Nodes in topological order, numbered from 0: an [`Arg::Input`] reads one of these, an [`Arg::Bound`] a slot. Chains of
    /// row ops are one node here too.
    pub nodes: Vec<Node>,
    /// The value of the body.
    pub result: Arg,
}

/// A slot of a body, or a field of what stands there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Which slot.
    pub slot: u32,
    /// Fields taken from it, outermost first.
    pub path: Vec<String>,
}

/// Nodes made from a body, with the value that they come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The nodes, numbered on from those of the plan.
    pub nodes: Vec<Node>,
    /// The value of the body for this point.
    pub result: Arg,
}

impl Body {
    /// The nodes for one point. `slots` gives what stands in each slot (of nodes in the plan), `first` the number of
    /// the next node, `label` what the names of the nodes begin with, `key_of` the keys of the plan's nodes.
    #[must_use]
    pub fn make(
        &self,
        slots: &[Input],
        first: u32,
        label: &str,
        key_of: impl Fn(NodeId) -> Option<Key>,
    ) -> Made {
        let place = |arg: &Arg| placed(arg, slots, first);
        let mut nodes: Vec<Node> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let id = NodeId(first + node.id.0);
            let mut args = node.args.clone();
            args.update(|arg| Some(place(arg)));
            let dot = if node.name.is_empty() || node.name.starts_with('[') { "" } else { "." };
            let name = format!("{label}{dot}{}", node.name);
            let mut made = Node { id, name, args, ..node.clone() };
            for step in &mut made.fused {
                step.args.update(|arg| Some(place(arg)));
            }
            let local = |id: NodeId| match id.0.checked_sub(first) {
                Some(at) => nodes.get(at as usize).map(|node| node.key),
                None => key_of(id),
            };
            if let Some(fields) = key::plan_fields(&made, local) {
                made.key = fields.key();
                let steps = fields.steps.iter().map(KeyFields::key).chain([made.key]);
                made.fused.iter_mut().zip(steps).for_each(|(step, key)| step.key = key);
            }
            nodes.push(made);
        }
        Made { result: place(&self.result), nodes }
    }

    /// The body as a text for keys: equal for bodies that compute the same from what stands in their slots.
    #[must_use]
    pub fn digest(&self) -> Option<String> {
        let local = |input: &Input| {
            let node = self.nodes.get(input.node.0 as usize)?;
            Some(key::plan_input(node.key, &input.path))
        };
        let mut args = Args::from([("result".to_owned(), self.result.clone())]);
        let effects = self.nodes.iter().filter(|node| node.runs.effect);
        let mut effects: Vec<(Key, Arg)> = effects
            .map(|node| (node.key, Arg::Input(Input { node: node.id, path: Vec::new() })))
            .collect();
        effects.sort_by_key(|(key, _)| *key);
        args.insert("effects".into(), Arg::List(effects.into_iter().map(|(_, arg)| arg).collect()));
        Some(KeyFields::of("body", 1, None, &args, &[], local)?.key().to_string())
    }
}

/// An argument of a body as an argument in the plan.
fn placed(arg: &Arg, slots: &[Input], first: u32) -> Arg {
    let again = |arg: &Arg| placed(arg, slots, first);
    match arg {
        Arg::Bound(bound) => match slots.get(bound.slot as usize) {
            Some(slot) => {
                let path = slot.path.iter().chain(&bound.path).cloned().collect();
                Arg::Input(Input { node: slot.node, path })
            }
            None => arg.clone(),
        },
        Arg::Input(Input { node, path }) => {
            Arg::Input(Input { node: NodeId(first + node.0), path: path.clone() })
        }
        Arg::Reading { function, reads } => {
            Arg::Reading { function: function.clone(), reads: reads.iter().map(again).collect() }
        }
        Arg::List(items) => Arg::List(items.iter().map(again).collect()),
        Arg::Record(fields) => {
            Arg::Record(fields.iter().map(|(name, arg)| (name.clone(), again(arg))).collect())
        }
        Arg::Const(_) | Arg::Row(_) | Arg::Columns(_) | Arg::Files(_) | Arg::Body(_) => arg.clone(),
    }
}

/// The node that stands for a value of this digest: what a driver binds. It is done before it begins.
#[must_use]
pub fn given(id: NodeId, name: &str, ty: &str, digest: &str, span: Span) -> Node {
    let args = Args::from([("digest".to_owned(), Arg::Const(Const::Str(digest.to_owned())))]);
    let mut node = Node {
        id,
        name: name.to_owned(),
        op: GIVEN.to_owned(),
        version: 1,
        tool: None,
        args,
        nokey: Vec::new().into(),
        key: Key([0; 32]),
        ty: ty.into(),
        columns: None,
        span,
        call: "".into(),
        doc: None,
        fused: Vec::new(),
        runs: Annotations::light(),
    };
    if let Some(fields) = key::plan_fields(&node, |_| None) {
        node.key = fields.key();
    }
    node
}

impl Annotations {
    /// Those of a node that does next to nothing.
    #[must_use]
    pub fn light() -> Self {
        Self {
            worker: Worker::Here,
            threads: 1,
            gpu: 0,
            device: "cpu".into(),
            memory: None,
            estimate: None,
            exclusive: false,
            level: 0,
            group: None,
            batch: None,
            critical: false,
            retry: 0,
            timeout: None,
            cache: true,
            promise: Promise::Exact,
            streamable: false,
            effect: false,
        }
    }
}
