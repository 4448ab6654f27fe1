//! Everything that runs on libtorch: models, training, evaluation, and the worker program `pipe-torch`.
//!
//! This is the only crate that links libtorch. The `pipe` program starts `pipe-torch` for the first op that needs it and
//! speaks with it in frames ([`pipe_runtime::protocol`]); tensors never cross, artifacts do, as files.
//! Numeric code uses the fallible calls of tch, computes gradients in closed form ([`nn`]), and keeps all weights of a
//! model in one flat tensor ([`model::layout`]).

pub mod eval;
pub mod fault;
pub mod lora;
pub mod model;
pub mod nn;
pub mod optim;
pub mod place;
pub mod random;
pub mod rows;
pub mod stepwise;
pub mod tensors;
pub mod train;
pub mod worker;

use pipe_runtime::op::Op;
use stepwise::Stepwise;

/// Version of libtorch that this program is made for; part of the keys of what it computes.
pub const TORCH: &str = "2.11.0";

/// The ops that work in one go.
#[must_use]
pub fn plain_ops() -> Vec<Box<dyn Op>> {
    vec![
        Box::new(lora::init::Init),
        Box::new(model::make::Make),
        Box::new(model::package::Package),
        Box::new(eval::perplexity::Perplexity),
    ]
}

/// The ops that work in steps and may share a task.
#[must_use]
pub fn stepwise_ops() -> Vec<Box<dyn Stepwise>> {
    vec![Box::new(train::fit::Fit)]
}
