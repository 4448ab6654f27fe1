//! The nodes of a plan, and those that its drivers have made since.
//!
//! A node made for a point has the key that it would have if it had been written out, so one that is there already (an
//! equal item, a node of the plan) is not made a second time. Names and the index of keys are built when the first
//! driver expands: a plan without drivers pays nothing for them.

use crate::driver::{MOST_NODES, MOST_POINTS, Point};
use crate::keys;
use crate::op::OpError;
use crate::value::Value;
use pipe_compiler::key::Key;
use pipe_compiler::plan::{Arg, Body, Input, Node, NodeId, Plan, given};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Deref;
use std::sync::Arc;

/// Nodes by number: first those of the plan, then those made in the run.
pub(crate) struct Growing<'p> {
    pub(crate) plan: &'p Plan,
    made: Vec<Arc<Node>>,
    /// How many of them are work: not those that stand for given values.
    work: usize,
    known: Option<Known>,
}

/// A node, wherever it lies.
#[derive(Clone, Debug)]
pub(crate) enum NodeRef<'p> {
    Planned(&'p Node),
    Made(Arc<Node>),
}

impl Deref for NodeRef<'_> {
    type Target = Node;

    fn deref(&self) -> &Node {
        match self {
            Self::Planned(node) => node,
            Self::Made(node) => node,
        }
    }
}

struct Known {
    /// By key and cache policy, as the plan merges its nodes.
    keys: HashMap<(Key, bool), usize>,
    names: HashSet<String>,
    /// Numbers of batch groups by what their members share.
    groups: HashMap<String, u32>,
}

/// What became of a point.
pub(crate) struct Element {
    /// The value of the body.
    pub(crate) result: Arg,
    /// Its nodes, also those that were there already; not those that stand for given values.
    pub(crate) nodes: Vec<usize>,
    /// The nodes that stand for the values of its variables.
    pub(crate) given: Vec<(usize, Value)>,
}

impl<'p> Growing<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self { plan, made: Vec::new(), work: 0, known: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.plan.nodes.len() + self.made.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<NodeRef<'p>> {
        match at.checked_sub(self.plan.nodes.len()) {
            None => self.plan.nodes.get(at).map(NodeRef::Planned),
            Some(later) => self.made.get(later).cloned().map(NodeRef::Made),
        }
    }

    /// A node that is known to be there.
    pub(crate) fn node(&self, at: usize) -> NodeRef<'p> {
        match at.checked_sub(self.plan.nodes.len()) {
            None => NodeRef::Planned(&self.plan.nodes[at]),
            Some(later) => NodeRef::Made(self.made[later].clone()),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Node> {
        self.plan.nodes.iter().chain(self.made.iter().map(Deref::deref))
    }

    pub(crate) fn key_of(&self, id: NodeId) -> Option<Key> {
        self.get(id.0 as usize).map(|node| node.key)
    }

    /// Whether these points may be asked for, when as many as `asked` of each body have been.
    pub(crate) fn allow(
        &self,
        driver: &Node,
        points: &[Point],
        asked: &BTreeMap<String, usize>,
    ) -> Result<(), OpError> {
        let mut counts = asked.clone();
        let mut nodes = self.work;
        for point in points {
            *counts.entry(point.body.clone()).or_default() += 1;
            nodes += body(driver, &point.body)?.nodes.len();
        }
        let most = counts.values().copied().max().unwrap_or(0);
        let what = if most > MOST_POINTS {
            format!(
                "`{}` would repeat its body {most} times, and {MOST_POINTS} are allowed.",
                driver.name
            )
        } else if nodes > MOST_NODES {
            format!(
                "With `{}` the run would make {nodes} nodes, and {MOST_NODES} are allowed.",
                driver.name
            )
        } else {
            return Ok(());
        };
        Err(OpError::new("run::expansion", what).help(
            "Go over fewer items: filter or group them first, or give one op the whole table.",
        ))
    }

    /// The nodes for one point of the driver at `at`.
    pub(crate) fn make(&mut self, at: usize, point: &Point) -> Result<Element, OpError> {
        let driver = self.node(at);
        let body = body(&driver, &point.body)?;
        if body.bound.len() != point.bound.len() {
            return Err(unsound(&driver, "a point has other variables than its body"));
        }
        self.learn();
        let name = format!("{}[{}]", driver.name, point.label);
        let mut slots = Vec::with_capacity(body.bound.len());
        let mut givens = Vec::with_capacity(body.bound.len());
        for (variable, value) in body.bound.iter().zip(&point.bound) {
            let id = self.next_id()?;
            let name = format!("{name}.{variable}");
            let node = given(id, &name, value.type_name(), &value.digest(), driver.span);
            let found = self.add(node, false);
            givens.push((found, value.clone()));
            slots.push(Input { node: NodeId(found as u32), path: Vec::new() });
        }
        slots.extend(captures(&driver)?);
        let first = self.next_id()?.0;
        let made = body.make(&slots, first, &name, |id| self.key_of(id));
        let mut places: Vec<NodeId> = Vec::with_capacity(made.nodes.len());
        for mut node in made.nodes {
            node.id = self.next_id()?;
            let steps = node.fused.iter_mut().map(|step| &mut step.args);
            for args in steps.chain([&mut node.args]) {
                args.update(|arg| {
                    let mut arg = arg.clone();
                    moved(&mut arg, first, &places).then_some(arg)
                });
            }
            node.runs.group = self.group_of(&node);
            places.push(NodeId(self.add(node, true) as u32));
        }
        let mut result = made.result;
        let _ = moved(&mut result, first, &places);
        let nodes = places.iter().map(|id| id.0 as usize).collect();
        Ok(Element { result, nodes, given: givens })
    }

    /// The batch group of a node that is made: members join whichever driver makes them, and those of the plan.
    fn group_of(&mut self, node: &Node) -> Option<u32> {
        let key = node.batch_key()?;
        let groups = &mut self.known.as_mut()?.groups;
        let next = groups.values().max().map_or(0, |last| last + 1);
        Some(*groups.entry(key).or_insert(next))
    }

    fn next_id(&self) -> Result<NodeId, OpError> {
        u32::try_from(self.len()).map(NodeId).map_err(|_| {
            OpError::new("run::expansion", "The run has more nodes than can be numbered.")
        })
    }

    /// Add a node, or find the one that is there under its key.
    fn add(&mut self, mut node: Node, named: bool) -> usize {
        let next = self.len();
        let Some(known) = &mut self.known else { return next };
        let at = *known.keys.entry((node.key, node.runs.cache)).or_insert(next);
        if at == next {
            if named {
                self.work += 1;
                node.name = unique(&mut known.names, node.name);
            }
            self.made.push(Arc::new(node));
        }
        at
    }

    fn learn(&mut self) {
        if self.known.is_some() {
            return;
        }
        let mut keys = HashMap::new();
        for (at, node) in self.plan.nodes.iter().enumerate() {
            keys.entry((node.key, node.runs.cache)).or_insert(at);
        }
        let names = self.plan.nodes.iter().map(|node| node.name.clone()).collect();
        let numbered = |node: &Node| Some((node.batch_key()?, node.runs.group?));
        let groups = self.plan.nodes.iter().filter_map(numbered).collect();
        self.known = Some(Known { keys, names, groups });
    }
}

fn unique(names: &mut HashSet<String>, wanted: String) -> String {
    let mut name = wanted.clone();
    let mut number = 1;
    while !names.insert(name.clone()) {
        number += 1;
        name = format!("{wanted}#{number}");
    }
    name
}

/// The body that a point names.
fn body<'n>(driver: &'n Node, name: &str) -> Result<&'n Body, OpError> {
    match driver.args.get(name) {
        Some(Arg::Body(body)) => Ok(body),
        _ => Err(unsound(driver, "a point names no body")),
    }
}

/// What the bodies of a driver take from outside, one slot each.
fn captures(driver: &Node) -> Result<Vec<Input>, OpError> {
    let mut found = Vec::new();
    if let Some(Arg::List(items)) = driver.args.get("captures") {
        for item in items {
            let Arg::Input(input) = item else {
                return Err(unsound(driver, "it captures what is no result"));
            };
            found.push(input.clone());
        }
    }
    Ok(found)
}

fn unsound(driver: &Node, what: &str) -> OpError {
    OpError::new("run::plan", format!("`{}` cannot be expanded: {what}.", driver.name))
        .help("Please report this together with the program.")
}

/// Put inputs that were numbered on from `first` at their places now. Whether one has moved.
fn moved(arg: &mut Arg, first: u32, places: &[NodeId]) -> bool {
    // Each is put at its place, whether or not another has moved.
    let all = |args: &mut dyn Iterator<Item = &mut Arg>| {
        args.map(|arg| moved(arg, first, places)).filter(|moved| *moved).count() > 0
    };
    match arg {
        Arg::Input(input) => {
            let made = input.node.0.checked_sub(first).and_then(|at| places.get(at as usize));
            match made.filter(|place| **place != input.node) {
                Some(place) => {
                    input.node = *place;
                    true
                }
                None => false,
            }
        }
        Arg::List(items) => all(&mut items.iter_mut()),
        Arg::Record(fields) => all(&mut fields.values_mut()),
        Arg::Reading { reads, .. } => all(&mut reads.iter_mut()),
        Arg::Const(_)
        | Arg::Row(_)
        | Arg::Columns(_)
        | Arg::Files(_)
        | Arg::Body(_)
        | Arg::Bound(_) => false,
    }
}

/// Whether what an argument reads lies among these nodes and slots, and within bodies as well.
pub(crate) fn is_sound(arg: &Arg, nodes: usize, slots: usize) -> bool {
    let each = |arg: &Arg| is_sound(arg, nodes, slots);
    match arg {
        Arg::Input(input) => (input.node.0 as usize) < nodes,
        Arg::Bound(bound) => (bound.slot as usize) < slots,
        Arg::List(items) => items.iter().all(each),
        Arg::Record(fields) => fields.values().all(each),
        Arg::Reading { function, reads } => {
            reads.len() <= function.columns.len() && reads.iter().all(each)
        }
        Arg::Const(_) | Arg::Row(_) | Arg::Columns(_) | Arg::Files(_) | Arg::Body(_) => true,
    }
}

/// Whether the arguments of a node may stand where `nodes` nodes and `slots` slots come before it.
pub(crate) fn is_sound_node(node: &Node, nodes: usize, slots: usize) -> bool {
    let captured = match node.args.get("captures") {
        Some(Arg::List(items)) => items.len(),
        _ => 0,
    };
    let inside = |arg: &Arg| match arg {
        Arg::Body(body) => {
            let slots = body.bound.len() + captured;
            let nodes = body.nodes.iter().enumerate();
            nodes.fold(true, |sound, (at, node)| {
                sound && node.id.0 as usize == at && is_sound_node(node, at, slots)
            }) && is_sound(&body.result, body.nodes.len(), slots)
        }
        arg => is_sound(arg, nodes, slots),
    };
    node.args.values().all(inside)
}

/// Whether the node asks for others.
pub(crate) fn is_driver(node: &Node) -> bool {
    node.args.values().any(|arg| matches!(arg, Arg::Body(_)))
}

/// The nodes that an element must have ended with: those that its result reads, and those that run each time.
pub(crate) fn wanted(nodes: &Growing<'_>, element: &Element) -> Vec<usize> {
    let mut inputs = Vec::new();
    element.result.inputs(&mut inputs);
    let result = inputs.iter().map(|input| input.node.0 as usize);
    let own = element.nodes.iter().copied().filter(|at| keys::repeats(&nodes.node(*at)));
    let mut wanted: Vec<usize> = result.chain(own).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}
