//! The batch interpreter: every step runs over 1,024 rows before the next, so that the cost of walking
//! the graph is shared. It is the definition of what a row expression means.

use crate::column::Column;
use crate::functions;
use crate::graph::{Graph, Node, Step};
use crate::ir::{Ty, UnaryOp};
use crate::lane::{Data, Lane, Strings};
use crate::number::map;
use crate::print;
use std::borrow::Cow;

/// Rows that one step handles at a time.
pub const BATCH: usize = 1_024;

/// The nodes that some results need, in order, and how often each is read.
pub(crate) struct Schedule {
    nodes: Vec<usize>,
    reads: Vec<usize>,
    results: Vec<usize>,
}

impl Schedule {
    /// What has to be computed for these nodes.
    pub(crate) fn of(graph: &Graph<'_>, results: Vec<usize>) -> Self {
        let mut reads = vec![0; graph.nodes.len()];
        let count = |reads: &mut Vec<usize>, node: usize| {
            if let Some(reads) = reads.get_mut(node) {
                *reads += 1;
            }
        };
        results.iter().for_each(|node| count(&mut reads, *node));
        let mut nodes = Vec::new();
        for (place, node) in graph.nodes.iter().enumerate().rev() {
            if reads.get(place).is_some_and(|reads| *reads > 0) {
                nodes.push(place);
                node.reads.iter().for_each(|node| count(&mut reads, *node));
            }
        }
        nodes.reverse();
        Self { nodes, reads, results }
    }

    /// Whether there is nothing to compute.
    #[cfg(feature = "jit")]
    pub(crate) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Computes rows `start..end` of the results. `None` where the graph is not what was checked.
    pub(crate) fn run<'a>(
        &self,
        graph: &'a Graph<'_>,
        columns: &[&'a Column],
        start: usize,
        end: usize,
    ) -> Option<Vec<Lane<'a>>> {
        let mut slots: Slots<'a> = Slots { lanes: Vec::new(), reads: self.reads.clone() };
        slots.lanes.resize_with(graph.nodes.len(), || None);
        for place in &self.nodes {
            let lane = compute(graph.nodes.get(*place)?, &mut slots, columns, start, end)?;
            *slots.lanes.get_mut(*place)? = Some(lane);
        }
        self.results.iter().map(|node| slots.take(*node)).collect()
    }
}

/// The lanes of one batch that are still to be read.
struct Slots<'a> {
    lanes: Vec<Option<Lane<'a>>>,
    reads: Vec<usize>,
}

impl<'a> Slots<'a> {
    /// The lane of a node: itself for the last reader, which may change it in place, else a copy.
    fn take(&mut self, node: usize) -> Option<Lane<'a>> {
        let reads = self.reads.get_mut(node)?;
        *reads = reads.checked_sub(1)?;
        let slot = self.lanes.get_mut(node)?;
        if *reads == 0 { slot.take() } else { slot.clone() }
    }
}

fn compute<'a>(
    node: &'a Node<'_>,
    slots: &mut Slots<'a>,
    columns: &[&'a Column],
    start: usize,
    end: usize,
) -> Option<Lane<'a>> {
    let count = end - start;
    let mut operands = Vec::with_capacity(node.reads.len());
    for read in &node.reads {
        operands.push(slots.take(*read)?);
    }
    let mut next = operands.drain(..);
    Some(match &node.step {
        Step::Column(number) => Lane::of_column(columns.get(*number)?, start..end),
        Step::OfType => next.next()?,
        Step::Constant(value) => Lane::of_scalar(value, count),
        Step::Unary(op, ty) => unary(*op, *ty, next.next()?)?,
        Step::Binary(infix) => match infix {
            Some(infix) => infix.run(next.next()?, next.next()?)?,
            None => Lane::nothing(),
        },
        Step::If => choose_by(next.next()?, next.next()?, next.next()?, count)?,
        Step::Coalesce => coalesce(next.next()?, next.next()?, count)?,
        Step::IsNone => {
            let missing = next.next()?.presence(count).into_iter().map(|here| !here).collect();
            Lane { data: Data::truth(missing), valid: None }
        }
        Step::In(members) => members.test(next.next()?, count),
        Step::Concat(types) => print::concat(next.collect(), types, count),
        Step::Call(function) => functions::call(*function, next.collect())?,
        Step::Window => return None,
    })
}

fn unary<'a>(op: UnaryOp, ty: Option<Ty>, operand: Lane<'a>) -> Option<Lane<'a>> {
    let data = match (op, operand.data) {
        (_, Data::Nothing) => Data::Nothing,
        // Whole numbers have one zero: 0.0 - 0.0 = 0.0, while the negative of 0.0 is -0.0.
        (UnaryOp::Negate, Data::Number(values)) if ty == Some(Ty::Int) => {
            Data::number(map(values, |value| 0.0 - value))
        }
        (UnaryOp::Negate, Data::Number(values)) => Data::number(map(values, |value| -value)),
        (UnaryOp::Negate, Data::Nanos(values)) => {
            Data::nanos(values.iter().map(|value| value.saturating_neg()).collect())
        }
        (UnaryOp::Not, Data::Truth(values)) => {
            Data::truth(values.iter().map(|value| !value).collect())
        }
        _ => return None,
    };
    Some(Lane { data, valid: operand.valid })
}

fn choose_by<'a>(
    condition: Lane<'a>,
    first: Lane<'a>,
    second: Lane<'a>,
    count: usize,
) -> Option<Lane<'a>> {
    let sure = condition.is_whole();
    let decided = condition.presence(count);
    let takes: Cow<'_, [bool]> = match condition.data {
        Data::Nothing => return Some(Lane::nothing()),
        Data::Truth(values) => values,
        _ => return None,
    };
    let valid = if sure && first.is_whole() && second.is_whole() {
        None
    } else {
        let mut valid = select(&takes, &first.presence(count), &second.presence(count));
        valid.iter_mut().zip(decided).for_each(|(valid, decided)| *valid &= decided);
        Some(Cow::Owned(valid))
    };
    let data = choose(&takes, first.data, second.data)?;
    Some(Lane { data, valid })
}

fn coalesce<'a>(first: Lane<'a>, second: Lane<'a>, count: usize) -> Option<Lane<'a>> {
    match (&first.data, &first.valid) {
        (Data::Nothing, _) => return Some(second),
        (_, None) => return Some(first),
        _ => {}
    }
    let here = first.presence(count);
    let valid = (!second.is_whole()).then(|| {
        let there = second.presence(count);
        Cow::Owned(here.iter().zip(there).map(|(here, there)| here | there).collect())
    });
    let data = choose(&here, first.data, second.data)?;
    Some(Lane { data, valid })
}

fn choose<'a>(takes: &[bool], first: Data<'a>, second: Data<'a>) -> Option<Data<'a>> {
    Some(match (first, second) {
        (Data::Nothing, data) | (data, Data::Nothing) => data,
        (Data::Number(a), Data::Number(b)) => Data::number(select(takes, &a, &b)),
        (Data::Truth(a), Data::Truth(b)) => Data::truth(select(takes, &a, &b)),
        (Data::Nanos(a), Data::Nanos(b)) => Data::nanos(select(takes, &a, &b)),
        (Data::Text(a), Data::Text(b)) => Data::owned_text(select_text(takes, a, b)),
        _ => return None,
    })
}

fn select<T: Copy>(takes: &[bool], first: &[T], second: &[T]) -> Vec<T> {
    let pairs = first.iter().zip(second);
    takes.iter().zip(pairs).map(|(first, (a, b))| if *first { *a } else { *b }).collect()
}

fn select_text<'a>(
    takes: &[bool],
    mut first: Strings<'a>,
    mut second: Strings<'a>,
) -> Vec<Cow<'a, str>> {
    let pick = |(place, takes): (usize, &bool)| {
        if *takes { first.share(place) } else { second.share(place) }
    };
    takes.iter().enumerate().map(pick).collect()
}
