//! What of a graph a kernel computes: everything without text. What it needs of the rest, such as
//! `row.lang == "en"`, the interpreter computes batch by batch, and the kernel reads it like a column.

use super::call::Form;
use crate::graph::{Graph, Node, Step};
use crate::ir::Ty;

/// The longest list that `in` tests one by one.
const LONGEST_LIST: usize = 16;

/// A node that a kernel reads from memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input {
    pub(crate) node: usize,
    pub(crate) form: Form,
    /// Whether presence lies beside the values.
    pub(crate) optional: bool,
    /// The column, unless the interpreter computes it.
    pub(crate) column: Option<usize>,
}

/// What a kernel reads, computes and gives.
pub(crate) struct Layout {
    pub(crate) inputs: Vec<Input>,
    /// Nodes to compute, in order.
    pub(crate) nodes: Vec<usize>,
    /// Numbers of the graph's outputs that it computes.
    pub(crate) outputs: Vec<usize>,
    /// Numbers of the graph's outputs that are left to the interpreter.
    pub(crate) rest: Vec<usize>,
}

impl Layout {
    /// Divides the graph. `optional` tells of each column whether it has missing rows.
    pub(crate) fn of(graph: &Graph<'_>, optional: &[bool]) -> Self {
        let served: Vec<bool> = graph.nodes.iter().map(|node| serves(graph, node)).collect();
        let is = |marks: &[bool], node: usize| marks.get(node) == Some(&true);
        let mut needed = vec![false; graph.nodes.len()];
        let (mut outputs, mut rest) = (Vec::new(), Vec::new());
        for (number, output) in graph.outputs.iter().enumerate() {
            let numeric = output.ty != Ty::Str;
            if numeric && (is(&served, output.node) || column(graph, output.node).is_some()) {
                mark(&mut needed, output.node);
                outputs.push(number);
            } else {
                rest.push(number);
            }
        }
        let (mut nodes, mut inputs) = (Vec::new(), Vec::new());
        for (place, node) in graph.nodes.iter().enumerate().rev() {
            if !is(&needed, place) {
                continue;
            }
            if is(&served, place) {
                nodes.push(place);
                if node.ty.is_some() {
                    node.reads.iter().for_each(|read| mark(&mut needed, *read));
                }
            } else {
                let column = column(graph, place);
                let optional = column.is_none_or(|column| is(optional, column));
                let form = node.ty.map_or(Form::Number, form);
                inputs.push(Input { node: place, form, optional, column });
            }
        }
        nodes.reverse();
        inputs.reverse();
        Self { inputs, nodes, outputs, rest }
    }

    /// The inputs that the interpreter computes.
    pub(crate) fn prepared(&self) -> impl Iterator<Item = usize> {
        self.inputs.iter().filter(|input| input.column.is_none()).map(|input| input.node)
    }
}

fn mark(needed: &mut [bool], node: usize) {
    if let Some(needed) = needed.get_mut(node) {
        *needed = true;
    }
}

fn column(graph: &Graph<'_>, node: usize) -> Option<usize> {
    match graph.nodes.get(node)?.step {
        Step::Column(number) => Some(number),
        _ => None,
    }
}

/// How values of a type other than text lie in memory.
pub(crate) fn form(ty: Ty) -> Form {
    match ty {
        Ty::Float | Ty::Int | Ty::Size | Ty::Str => Form::Number,
        Ty::Bool => Form::Truth,
        Ty::Time | Ty::Duration => Form::Nanos,
    }
}

fn serves(graph: &Graph<'_>, node: &Node<'_>) -> bool {
    let text = |ty| ty == Some(Ty::Str);
    if node.ty.is_none() {
        // Missing everywhere, whatever it reads.
        return true;
    }
    match &node.step {
        Step::Column(_) | Step::Concat(_) => return false,
        Step::In(members) if members.longest() > LONGEST_LIST => return false,
        _ => {}
    }
    !text(node.ty) && !node.reads.iter().any(|read| text(graph.ty(*read)))
}
