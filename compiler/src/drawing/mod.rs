//! The plan as a picture: its boxes and edges, for Graphviz and for the SVG that is laid out here.
//!
//! Large plans are drawn in groups: boxes that are alike (elements of one fan-out first, then whatever has the same op and
//! reads the same, then all of one op and level) become one box with their number. Each grouping keeps the graph acyclic.

mod layout;
mod svg;

pub use layout::{Layout, Placed, Point, Routed, layout};
pub use svg::svg;

use crate::explain::{State, shown_op, sources, state_of};
use crate::plan::{Node, Plan, RootKind, Worker};
use std::collections::{BTreeMap, BTreeSet};

/// Boxes up to which each node has its own.
const MANY: usize = 60;

/// Boxes up to which only those are grouped that read the same.
const TOO_MANY: usize = 150;

/// What a box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Nodes that run in the process of pipe.
    Here,
    /// Nodes that run in a torch worker.
    Torch,
    /// An output.
    Output,
    /// A check.
    Check,
}

/// A box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Name of the node, output or check; of a group what its nodes have in common.
    pub name: String,
    /// The op, or `output` or `check`.
    pub op: String,
    /// What it stands for.
    pub kind: Kind,
    /// By state (`cached`, `run`, `maybe`, `expand`): how many nodes it stands for. Empty for outputs and checks.
    pub states: BTreeMap<String, usize>,
    /// Nodes, outputs or checks that it stands for.
    pub count: usize,
    /// Nodes that it makes in the run, as far as that is known.
    pub made: usize,
    /// Level in the plan.
    pub level: u32,
    /// Lies on the critical path.
    pub critical: bool,
    /// Why it runs, and what it is for; of a group the names of the first nodes.
    pub note: String,
}

/// Boxes and edges, each from an earlier box to a later one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// The boxes.
    pub shapes: Vec<Shape>,
    /// Edges by the numbers of their boxes.
    pub edges: BTreeSet<(usize, usize)>,
}

impl Drawing {
    /// A box for each node, output and check. `states` has one state per node; without, every node will run.
    #[must_use]
    pub fn of(plan: &Plan, states: &[State]) -> Self {
        let mut drawing = Self::default();
        for (at, node) in plan.nodes.iter().enumerate() {
            drawing.shapes.push(node_shape(node, states.get(at)));
            let inputs = sources(plan, node).into_iter();
            drawing.edges.extend(inputs.map(|input| (input.id.0 as usize, at)));
        }
        for root in &plan.roots {
            let at = drawing.shapes.len();
            let mut inputs = Vec::new();
            root.value.inputs(&mut inputs);
            let level = inputs.iter().filter_map(|input| plan.nodes.get(input.node.0 as usize));
            let level = level.map(|node| node.runs.level + 1).max().unwrap_or(0);
            let check = root.kind == RootKind::Check;
            drawing.shapes.push(Shape {
                name: root.name.clone(),
                op: if check { "check" } else { "output" }.to_owned(),
                kind: if check { Kind::Check } else { Kind::Output },
                states: BTreeMap::new(),
                count: 1,
                made: 0,
                level,
                critical: false,
                note: root.doc.clone().unwrap_or_default(),
            });
            drawing.edges.extend(inputs.iter().map(|input| (input.node.0 as usize, at)));
        }
        drawing
    }

    /// Whether an edge is a step of the critical path: its boxes follow each other there.
    fn is_critical(&self, from: usize, to: usize) -> bool {
        let critical = |at: usize| self.shapes.get(at).is_some_and(|shape| shape.critical);
        critical(from) && critical(to) && !(from + 1..to).any(critical)
    }

    /// The same with groups, as far as there are too many boxes to be read.
    #[must_use]
    pub fn grouped(self) -> Self {
        let stem = |shape: &Shape| shape.name.split(['[', '#']).next().unwrap_or("").to_owned();
        let by: [(usize, &Marking<'_>); 3] = [
            (MANY, &|shape, reads| Mark { stem: stem(shape), reads: reads.to_vec(), level: 0 }),
            (MANY, &|shape, reads| Mark {
                stem: shape.op.clone(),
                reads: reads.to_vec(),
                level: 0,
            }),
            (TOO_MANY, &|shape, _| Mark {
                stem: shape.op.clone(),
                reads: Vec::new(),
                level: shape.level,
            }),
        ];
        let mut last = None;
        for (most, mark) in by {
            if last.as_ref().unwrap_or(&self).shapes.len() <= most {
                break;
            }
            last = Some(self.grouped_by(mark));
        }
        last.unwrap_or(self)
    }

    /// One box for all that have the same mark, kind and op. `mark` is given the groups that the box reads, so those have
    /// their numbers before it. Groups of one level, or with the same inputs, never lead to each other.
    fn grouped_by(&self, mark: &Marking<'_>) -> Self {
        let mut reads: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.shapes.len()];
        let mut groups: Vec<usize> = Vec::with_capacity(self.shapes.len());
        let mut known: BTreeMap<(Mark, Kind, &str), usize> = BTreeMap::new();
        let mut made: Vec<(u32, Shape)> = Vec::new();
        for (from, to) in &self.edges {
            if let Some(reads) = reads.get_mut(*to) {
                reads.insert(*from);
            }
        }
        for (at, shape) in self.shapes.iter().enumerate() {
            let own = reads.get(at).into_iter().flatten();
            let own: BTreeSet<usize> = own.filter_map(|from| groups.get(*from).copied()).collect();
            let own: Vec<usize> = own.into_iter().collect();
            let key = (mark(shape, &own), shape.kind, shape.op.as_str());
            let group = *known.entry(key).or_insert(made.len());
            groups.push(group);
            match made.get_mut(group) {
                Some((_, whole)) => whole.take(shape),
                None => made.push((shape.level, shape.clone())),
            }
        }
        // By level: then edges lead from earlier boxes to later ones.
        let mut order: Vec<usize> = (0..made.len()).collect();
        order.sort_by_key(|group| made.get(*group).map(|(level, _)| *level));
        let mut places = vec![0; made.len()];
        for (place, group) in order.iter().enumerate() {
            if let Some(slot) = places.get_mut(*group) {
                *slot = place;
            }
        }
        let place = |at: usize| groups.get(at).and_then(|group| places.get(*group)).copied();
        let edges = self.edges.iter().filter_map(|(from, to)| Some((place(*from)?, place(*to)?)));
        let edges = edges.filter(|(from, to)| from != to).collect();
        let shapes =
            order.iter().filter_map(|group| made.get(*group)).map(|(_, shape)| shape.clone());
        Self { shapes: shapes.collect(), edges }
    }
}

/// Tells the mark of a box that reads these groups.
type Marking<'m> = dyn Fn(&Shape, &[usize]) -> Mark + 'm;

/// What boxes of one group have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    stem: String,
    reads: Vec<usize>,
    level: u32,
}

impl Shape {
    /// Stand for one more.
    fn take(&mut self, other: &Self) {
        for (state, count) in &other.states {
            *self.states.entry(state.clone()).or_default() += count;
        }
        if self.count == 1 {
            self.note.clone_from(&self.name);
        }
        if self.count < 8 {
            self.note += &format!(", {}", other.name);
        } else if self.count == 8 {
            self.note += ", ...";
        }
        let stem = |name: &str| name.split(['[', '#']).next().unwrap_or("").to_owned();
        self.name = match (stem(&self.name), self.count) {
            (own, _) if own == stem(&other.name) => own,
            (_, 1) => format!("{}, {}", self.name, other.name),
            _ => String::new(),
        };
        self.count += other.count;
        self.made += other.made;
        self.critical |= other.critical;
    }
}

fn node_shape(node: &Node, state: Option<&State>) -> Shape {
    let why = state.map_or("", |state| state.why.as_str());
    let doc = node.doc.as_ref().map_or("", |doc| doc.as_str());
    let notes = [why, doc].into_iter().filter(|text| !text.is_empty());
    Shape {
        name: node.name.clone(),
        op: shown_op(node),
        kind: if node.runs.worker == Worker::Torch { Kind::Torch } else { Kind::Here },
        states: BTreeMap::from([(state_of(node, state).to_owned(), 1)]),
        count: 1,
        made: state.map_or(0, |state| state.made),
        level: node.runs.level,
        critical: node.runs.critical,
        note: notes.collect::<Vec<_>>().join("\n"),
    }
}
