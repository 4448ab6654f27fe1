//! `lora.init`: an adapter that changes nothing yet.

use crate::fault::During;
use crate::lora::adapter::{self, AdapterConfig};
use crate::model::folder;
use crate::model::init::stream;
use pipe_runtime::op::{Args, Context, Op, OpError};
use pipe_runtime::value::Value;
use std::collections::BTreeMap;
use tch::{Device, Kind, Tensor};

/// `lora.init`.
#[derive(Debug)]
pub struct Init;

impl Op for Init {
    fn name(&self) -> &'static str {
        "lora.init"
    }

    fn version(&self) -> u32 {
        1
    }

    /// A is uniform within 1/sqrt(inputs), which is what PEFT's Kaiming initialisation with a = sqrt(5) comes to; B is
    /// zero, so that the update A, B begins as nothing (Hu et al. 2021, section 4.1).
    fn run(&self, args: &Args, context: &dyn Context) -> Result<Value, OpError> {
        let base = folder::load(context, args.artifact_of("base", "model")?)?;
        let targets = args.strings("targets")?;
        let rank = args.int("rank")?;
        if rank < 1 {
            let message = format!("`rank` is {rank}; it must be at least 1.");
            return Err(OpError::new("run::argument", message));
        }
        #[expect(clippy::cast_precision_loss, reason = "ranks are small")]
        let alpha = args.optional_float("alpha")?.unwrap_or(2.0 * rank as f64);
        let seed = args.int("seed")?;
        let mut tensors = Vec::new();
        for module in adapter::targeted(&base.config, &targets)? {
            let [a, b] = adapter::tensor_names(&module);
            let values = uniform(seed, &a, [rank, module.inputs])?;
            let zeros = Tensor::f_zeros([module.outputs, rank], (Kind::Float, Device::Cpu))
                .during("making an adapter", &[])?;
            tensors.push((a, values));
            tensors.push((b, zeros));
        }
        let weights = tensors.iter().map(|(_, tensor)| tensor.numel()).sum::<usize>();
        let path = context.scratch("adapter")?;
        adapter::write(&path, &config(rank, alpha, &targets), &tensors)?;
        let meta = BTreeMap::from([
            ("rank".to_owned(), Value::Int(rank)),
            ("alpha".to_owned(), Value::Float(alpha)),
            ("parameters".to_owned(), Value::Int(i64::try_from(weights).unwrap_or(i64::MAX))),
        ]);
        Ok(Value::Artifact(context.adopt(&path, "adapter", "", meta)?))
    }
}

fn config(rank: i64, alpha: f64, targets: &[&str]) -> AdapterConfig {
    let mut target_modules: Vec<String> = targets.iter().map(|&name| name.to_owned()).collect();
    target_modules.sort();
    AdapterConfig {
        base_model_name_or_path: None,
        bias: "none".into(),
        fan_in_fan_out: false,
        inference_mode: true,
        lora_alpha: alpha,
        lora_dropout: 0.0,
        peft_type: "LORA".into(),
        r: rank,
        target_modules,
        task_type: "CAUSAL_LM".into(),
        use_rslora: false,
    }
}

/// Uniform within 1/sqrt(inputs), from the seed and the tensor's name alone.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "weights are fp32, widths are small"
)]
fn uniform(seed: i64, name: &str, size: [i64; 2]) -> Result<Tensor, OpError> {
    let [rank, inputs] = size;
    let bound = 1.0 / libm::sqrt(inputs as f64);
    let mut random = stream(seed, name);
    let count = usize::try_from(rank * inputs).unwrap_or(0);
    let values: Vec<f32> =
        (0..count).map(|_| ((2.0 * random.unit() - 1.0) * bound) as f32).collect();
    Tensor::f_from_slice(&values)
        .and_then(|flat| flat.f_view(size))
        .during("making an adapter", &[])
}
