//! What scores without any knowledge reach: expected values, in closed form.

use crate::series::ratio;

/// The rows of a result that knows nothing.
pub(super) struct Baseline {
    pub(super) precision: f64,
    pub(super) recall: f64,
    pub(super) average_precision: f64,
    pub(super) event_recall: f64,
}

/// Expected values when `marked` of `steps` are marked at random, and of a random ranking.
///
/// Precision is the share of anomalous steps, recall the share of marked ones; an event of l steps is found with
/// 1 - C(n - l, m) / C(n, m). Average precision of a random order: (H_n + (r - 1)/(n - 1) (n - H_n)) / n, since the step at rank k is
/// anomalous with r/n and then so is each of the k - 1 before it with (r - 1)/(n - 1).
pub(super) fn random(steps: usize, anomalous: usize, marked: usize, events: &[usize]) -> Baseline {
    let missed = |length: usize| -> f64 {
        (0..length)
            .map(|taken| ratio((steps - marked).saturating_sub(taken), steps - taken))
            .product()
    };
    let found: f64 = events.iter().map(|length| 1.0 - missed(*length)).sum();
    let harmonic: f64 = (1..=steps).map(|rank| ratio(1, rank)).sum();
    let others = ratio(anomalous.saturating_sub(1), steps.saturating_sub(1));
    #[expect(clippy::cast_precision_loss, reason = "counts lie below 2^52")]
    let (count, events) = (steps as f64, events.len() as f64);
    Baseline {
        precision: if marked == 0 { 0.0 } else { ratio(anomalous, steps) },
        recall: ratio(marked, steps),
        average_precision: (harmonic + others * (count - harmonic)) / count,
        event_recall: found / events,
    }
}

/// Marking every step.
pub(super) fn always(steps: usize, anomalous: usize) -> Baseline {
    let share = ratio(anomalous, steps);
    Baseline { precision: share, recall: 1.0, average_precision: share, event_recall: 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two of four steps anomalous (one event of two), two marked: C(4, 2) = 6 draws, one of them misses both.
    /// Average precision over the six orders of 1100: (1 + 5/6 + 3/4 + 7/12 + 1/2 + 5/12) / 6 = 49/72.
    #[test]
    fn by_enumeration() {
        let found = random(4, 2, 2, &[2]);
        assert_eq!((found.precision, found.recall), (0.5, 0.5));
        assert!((found.event_recall - 5.0 / 6.0).abs() < 1e-12);
        assert!(
            (found.average_precision - 49.0 / 72.0).abs() < 1e-12,
            "{}",
            found.average_precision
        );
    }
}
