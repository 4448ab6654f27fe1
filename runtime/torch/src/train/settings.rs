//! The arguments of `train.fit`, checked.

use crate::optim::adamw::AdamW;
use crate::optim::schedule::Schedule;
use crate::place::Place;
use crate::rows::TokenRows;
use crate::train::order::Order;
use pipe_runtime::op::{Args, OpError};

/// How long to train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Until this many targets have been seen.
    Tokens(u64),
    /// Optimizer steps.
    Steps(u64),
    /// Passes over all rows.
    Epochs(u64),
}

/// What a training is told.
#[derive(Debug)]
pub struct Settings {
    /// How long.
    pub length: Length,
    /// Rows in a micro-batch.
    pub batch: u32,
    /// Micro-batches in a step.
    pub accumulate: u32,
    /// Optimizer.
    pub optimizer: AdamW,
    /// Learning-rate schedule.
    pub schedule: Schedule,
    /// Largest gradient norm.
    pub clip: Option<f64>,
    /// Device and precision.
    pub place: Place,
    /// Decides the order of rows.
    pub seed: i64,
    /// Steps between logged points.
    pub log_every: u64,
    /// Steps between checkpoints; by time when there is none.
    pub checkpoint_every: Option<u64>,
    /// Keep only the inputs of blocks and run them again for gradients.
    pub recompute: bool,
}

impl Settings {
    /// Reads and checks the arguments.
    ///
    /// # Errors
    /// Names the argument that makes no sense.
    pub fn from_args(args: &Args, device: &str) -> Result<Self, OpError> {
        let strategy = args.record("strategy")?;
        if strategy.str("kind")? != "none" {
            let message = format!(
                "The strategy `{}` is not known; there is `dist.none()`.",
                strategy.str("kind")?
            );
            return Err(OpError::new("run::argument", message));
        }
        let clip = args.optional_float("clip")?;
        if clip.is_some_and(|clip| !(clip.is_finite() && clip > 0.0)) {
            return Err(OpError::new("run::argument", "`clip` must be above 0, or none."));
        }
        let schedule = args.optional_record("schedule")?;
        Ok(Self {
            length: length(args)?,
            batch: positive(args, "batch", 1 << 20)?,
            accumulate: positive(args, "accumulate", 1 << 10)?,
            optimizer: AdamW::from_fields(&args.record("optimizer")?)?,
            schedule: Schedule::from_fields(schedule.as_ref())?,
            clip,
            place: Place::new(device, args.str("dtype")?)?,
            seed: args.int("seed")?,
            log_every: u64::from(positive(args, "log_every", u32::MAX)?),
            checkpoint_every: args
                .optional_int("checkpoint_every")?
                .map(|steps| steps.max(1).unsigned_abs()),
            recompute: args.bool("recompute")?,
        })
    }

    /// Steps in all.
    pub fn steps(&self, order: &mut Order, rows: &TokenRows) -> u64 {
        match self.length {
            Length::Steps(steps) => steps,
            Length::Epochs(epochs) => epochs * order.steps_per_epoch(),
            Length::Tokens(tokens) => order.steps_for(tokens, &rows.targets),
        }
    }
}

fn length(args: &Args) -> Result<Length, OpError> {
    let given = |name: &str, make: fn(u64) -> Length| -> Result<Option<Length>, OpError> {
        match args.optional_int(name)? {
            None => Ok(None),
            Some(value) if value >= 1 => Ok(Some(make(value.unsigned_abs()))),
            Some(value) => Err(OpError::new(
                "run::argument",
                format!("`{name}` is {value}; it must be at least 1."),
            )),
        }
    };
    let all = [
        given("tokens", Length::Tokens)?,
        given("steps", Length::Steps)?,
        given("epochs", Length::Epochs)?,
    ];
    let mut found = all.into_iter().flatten();
    match (found.next(), found.next()) {
        (Some(length), None) => Ok(length),
        _ => Err(OpError::new(
            "run::argument",
            "Give exactly one of `tokens`, `steps` and `epochs`.",
        )),
    }
}

fn positive(args: &Args, name: &str, most: u32) -> Result<u32, OpError> {
    let value = args.int(name)?;
    match u32::try_from(value) {
        Ok(value) if value >= 1 && value <= most => Ok(value),
        _ => Err(OpError::new(
            "run::argument",
            format!("`{name}` is {value}; it must be between 1 and {most}."),
        )),
    }
}
