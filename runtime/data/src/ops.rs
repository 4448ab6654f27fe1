//! The ops of this crate, one file a family.

mod bigram;
mod chaining;
mod counting;
mod encoding;
mod folding;
mod grouping;
mod joining;
mod reading;
mod resampling;
mod reshaping;
mod shaping;
mod splitting;
mod stacking;
mod tokenizing;
mod windowing;

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
        Native::new("data.rows", 1, chaining::rows),
        Native::new("data.sort", 1, shaping::sort),
        Native::new("data.join", 1, joining::join),
        Native::new("data.split", 1, splitting::split),
        Native::new("data.folds", 1, folding::folds),
        Native::new("data.group", 1, grouping::group),
        Native::new("data.concat", 1, stacking::concat),
        Native::new("data.values", 1, stacking::values),
        Native::new("data.window", 1, windowing::window),
        Native::new("data.pivot", 1, reshaping::pivot),
        Native::new("data.unpivot", 1, reshaping::unpivot),
        Native::new("data.rename", 1, reshaping::rename),
        Native::new("data.drop", 1, reshaping::drop_columns),
        Native::new("data.distinct", 1, reshaping::distinct),
        Native::new("data.fill", 1, reshaping::fill),
        Native::new("data.encode", 1, reshaping::encode),
        Native::new("encode.fit", 1, encoding::fit),
        Native::new("encode.apply", 1, encoding::apply),
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
