//! Splitting a plan into parts that each stay within limits, for engines that take no larger ones.
//!
//! Parts are consecutive intervals of one topological order, so no part can need a later one: what parts need of each
//! other has no cycle, whatever is cut. Limits hold in each dimension by itself (nodes, bytes, seconds: a sum over
//! dimensions means nothing). Among the intervals of an order those are taken that cut fewest edges, a part more counting
//! as one edge; of three orders the one with the best result.

use super::{NodeId, Plan};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::fmt;

/// What the parts are limited in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The dimension, as messages name it: `nodes`, `bytes`.
    pub what: String,
    /// What one part may have in all.
    pub most: u64,
}

/// One node as the split sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Its name.
    pub name: String,
    /// What it takes of each limit, in their order; what is not said is 0.
    pub costs: Vec<u64>,
    /// The items that it reads, by their numbers, which are smaller than its own.
    pub reads: Vec<usize>,
}

/// A part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Its items, inputs before what reads them.
    pub items: Vec<usize>,
    /// What they take of each limit together.
    pub costs: Vec<u64>,
}

/// A plan in parts. Each item is in one of them, and parts read earlier parts only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// The parts, in an order in which they may run one after the other.
    pub parts: Vec<Part>,
    /// By item: its part.
    pub part_of: Vec<usize>,
    /// Edges between items of different parts: what is read, and what reads it.
    pub cut: Vec<(usize, usize)>,
}

impl Split {
    /// What parts need of each other: the earlier one, and the one that reads it.
    #[must_use]
    pub fn edges(&self) -> BTreeSet<(usize, usize)> {
        let part = |item: usize| self.part_of.get(item).copied();
        self.cut.iter().filter_map(|(from, to)| Some((part(*from)?, part(*to)?))).collect()
    }

    /// What one part reads of others, by their numbers.
    #[must_use]
    pub fn inputs_of(&self, part: usize) -> BTreeMap<usize, BTreeSet<usize>> {
        let mut found: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (from, to) in &self.cut {
            if self.part_of.get(*to) == Some(&part)
                && let Some(other) = self.part_of.get(*from)
            {
                found.entry(*other).or_default().insert(*from);
            }
        }
        found
    }
}

/// An item that no part can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// The item.
    pub item: usize,
    /// Its name.
    pub name: String,
    /// The limit.
    pub limit: Limit,
    /// What it takes of it.
    pub takes: u64,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, limit, takes, .. } = self;
        let Limit { what, most } = limit;
        write!(f, "`{name}` alone takes {takes} {what}, and a part may have {most}")
    }
}

impl std::error::Error for TooLarge {}

/// Split a plan. `costs` gives what a node takes of each limit.
///
/// # Errors
/// When a node by itself is over a limit; the first of them in plan order.
pub fn split_plan(
    plan: &Plan,
    limits: &[Limit],
    costs: impl Fn(&super::Node) -> Vec<u64>,
) -> Result<Split, TooLarge> {
    let items = plan.nodes.iter().map(|node| {
        let reads: BTreeSet<NodeId> = node.inputs().iter().map(|input| input.node).collect();
        let reads = reads.into_iter().map(|id| id.0 as usize).collect();
        Item { name: node.name.clone(), costs: costs(node), reads }
    });
    split(&items.collect::<Vec<_>>(), limits)
}

/// Split items. Equal items and limits give equal parts.
///
/// # Errors
/// When an item by itself is over a limit; the first of them.
pub fn split(items: &[Item], limits: &[Limit]) -> Result<Split, TooLarge> {
    for (at, item) in items.iter().enumerate() {
        for (limit, takes) in limits.iter().zip(&item.costs) {
            if *takes > limit.most {
                let (name, limit) = (item.name.clone(), limit.clone());
                return Err(TooLarge { item: at, name, limit, takes: *takes });
            }
        }
    }
    let graph = Graph::new(items);
    let orders = [graph.urgent_first(items), graph.depth_first(), (0..items.len()).collect()];
    let cuts = orders.into_iter().map(|order| {
        let (cost, ends) = intervals(&graph, items, limits, &order);
        (cost, order, ends)
    });
    let best = cuts.min_by_key(|(cost, _, _)| *cost);
    let (order, ends) = best.map_or_else(Default::default, |(_, order, ends)| (order, ends));
    Ok(assemble(&graph, items, limits, &order, &ends))
}

struct Graph {
    /// By item: what it reads, each once.
    reads: Vec<Vec<usize>>,
    readers: Vec<Vec<usize>>,
}

impl Graph {
    /// Edges that do not lead from an earlier item to a later one are none.
    fn new(items: &[Item]) -> Self {
        let mut graph =
            Self { reads: Vec::with_capacity(items.len()), readers: vec![Vec::new(); items.len()] };
        for (at, item) in items.iter().enumerate() {
            let reads: BTreeSet<usize> =
                item.reads.iter().copied().filter(|from| *from < at).collect();
            for from in &reads {
                if let Some(readers) = graph.readers.get_mut(*from) {
                    readers.push(at);
                }
            }
            graph.reads.push(reads.into_iter().collect());
        }
        graph
    }

    fn reads(&self, at: usize) -> &[usize] {
        self.reads.get(at).map_or(&[], Vec::as_slice)
    }

    fn readers(&self, at: usize) -> &[usize] {
        self.readers.get(at).map_or(&[], Vec::as_slice)
    }

    /// Of what could come next, first what the longest way to an end begins with; of equal ones by name.
    fn urgent_first(&self, items: &[Item]) -> Vec<usize> {
        let count = items.len();
        let mut ways = vec![0_usize; count];
        for at in (0..count).rev() {
            let longest = self.readers(at).iter().filter_map(|to| ways.get(*to)).max();
            let way = longest.map_or(0, |longest| longest + 1);
            if let Some(slot) = ways.get_mut(at) {
                *slot = way;
            }
        }
        let name = |at: usize| items.get(at).map_or("", |item| item.name.as_str());
        let ready = |at: usize| {
            let way = ways.get(at).copied().unwrap_or(0);
            (way, std::cmp::Reverse((name(at), at)))
        };
        let mut open: Vec<usize> = (0..count).map(|at| self.reads(at).len()).collect();
        let sources = (0..count).filter(|at| self.reads(*at).is_empty());
        let mut heap: BinaryHeap<_> = sources.map(ready).collect();
        let mut order = Vec::with_capacity(count);
        while let Some((_, std::cmp::Reverse((_, at)))) = heap.pop() {
            order.push(at);
            for to in self.readers(at) {
                if let Some(left) = open.get_mut(*to) {
                    *left -= 1;
                    if *left == 0 {
                        heap.push(ready(*to));
                    }
                }
            }
        }
        order
    }

    /// From each end back: what an item reads stands right before it, as far as it does not stand further up already.
    fn depth_first(&self) -> Vec<usize> {
        let count = self.reads.len();
        let mut seen = vec![false; count];
        let mut order = Vec::with_capacity(count);
        for end in (0..count).filter(|at| self.readers(*at).is_empty()) {
            let mut stack = vec![(end, 0)];
            while let Some((at, next)) = stack.pop() {
                if seen.get(at) == Some(&true) {
                    continue;
                }
                if let Some(from) = self.reads(at).get(next) {
                    stack.push((at, next + 1));
                    stack.push((*from, 0));
                    continue;
                }
                if let Some(seen) = seen.get_mut(at) {
                    *seen = true;
                }
                order.push(at);
            }
        }
        order
    }
}

/// The cheapest ends of intervals: edges that come in from before, and one for each part. Each item fits by itself, so there
/// always are some.
fn intervals(
    graph: &Graph,
    items: &[Item],
    limits: &[Limit],
    order: &[usize],
) -> (u64, Vec<usize>) {
    let count = order.len();
    let mut place = vec![0; count];
    for (at, item) in order.iter().enumerate() {
        if let Some(slot) = place.get_mut(*item) {
            *slot = at;
        }
    }
    // By place: the places that are read from there, in order.
    let read: Vec<Vec<usize>> = order
        .iter()
        .map(|item| {
            let places = graph.reads(*item).iter().filter_map(|from| place.get(*from).copied());
            let mut places: Vec<usize> = places.collect();
            places.sort_unstable();
            places
        })
        .collect();
    // By end of an interval: the least cost so far, and where that interval begins.
    let mut best: Vec<Option<(u64, usize)>> = vec![None; count + 1];
    if let Some(first) = best.first_mut() {
        *first = Some((0, 0));
    }
    for begin in 0..count {
        let Some((before, _)) = best.get(begin).copied().flatten() else { continue };
        let mut taken = vec![0_u64; limits.len()];
        let mut cost = before + 1;
        for (end, item) in order.iter().enumerate().skip(begin) {
            let costs = items.get(*item).map_or(&[][..], |item| item.costs.as_slice());
            if !take(&mut taken, costs, limits) {
                break;
            }
            let from = read.get(end).map_or(&[][..], Vec::as_slice);
            cost += from.partition_point(|from| *from < begin) as u64;
            if let Some(slot) = best.get_mut(end + 1)
                && slot.is_none_or(|(least, _)| cost < least)
            {
                *slot = Some((cost, begin));
            }
        }
    }
    let cost = best.last().copied().flatten().map_or(0, |(cost, _)| cost);
    let mut ends = Vec::new();
    let mut end = count;
    while end > 0 {
        ends.push(end);
        end = best.get(end).copied().flatten().map_or(0, |(_, begin)| begin);
    }
    ends.reverse();
    (cost, ends)
}

/// Take one more; false when that is over a limit.
fn take(taken: &mut [u64], costs: &[u64], limits: &[Limit]) -> bool {
    for ((taken, more), limit) in taken.iter_mut().zip(costs).zip(limits) {
        *taken = taken.saturating_add(*more);
        if *taken > limit.most {
            return false;
        }
    }
    true
}

fn assemble(
    graph: &Graph,
    items: &[Item],
    limits: &[Limit],
    order: &[usize],
    ends: &[usize],
) -> Split {
    let mut split = Split { part_of: vec![0; items.len()], ..Split::default() };
    let mut begin = 0;
    for (number, end) in ends.iter().enumerate() {
        let own = order.get(begin..*end).unwrap_or_default();
        let mut costs = vec![0; limits.len()];
        for item in own {
            take(&mut costs, items.get(*item).map_or(&[], |item| item.costs.as_slice()), limits);
            if let Some(part) = split.part_of.get_mut(*item) {
                *part = number;
            }
        }
        split.parts.push(Part { items: own.to_vec(), costs });
        begin = *end;
    }
    let part = |item: usize| split.part_of.get(item);
    let edges = (0..items.len()).flat_map(|to| graph.reads(to).iter().map(move |from| (*from, to)));
    split.cut = edges.filter(|(from, to)| part(*from) != part(*to)).collect();
    split
}
