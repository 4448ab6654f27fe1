//! The ops of this crate, one file a family.

mod counting;
mod joining;
mod reading;
mod resampling;
mod shaping;
mod splitting;

use crate::call::Native;
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
        Native::new("metrics.resample", 1, resampling::resample),
        Native::new("logs.read", 1, reading::read_log),
        Native::new("logs.count", 1, counting::count_log),
    ]
}
