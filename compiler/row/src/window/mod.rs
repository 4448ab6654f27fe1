//! Windows: functions of a row and of the rows before it in its series.
//!
//! A series is the rows of one entity in the order of their times ([`Order`]). A window ends at its row and never
//! reaches beyond it, so nothing computed with windows has seen the future. Each is a loop over one column in
//! linear time (quantiles: n log n); results depend on what the window holds and on nothing that has left it.

mod exact;
mod order;
mod placed;
mod slide;
mod stages;
mod state;

pub use order::Order;
pub use stages::{Windows, evaluate};

use crate::ir::Ty;
use crate::typing::Accepts;
use serde::{Deserialize, Serialize};

/// How far a window reaches back from its row, that row included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// This many rows.
    Rows(u64),
    /// Rows less than this many nanoseconds older.
    Time(i64),
}

/// How fast a moving average forgets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decay {
    /// The share of the new value, above 0 and at most 1.
    Alpha(#[serde(with = "crate::float")] f64),
    /// Nanoseconds after which a value counts half.
    HalfLife(i64),
}

/// What becomes of the values in a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fold {
    /// Their mean.
    Mean,
    /// Their sum.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Standard deviation of a sample (divided by n - 1).
    Std,
    /// The value below which this share of them lies, interpolated.
    Quantile(#[serde(with = "crate::float")] f64),
}

/// A function of a row and of the rows before it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Window {
    /// The value that many rows before, or the last one that is at least that old.
    Lag(Reach),
    /// The present values in the window as one; missing where there are fewer than `least`.
    Fold {
        /// How they become one.
        fold: Fold,
        /// How far back.
        reach: Reach,
        /// Values that there must be.
        least: u64,
    },
    /// Exponentially weighted moving average.
    Ewma(Decay),
    /// Whether the condition holds somewhere in the window.
    Any(Reach),
    /// Whether the condition holds all over the window.
    All(Reach),
    /// In how many rows of the window the condition holds.
    Count(Reach),
    /// For how long the condition has held without a break.
    Held,
    /// For how many rows the condition has held without a break.
    Streak,
    /// How long ago the condition held last.
    Since,
}

impl Reach {
    fn is_time(self) -> bool {
        matches!(self, Self::Time(_))
    }
}

impl Window {
    /// The name in `.pipe` programs.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Lag(_) => "window.lag",
            Self::Fold { fold, .. } => match fold {
                Fold::Mean => "window.mean",
                Fold::Sum => "window.sum",
                Fold::Min => "window.min",
                Fold::Max => "window.max",
                Fold::Std => "window.std",
                Fold::Quantile(_) => "window.quantile",
            },
            Self::Ewma(_) => "window.ewma",
            Self::Any(_) => "window.any",
            Self::All(_) => "window.all",
            Self::Count(_) => "window.count",
            Self::Held => "window.held",
            Self::Streak => "window.streak",
            Self::Since => "window.since",
        }
    }

    /// What the operand has to be.
    #[must_use]
    pub fn accepts(self) -> Accepts {
        match self {
            Self::Lag(_) => Accepts::Anything,
            Self::Fold { fold: Fold::Sum, .. } => Accepts::Amount,
            Self::Fold { fold: Fold::Min | Fold::Max, .. } => Accepts::Ordered,
            Self::Fold { .. } | Self::Ewma(_) => Accepts::Number,
            Self::Any(_)
            | Self::All(_)
            | Self::Count(_)
            | Self::Held
            | Self::Streak
            | Self::Since => Accepts::Truth,
        }
    }

    /// The type of the result; `None` where the operand does not fit.
    #[must_use]
    pub fn result(self, operand: Ty) -> Option<Ty> {
        let result = match self {
            Self::Lag(_) | Self::Fold { fold: Fold::Sum | Fold::Min | Fold::Max, .. } => operand,
            Self::Fold { .. } | Self::Ewma(_) => Ty::Float,
            Self::Any(_) | Self::All(_) => Ty::Bool,
            Self::Count(_) | Self::Streak => Ty::Int,
            Self::Held | Self::Since => Ty::Duration,
        };
        self.accepts().contains(operand).then_some(result)
    }

    /// Whether the result may be missing for a row that has a place in its series, when values of the operand may be.
    #[must_use]
    pub fn may_miss(self, operand: bool) -> bool {
        match self {
            Self::Lag(_) | Self::Any(_) | Self::All(_) | Self::Since => true,
            Self::Fold { fold, least, .. } => operand || least > 1 || fold == Fold::Std,
            Self::Ewma(_) => operand,
            Self::Count(_) | Self::Held | Self::Streak => false,
        }
    }

    /// Whether the rows need times.
    #[must_use]
    pub fn needs_times(self) -> bool {
        match self {
            Self::Lag(reach)
            | Self::Fold { reach, .. }
            | Self::Any(reach)
            | Self::All(reach)
            | Self::Count(reach) => reach.is_time(),
            Self::Ewma(decay) => matches!(decay, Decay::HalfLife(_)),
            Self::Held | Self::Since => true,
            Self::Streak => false,
        }
    }

    /// Whether the numbers in it make sense: windows of at least one row or nanosecond, shares between 0 and 1.
    #[must_use]
    pub fn is_well_formed(self) -> bool {
        let reaches = |reach| match reach {
            Reach::Rows(rows) => rows > 0,
            Reach::Time(nanos) => nanos > 0,
        };
        match self {
            Self::Lag(reach) | Self::Any(reach) | Self::All(reach) | Self::Count(reach) => {
                reaches(reach)
            }
            Self::Fold { fold, reach, least } => {
                let share = match fold {
                    Fold::Quantile(share) => (0.0..=1.0).contains(&share),
                    _ => true,
                };
                reaches(reach) && least > 0 && share
            }
            Self::Ewma(Decay::Alpha(alpha)) => alpha > 0.0 && alpha <= 1.0,
            Self::Ewma(Decay::HalfLife(nanos)) => nanos > 0,
            Self::Held | Self::Streak | Self::Since => true,
        }
    }

    /// Tag and numbers, from which keys are made.
    pub(crate) fn encode(self, out: &mut Vec<u8>) {
        let mut reach_bytes = Vec::new();
        let mut put = |reach: Reach| match reach {
            Reach::Rows(rows) => {
                reach_bytes.push(0);
                reach_bytes.extend(rows.to_le_bytes());
            }
            Reach::Time(nanos) => {
                reach_bytes.push(1);
                reach_bytes.extend(nanos.to_le_bytes());
            }
        };
        out.push(match self {
            Self::Lag(_) => 0,
            Self::Fold { fold, .. } => match fold {
                Fold::Mean => 1,
                Fold::Sum => 2,
                Fold::Min => 3,
                Fold::Max => 4,
                Fold::Std => 5,
                Fold::Quantile(_) => 6,
            },
            Self::Ewma(Decay::Alpha(_)) => 7,
            Self::Ewma(Decay::HalfLife(_)) => 8,
            Self::Any(_) => 9,
            Self::All(_) => 10,
            Self::Count(_) => 11,
            Self::Held => 12,
            Self::Streak => 13,
            Self::Since => 14,
        });
        match self {
            Self::Lag(reach) | Self::Any(reach) | Self::All(reach) | Self::Count(reach) => {
                put(reach);
            }
            Self::Fold { fold, reach, least } => {
                put(reach);
                out.extend(least.to_le_bytes());
                if let Fold::Quantile(share) = fold {
                    out.extend(crate::lane::constant(share).to_bits().to_le_bytes());
                }
            }
            Self::Ewma(Decay::Alpha(alpha)) => out.extend(alpha.to_bits().to_le_bytes()),
            Self::Ewma(Decay::HalfLife(nanos)) => out.extend(nanos.to_le_bytes()),
            Self::Held | Self::Streak | Self::Since => {}
        }
        out.extend(reach_bytes);
    }
}
