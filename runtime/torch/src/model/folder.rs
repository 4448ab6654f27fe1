//! Model folders: `config.json` with `model.safetensors`, whole or in shards.

use crate::fault::{bad_artifact, file_error};
use crate::model::config::Config;
use crate::model::layout::Layout;
use crate::tensors;
use pipe_runtime::op::{Context, OpError};
use pipe_runtime::value::{Artifact, Value};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tch::Tensor;

/// A model in memory: its config and its flat fp32 weights on the CPU.
#[derive(Debug)]
pub struct Loaded {
    /// Shape and constants.
    pub config: Config,
    weights: Mutex<Tensor>,
}

impl Loaded {
    /// A model of these weights.
    #[must_use]
    pub fn new(config: Config, weights: Tensor) -> Self {
        Self { config, weights: Mutex::new(weights) }
    }

    /// The weights, shared, never to be written to.
    pub fn weights(&self) -> Tensor {
        self.weights.lock().unwrap_or_else(PoisonError::into_inner).shallow_clone()
    }
}

/// Reads a model folder.
///
/// # Errors
/// When something is missing, unexpected, or of another shape than `config.json` says.
pub fn read(folder: &Path) -> Result<Loaded, OpError> {
    let config = Config::read(&folder.join("config.json"))?;
    let weights = Layout::new(&config).import(&read_tensors(folder)?)?;
    Ok(Loaded::new(config, weights))
}

fn read_tensors(folder: &Path) -> Result<BTreeMap<String, Tensor>, OpError> {
    let index = folder.join("model.safetensors.index.json");
    if !index.exists() {
        return tensors::read(&folder.join("model.safetensors"));
    }
    let text =
        std::fs::read_to_string(&index).map_err(|error| file_error("read", &index, &error))?;
    let shards = shard_names(&text)
        .map_err(|why| bad_artifact(&format!("file {}", index.display()), why))?;
    let mut all = BTreeMap::new();
    for shard in shards {
        all.extend(tensors::read(&folder.join(shard))?);
    }
    Ok(all)
}

/// Names of the shards, which must lie beside the index.
fn shard_names(index: &str) -> Result<BTreeSet<String>, String> {
    #[derive(serde::Deserialize)]
    struct Index {
        weight_map: BTreeMap<String, String>,
    }
    let index: Index = serde_json::from_str(index).map_err(|error| error.to_string())?;
    let names: BTreeSet<String> = index.weight_map.into_values().collect();
    match names.iter().find(|name| name.contains(['/', '\\']) || name.starts_with('.')) {
        Some(name) => Err(format!("the shard {name:?} lies outside the folder")),
        None => Ok(names),
    }
}

/// Writes a model folder: equal weights give equal bytes.
///
/// # Errors
/// When it cannot be written.
pub fn write(folder: &Path, config: &Config, weights: &Tensor) -> Result<(), OpError> {
    std::fs::create_dir_all(folder).map_err(|error| file_error("make", folder, &error))?;
    tensors::write_synced(&folder.join("config.json"), config.to_json()?.as_bytes())?;
    tensors::write(&folder.join("model.safetensors"), &Layout::new(config).export(weights)?)
}

/// The model of an artifact, loaded once and kept while memory allows.
///
/// # Errors
/// When it is no model that this program can read.
pub fn load(context: &dyn Context, artifact: &Artifact) -> Result<Arc<Loaded>, OpError> {
    let decoded = context.decoded(artifact, &|folder| {
        let loaded: Arc<dyn Any + Send + Sync> = Arc::new(read(folder)?);
        Ok(loaded)
    })?;
    decoded.downcast().map_err(|_| bad_artifact("model", "it is held as something else"))
}

/// Adopts a folder that was written from these weights, and keeps the weights for the ops that follow.
///
/// # Errors
/// When the folder cannot be read back.
pub fn adopt(
    context: &dyn Context,
    folder: &Path,
    config: Config,
    weights: Tensor,
    more: BTreeMap<String, Value>,
) -> Result<Artifact, OpError> {
    let mut meta = describe(&config);
    meta.extend(more);
    let artifact = context.adopt(folder, "model", "", meta)?;
    let kept: Arc<dyn Any + Send + Sync> = Arc::new(Loaded::new(config, weights));
    context.decoded(&artifact, &|_| Ok(Arc::clone(&kept)))?;
    Ok(artifact)
}

/// Readable fields of a model.
#[must_use]
pub fn describe(config: &Config) -> BTreeMap<String, Value> {
    let int = |value| Value::Int(value);
    BTreeMap::from([
        ("parameters".to_owned(), int(Layout::new(config).parameters())),
        ("vocab".to_owned(), int(config.vocab_size)),
        ("context".to_owned(), int(config.max_position_embeddings)),
        ("layers".to_owned(), int(config.num_hidden_layers)),
        ("width".to_owned(), int(config.hidden_size)),
    ])
}
