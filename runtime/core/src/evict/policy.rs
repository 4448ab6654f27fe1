//! The policies: each says in what order results leave.

use super::paper;
use super::shelf::Shelf;

/// How results are chosen to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Nothing is kept.
    None,
    /// Everything is kept, whatever the budget.
    All,
    /// What was stored first goes first.
    Fifo,
    /// What was of use longest ago goes first.
    Lru,
    /// GreedyDual-Size-Frequency (Cherkasova 1998) over the seconds of each producer alone.
    Gdsf,
    /// The importance of Couler's paper (Algorithm 2) as it is printed.
    Paper,
    /// Seconds that would really be paid again, times the uses to be expected, per byte. What `pipe store gc` does.
    Value,
}

impl Policy {
    /// All of them, the simplest first.
    pub const ALL: [Self; 7] =
        [Self::None, Self::All, Self::Fifo, Self::Lru, Self::Gdsf, Self::Paper, Self::Value];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::All => "all",
            Self::Fifo => "fifo",
            Self::Lru => "lru",
            Self::Gdsf => "gdsf",
            Self::Paper => "paper",
            Self::Value => "value",
        }
    }

    /// Score of a stored item; the lowest goes first, ties by key.
    #[must_use]
    pub fn score(self, shelf: &Shelf, at: usize) -> f64 {
        let Some(item) = shelf.item(at) else { return 0.0 };
        match self {
            Self::None | Self::All => 0.0,
            Self::Fifo => item.stored as f64,
            Self::Lru => item.used as f64,
            Self::Gdsf => item.floor + (1.0 + item.count as f64) * item.seconds / shelf.weight(at),
            Self::Paper => paper::importance(shelf, at),
            Self::Value => item.floor + shelf.recompute(at) * shelf.reuse(at) / shelf.weight(at),
        }
    }

    /// Whether a score may change by anything that happens on the shelf, so that all are computed before each choice.
    pub(super) fn is_restless(self) -> bool {
        self == Self::Paper
    }
}
