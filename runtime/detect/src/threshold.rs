//! Thresholds from calm scores.

use pipe_data::Call;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;

pub(crate) fn quantile(call: &Call) -> Result<Value, OpError> {
    let q = call.float_within("q", 0.0, 1.0)?;
    let scores: Vec<f64> = call.table("scored")?.floats("score")?.into_iter().flatten().collect();
    let found = conformal(scores, q).ok_or_else(|| {
        OpError::new("run::no_values", "There is no score to choose a threshold from.")
    })?;
    if let Some(promised) = found.promised {
        call.context.warn(&format!(
            "{} scores are too few for q = {q}: the largest was taken, and a share of {promised:.4} is what it promises. \
             A longer calibration part or shorter steps give more scores.",
            found.count
        ));
    }
    Ok(Value::Float(found.value))
}

struct Quantile {
    value: f64,
    count: usize,
    /// The share that the largest score promises, when that is less than was asked for.
    promised: Option<f64>,
}

/// The ceil((n + 1) q)-th smallest score: Lei et al., "Distribution-Free Predictive Inference for Regression" (2018), theorem 2.2.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts lie below 2^52 and q within 0 and 1"
)]
fn conformal(mut scores: Vec<f64>, q: f64) -> Option<Quantile> {
    scores.sort_by(f64::total_cmp);
    let count = scores.len();
    let rank = (((count + 1) as f64 * q - 1e-9).ceil() as usize).max(1);
    let value = *scores.get(rank.min(count).checked_sub(1)?)?;
    let promised = (rank > count).then(|| count as f64 / (count + 1) as f64);
    Some(Quantile { value, count, promised })
}

#[cfg(test)]
mod tests {
    use super::conformal;

    /// Of 1..=99 and q = 0.9: ceil(100 * 0.9) = the 90th.
    #[test]
    fn by_hand() {
        let scores: Vec<f64> = (1..=99).rev().map(f64::from).collect();
        assert_eq!(conformal(scores.clone(), 0.9).unwrap().value, 90.0);
        assert!(conformal(scores.clone(), 0.99).unwrap().promised.is_none());
        let beyond = conformal(scores, 0.995).unwrap();
        assert_eq!((beyond.value, beyond.promised), (99.0, Some(0.99)));
        assert!(conformal(Vec::new(), 0.5).is_none());
    }
}
