//! Windows that move over a series: values enter at one end and leave at the other, each once.

use super::exact::{Exact, Scale, Wide, spread};
use super::placed::Placed;
use super::{Order, Reach};
use std::collections::VecDeque;
use std::ops::Range;

/// What is kept of the values in a window.
pub(super) trait Kept {
    /// What is made of them.
    type Result;

    /// The value at this place comes in.
    fn enter(&mut self, place: usize);

    /// The value at this place, the oldest that is in, goes out.
    fn leave(&mut self, place: usize);

    /// A new series begins.
    fn clear(&mut self, series: Range<usize>);

    /// The result for a window that begins at `from`.
    fn result(&mut self, from: usize) -> Option<Self::Result>;
}

/// Moves a window over every series; `give` takes the place and its result.
pub(super) fn slide<K: Kept>(
    kept: &mut K,
    reach: Reach,
    order: &Order,
    mut give: impl FnMut(usize, Option<K::Result>),
) {
    for series in order.series() {
        kept.clear(series.clone());
        let mut from = series.start;
        for place in series.clone() {
            kept.enter(place);
            while outside(from, place, reach, order.times()) {
                kept.leave(from);
                from += 1;
            }
            give(place, kept.result(from));
        }
    }
}

/// Whether `from` lies before the window that ends at `place`.
pub(super) fn outside(from: usize, place: usize, reach: Reach, times: &[i64]) -> bool {
    match reach {
        Reach::Rows(rows) => (place - from) as u64 >= rows,
        Reach::Time(nanos) => older(times, from, place, nanos),
    }
}

/// Whether the row at `from` is at least `nanos` older than the one at `place`.
pub(super) fn older(times: &[i64], from: usize, place: usize, nanos: i64) -> bool {
    let time = |at: usize| i128::from(times.get(at).copied().unwrap_or(0));
    from < place && time(place) - time(from) >= i128::from(nanos)
}

/// The exact sum of floats, and of their squares where asked for.
pub(super) struct Total<'a> {
    operand: &'a Placed<'a, f64>,
    sum: Exact,
    squares: Option<Wide>,
    room: Vec<u64>,
    /// Finite values.
    count: u64,
    nans: u64,
    above: u64,
    below: u64,
}

impl<'a> Total<'a> {
    pub(super) fn new(operand: &'a Placed<'a, f64>, squares: bool) -> Self {
        let sum = Exact::zero(Scale::of(&operand.values, false));
        let squares = squares.then(|| Wide::zero(Scale::of(&operand.values, true)));
        Self { operand, sum, squares, room: Vec::new(), count: 0, nans: 0, above: 0, below: 0 }
    }

    fn step(&mut self, place: usize, away: bool) {
        let Some(value) = self.operand.get(place) else { return };
        let counter = if value.is_nan() {
            &mut self.nans
        } else if value == f64::INFINITY {
            &mut self.above
        } else if value == f64::NEG_INFINITY {
            &mut self.below
        } else {
            self.sum.add(value, away);
            if let Some(squares) = &mut self.squares {
                squares.add_square(value, away);
            }
            &mut self.count
        };
        *counter = if away { counter.saturating_sub(1) } else { *counter + 1 };
    }
}

/// Count, sum and spread (see [`spread`]; NaN unless asked for) of a window.
pub(super) struct Moments {
    pub(super) count: u64,
    pub(super) sum: f64,
    pub(super) spread: f64,
}

impl Kept for Total<'_> {
    type Result = Moments;

    fn enter(&mut self, place: usize) {
        self.step(place, false);
    }

    fn leave(&mut self, place: usize) {
        self.step(place, true);
    }

    fn clear(&mut self, _: Range<usize>) {
        self.sum.clear();
        self.squares.as_mut().into_iter().for_each(Wide::clear);
        (self.count, self.nans, self.above, self.below) = (0, 0, 0, 0);
    }

    fn result(&mut self, _: usize) -> Option<Moments> {
        let infinite = self.above + self.below;
        let sum = match (self.nans, self.above, self.below) {
            (0, 0, 0) => self.sum.value(),
            (0, _, 0) => f64::INFINITY,
            (0, 0, _) => f64::NEG_INFINITY,
            _ => f64::NAN,
        };
        let spread = match &self.squares {
            Some(squares) if self.nans + infinite == 0 => {
                spread(self.count, &self.sum, squares, &mut self.room)
            }
            _ => f64::NAN,
        };
        Some(Moments { count: self.count + self.nans + infinite, sum, spread })
    }
}

/// The exact sum of durations, with their count.
pub(super) struct NanosTotal<'a> {
    pub(super) operand: &'a Placed<'a, i64>,
    pub(super) sum: i128,
    pub(super) count: u64,
}

impl Kept for NanosTotal<'_> {
    type Result = (u64, i128);

    fn enter(&mut self, place: usize) {
        if let Some(value) = self.operand.get(place) {
            self.sum += i128::from(value);
            self.count += 1;
        }
    }

    fn leave(&mut self, place: usize) {
        if let Some(value) = self.operand.get(place) {
            self.sum -= i128::from(value);
            self.count = self.count.saturating_sub(1);
        }
    }

    fn clear(&mut self, _: Range<usize>) {
        (self.sum, self.count) = (0, 0);
    }

    fn result(&mut self, _: usize) -> Option<(u64, i128)> {
        Some((self.count, self.sum))
    }
}

/// A value as a number that is ordered like it.
pub(super) trait Rank: Copy + Default {
    /// The number; none for NaN.
    fn rank(self) -> Option<i64>;
}

impl Rank for i64 {
    fn rank(self) -> Option<i64> {
        Some(self)
    }
}

impl Rank for f64 {
    /// As `total_cmp` orders, so that -0.0 lies below 0.0.
    fn rank(self) -> Option<i64> {
        let bits = self.to_bits().cast_signed();
        (!self.is_nan()).then_some(bits ^ (i64::MAX * i64::from(bits < 0)))
    }
}

/// The place of the extreme value: candidates wait in the order in which they will be the extreme.
pub(super) struct Extreme<'a, T: Rank> {
    operand: &'a Placed<'a, T>,
    largest: bool,
    waiting: VecDeque<(usize, i64)>,
    count: u64,
    nans: u64,
}

/// How many values there are, and the extreme one; none where NaN is among them.
pub(super) type Found = (u64, Option<usize>);

impl<'a, T: Rank> Extreme<'a, T> {
    pub(super) fn new(operand: &'a Placed<'a, T>, largest: bool) -> Self {
        Self { operand, largest, waiting: VecDeque::new(), count: 0, nans: 0 }
    }
}

impl<T: Rank> Kept for Extreme<'_, T> {
    type Result = Found;

    fn enter(&mut self, place: usize) {
        let Some(value) = self.operand.get(place) else { return };
        self.count += 1;
        let Some(rank) = value.rank() else {
            self.nans += 1;
            return;
        };
        let beaten = |(_, other): &(usize, i64)| {
            if self.largest { *other <= rank } else { *other >= rank }
        };
        while self.waiting.back().is_some_and(beaten) {
            self.waiting.pop_back();
        }
        self.waiting.push_back((place, rank));
    }

    fn leave(&mut self, place: usize) {
        let Some(value) = self.operand.get(place) else { return };
        self.count = self.count.saturating_sub(1);
        if value.rank().is_none() {
            self.nans = self.nans.saturating_sub(1);
        }
        if self.waiting.front().is_some_and(|(first, _)| *first == place) {
            self.waiting.pop_front();
        }
    }

    fn clear(&mut self, _: Range<usize>) {
        self.waiting.clear();
        (self.count, self.nans) = (0, 0);
    }

    fn result(&mut self, _: usize) -> Option<Found> {
        let first = self.waiting.front().map(|(place, _)| *place);
        Some((self.count, if self.nans > 0 { None } else { first }))
    }
}

/// The values in order, in shelves of a few hundred: a value that comes or goes moves its shelf alone.
pub(super) struct Sorted<'a> {
    operand: &'a Placed<'a, f64>,
    share: f64,
    shelves: Vec<Vec<f64>>,
    count: usize,
    nans: u64,
}

/// The most values on a shelf; a full one becomes two.
const SHELF: usize = 512;

impl<'a> Sorted<'a> {
    pub(super) fn new(operand: &'a Placed<'a, f64>, share: f64) -> Self {
        Self { operand, share, shelves: Vec::new(), count: 0, nans: 0 }
    }

    /// The first shelf that ends at the value or above it, and the place on it.
    fn find(&self, value: f64) -> (usize, usize) {
        let ends_below = |shelf: &Vec<f64>| shelf.last().is_some_and(|last| *last < value);
        let number = self.shelves.partition_point(ends_below);
        let place = self.shelves.get(number).map_or(0, |s| s.partition_point(|v| *v < value));
        (number, place)
    }

    fn add(&mut self, value: f64) {
        let (number, place) = self.find(value);
        // Above all there is: on the last shelf.
        let (number, place) = match (self.shelves.get(number), self.shelves.len().checked_sub(1)) {
            (None, Some(last)) => (last, self.shelves.get(last).map_or(0, Vec::len)),
            _ => (number, place),
        };
        let Some(shelf) = self.shelves.get_mut(number) else {
            self.shelves.push(vec![value]);
            return;
        };
        shelf.insert(place.min(shelf.len()), value);
        if shelf.len() >= SHELF {
            let upper = shelf.split_off(SHELF / 2);
            self.shelves.insert(number + 1, upper);
        }
    }

    fn remove(&mut self, value: f64) {
        let (number, place) = self.find(value);
        let Some(shelf) = self.shelves.get_mut(number).filter(|shelf| place < shelf.len()) else {
            return;
        };
        shelf.remove(place);
        if shelf.is_empty() {
            self.shelves.remove(number);
        }
    }

    fn step(&mut self, place: usize, away: bool) {
        let Some(value) = self.operand.get(place) else { return };
        if value.is_nan() {
            self.nans = if away { self.nans.saturating_sub(1) } else { self.nans + 1 };
            return;
        }
        // -0.0 + 0.0 is 0.0.
        let value = value + 0.0;
        if away {
            self.count = self.count.saturating_sub(1);
            self.remove(value);
        } else {
            self.count += 1;
            self.add(value);
        }
    }

    /// The value with `below` values under it, and the next one.
    fn nth(&self, below: usize) -> (f64, f64) {
        let mut rest = below;
        let mut shelves = self.shelves.iter();
        while let Some(shelf) = shelves.next() {
            if let Some(value) = shelf.get(rest) {
                let next = shelf.get(rest + 1).or_else(|| shelves.next().and_then(|s| s.first()));
                return (*value, next.copied().unwrap_or(f64::NAN));
            }
            rest -= shelf.len();
        }
        (f64::NAN, f64::NAN)
    }
}

impl Kept for Sorted<'_> {
    type Result = (u64, f64);

    fn enter(&mut self, place: usize) {
        self.step(place, false);
    }

    fn leave(&mut self, place: usize) {
        self.step(place, true);
    }

    fn clear(&mut self, _: Range<usize>) {
        self.shelves.clear();
        (self.count, self.nans) = (0, 0);
    }

    #[expect(clippy::cast_precision_loss, reason = "no window has 2^53 rows")]
    #[expect(clippy::cast_possible_truncation, reason = "lies between 0 and the number of rows")]
    #[expect(clippy::cast_sign_loss, reason = "lies between 0 and the number of rows")]
    fn result(&mut self, _: usize) -> Option<(u64, f64)> {
        let count = self.count as u64 + self.nans;
        let last = self.count.checked_sub(1);
        let Some(last) = last.filter(|_| self.nans == 0) else { return Some((count, f64::NAN)) };
        let at = self.share * last as f64;
        let whole = libm::floor(at);
        let (below, part) = (whole as usize, at - whole);
        let (low, high) = self.nth(below);
        let value = if part > 0.0 { low + (high - low) * part } else { low };
        Some((count, value))
    }
}
