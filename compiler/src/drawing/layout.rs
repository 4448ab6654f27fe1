//! Where the boxes of a graph go, and how its edges run between them: layers from the top down, in the manner of Sugiyama.
//!
//! Each box lies one layer below the lowest box that it reads; the order within a layer follows the neighbours' centres;
//! places are the closest to the neighbours' that leave every gap free. A long edge has a place of its own in each layer
//! that it passes, so it never runs through a box, and the edges of one box share such places.

use std::collections::{BTreeMap, BTreeSet};

/// Free space between boxes of one layer.
const GAP: f64 = 18.0;

/// Free space between layers, where edges bend.
const RISE: f64 = 44.0;

/// Width of the place of an edge that passes a layer.
const LANE: f64 = 8.0;

/// Rounds of ordering and of placing; more change little.
const ROUNDS: usize = 12;

/// Places for long edges in all; with more of them the longest run behind the boxes.
const LANES: usize = 30_000;

/// A point, x to the right and y down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Down.
    pub y: f64,
}

/// A box with its place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Placed {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// Layer within its part, 0 at the top.
    pub layer: usize,
}

/// An edge with its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Routed {
    /// The box that it leaves.
    pub from: usize,
    /// The box that it leads to.
    pub to: usize,
    /// The points that it passes, from the lower edge of the one box to the upper edge of the other.
    pub points: Vec<Point>,
}

/// A graph with places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The boxes, in the order in which they were given.
    pub boxes: Vec<Placed>,
    /// Each edge once, sorted by its ends.
    pub edges: Vec<Routed>,
    /// Width of all.
    pub width: f64,
    /// Height of all.
    pub height: f64,
}

/// Widest row of parts that have nothing to do with each other, unless one alone is wider.
const ROW: f64 = 1400.0;

/// Lay a graph out. `sizes` are width and height of each box; edges lead from earlier boxes to later ones, others are left
/// out. Parts that no edge connects stand beside each other.
#[must_use]
pub fn layout(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Layout {
    let edges: BTreeSet<(usize, usize)> =
        edges.iter().copied().filter(|(from, to)| from < to && *to < sizes.len()).collect();
    let mut whole = Layout { boxes: vec![Placed::default(); sizes.len()], ..Layout::default() };
    let (mut x, mut y, mut row) = (0.0, 0.0, 0.0_f64);
    for part in parts(sizes.len(), &edges) {
        let found = connected(&part, sizes, &edges);
        if x > 0.0 && x + found.width > ROW {
            (x, y, row) = (0.0, y + row + RISE, 0.0);
        }
        whole.add(&part, &found, x, y);
        x += found.width + 2.0 * GAP;
        row = row.max(found.height);
    }
    whole.edges.sort_by_key(|edge| (edge.from, edge.to));
    whole
}

/// The boxes of each part that edges connect, in order.
fn parts(count: usize, edges: &BTreeSet<(usize, usize)>) -> Vec<Vec<usize>> {
    let mut heads: Vec<usize> = (0..count).collect();
    fn head(heads: &mut [usize], mut at: usize) -> usize {
        while let Some(above) = heads.get(at).copied().filter(|above| *above != at) {
            let next = heads.get(above).copied().unwrap_or(above);
            if let Some(place) = heads.get_mut(at) {
                *place = next;
            }
            at = above;
        }
        at
    }
    for (from, to) in edges {
        let (one, other) = (head(&mut heads, *from), head(&mut heads, *to));
        if let Some(place) = heads.get_mut(one.max(other)) {
            *place = one.min(other);
        }
    }
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..count {
        found.entry(head(&mut heads, at)).or_default().push(at);
    }
    found.into_values().collect()
}

/// Lay out one part; its boxes are numbered by their places in `part`.
fn connected(part: &[usize], sizes: &[(f64, f64)], edges: &BTreeSet<(usize, usize)>) -> Layout {
    let numbers: BTreeMap<usize, usize> =
        part.iter().enumerate().map(|(number, at)| (*at, number)).collect();
    let sizes: Vec<(f64, f64)> = part.iter().filter_map(|at| sizes.get(*at).copied()).collect();
    let own = part.iter().flat_map(|at| edges.range((*at, 0)..=(*at, usize::MAX)));
    let edges: BTreeSet<(usize, usize)> =
        own.filter_map(|(from, to)| Some((*numbers.get(from)?, *numbers.get(to)?))).collect();
    let layers = layers(sizes.len(), &edges);
    let mut graph = Graph::new(&sizes, &edges, &layers);
    graph.order();
    graph.place();
    graph.finish(&sizes, &edges)
}

impl Layout {
    /// Put a part at a place; its boxes have these numbers.
    fn add(&mut self, numbers: &[usize], part: &Self, x: f64, y: f64) {
        for (number, one) in numbers.iter().zip(&part.boxes) {
            if let Some(place) = self.boxes.get_mut(*number) {
                *place = Placed { x: one.x + x, y: one.y + y, ..*one };
            }
        }
        let number = |at: usize| numbers.get(at).copied().unwrap_or(at);
        self.edges.extend(part.edges.iter().map(|edge| Routed {
            from: number(edge.from),
            to: number(edge.to),
            points: edge.points.iter().map(|at| Point { x: at.x + x, y: at.y + y }).collect(),
        }));
        self.width = self.width.max(x + part.width);
        self.height = self.height.max(y + part.height);
    }
}

/// The layer of each box: the longest way from a source; sources stand just above the first box that reads them.
fn layers(count: usize, edges: &BTreeSet<(usize, usize)>) -> Vec<usize> {
    let mut layers = vec![0; count];
    let mut reads = vec![false; count];
    // Edges are sorted by their lower end, so that end has its layer already.
    for (from, to) in edges {
        let below = layers.get(*from).copied().unwrap_or(0) + 1;
        if let Some(layer) = layers.get_mut(*to) {
            *layer = below.max(*layer);
        }
        if let Some(reads) = reads.get_mut(*to) {
            *reads = true;
        }
    }
    let mut first: BTreeMap<usize, usize> = BTreeMap::new();
    for (from, to) in edges {
        let layer = layers.get(*to).copied().unwrap_or(0);
        first.entry(*from).and_modify(|least| *least = layer.min(*least)).or_insert(layer);
    }
    for (at, least) in first {
        if let (Some(layer), Some(false)) = (layers.get_mut(at), reads.get(at)) {
            *layer = least.saturating_sub(1);
        }
    }
    layers
}

/// A box, or the place of an edge that passes a layer.
struct Spot {
    layer: usize,
    width: f64,
    height: f64,
    /// Its centre.
    x: f64,
    above: Vec<usize>,
    below: Vec<usize>,
}

/// Spots of one layer that touch each other.
struct Pool {
    /// Weighted sum of the wished places, less the offsets.
    sum: f64,
    weight: f64,
    /// Spots with their offsets.
    members: Vec<(usize, f64)>,
}

impl Pool {
    fn mean(&self) -> f64 {
        self.sum / self.weight
    }
}

/// Boxes first, in their order, then the places of edges.
struct Graph {
    spots: Vec<Spot>,
    /// Spots of each layer from left to right.
    layers: Vec<Vec<usize>>,
    /// The places that the long edges of a box pass, one layer after the other.
    lanes: BTreeMap<usize, Vec<usize>>,
}

impl Graph {
    fn new(sizes: &[(f64, f64)], edges: &BTreeSet<(usize, usize)>, layers: &[usize]) -> Self {
        let depth = layers.iter().max().map_or(0, |deepest| deepest + 1);
        let spot = |(layer, (width, height)): (&usize, &(f64, f64))| Spot {
            layer: *layer,
            width: *width,
            height: *height,
            x: 0.0,
            above: Vec::new(),
            below: Vec::new(),
        };
        let mut graph = Self {
            spots: layers.iter().zip(sizes).map(spot).collect(),
            layers: vec![Vec::new(); depth],
            lanes: BTreeMap::new(),
        };
        for (at, layer) in layers.iter().enumerate() {
            if let Some(spots) = graph.layers.get_mut(*layer) {
                spots.push(at);
            }
        }
        let layer = |at: usize| layers.get(at).copied().unwrap_or(0);
        let mut spans: BTreeMap<usize, usize> = BTreeMap::new();
        for (from, to) in edges {
            let span = layer(*to) - layer(*from) - 1;
            let longest = spans.entry(*from).or_default();
            *longest = span.max(*longest);
        }
        let total: usize = spans.values().sum();
        // Without room for all, the short ones have theirs.
        let most = if total <= LANES { usize::MAX } else { LANES / sizes.len().max(1) };
        for (from, to) in edges {
            let (top, bottom) = (layer(*from), layer(*to));
            let mut last = *from;
            if bottom - top - 1 <= most {
                for passed in top + 1..bottom {
                    last = graph.lane(*from, passed - top - 1, passed, last);
                }
            }
            graph.join(last, *to);
        }
        graph
    }

    /// The place of the edges of `from` in a layer, made when it is the first one there.
    fn lane(&mut self, from: usize, step: usize, layer: usize, above: usize) -> usize {
        if let Some(known) = self.lanes.get(&from).and_then(|lanes| lanes.get(step)) {
            return *known;
        }
        let at = self.spots.len();
        self.spots.push(Spot {
            layer,
            width: LANE,
            height: 0.0,
            x: 0.0,
            above: Vec::new(),
            below: Vec::new(),
        });
        if let Some(spots) = self.layers.get_mut(layer) {
            spots.push(at);
        }
        self.lanes.entry(from).or_default().push(at);
        self.join(above, at);
        at
    }

    fn join(&mut self, above: usize, below: usize) {
        if let Some(spot) = self.spots.get_mut(above) {
            spot.below.push(below);
        }
        if let Some(spot) = self.spots.get_mut(below) {
            spot.above.push(above);
        }
    }

    fn neighbours(&self, at: usize, up: bool) -> &[usize] {
        let spot = self.spots.get(at);
        spot.map_or(&[][..], |spot| if up { &spot.above } else { &spot.below })
    }

    /// Order each layer by the centres of its neighbours, down and up in turn; the order with the fewest crossings stays.
    fn order(&mut self) {
        let mut best = (self.crossings(), self.layers.clone());
        for round in 0..ROUNDS {
            if best.0 == 0 {
                break;
            }
            let up = round % 2 == 0;
            let depth = self.layers.len();
            let downwards = (0..depth).collect::<Vec<_>>();
            let sequence: Vec<usize> = if up { downwards } else { (0..depth).rev().collect() };
            for layer in sequence {
                self.order_layer(layer, up);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.layers.clone());
            }
        }
        self.layers = best.1;
    }

    fn order_layer(&mut self, layer: usize, up: bool) {
        let ranks = self.ranks(if up { layer.wrapping_sub(1) } else { layer + 1 });
        let Some(spots) = self.layers.get(layer) else { return };
        let mut keyed: Vec<(f64, usize, usize)> = Vec::with_capacity(spots.len());
        for (place, at) in spots.iter().enumerate() {
            let found = self.neighbours(*at, up).iter().filter_map(|other| ranks.get(other));
            let (sum, number) =
                found.fold((0.0, 0.0), |(sum, number), rank| (sum + rank, number + 1.0));
            // Without neighbours it stays about where it is.
            let share = place as f64 / spots.len().max(1) as f64 * ranks.len().max(1) as f64;
            keyed.push((if number > 0.0 { sum / number } else { share }, place, *at));
        }
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        if let Some(spots) = self.layers.get_mut(layer) {
            *spots = keyed.into_iter().map(|(_, _, at)| at).collect();
        }
    }

    fn ranks(&self, layer: usize) -> BTreeMap<usize, f64> {
        let spots = self.layers.get(layer).map_or(&[][..], Vec::as_slice);
        spots.iter().enumerate().map(|(rank, at)| (*at, rank as f64)).collect()
    }

    /// How often edges cross between layers.
    fn crossings(&self) -> u64 {
        let mut total = 0;
        for layer in 0..self.layers.len() {
            let below = self.ranks(layer + 1);
            // Of two edges whose upper ends are in order, those cross whose lower ends are not.
            let mut ends: Vec<f64> = Vec::new();
            for at in self.layers.get(layer).into_iter().flatten() {
                let mut own: Vec<f64> = self
                    .neighbours(*at, false)
                    .iter()
                    .filter_map(|to| below.get(to).copied())
                    .collect();
                own.sort_by(f64::total_cmp);
                ends.extend(own);
            }
            let mut sorted: Vec<f64> = Vec::with_capacity(ends.len());
            for end in ends {
                let after = sorted.partition_point(|other| *other <= end);
                total += (sorted.len() - after) as u64;
                sorted.insert(after, end);
            }
        }
        total
    }

    /// Move each spot towards the middle of its neighbours as far as those beside it allow.
    fn place(&mut self) {
        for layer in 0..self.layers.len() {
            self.settle(layer, |_, _| None);
        }
        for round in 0..2 * ROUNDS {
            let depth = self.layers.len();
            let up = round % 2 == 0;
            for step in 0..depth {
                let layer = if up { step } else { depth - 1 - step };
                self.settle(layer, |graph, at| graph.middle(at, up));
            }
        }
    }

    /// Mean of the neighbours on one side.
    fn middle(&self, at: usize, up: bool) -> Option<f64> {
        let all = self.neighbours(at, up).iter().filter_map(|other| self.spots.get(*other));
        let (sum, number) =
            all.fold((0.0, 0.0), |(sum, number), spot| (sum + spot.x, number + 1.0));
        (number > 0.0).then(|| sum / number)
    }

    /// The places closest to the wished ones, by least squares, that keep order and gaps: wishes that are in each other's
    /// way are pooled.
    fn settle(&mut self, layer: usize, wish: impl Fn(&Self, usize) -> Option<f64>) {
        let Some(spots) = self.layers.get(layer).cloned() else { return };
        // Offsets at which the spots touch, so that only the order is left to keep.
        let mut offset = 0.0;
        let mut last: Option<f64> = None;
        let mut pools: Vec<Pool> = Vec::new();
        for at in spots {
            let Some(spot) = self.spots.get(at) else { continue };
            if let Some(width) = last {
                offset += f64::midpoint(width, spot.width) + GAP;
            }
            last = Some(spot.width);
            let wished = wish(self, at).unwrap_or(spot.x);
            // An edge that runs straight is worth more than a box in the middle.
            let weight = if spot.height == 0.0 { 4.0 } else { 1.0 };
            let sum = weight * (wished - offset);
            let mut pool = Pool { sum, weight, members: vec![(at, offset)] };
            while let Some(mut before) = pools.pop_if(|before| before.mean() > pool.mean()) {
                before.sum += pool.sum;
                before.weight += pool.weight;
                before.members.append(&mut pool.members);
                pool = before;
            }
            pools.push(pool);
        }
        for pool in pools {
            let mean = pool.mean();
            for (at, offset) in pool.members {
                if let Some(spot) = self.spots.get_mut(at) {
                    spot.x = mean + offset;
                }
            }
        }
    }

    fn finish(&self, sizes: &[(f64, f64)], edges: &BTreeSet<(usize, usize)>) -> Layout {
        let left =
            self.spots.iter().map(|spot| spot.x - spot.width / 2.0).fold(f64::INFINITY, f64::min);
        let right = self.spots.iter().map(|spot| spot.x + spot.width / 2.0).fold(left, f64::max);
        let mut tops = Vec::with_capacity(self.layers.len());
        let mut y = 0.0;
        for layer in &self.layers {
            let heights = layer.iter().filter_map(|at| self.spots.get(*at)).map(|spot| spot.height);
            let height = heights.fold(0.0, f64::max);
            tops.push((y, height));
            y += height + RISE;
        }
        let place = |at: usize| -> Option<Placed> {
            let (spot, (width, height)) = (self.spots.get(at)?, sizes.get(at)?);
            let (top, _) = tops.get(spot.layer)?;
            let x = spot.x - width / 2.0 - left;
            Some(Placed { x, y: *top, width: *width, height: *height, layer: spot.layer })
        };
        let boxes: Vec<Placed> = (0..sizes.len()).filter_map(place).collect();
        let path = |(from, to): &(usize, usize)| -> Option<Routed> {
            let (upper, lower) = (boxes.get(*from)?, boxes.get(*to)?);
            let mut points =
                vec![Point { x: upper.x + upper.width / 2.0, y: upper.y + upper.height }];
            let lanes = self.lanes.get(from).map_or(&[][..], Vec::as_slice);
            for at in lanes.iter().take(lower.layer - upper.layer - 1) {
                let spot = self.spots.get(*at)?;
                let (top, height) = tops.get(spot.layer)?;
                points.push(Point { x: spot.x - left, y: *top });
                points.push(Point { x: spot.x - left, y: top + height });
            }
            points.push(Point { x: lower.x + lower.width / 2.0, y: lower.y });
            Some(Routed { from: *from, to: *to, points })
        };
        let edges = edges.iter().filter_map(path).collect();
        let (width, height) = if boxes.is_empty() { (0.0, 0.0) } else { (right - left, y - RISE) };
        Layout { boxes, edges, width, height }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Sizes = Vec<(f64, f64)>;
    type Edges = Vec<(usize, usize)>;

    /// A graph of the kind that plans are: each box reads a few of the boxes before it, mostly near ones.
    fn graph(seed: u64, count: usize) -> (Sizes, Edges) {
        let mut state = seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut next = |most: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % most.max(1)
        };
        let mut edges = Vec::new();
        let mut sizes = Vec::new();
        for to in 0..count {
            sizes.push((40.0 + next(160) as f64, 30.0 + next(30) as f64));
            for _ in 0..next(4) {
                let back = if next(5) == 0 { next(to) } else { to.saturating_sub(1 + next(6)) };
                edges.push((back, to));
            }
        }
        edges.retain(|(from, to)| from < to);
        (sizes, edges)
    }

    fn apart(a: &Placed, b: &Placed) -> bool {
        a.x + a.width <= b.x + 1e-6
            || b.x + b.width <= a.x + 1e-6
            || a.y + a.height <= b.y + 1e-6
            || b.y + b.height <= a.y + 1e-6
    }

    #[test]
    fn boxes_do_not_overlap_and_edges_go_down() {
        for seed in 0..60 {
            let (sizes, edges) = graph(seed, 1 + seed as usize * 3);
            let found = layout(&sizes, &edges);
            assert_eq!(found.boxes.len(), sizes.len());
            for (at, one) in found.boxes.iter().enumerate() {
                assert!(one.x >= -1e-6 && one.x + one.width <= found.width + 1e-6, "seed {seed}");
                assert!(one.y + one.height <= found.height + 1e-6, "seed {seed}");
                for other in &found.boxes[at + 1..] {
                    assert!(apart(one, other), "seed {seed}: {one:?} and {other:?}");
                }
            }
            let wanted: BTreeSet<(usize, usize)> = edges.iter().copied().collect();
            let drawn: BTreeSet<(usize, usize)> =
                found.edges.iter().map(|edge| (edge.from, edge.to)).collect();
            assert_eq!(wanted, drawn, "seed {seed}");
            for edge in &found.edges {
                let downwards = edge.points.windows(2).all(|pair| pair[0].y <= pair[1].y);
                let (top, bottom) = (edge.points[0], edge.points[edge.points.len() - 1]);
                assert!(downwards && top.y < bottom.y, "seed {seed}: {edge:?}");
            }
        }
    }

    /// Where a long edge passes a layer, no box is.
    #[test]
    fn edges_pass_beside_boxes() {
        for seed in 0..40 {
            let (sizes, edges) = graph(seed, 40);
            let found = layout(&sizes, &edges);
            for edge in &found.edges {
                for pair in edge.points.windows(2).filter(|pair| pair[0].x == pair[1].x) {
                    for (at, one) in found.boxes.iter().enumerate() {
                        let end = at == edge.from || at == edge.to;
                        let across = one.x < pair[0].x && pair[0].x < one.x + one.width;
                        let beside = pair[0].y < one.y + one.height && one.y < pair[1].y;
                        assert!(
                            end || !(across && beside),
                            "seed {seed}: {edge:?} through {one:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_diamond_is_as_one_would_draw_it() {
        let found = layout(&[(80.0, 40.0); 5], &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        let layers: Vec<usize> = found.boxes.iter().map(|one| one.layer).collect();
        assert_eq!(layers, [0, 1, 1, 2, 0], "a box without edges stands at the top");
        let centre = |at: usize| found.boxes[at].x + 40.0;
        let middle = f64::midpoint(centre(1), centre(2));
        assert!((centre(3) - middle).abs() < 1.0 && (centre(0) - middle).abs() < 1.0, "{found:?}");
        assert_eq!(found.boxes[4].x, found.boxes[2].x + 80.0 + 2.0 * GAP, "beside the others");
        assert_eq!(layout(&[], &[]), Layout::default());
    }

    #[test]
    fn a_source_stands_near_its_reader() {
        let found = layout(&[(10.0, 10.0); 5], &[(0, 1), (1, 2), (2, 4), (3, 4)]);
        assert_eq!(found.boxes[3].layer, 2);
    }
}
