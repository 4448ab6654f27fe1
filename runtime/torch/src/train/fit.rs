//! `train.fit`: from a model and rows to a trained model with its curves.

use crate::fault::During;
use crate::model::folder;
use crate::rows;
use crate::stepwise::{Steps, Stepwise, run_through};
use crate::tensors;
use crate::train::run::Training;
use crate::train::settings::Settings;
use pipe_runtime::op::{Args, Context, Op, OpError};
use pipe_runtime::value::Value;
use std::collections::BTreeMap;
use tch::Device;

/// `train.fit`.
#[derive(Debug)]
pub struct Fit;

impl Op for Fit {
    fn name(&self) -> &'static str {
        "train.fit"
    }

    fn version(&self) -> u32 {
        1
    }

    fn run(&self, args: &Args, context: &dyn Context) -> Result<Value, OpError> {
        run_through(self, args, context)
    }
}

impl Stepwise for Fit {
    fn start(&self, args: &Args, context: &dyn Context) -> Result<Box<dyn Steps>, OpError> {
        let settings = Settings::from_args(args, context.device())?;
        let model = folder::load(context, args.artifact_of("model", "model")?)?;
        let data = rows::load(context, args.artifact_of("data", "tokens")?)?;
        let valid = args
            .optional_artifact("valid")?
            .map(|artifact| rows::load(context, artifact))
            .transpose()?;
        Ok(Box::new(Training::start(settings, &model, data, valid, context)?))
    }
}

/// Writes the trained model: config, weights, and `training.json` with the curves.
pub(super) fn finish(training: &Training, context: &dyn Context) -> Result<Value, OpError> {
    let weights = training.weights.f_to_device(Device::Cpu).during("fetching the weights", &[])?;
    let config = training.decoder.config.clone();
    let path = context.scratch("model")?;
    folder::write(&path, &config, &weights)?;
    let text = format!("{:#}\n", record(training));
    tensors::write_synced(&path.join("training.json"), text.as_bytes())?;
    let artifact = folder::adopt(context, &path, config, weights, fields(training))?;
    Ok(Value::Artifact(artifact))
}

fn record(training: &Training) -> serde_json::Value {
    let settings = &training.settings;
    serde_json::json!({
        "format": 1,
        "steps": training.position.step,
        "tokens": training.position.curve.tokens(),
        "parameters": training.decoder.layout.parameters(),
        "settings": {
            "batch": settings.batch,
            "accumulate": settings.accumulate,
            "lr": settings.optimizer.lr,
            "betas": [settings.optimizer.betas.0, settings.optimizer.betas.1],
            "eps": settings.optimizer.eps,
            "weight_decay": settings.optimizer.weight_decay,
            "clip": settings.clip,
            "seed": settings.seed,
        },
        "curves": training.position.curve.to_json(),
    })
}

fn fields(training: &Training) -> BTreeMap<String, Value> {
    let curve = &training.position.curve;
    let int = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let mut fields = BTreeMap::from([
        ("steps".to_owned(), int(training.position.step)),
        ("tokens".to_owned(), int(curve.tokens())),
    ]);
    if let Some(point) = curve.points.last() {
        fields.insert("loss".to_owned(), Value::Float(point.loss.0));
    }
    fields
}
