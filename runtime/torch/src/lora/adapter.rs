//! Adapter folders as PEFT writes and reads them: `adapter_config.json` with `adapter_model.safetensors`.

use crate::fault::file_error;
use crate::model::config::Config;
use crate::tensors;
use pipe_runtime::op::OpError;
use serde::{Deserialize, Serialize};
use std::path::Path;
use tch::Tensor;

/// Names in front of every tensor of an adapter.
const PREFIX: &str = "base_model.model";

/// `adapter_config.json`, with PEFT's field names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdapterConfig {
    /// The folder of the base; none, since bases are found by digest.
    pub base_model_name_or_path: Option<String>,
    /// Which biases are trained: `none`.
    pub bias: String,
    /// Weights are stored (outputs, inputs).
    pub fan_in_fan_out: bool,
    /// Ready for use.
    pub inference_mode: bool,
    /// The update is scaled by `lora_alpha / r`.
    pub lora_alpha: f64,
    /// Dropout on what goes into the adapter while it is trained.
    pub lora_dropout: f64,
    /// `LORA`.
    pub peft_type: String,
    /// Rank.
    pub r: i64,
    /// Names of the linear modules that it changes.
    pub target_modules: Vec<String>,
    /// `CAUSAL_LM`.
    pub task_type: String,
    /// Scale by `lora_alpha / sqrt(r)` instead.
    pub use_rslora: bool,
}

/// A linear module of a decoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// `model.layers.0.self_attn.q_proj`.
    pub path: String,
    /// Values that go in.
    pub inputs: i64,
    /// Values that come out.
    pub outputs: i64,
}

/// The linear modules of all blocks, in order.
#[must_use]
pub fn modules(config: &Config) -> Vec<Module> {
    let (width, query, kv) = (config.hidden_size, config.query_width(), config.kv_width());
    let ffn = config.intermediate_size;
    let block = [
        ("self_attn.q_proj", width, query),
        ("self_attn.k_proj", width, kv),
        ("self_attn.v_proj", width, kv),
        ("self_attn.o_proj", query, width),
        ("mlp.gate_proj", width, ffn),
        ("mlp.up_proj", width, ffn),
        ("mlp.down_proj", ffn, width),
    ];
    (0..config.num_hidden_layers)
        .flat_map(|layer| {
            block.map(|(name, inputs, outputs)| Module {
                path: format!("model.layers.{layer}.{name}"),
                inputs,
                outputs,
            })
        })
        .collect()
}

/// The modules that end in one of the names; an error names what matches nothing.
///
/// # Errors
/// `run::target` when a name matches no module.
pub fn targeted(config: &Config, targets: &[&str]) -> Result<Vec<Module>, OpError> {
    let modules = modules(config);
    let fits = |module: &Module, target: &str| {
        module.path.rsplit('.').next() == Some(target) || module.path == target
    };
    for target in targets {
        if !modules.iter().any(|module| fits(module, target)) {
            let mut names: Vec<&str> =
                modules.iter().filter_map(|module| module.path.rsplit('.').next()).collect();
            names.sort_unstable();
            names.dedup();
            let message = format!("No module of the model is called `{target}`.");
            let help = format!("Its linear modules are {}.", names.join(", "));
            return Err(OpError::new("run::target", message).help(help));
        }
    }
    let wanted = |module: &Module| targets.iter().any(|target| fits(module, target));
    Ok(modules.into_iter().filter(wanted).collect())
}

/// Names of the two matrices of a module: A (rank, inputs) and B (outputs, rank).
#[must_use]
pub fn tensor_names(module: &Module) -> [String; 2] {
    ["A", "B"].map(|side| format!("{PREFIX}.{}.lora_{side}.weight", module.path))
}

/// Writes an adapter folder: equal adapters give equal bytes.
///
/// # Errors
/// When it cannot be written.
pub fn write(
    folder: &Path,
    config: &AdapterConfig,
    tensors: &[(String, Tensor)],
) -> Result<(), OpError> {
    std::fs::create_dir_all(folder).map_err(|error| file_error("make", folder, &error))?;
    let text = serde_json::to_string_pretty(config).map_err(|error| {
        OpError::new("run::file", format!("Cannot write the adapter: {error}."))
    })?;
    tensors::write_synced(&folder.join("adapter_config.json"), (text + "\n").as_bytes())?;
    tensors::write(&folder.join("adapter_model.safetensors"), tensors)
}
