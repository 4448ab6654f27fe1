//! What a training looked like: a few hundred points, averaged exactly, without clocks, so that a resumed run has the same curve.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Points of a whole training.
const POINTS: u64 = 400;

/// An f64 that survives JSON bit for bit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Exact(pub f64);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0.to_bits()))
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16)
            .map(|bits| Self(f64::from_bits(bits)))
            .map_err(serde::de::Error::custom)
    }
}

/// A point of the training curves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Steps done.
    pub step: u64,
    /// Targets seen.
    pub tokens: u64,
    /// Mean loss of a target since the point before.
    pub loss: Exact,
    /// Learning rate of the step.
    pub lr: Exact,
    /// Mean gradient norm since the point before.
    pub grad_norm: Exact,
}

/// Loss on the validation rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Valid {
    /// Steps done.
    pub step: u64,
    /// Mean loss of a target.
    pub loss: Exact,
}

/// Curves with the sums of the point that is being collected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Points so far.
    pub points: Vec<Point>,
    /// Validation so far.
    pub valid: Vec<Valid>,
    tokens: u64,
    sum_loss: Exact,
    sum_tokens: u64,
    sum_norm: Exact,
    steps: u64,
}

/// What one step gave.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Steps done with this one.
    pub step: u64,
    /// Its targets.
    pub tokens: u64,
    /// Sum of their losses.
    pub loss: f64,
    /// Learning rate.
    pub lr: f64,
    /// Norm of the gradient before clipping.
    pub norm: f64,
}

impl Curve {
    /// Takes in a step of a training of `total` steps.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn add(&mut self, seen: Seen, total: u64) {
        self.tokens += seen.tokens;
        self.sum_loss.0 += seen.loss;
        self.sum_tokens += seen.tokens;
        self.sum_norm.0 += seen.norm;
        self.steps += 1;
        if !seen.step.is_multiple_of(total.div_ceil(POINTS).max(1)) && seen.step != total {
            return;
        }
        self.points.push(Point {
            step: seen.step,
            tokens: self.tokens,
            loss: Exact(self.sum_loss.0 / self.sum_tokens.max(1) as f64),
            lr: Exact(seen.lr),
            grad_norm: Exact(self.sum_norm.0 / self.steps as f64),
        });
        (self.sum_loss, self.sum_tokens, self.sum_norm, self.steps) =
            (Exact(0.0), 0, Exact(0.0), 0);
    }

    /// Targets seen.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Lists of numbers, as reports read them.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let numbers = |pick: fn(&Point) -> f64| self.points.iter().map(pick).collect::<Vec<_>>();
        serde_json::json!({
            "step": self.points.iter().map(|point| point.step).collect::<Vec<_>>(),
            "tokens": self.points.iter().map(|point| point.tokens).collect::<Vec<_>>(),
            "loss": numbers(|point| point.loss.0),
            "lr": numbers(|point| point.lr.0),
            "grad_norm": numbers(|point| point.grad_norm.0),
            "valid_step": self.valid.iter().map(|valid| valid.step).collect::<Vec<_>>(),
            "valid_loss": self.valid.iter().map(|valid| valid.loss.0).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_average_over_tokens_and_the_last_step_is_always_one() {
        let mut curve = Curve::default();
        for step in 1..=801 {
            let tokens = if step % 2 == 0 { 3 } else { 1 };
            let loss = if step % 2 == 0 { 3.0 } else { 5.0 };
            curve.add(Seen { step, tokens, loss, lr: 0.1, norm: 2.0 }, 801);
        }
        assert_eq!(curve.points.len(), 267);
        assert_eq!(curve.points.last().unwrap().step, 801);
        let first = curve.points.first().unwrap();
        assert_eq!((first.step, first.tokens, first.loss.0), (3, 5, 13.0 / 5.0));
    }

    #[test]
    fn curves_survive_json_bit_for_bit() {
        let mut curve = Curve::default();
        curve.add(
            Seen { step: 1, tokens: 3, loss: 0.1 + 0.2, lr: 1.0 / 3.0, norm: f64::MIN_POSITIVE },
            1000,
        );
        let text = serde_json::to_string(&curve).unwrap();
        assert_eq!(serde_json::from_str::<Curve>(&text).unwrap(), curve);
    }
}
