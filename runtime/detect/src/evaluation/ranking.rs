//! Average precision: the area below precision over recall, in steps.

use crate::series::ratio;

/// AP = sum (R_k - R_{k-1}) P_k over thresholds from the highest score down (Manning, Raghavan and Schütze 2008, section 8.4). Equal scores
/// enter together, and steps without a score come last.
pub(super) fn average_precision(scores: &[Option<f64>], anomalous: &[bool]) -> f64 {
    let mut order: Vec<(f64, bool)> = scores
        .iter()
        .zip(anomalous)
        .map(|(score, anomalous)| (score.unwrap_or(f64::NEG_INFINITY), *anomalous))
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let positives = anomalous.iter().filter(|anomalous| **anomalous).count();
    let (mut seen, mut hits, mut area) = (0, 0, 0.0);
    for block in order.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let new = block.iter().filter(|(_, anomalous)| *anomalous).count();
        seen += block.len();
        hits += new;
        area += ratio(new, positives) * ratio(hits, seen);
    }
    area
}

#[cfg(test)]
mod tests {
    use super::average_precision;
    use proptest::prelude::*;

    /// Ranks 1 and 3 of four: 1/2 * 1 + 1/2 * 2/3 = 5/6. All equal: the share of anomalous steps.
    #[test]
    fn by_hand() {
        let truth = [true, false, true, false];
        let score = |values: [f64; 4]| average_precision(&values.map(Some), &truth);
        assert!((score([4.0, 3.0, 2.0, 1.0]) - 5.0 / 6.0).abs() < 1e-12);
        assert!((score([1.0; 4]) - 0.5).abs() < 1e-12);
        assert!(
            (average_precision(&[None, Some(1.0), Some(2.0), None], &truth) - 0.75).abs() < 1e-12
        );
    }

    proptest! {
        /// Only the order of scores counts, and the order of steps does not.
        #[test]
        fn invariant(rows in proptest::collection::vec((0..20_i32, any::<bool>()), 1..60)) {
            let value = |map: &dyn Fn(i32) -> f64, rows: &[(i32, bool)]| {
                let scores: Vec<_> = rows.iter().map(|row| Some(map(row.0))).collect();
                average_precision(&scores, &rows.iter().map(|row| row.1).collect::<Vec<_>>())
            };
            let plain = value(&f64::from, &rows);
            let backwards: Vec<_> = rows.iter().rev().copied().collect();
            prop_assert_eq!(plain, value(&|score| f64::from(score).exp(), &rows));
            prop_assert_eq!(plain, value(&f64::from, &backwards));
            prop_assert!((0.0..=1.0).contains(&plain));
        }
    }
}
