//! `config.json` of a Llama-type decoder, with the field names and meanings of Hugging Face transformers.

use crate::fault::bad_artifact;
use pipe_runtime::op::OpError;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Shape and constants of a decoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// `["LlamaForCausalLM"]`.
    pub architectures: Vec<String>,
    /// Biases on the attention projections; must be false.
    #[serde(default)]
    pub attention_bias: bool,
    /// Token that begins a text.
    #[serde(default)]
    pub bos_token_id: Option<i64>,
    /// Token that ends a text, or several of them.
    #[serde(default)]
    pub eos_token_id: Option<serde_json::Value>,
    /// Width of one attention head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_dim: Option<i64>,
    /// Activation of the feed-forward block; must be `silu`.
    pub hidden_act: String,
    /// Width of the residual stream.
    pub hidden_size: i64,
    /// Standard deviation of initial weights.
    #[serde(default = "default_init")]
    pub initializer_range: f64,
    /// Width of the feed-forward block.
    pub intermediate_size: i64,
    /// Longest sequence.
    pub max_position_embeddings: i64,
    /// Biases in the feed-forward block; must be false.
    #[serde(default)]
    pub mlp_bias: bool,
    /// `llama`.
    pub model_type: String,
    /// Query heads.
    pub num_attention_heads: i64,
    /// Blocks.
    pub num_hidden_layers: i64,
    /// Key and value heads, each shared by a group of query heads.
    #[serde(default)]
    pub num_key_value_heads: Option<i64>,
    /// Epsilon of the norms.
    #[serde(default = "default_eps")]
    pub rms_norm_eps: f64,
    /// Rotary settings as transformers 5 writes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rope_parameters: Option<RopeParameters>,
    /// Changed rotary frequencies; must be absent.
    #[serde(default)]
    pub rope_scaling: Option<serde_json::Value>,
    /// Base of the rotary frequencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rope_theta: Option<f64>,
    /// The output projection is the embedding.
    #[serde(default)]
    pub tie_word_embeddings: bool,
    /// Precision of the saved weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torch_dtype: Option<String>,
    /// Tokens in the vocabulary.
    pub vocab_size: i64,
}

/// Rotary settings as transformers 5 writes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RopeParameters {
    /// Base of the frequencies.
    pub rope_theta: f64,
    /// `default`, or a way to stretch them.
    #[serde(default = "default_rope")]
    pub rope_type: String,
}

fn default_init() -> f64 {
    0.02
}

fn default_eps() -> f64 {
    1e-6
}

fn default_rope() -> String {
    "default".to_owned()
}

impl Config {
    /// Reads and checks `config.json`.
    ///
    /// # Errors
    /// When it cannot be read, or asks for something that the decoder does not have.
    pub fn read(path: &Path) -> Result<Self, OpError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| crate::fault::file_error("read", path, &error))?;
        let config: Self = serde_json::from_str(&text)
            .map_err(|error| bad_artifact(&format!("file {}", path.display()), error))?;
        config.check()?;
        Ok(config)
    }

    /// The file's text.
    ///
    /// # Errors
    /// Never in practice.
    pub fn to_json(&self) -> Result<String, OpError> {
        serde_json::to_string_pretty(self)
            .map(|text| text + "\n")
            .map_err(|error| bad_artifact("model's config", error))
    }

    /// Refuses what this decoder does not compute, before anything is computed wrongly.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self) -> Result<(), OpError> {
        let refuse = |field: &str, why: &str| {
            Err(OpError::new("run::model", format!("The model's config.json has {field}: {why}.")))
        };
        if self.model_type != "llama" {
            return refuse(
                &format!("model_type {:?}", self.model_type),
                "only `llama` is supported",
            );
        }
        if self.hidden_act != "silu" {
            return refuse(
                &format!("hidden_act {:?}", self.hidden_act),
                "only `silu` is supported",
            );
        }
        if self.attention_bias || self.mlp_bias {
            return refuse(
                "attention_bias or mlp_bias",
                "projections with biases are not supported",
            );
        }
        let scaled = self
            .rope_scaling
            .as_ref()
            .is_some_and(|scaling| !scaling.is_null() && !is_default_rope(scaling));
        if scaled || self.rope_parameters.as_ref().is_some_and(|rope| rope.rope_type != "default") {
            return refuse("stretched rotary frequencies", "only `default` ones are supported");
        }
        let sizes = [
            ("hidden_size", self.hidden_size),
            ("intermediate_size", self.intermediate_size),
            ("max_position_embeddings", self.max_position_embeddings),
            ("num_attention_heads", self.num_attention_heads),
            ("num_hidden_layers", self.num_hidden_layers),
            ("num_key_value_heads", self.kv_heads()),
            ("vocab_size", self.vocab_size),
        ];
        if let Some((name, value)) = sizes.iter().find(|(_, value)| !(1..=1 << 40).contains(value))
        {
            return refuse(&format!("{name} {value}"), "it must be positive");
        }
        if self.num_attention_heads % self.kv_heads() != 0 {
            return refuse("num_attention_heads", "it must be a multiple of num_key_value_heads");
        }
        if self.head_dim.is_none() && self.hidden_size % self.num_attention_heads != 0 {
            return refuse("hidden_size", "it must be a multiple of num_attention_heads");
        }
        if self.head_width() % 2 != 0 || self.head_width() < 2 {
            return refuse(
                &format!("heads of width {}", self.head_width()),
                "the width must be even",
            );
        }
        if !self.rms_norm_eps.is_finite()
            || !self.rope_base().is_finite()
            || self.rope_base() <= 0.0
        {
            return refuse("rms_norm_eps or rope_theta", "it must be a finite number");
        }
        Ok(())
    }

    /// Key and value heads.
    #[must_use]
    pub fn kv_heads(&self) -> i64 {
        self.num_key_value_heads.unwrap_or(self.num_attention_heads)
    }

    /// Width of one head.
    #[must_use]
    pub fn head_width(&self) -> i64 {
        self.head_dim.unwrap_or_else(|| self.hidden_size / self.num_attention_heads.max(1))
    }

    /// Width of all query heads.
    #[must_use]
    pub fn query_width(&self) -> i64 {
        self.num_attention_heads * self.head_width()
    }

    /// Width of all key heads, and of all value heads.
    #[must_use]
    pub fn kv_width(&self) -> i64 {
        self.kv_heads() * self.head_width()
    }

    /// Base of the rotary frequencies, from either dialect.
    #[must_use]
    pub fn rope_base(&self) -> f64 {
        self.rope_parameters
            .as_ref()
            .map(|rope| rope.rope_theta)
            .or(self.rope_theta)
            .unwrap_or(10_000.0)
    }
}

fn is_default_rope(scaling: &serde_json::Value) -> bool {
    let named = scaling.get("rope_type").or_else(|| scaling.get("type"));
    named.and_then(serde_json::Value::as_str) == Some("default")
}
