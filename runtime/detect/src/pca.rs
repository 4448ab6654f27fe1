//! Windows of a series against the directions in which windows usually move.
//!
//! The score is the squared prediction error Q = |x - V V'x|^2: Jackson and Mudholkar, "Control Procedures for Residuals Associated
//! with Principal Component Analysis" (1979), eq. 2.1, divided by the length of x so that windows of different sizes compare.

use crate::eigen::symmetric;
use crate::robust::{MISSING_SPREAD, Scale, floored};
use crate::series::{Clock, MISSING, Scored, Signals, mean_and_deviation, present};
use pipe_runtime::op::OpError;
use serde::{Deserialize, Serialize};

/// Most values in a window: beyond, the decomposition takes minutes.
const MAX_SIZE: usize = 2_000;

/// Scales, the mean window, and the directions that were kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pca {
    /// Rows of a window.
    pub(crate) window: usize,
    /// Distance of rows in nanoseconds.
    step: i64,
    /// Share of the variance that the kept directions explain.
    explained: f64,
    scales: Vec<Scale>,
    mean: Vec<f64>,
    directions: Vec<Vec<f64>>,
}

impl Pca {
    pub(crate) fn fit(
        signals: &Signals,
        names: &[String],
        clock: &Clock,
        length: i64,
        keep: f64,
        floor: f64,
    ) -> Result<Self, OpError> {
        let window = rows_of(length, clock.step)?;
        let mut scales = Vec::new();
        for (column, name) in signals.columns.iter().zip(names) {
            let (center, deviation) =
                mean_and_deviation(&present(column, name)?).unwrap_or_default();
            scales.push(Scale { center, spread: floored(deviation, center, floor) });
        }
        let (center, deviation) = mean_and_deviation(&signals.missing).unwrap_or_default();
        scales.push(Scale { center, spread: deviation.max(MISSING_SPREAD) });
        let size = window * scales.len();
        if size > MAX_SIZE {
            return Err(OpError::new(
                "run::window_too_large",
                format!("A window of {window} rows and {} signals has {size} values; at most {MAX_SIZE} are taken.", scales.len()),
            )
            .help("take a shorter window, fewer columns, or longer steps"));
        }
        let rows = standardised(signals, &scales);
        let windows = Windows { rows: &rows, signals: scales.len(), clock, window };
        if windows.iter().take(2).count() < 2 {
            return Err(OpError::new(
                "run::too_few_rows",
                format!(
                    "The part to learn from has {} rows, too few for windows of {window}.",
                    clock.times.len()
                ),
            )
            .help("learn from a longer part, or take a shorter window"));
        }
        let mean = mean_of(&windows, size);
        let found = symmetric(covariance(&windows, &mean)).ok_or_else(|| {
            OpError::new(
                "run::not_finite",
                "The part to learn from holds values that are too large to work with.",
            )
        })?;
        let (kept, explained) = enough(&found.values, keep);
        let directions = found.vectors.into_iter().take(kept).collect();
        Ok(Self { window, step: clock.step, explained, scales, mean, directions })
    }

    /// Score and strongest signal of each row; the first rows of a run have none.
    pub(crate) fn score(
        &self,
        signals: &Signals,
        names: &[String],
        clock: &Clock,
    ) -> Result<Vec<Scored>, OpError> {
        if clock.step != self.step && clock.times.len() > 1 {
            return Err(OpError::new(
                "run::other_step",
                format!(
                    "The detector learned from rows {} apart, and these are {} apart.",
                    seconds(self.step),
                    seconds(clock.step)
                ),
            )
            .help("bring both to one step with `metrics.resample`"));
        }
        let mut scores = vec![(None, None); clock.times.len()];
        let rows = standardised(signals, &self.scales);
        let windows =
            Windows { rows: &rows, signals: self.scales.len(), clock, window: self.window };
        for (last, values) in windows.iter() {
            if let Some(place) = scores.get_mut(last) {
                *place = self.score_window(values, names);
            }
        }
        Ok(scores)
    }

    fn score_window(&self, values: &[f64], names: &[String]) -> Scored {
        let mut rest: Vec<f64> =
            values.iter().zip(&self.mean).map(|(value, mean)| value - mean).collect();
        for direction in &self.directions {
            let along: f64 = rest.iter().zip(direction).map(|(value, part)| value * part).sum();
            for (value, part) in rest.iter_mut().zip(direction) {
                *value -= along * part;
            }
        }
        let mut by_signal = vec![0.0; self.scales.len()];
        for row in rest.chunks(self.scales.len()) {
            for (sum, value) in by_signal.iter_mut().zip(row) {
                *sum += value * value;
            }
        }
        let mut best = (0.0, None);
        let all_names = names.iter().map(String::as_str).chain([MISSING]);
        for (sum, name) in by_signal.iter().zip(all_names) {
            if *sum > best.0 {
                best = (*sum, Some(name.to_owned()));
            }
        }
        let total: f64 = by_signal.iter().sum();
        (Some(total / length(rest.len())), best.1)
    }
}

/// Rows of a window of this length.
fn rows_of(length: i64, step: i64) -> Result<usize, OpError> {
    if step <= 0 {
        return Err(OpError::new(
            "run::too_few_rows",
            "The part to learn from has fewer than two rows.",
        ));
    }
    let rows = length.saturating_add(step / 2) / step;
    usize::try_from(rows).ok().filter(|rows| *rows > 0).ok_or_else(|| {
        OpError::new(
            "run::window_too_short",
            format!(
                "A window of {} holds no row: rows are {} apart.",
                seconds(length),
                seconds(step)
            ),
        )
    })
}

#[expect(clippy::cast_precision_loss, reason = "shown to people")]
fn seconds(nanos: i64) -> String {
    format!("{} s", nanos as f64 / 1e9)
}

#[expect(clippy::cast_precision_loss, reason = "counts lie below 2^52")]
fn length(count: usize) -> f64 {
    count as f64
}

/// Standardised signals, row by row; a missing value is the average, 0.
fn standardised(signals: &Signals, scales: &[Scale]) -> Vec<f64> {
    let row_values = |row: usize| {
        let values = signals.columns.iter().map(move |column| column.get(row).copied().flatten());
        let values = values.chain([signals.missing.get(row).copied()]);
        values.zip(scales).map(|(value, scale)| scale.z(value.filter(|value| value.is_finite())))
    };
    (0..signals.missing.len()).flat_map(row_values).collect()
}

/// The windows of a series, each a stretch of its rows; none reaches over a gap.
struct Windows<'a> {
    rows: &'a [f64],
    signals: usize,
    clock: &'a Clock,
    window: usize,
}

impl Windows<'_> {
    /// Every window with its last row.
    fn iter(&self) -> impl Iterator<Item = (usize, &[f64])> {
        let firsts = self
            .clock
            .runs()
            .into_iter()
            .flat_map(|(first, end)| first..(end + 1).saturating_sub(self.window).max(first));
        firsts.filter_map(|first| {
            let values = first * self.signals..(first + self.window) * self.signals;
            Some((first + self.window - 1, self.rows.get(values)?))
        })
    }
}

fn mean_of(windows: &Windows, size: usize) -> Vec<f64> {
    let mut sums = vec![0.0; size];
    let mut count = 0;
    for (_, window) in windows.iter() {
        for (sum, value) in sums.iter_mut().zip(window) {
            *sum += value;
        }
        count += 1;
    }
    sums.iter_mut().for_each(|sum| *sum /= length(count));
    sums
}

fn covariance(windows: &Windows, mean: &[f64]) -> Vec<Vec<f64>> {
    let mut sums = vec![vec![0.0; mean.len()]; mean.len()];
    let mut count = 0;
    for (_, window) in windows.iter() {
        let centered: Vec<f64> =
            window.iter().zip(mean).map(|(value, mean)| value - mean).collect();
        for (i, row) in sums.iter_mut().enumerate() {
            let factor = centered[i];
            for (sum, value) in row.iter_mut().take(i + 1).zip(&centered) {
                *sum += factor * value;
            }
        }
        count += 1;
    }
    let element = |i: usize, j: usize| sums[i.max(j)][i.min(j)] / length(count);
    (0..mean.len()).map(|i| (0..mean.len()).map(|j| element(i, j)).collect()).collect()
}

/// How many of the largest eigenvalues make up the share `keep`, and the share that they are. At least one direction is left out,
/// for otherwise every window would score 0.
fn enough(values: &[f64], keep: f64) -> (usize, f64) {
    let total: f64 = values.iter().map(|value| value.max(0.0)).sum();
    if total <= 0.0 {
        return (0, 0.0);
    }
    let mut sum = 0.0;
    for (count, value) in values.iter().enumerate() {
        if sum >= keep * total || count + 1 == values.len() {
            return (count, sum / total);
        }
        sum += value.max(0.0);
    }
    (0, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        vec!["a".to_owned(), "b".to_owned()]
    }

    fn signals(a: &[f64], b: &[f64]) -> (Signals, Clock) {
        let column = |values: &[f64]| values.iter().map(|value| Some(*value)).collect();
        let clock = Clock { times: (0..).take(a.len()).collect(), step: 1 };
        (Signals { columns: vec![column(a), column(b)], missing: vec![0.0; a.len()] }, clock)
    }

    /// Two signals with b = a: one direction (1, 1)/sqrt 2 explains all. Standardised with mean 0 and deviation sqrt 2, the point (2, -2) lies
    /// wholly outside of it: Q = (2 + 2) and, over 3 values with the missing share, 4/3.
    #[test]
    fn by_hand() {
        let a = [-2.0, -1.0, 0.0, 1.0, 2.0];
        let (train, clock) = signals(&a, &a);
        let fitted = Pca::fit(&train, &names(), &clock, 1, 0.9, 0.0).unwrap();
        assert_eq!(fitted.directions.len(), 1);
        let (data, clock) = signals(&[2.0, 2.0], &[2.0, -2.0]);
        let scores = fitted.score(&data, &names(), &clock).unwrap();
        assert!(scores[0].0.unwrap().abs() < 1e-12);
        assert!((scores[1].0.unwrap() - 4.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_window_scores_its_last_row_and_never_reaches_over_a_gap() {
        let wave: Vec<f64> = (0..40).map(|i| f64::from(i % 4)).collect();
        let (train, clock) = signals(&wave, &wave);
        let fitted = Pca::fit(&train, &names(), &clock, 4, 0.9, 0.01).unwrap();
        let (data, mut clock) = signals(&wave[..10], &wave[..10]);
        clock.times = vec![0, 1, 2, 3, 4, 10, 11, 12, 13, 14];
        let scored: Vec<bool> = fitted
            .score(&data, &names(), &clock)
            .unwrap()
            .iter()
            .map(|score| score.0.is_some())
            .collect();
        assert_eq!(scored, [false, false, false, true, true, false, false, false, true, true]);
    }

    #[test]
    fn a_broken_rhythm_scores_higher_and_names_its_signal() {
        let wave: Vec<f64> = (0..80).map(|i| f64::from(i % 4)).collect();
        let (train, clock) = signals(&wave, &wave);
        let fitted = Pca::fit(&train, &names(), &clock, 8, 0.9, 0.01).unwrap();
        let mut broken = wave.clone();
        broken[40..].iter_mut().for_each(|value| *value = 1.5);
        let (data, clock) = signals(&wave, &broken);
        let scores = fitted.score(&data, &names(), &clock).unwrap();
        assert!(scores[60].0.unwrap() > 100.0 * scores[30].0.unwrap());
        assert_eq!(scores[60].1.as_deref(), Some("b"));
    }

    #[test]
    fn what_cannot_be_learned_is_said() {
        let (train, clock) = signals(&[1.0, 2.0], &[1.0, 2.0]);
        let fit = |length| Pca::fit(&train, &names(), &clock, length, 0.9, 0.01).unwrap_err().code;
        assert_eq!(fit(5), "run::too_few_rows");
        assert_eq!(fit(5_000), "run::window_too_large");
        let (one, clock) = signals(&[1.0], &[1.0]);
        let lonely = Clock { times: clock.times, step: 0 };
        assert_eq!(
            Pca::fit(&one, &names(), &lonely, 5, 0.9, 0.01).unwrap_err().code,
            "run::too_few_rows"
        );
    }
}
