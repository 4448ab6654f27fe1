//! How much memory a node needs at the least, against what the machine has.
//!
//! A signature names the estimate with `@native(memory: ..)`. All are lower bounds, so that a warning is never a false
//! alarm; what no bound is known for has none.

use super::super::{Evaluator, NativeCall};
use super::{Shape, int};
use crate::plan::FileArg;
use pipe_grammar::Problem;

/// Bytes of a weight while it is trained: itself, its gradient, and AdamW's two moments, in fp32.
const TRAINED: u64 = 16;
/// Bytes of a weight, or of a value, in fp32.
const FP32: u64 = 4;

impl<'a> Evaluator<'a> {
    /// Bytes that a call needs at the least; warns when the machine has less.
    pub(in crate::eval) fn memory_of(&mut self, call: &NativeCall<'a>) -> Option<u64> {
        let (bytes, what) = match call.native.memory.as_deref()? {
            "training" => self.training(call)?,
            "scoring" => self.scoring(call)?,
            "files" => return None,
            other => {
                let message = format!("`@native` has no memory `{other}`");
                self.report(Problem::error("resolve::native", call.declared, message));
                return None;
            }
        };
        let has = self.inputs.machine.memory;
        let on_gpu = self
            .place
            .attributes
            .gpu
            .is_some_and(|gpu| gpu.count > 0 && self.inputs.machine.gpus > 0);
        if bytes > has && has > 0 && !on_gpu {
            let message =
                format!("this needs at least {}, and the machine has {}", shown(bytes), shown(has));
            self.report(
                Problem::warning("plan::memory", call.site.callee, message)
                    .label(what)
                    .help("take a smaller model or a smaller `batch` with more `accumulate`, or run it where there is more memory"),
            );
        }
        Some(bytes)
    }

    /// Weights with gradient and moments, and the activations of one micro-batch.
    fn training(&self, call: &NativeCall<'a>) -> Option<(u64, String)> {
        let Shape::Model(model) = self.known_shape(self.subject_of(call)?)? else { return None };
        let weights = model.weights()?;
        let fixed = weights.checked_mul(TRAINED)?;
        let recompute = call.values.get("recompute").and_then(|given| given.value.as_const())
            == Some(&crate::value::Const::Bool(true));
        let activations = match self.tokens_at_once(call) {
            Some(tokens) if !recompute => {
                tokens.checked_mul(model.activations()?)?.checked_mul(FP32)?
            }
            _ => 0,
        };
        let what = format!(
            "{} for {} weights with gradients and moments, {} for what a micro-batch leaves for the backward pass",
            shown(fixed),
            counted(weights),
            shown(activations)
        );
        Some((fixed.checked_add(activations)?, what))
    }

    fn scoring(&self, call: &NativeCall<'a>) -> Option<(u64, String)> {
        let Shape::Model(model) = self.known_shape(self.subject_of(call)?)? else { return None };
        let weights = model.weights()?;
        let bytes = weights.checked_mul(FP32)?;
        Some((bytes, format!("{} for {} weights", shown(bytes), counted(weights))))
    }

    /// Tokens of one micro-batch.
    fn tokens_at_once(&self, call: &NativeCall<'a>) -> Option<u64> {
        let batch = call.values.get("batch")?.value.as_const().and_then(int)?;
        let Shape::Tokens(rows) = self.known_shape(call.values.get("data")?)? else { return None };
        let (length, _) = rows.length?;
        u64::try_from(batch).ok()?.checked_mul(u64::try_from(length).ok()?)
    }

    /// `@native(memory: "files")`: a table is held in memory. Warns when its files alone are larger than that.
    pub(in crate::eval) fn check_files_fit(&mut self, call: &NativeCall<'a>, files: &[FileArg]) {
        let (has, span) = (self.inputs.machine.memory, call.site.callee);
        if call.native.memory.as_deref() != Some("files") {
            return;
        }
        let bytes: u64 = files
            .iter()
            .filter_map(|file| self.inputs.host.stat(&file.path).ok())
            .map(|info| info.bytes)
            .sum();
        if bytes > has && has > 0 {
            let message = format!(
                "these files hold {}, and the machine has {} of memory",
                shown(bytes),
                shown(has)
            );
            self.report(
                Problem::warning("plan::memory", span, message)
                    .help("a table is held in memory: read fewer files at a time, or run it where there is more"),
            );
        }
    }
}

/// `1.5 GiB`.
fn shown(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") }
}

/// `7.0 billion`.
fn counted(number: u64) -> String {
    let value = number as f64;
    match number {
        1_000_000_000.. => format!("{:.1} billion", value / 1e9),
        1_000_000.. => format!("{:.1} million", value / 1e6),
        _ => number.to_string(),
    }
}
