//! The ops of this crate, one file a family.

mod bigram;
mod counting;
mod joining;
mod reading;
mod resampling;
mod shaping;
mod splitting;
mod tokenizing;

use crate::call::Native;
use crate::report;
use pipe_runtime::registry::Registry;

/// Add the ops of this crate.
pub fn register(registry: &mut Registry) {
    registry.extend(all().into_iter().map(|op| -> Box<dyn pipe_runtime::op::Op> { Box::new(op) }));
}

fn all() -> Vec<Native> {
    vec![
        Native::new("data.read", 1, reading::read),
        Native::new("data.filter", 1, shaping::filter),
        Native::new("data.derive", 1, shaping::derive),
        Native::new("data.select", 1, shaping::select),
        Native::new("data.sort", 1, shaping::sort),
        Native::new("data.join", 1, joining::join),
        Native::new("data.split", 1, splitting::split),
        Native::new("data.pack", 1, tokenizing::pack),
        Native::new("tokenizer.train", 1, tokenizing::train),
        Native::new("tokenizer.encode", 1, tokenizing::encode),
        Native::new("eval.bigram", 1, bigram::bigram),
        Native::new("report.detection", 1, report::detection),
        Native::new("report.training", 1, report::training),
        Native::new("metrics.resample", 1, resampling::resample),
        Native::new("logs.read", 1, reading::read_log),
        Native::new("logs.count", 1, counting::count_log),
    ]
}
