//! `model.package`: a model with its tokenizer in one folder, as Hugging Face transformers loads it.

use crate::fault::file_error;
use crate::model::folder;
use crate::tensors;
use pipe_runtime::op::{Args, Context, Op, OpError};
use pipe_runtime::value::{Artifact, Value};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// `model.package`.
#[derive(Debug)]
pub struct Package;

impl Op for Package {
    fn name(&self) -> &'static str {
        "model.package"
    }

    fn version(&self) -> u32 {
        1
    }

    fn run(&self, args: &Args, context: &dyn Context) -> Result<Value, OpError> {
        let model = args.artifact_of("model", "model")?;
        let tokenizer = args.artifact_of("tokenizer", "tokenizer")?;
        let loaded = folder::load(context, model)?;
        let weights = loaded.weights();
        let mut config = loaded.config.clone();
        check_vocabulary(config.vocab_size, tokenizer)?;

        let path = context.scratch("model")?;
        let eos = match tokenizer.meta.get("eos") {
            Some(Value::Int(eos)) => Some(*eos),
            _ => None,
        };
        config.eos_token_id = eos.map(|eos| json!(eos));
        config.bos_token_id = eos;
        folder::write(&path, &config, &weights)?;
        copy_tokenizer(&context.path(tokenizer)?, &path)?;
        let end = eos.map(|eos| token_text(&path, eos)).transpose()?.flatten();
        write_json(
            &path.join("tokenizer_config.json"),
            &tokenizer_config(config.max_position_embeddings, end.as_deref()),
        )?;
        write_json(&path.join("generation_config.json"), &generation_config(eos))?;
        let more = BTreeMap::new();
        Ok(Value::Artifact(folder::adopt(context, &path, config, weights, more)?))
    }
}

fn check_vocabulary(vocab: i64, tokenizer: &Artifact) -> Result<(), OpError> {
    match tokenizer.meta.get("size") {
        Some(Value::Int(size)) if *size > vocab => Err(OpError::new(
            "run::argument",
            format!(
                "The tokenizer has {size} tokens but the model knows only {vocab}: they do not belong together."
            ),
        )),
        _ => Ok(()),
    }
}

fn copy_tokenizer(from: &Path, folder: &Path) -> Result<(), OpError> {
    let file = if from.is_dir() { from.join("tokenizer.json") } else { from.to_owned() };
    let to = folder.join("tokenizer.json");
    let bytes = std::fs::read(&file).map_err(|error| file_error("read", &file, &error))?;
    tensors::write_synced(&to, &bytes)
}

/// The text of a special token, from `added_tokens` of `tokenizer.json`.
fn token_text(folder: &Path, id: i64) -> Result<Option<String>, OpError> {
    let path = folder.join("tokenizer.json");
    let text = std::fs::read_to_string(&path).map_err(|error| file_error("read", &path, &error))?;
    let json: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| crate::fault::bad_artifact("tokenizer", error))?;
    let added =
        json.get("added_tokens").and_then(serde_json::Value::as_array).cloned().unwrap_or_default();
    let own =
        added.iter().find(|token| token.get("id").and_then(serde_json::Value::as_i64) == Some(id));
    Ok(own
        .and_then(|token| token.get("content"))
        .and_then(serde_json::Value::as_str)
        .map(str::to_owned))
}

fn tokenizer_config(context: i64, end: Option<&str>) -> serde_json::Value {
    let mut config = json!({
        "clean_up_tokenization_spaces": false,
        "model_max_length": context,
        "tokenizer_class": "PreTrainedTokenizerFast",
    });
    if let Some(end) = end {
        for role in ["bos_token", "eos_token", "pad_token"] {
            config[role] = json!(end);
        }
    }
    config
}

fn generation_config(eos: Option<i64>) -> serde_json::Value {
    match eos {
        None => json!({}),
        Some(eos) => json!({ "bos_token_id": eos, "eos_token_id": eos, "pad_token_id": eos }),
    }
}

fn write_json(path: &Path, value: &serde_json::Value) -> Result<(), OpError> {
    tensors::write_synced(path, format!("{value:#}\n").as_bytes())
}
