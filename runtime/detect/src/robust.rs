//! Robust z-scores: distance from the median in robust standard deviations.
//!
//! z = (x - median) / (1.4826 MAD): Iglewicz and Hoaglin, "How to Detect and Handle Outliers" (1993), section 3.3,
//! written with the constant on the other side (0.6745 = 1 / 1.4826). Where more than half of the values are
//! equal, MAD is 0 and the standard deviation stands in.

use crate::series::{MISSING, Scored, Signals, mean_and_deviation, median, present};
use pipe_runtime::op::OpError;
use serde::{Deserialize, Serialize};

/// 1 / (the 0.75 quantile of the standard normal distribution).
const NORMAL: f64 = 1.482_602_218_505_602;

/// Smallest spread of the share of missing columns: one column out of many is little, all of them are ten spreads.
pub(crate) const MISSING_SPREAD: f64 = 0.1;

/// Which side of the median counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Side {
    Both,
    Upper,
    Lower,
}

/// What was learned of one signal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scale {
    pub(crate) center: f64,
    pub(crate) spread: f64,
}

/// Medians and spreads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Robust {
    side: Side,
    columns: Vec<Scale>,
    missing: Scale,
}

impl Scale {
    /// Median and MAD, with a smallest spread.
    fn robust(values: &[f64], floor: f64) -> Self {
        let center = median(values).unwrap_or_default();
        let distances: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
        let mut spread = NORMAL * median(&distances).unwrap_or_default();
        if spread == 0.0 {
            spread = mean_and_deviation(values).map_or(0.0, |(_, deviation)| deviation);
        }
        Self { center, spread: floored(spread, center, floor) }
    }

    /// Distance from the center in spreads; 0 for a missing value.
    pub(crate) fn z(&self, value: Option<f64>) -> f64 {
        value.map_or(0.0, |value| (value - self.center) / self.spread)
    }
}

/// At least `floor` times the size of the center; `floor` itself for a column that is zero throughout.
pub(crate) fn floored(spread: f64, center: f64, floor: f64) -> f64 {
    let least = spread.max(floor * center.abs());
    if least > 0.0 { least } else { floor }
}

impl Robust {
    pub(crate) fn fit(
        signals: &Signals,
        names: &[String],
        side: Side,
        floor: f64,
    ) -> Result<Self, OpError> {
        let scale = |(column, name): (&Vec<Option<f64>>, &String)| {
            present(column, name).map(|values| Scale::robust(&values, floor))
        };
        let columns = signals.columns.iter().zip(names).map(scale).collect::<Result<_, _>>()?;
        let mut missing = Scale::robust(&signals.missing, floor);
        missing.spread = missing.spread.max(MISSING_SPREAD);
        Ok(Self { side, columns, missing })
    }

    /// Score and strongest signal of each row.
    pub(crate) fn score(&self, signals: &Signals, names: &[String]) -> Vec<Scored> {
        (0..signals.missing.len()).map(|row| self.score_row(signals, names, row)).collect()
    }

    fn score_row(&self, signals: &Signals, names: &[String], row: usize) -> Scored {
        let sided = |z: f64| match self.side {
            Side::Both => z.abs(),
            Side::Upper => z.max(0.0),
            Side::Lower => (-z).max(0.0),
        };
        let lack = self.missing.z(signals.missing.get(row).copied()).max(0.0);
        let mut best = (lack, MISSING);
        for ((column, scale), name) in signals.columns.iter().zip(&self.columns).zip(names) {
            let z = sided(scale.z(column.get(row).copied().flatten()));
            if z > best.0 {
                best = (z, name);
            }
        }
        (Some(best.0), (best.0 > 0.0).then(|| best.1.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signals(values: &[f64]) -> Signals {
        Signals {
            columns: vec![values.iter().map(|v| Some(*v)).collect()],
            missing: vec![0.0; values.len()],
        }
    }

    fn scores(train: &[f64], data: &[f64]) -> Vec<f64> {
        let names = ["x".to_owned()];
        let fitted = Robust::fit(&signals(train), &names, Side::Both, 0.0).unwrap();
        fitted.score(&signals(data), &names).into_iter().map(|(score, _)| score.unwrap()).collect()
    }

    /// 1, 2, 3, 4, 100: median 3, distances 2 1 0 1 97, MAD 1.
    #[test]
    fn by_hand() {
        let found = scores(&[1.0, 2.0, 3.0, 4.0, 100.0], &[3.0, 6.0]);
        assert_eq!(found, [0.0, 3.0 / NORMAL]);
    }

    #[test]
    fn a_constant_column_has_the_smallest_spread() {
        assert_eq!(floored(0.0, 50.0, 0.01), 0.5);
        assert_eq!(floored(0.0, 0.0, 0.01), 0.01);
        assert_eq!(floored(2.0, 50.0, 0.01), 2.0);
    }

    #[test]
    fn a_row_without_values_is_strange() {
        let names = ["a".to_owned(), "b".to_owned()];
        let train = Signals { columns: vec![vec![Some(1.0), Some(2.0)]; 2], missing: vec![0.0; 2] };
        let fitted = Robust::fit(&train, &names, Side::Both, 0.01).unwrap();
        let dead = Signals { columns: vec![vec![None]; 2], missing: vec![1.0] };
        assert_eq!(fitted.score(&dead, &names), [(Some(10.0), Some(MISSING.to_owned()))]);
    }

    proptest! {
        /// Measuring in other units changes nothing.
        #[test]
        fn invariant_under_affine_maps(
            train in proptest::collection::vec(-1e3..1e3_f64, 5..40),
            data in proptest::collection::vec(-1e4..1e4_f64, 1..20),
            scale in prop_oneof![0.01..100.0_f64, -100.0..-0.01_f64],
            shift in -1e3..1e3_f64,
        ) {
            let map = |values: &[f64]| values.iter().map(|v| v * scale + shift).collect::<Vec<_>>();
            let (plain, mapped) = (scores(&train, &data), scores(&map(&train), &map(&data)));
            for (a, b) in plain.iter().zip(&mapped) {
                prop_assert!((a - b).abs() <= 1e-6 * a.abs().max(1.0), "{a} {b}");
            }
        }
    }
}
