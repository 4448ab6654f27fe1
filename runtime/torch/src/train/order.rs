//! Which rows each step sees: a permutation of all rows for each epoch, a function of (seed, epoch, position) alone,
//! so that a run continues anywhere without having to remember anything.

use crate::random::Random;

/// The order of rows.
#[derive(Debug)]
pub struct Order {
    seed: i64,
    rows: u32,
    window: u32,
    current: Option<(u64, Vec<u32>)>,
}

impl Order {
    /// Windows of up to `window` rows; the last one of an epoch holds what remains.
    #[must_use]
    pub fn new(seed: i64, rows: u32, window: u32) -> Self {
        Self { seed, rows, window: window.max(1), current: None }
    }

    /// Steps in an epoch.
    #[must_use]
    pub fn steps_per_epoch(&self) -> u64 {
        u64::from(self.rows.div_ceil(self.window))
    }

    /// The rows of a step.
    pub fn rows(&mut self, step: u64) -> &[u32] {
        let epoch = step / self.steps_per_epoch().max(1);
        let position = step % self.steps_per_epoch().max(1);
        if self.current.as_ref().is_none_or(|(current, _)| *current != epoch) {
            self.current = Some((epoch, permutation(self.seed, epoch, self.rows)));
        }
        let order = self.current.as_ref().map_or(&[][..], |(_, order)| order);
        let start = usize::try_from(position * u64::from(self.window))
            .unwrap_or(usize::MAX)
            .min(order.len());
        let end = start.saturating_add(self.window as usize).min(order.len());
        order.get(start..end).unwrap_or_default()
    }

    /// Steps after which `wanted` targets have been seen, given those of each row.
    pub fn steps_for(&mut self, wanted: u64, targets: &[u32]) -> u64 {
        let all: u64 = targets.iter().map(|&count| u64::from(count)).sum();
        if all == 0 {
            return 0;
        }
        let mut step = wanted / all * self.steps_per_epoch();
        let mut seen = wanted / all * all;
        while seen < wanted {
            let window = self.rows(step).iter().filter_map(|&row| targets.get(row as usize));
            seen += window.map(|&count| u64::from(count)).sum::<u64>();
            step += 1;
        }
        step
    }
}

/// Fisher and Yates, as in Durstenfeld 1964.
fn permutation(seed: i64, epoch: u64, rows: u32) -> Vec<u32> {
    let mut random = Random::new(seed, epoch);
    let mut order: Vec<u32> = (0..rows).collect();
    for last in (1..order.len()).rev() {
        let other = random.below(last as u64 + 1);
        order.swap(last, usize::try_from(other).unwrap_or(0));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_epoch_sees_each_row_once(seed in any::<i64>(), rows in 1u32..200, window in 1u32..40, epoch in 0u64..5) {
            let mut order = Order::new(seed, rows, window);
            let per_epoch = order.steps_per_epoch();
            let mut seen: Vec<u32> = (0..per_epoch).flat_map(|step| order.rows(epoch * per_epoch + step).to_vec()).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..rows).collect::<Vec<_>>());
        }

        #[test]
        fn any_step_can_be_asked_first(seed in any::<i64>(), step in 0u64..50) {
            let mut walked = Order::new(seed, 17, 4);
            let all: Vec<Vec<u32>> = (0..=step).map(|step| walked.rows(step).to_vec()).collect();
            let mut fresh = Order::new(seed, 17, 4);
            prop_assert_eq!(fresh.rows(step), all.last().unwrap().as_slice());
        }

        #[test]
        fn enough_steps_for_the_tokens_and_not_one_more(wanted in 1u64..5000) {
            let targets = [3, 2, 7, 5, 1];
            let mut order = Order::new(1, 5, 2);
            let steps = order.steps_for(wanted, &targets);
            let mut seen = |steps: u64| -> u64 {
                (0..steps).flat_map(|step| order.rows(step).to_vec()).map(|row| u64::from(targets[row as usize])).sum()
            };
            prop_assert!(seen(steps) >= wanted);
            prop_assert!(seen(steps - 1) < wanted);
        }
    }
}
