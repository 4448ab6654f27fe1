//! The importance of an artifact in Couler's paper (Algorithm 2), term by term as printed.
//!
//! `I(u) = a log(1 + L(u)) + b F(u)^2 - exp(-V(u))`, where L sums `w_i + d_i d_j` over the edges among the predecessors,
//! F sums `r / k * (z + 1)` over the successors at distance k with the graph's Laplacian z, and V is the size. It stands
//! beside the others to be compared; the tests of this crate show what is wrong with it.
//!
//! What the paper leaves open: the number of layers, here [`LAYERS`]; the units, here seconds and GiB; and r, whether a
//! successor will ask again, which cannot be known: here it always will.

use super::shelf::Shelf;
use std::collections::{BTreeMap, VecDeque};

/// Weight of the cost, as in the paper's experiments.
pub const ALPHA: f64 = 1.5;

/// Weight of the reuse, as in the paper's experiments.
pub const BETA: f64 = 1.0;

/// How far predecessors and successors are looked at.
pub const LAYERS: usize = 3;

const UNIT: f64 = 1_073_741_824.0;

/// The importance of an item, as printed.
#[must_use]
pub fn importance(shelf: &Shelf, at: usize) -> f64 {
    let size = shelf.bytes(at) as f64 / UNIT;
    ALPHA * (1.0 + cost(shelf, at)).ln() + BETA * reuse(shelf, at).powi(2) - (-size).exp()
}

/// L: over the edges among the predecessors that are not cut off by something stored.
fn cost(shelf: &Shelf, at: usize) -> f64 {
    let near = distances(at, |next| {
        let cut = next != at && shelf.has(next);
        if cut { &[] } else { shelf.parents(next) }
    });
    let edges = near.keys().flat_map(|to| shelf.parents(*to).iter().map(|from| (*from, *to)));
    edges
        .filter(|(from, to)| near.contains_key(from) && (*to == at || !shelf.has(*to)))
        .map(|(from, to)| {
            let seconds = shelf.item(from).map_or(0.0, |item| item.seconds);
            seconds + degree(shelf, from) * degree(shelf, to)
        })
        .sum()
}

/// F: over the successors, where the Laplacian is -1 for direct ones and 0 for all others.
fn reuse(shelf: &Shelf, at: usize) -> f64 {
    let near = distances(at, |next| shelf.children(next));
    let each = near.iter().filter(|(other, _)| **other != at);
    each.map(|(other, distance)| {
        let laplacian = if shelf.children(at).contains(other) { -1.0 } else { 0.0 };
        (laplacian + 1.0) / *distance as f64
    })
    .sum()
}

fn degree(shelf: &Shelf, at: usize) -> f64 {
    (shelf.parents(at).len() + shelf.children(at).len()) as f64
}

/// Items within [`LAYERS`] steps, with their distances.
fn distances<'s>(from: usize, next: impl Fn(usize) -> &'s [usize]) -> BTreeMap<usize, usize> {
    let mut found = BTreeMap::from([(from, 0)]);
    let mut open = VecDeque::from([(from, 0)]);
    while let Some((at, distance)) = open.pop_front() {
        if distance == LAYERS {
            continue;
        }
        for other in next(at) {
            if !found.contains_key(other) {
                found.insert(*other, distance + 1);
                open.push_back((*other, distance + 1));
            }
        }
    }
    found
}
