//! Detectors of anomalies in series, thresholds, alerts, and honest judging. CPU only.
//!
//! A detector is fitted on one part of a series and scores another. What it learned is a JSON artifact; the
//! formulas are in the modules, each with its source.

mod alerts;
pub mod codes;
mod detector;
mod eigen;
mod evaluation;
mod pca;
mod robust;
mod series;
mod threshold;

use pipe_data::Native;
use pipe_runtime::op::Op;
use pipe_runtime::registry::Registry;

/// Add the ops of this crate.
pub fn register(registry: &mut Registry) {
    let ops = [
        Native::new("detect.robust_z", 1, detector::fit_robust),
        Native::new("detect.pca_window", 1, detector::fit_pca),
        Native::new("detect.score", 1, detector::score),
        Native::new("detect.alerts", 1, alerts::alerts),
        Native::new("threshold.quantile", 1, threshold::quantile),
        Native::new("eval.detection", 1, evaluation::detection),
    ];
    registry.extend(ops.into_iter().map(|op| -> Box<dyn Op> { Box::new(op) }));
}
