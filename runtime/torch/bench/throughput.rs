//! Training speed of `train.fit`, driven from outside so that another program can be measured in turn.
//!
//!     throughput FOLDER THREADS
//!
//! FOLDER holds a model (`config.json`, `model.safetensors`) and `tokens.safetensors`. For each number that is read from
//! stdin it takes that many steps, and prints one line of JSON: seconds, tokens, and the last loss.

use pipe_runtime::op::{Args, Context, OpError};
use pipe_runtime::standalone::Standalone;
use pipe_runtime::value::Value;
use pipe_torch::stepwise::{Step, Stepwise};
use pipe_torch::train::fit::Fit;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut given = std::env::args().skip(1);
    let folder = PathBuf::from(given.next().ok_or("give a folder")?);
    let threads: i32 = given.next().ok_or("give a number of threads")?.parse()?;
    tch::set_num_threads(threads);
    tch::set_num_interop_threads(1);
    let scratch = tempfile::tempdir()?;
    let context = Standalone::new(scratch.path());
    let args = arguments(&folder, &context)?;
    let mut steps = Fit.start(&args, &context)?;
    for line in std::io::stdin().lock().lines() {
        let wanted: u32 = line?.trim().parse()?;
        let seen = context.metrics().len();
        let start = Instant::now();
        for _ in 0..wanted {
            if let Step::Done(_) = steps.step(&context)? {
                return Err("the training ended".into());
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        let losses: Vec<f64> = context
            .metrics()
            .iter()
            .skip(seen)
            .filter(|(name, ..)| name == "loss")
            .map(|m| m.2)
            .collect();
        println!(
            "{}",
            serde_json::json!({ "seconds": seconds, "steps": wanted, "losses": losses })
        );
    }
    Ok(())
}

fn arguments(folder: &Path, context: &Standalone) -> Result<Args, OpError> {
    let text = |text: &str| Value::Str(text.to_owned());
    let optimizer = Value::Record(BTreeMap::from([
        ("kind".to_owned(), text("adamw")),
        ("lr".to_owned(), Value::Float(1e-3)),
        ("betas".to_owned(), Value::List(vec![Value::Float(0.9), Value::Float(0.95)])),
        ("eps".to_owned(), Value::Float(1e-8)),
        ("weight_decay".to_owned(), Value::Float(0.1)),
    ]));
    let model = context.adopt(&folder.join("model"), "model", "", BTreeMap::new())?;
    let data = context.adopt(
        &folder.join("tokens.safetensors"),
        "tokens",
        "safetensors",
        BTreeMap::new(),
    )?;
    Ok(Args::of([
        ("model", Value::Artifact(model)),
        ("data", Value::Artifact(data)),
        ("steps", Value::Int(1_000_000)),
        ("batch", Value::Int(16)),
        ("accumulate", Value::Int(1)),
        ("optimizer", optimizer),
        ("schedule", Value::None),
        ("clip", Value::Float(1.0)),
        ("strategy", Value::Record(BTreeMap::from([("kind".to_owned(), text("none"))]))),
        ("dtype", text("fp32")),
        ("seed", Value::Int(0)),
        ("log_every", Value::Int(1)),
        ("recompute", Value::Bool(false)),
    ]))
}
