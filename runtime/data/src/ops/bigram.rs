//! `eval.bigram`: interpolated Kneser-Ney.
//!
//! Kneser and Ney, "Improved backing-off for m-gram language modeling" (1995), interpolated as in Chen and Goodman, "An empirical study of
//! smoothing techniques for language modeling" (1999), eq. 28: p(w|v) = max(c(vw) - d, 0) / c(v) + d n(v.) / c(v) p_1(w). The lower order is
//! discounted in the same way and ends in 1 / vocabulary: p_1(w) = max(n(.w) - d_1, 0) / n(..) + d_1 s / n(..) / V, with s the number of
//! tokens that occur after another. d = n_1 / (n_1 + 2 n_2), eq. 12, from counts that occur once and twice; 0.75 where there are none.

use crate::call::{Call, count};
use crate::tokens::Tokens;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use std::collections::BTreeMap;

pub(super) fn bigram(call: &Call) -> Result<Value, OpError> {
    let train = call.decoded("train", "tokens", Tokens::read)?;
    let data = call.decoded("data", "tokens", Tokens::read)?;
    if train.about.vocab != data.about.vocab {
        return Err(OpError::new(
            "run::argument",
            format!(
                "The rows come from different tokenizers, of {} and {} tokens.",
                train.about.vocab, data.about.vocab
            ),
        ));
    }
    let (sum, targets) = Model::fit(&train)?.score(&data);
    if targets == 0 {
        return Err(OpError::new("run::too_few_tokens", "There is no token to predict."));
    }
    #[expect(clippy::cast_precision_loss, reason = "counts lie below 2^52")]
    let loss = sum / targets as f64;
    Ok(Value::Record(BTreeMap::from([
        ("perplexity".to_owned(), Value::Float(loss.exp())),
        ("loss".to_owned(), Value::Float(loss)),
        ("targets".to_owned(), count(targets)),
    ])))
}

/// Pairs of neighbours within rows; padding has none.
fn pairs(tokens: &Tokens) -> impl Iterator<Item = (u32, u32)> {
    tokens.rows().flat_map(|row| row.iter().zip(row.iter().skip(1))).filter_map(
        |(before, token)| Some((u32::try_from(*before).ok()?, u32::try_from(*token).ok()?)),
    )
}

/// What is known of a token as the one before another.
#[derive(Clone, Copy, Default)]
struct Context {
    /// c(v)
    count: f64,
    /// n(v.)
    followers: f64,
}

/// The fitted model.
struct Model {
    /// Pairs with their counts, sorted.
    counts: Vec<((u32, u32), f64)>,
    contexts: Vec<Context>,
    /// p_1
    lower: Vec<f64>,
    discount: f64,
}

impl Model {
    fn fit(train: &Tokens) -> Result<Self, OpError> {
        let vocab = usize::try_from(train.about.vocab).unwrap_or(0);
        let mut all: Vec<(u32, u32)> = pairs(train).collect();
        if all.iter().any(|pair| pair.0.max(pair.1) >= train.about.vocab) {
            return Err(OpError::new("run::bad_tokens", "A token lies beyond the vocabulary."));
        }
        all.sort_unstable();
        let counts: Vec<((u32, u32), f64)> = all
            .chunk_by(|a, b| a == b)
            .filter_map(|equal| Some((*equal.first()?, number(equal.len()))))
            .collect();
        let mut contexts = vec![Context::default(); vocab];
        let mut before = vec![0.0; vocab];
        for ((context, token), count) in &counts {
            let context = &mut contexts[*context as usize];
            context.count += count;
            context.followers += 1.0;
            before[*token as usize] += 1.0;
        }
        let discount = discount(counts.iter().map(|(_, count)| *count));
        Ok(Self { lower: lower(&before, number(counts.len())), discount, counts, contexts })
    }

    /// Sum of -ln p over the targets, and their number.
    fn score(&self, data: &Tokens) -> (f64, usize) {
        pairs(data)
            .fold((0.0, 0), |(sum, targets), pair| (sum - self.probability(pair).ln(), targets + 1))
    }

    fn probability(&self, (before, token): (u32, u32)) -> f64 {
        let lower = self.lower.get(token as usize).copied().unwrap_or_default();
        let context = self.contexts.get(before as usize).copied().unwrap_or_default();
        if context.count == 0.0 {
            return lower;
        }
        let found = self.counts.binary_search_by(|(pair, _)| pair.cmp(&(before, token)));
        let count = found.ok().and_then(|at| self.counts.get(at)).map_or(0.0, |(_, count)| *count);
        let kept = (count - self.discount).max(0.0);
        kept / context.count + self.discount * context.followers / context.count * lower
    }
}

fn lower(before: &[f64], pairs: f64) -> Vec<f64> {
    let vocab = number(before.len());
    if pairs == 0.0 {
        return vec![1.0 / vocab; before.len()];
    }
    let discount = discount(before.iter().copied().filter(|count| *count > 0.0));
    let seen = number(before.iter().filter(|count| **count > 0.0).count());
    let rest = discount * seen / pairs / vocab;
    before.iter().map(|count| (count - discount).max(0.0) / pairs + rest).collect()
}

fn discount(counts: impl Iterator<Item = f64>) -> f64 {
    let (mut once, mut twice) = (0.0, 0.0);
    for count in counts {
        once += f64::from(u8::from(count == 1.0));
        twice += f64::from(u8::from(count == 2.0));
    }
    if once == 0.0 || twice == 0.0 { 0.75 } else { once / (once + 2.0 * twice) }
}

#[expect(clippy::cast_precision_loss, reason = "counts lie below 2^52")]
fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::{About, FORMAT};
    use proptest::prelude::*;

    fn rows(tokens: &[i32], length: usize, vocab: u32) -> Tokens {
        let about = About { format: FORMAT.to_owned(), vocab, eos: 0, length: Some(length) };
        Tokens { about, tokens: tokens.to_vec(), ends: Vec::new() }
    }

    /// Row 0 1 0 1 0 2 of a vocabulary of 4: c(01) = c(10) = 2, c(02) = 1, so d = 1 / (1 + 2 * 2) = 0.2. Three pairs, one for each
    /// of 0, 1, 2 as second token: no count of two there, so d_1 = 0.75, p_1(1) = 0.25 / 3 + 0.75 / 4 and p_1(3) = 0.75 / 4.
    #[test]
    fn by_hand() {
        let model = Model::fit(&rows(&[0, 1, 0, 1, 0, 2], 6, 4)).unwrap();
        let close = |pair, expected: f64| {
            assert!((model.probability(pair) - expected).abs() < 1e-12, "{pair:?}")
        };
        let (seen, unseen) = (0.25 / 3.0 + 0.1875, 0.1875);
        close((0, 1), 1.8 / 3.0 + 0.2 * 2.0 / 3.0 * seen);
        close((1, 3), 0.2 * 1.0 / 2.0 * unseen);
        close((3, 2), seen);
        let (sum, targets) = model.score(&rows(&[0, 1, 3, -1], 4, 4));
        assert_eq!(targets, 2);
        assert!((sum - 4.428_943_554_461_633).abs() < 1e-12, "{sum}");
    }

    #[test]
    fn rows_do_not_run_into_each_other() {
        let found: Vec<_> = pairs(&rows(&[0, 1, 2, 3], 2, 4)).collect();
        assert_eq!(found, [(0, 1), (2, 3)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// After every token the probabilities sum to one.
        #[test]
        fn sums_to_one(tokens in proptest::collection::vec(0..6_i32, 2..80)) {
            let model = Model::fit(&rows(&tokens, tokens.len(), 7)).unwrap();
            for before in 0..7 {
                let sum: f64 = (0..7).map(|token| model.probability((before, token))).sum();
                prop_assert!((sum - 1.0).abs() < 1e-9, "{before}: {sum}");
            }
        }
    }
}
