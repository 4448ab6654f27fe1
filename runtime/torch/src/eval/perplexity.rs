//! `eval.perplexity`: exp of the mean loss of all targets, each counted once.

use crate::fault::During;
use crate::model::decoder::{Decoder, Ready};
use crate::model::folder;
use crate::place::Place;
use crate::rows::{self, TokenRows};
use pipe_runtime::op::{Args, Context, Op, OpError};
use pipe_runtime::value::Value;
use std::collections::BTreeMap;

/// `eval.perplexity`.
#[derive(Debug)]
pub struct Perplexity;

impl Op for Perplexity {
    fn name(&self) -> &'static str {
        "eval.perplexity"
    }

    fn version(&self) -> u32 {
        1
    }

    fn run(&self, args: &Args, context: &dyn Context) -> Result<Value, OpError> {
        let _no_grad = tch::no_grad_guard();
        let model = folder::load(context, args.artifact_of("model", "model")?)?;
        let data = rows::load(context, args.artifact_of("data", "tokens")?)?;
        data.check_fits(&model.config)?;
        let place = Place::new(context.device(), args.str("dtype")?)?;
        let batch = args.count("batch")?.max(1);
        let decoder = Decoder::new(model.config.clone(), place, data.length)?;
        let weights =
            model.weights().f_to_device(place.device).during("placing the weights", &[])?;
        let ready = decoder.ready(&weights)?;
        let all = data.all_targets();
        let go_on = |done| {
            context.progress(done, all, "tokens");
            if context.cancelled() { Err(OpError::cancelled()) } else { Ok(()) }
        };
        let loss = mean_loss(&decoder, &ready, &data, batch, &go_on)?;
        let targets = i64::try_from(all).unwrap_or(i64::MAX);
        Ok(Value::Record(BTreeMap::from([
            ("perplexity".to_owned(), Value::Float(loss.exp())),
            ("loss".to_owned(), Value::Float(loss)),
            ("targets".to_owned(), Value::Int(targets)),
        ])))
    }
}

/// Mean loss over all targets of all rows, exact whatever the batch.
///
/// # Errors
/// When libtorch fails, there are no targets, or `go_on` says stop.
pub fn mean_loss(
    decoder: &Decoder,
    ready: &Ready,
    rows: &TokenRows,
    batch: usize,
    go_on: &dyn Fn(u64) -> Result<(), OpError>,
) -> Result<f64, OpError> {
    let order: Vec<u32> = (0..u32::try_from(rows.rows).unwrap_or(u32::MAX)).collect();
    let mut total = 0.0;
    let mut targets = 0u64;
    for part in order.chunks(batch) {
        go_on(targets)?;
        let (batch, counted) = rows.batch(part, decoder.place.device)?;
        let loss = decoder.loss(ready, &batch)?;
        total += loss.f_double_value(&[0]).during("reading the loss", &[])?;
        targets += counted;
    }
    if targets == 0 {
        return Err(OpError::new("run::argument", "The rows hold no token to predict."));
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    Ok(total / targets as f64)
}
