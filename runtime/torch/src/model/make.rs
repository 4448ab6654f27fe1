//! `model.decoder`: a decoder with fresh weights.

use crate::model::config::Config;
use crate::model::layout::Layout;
use crate::model::{folder, init};
use pipe_runtime::op::{Args, Context, Op, OpError};
use pipe_runtime::value::Value;
use std::collections::BTreeMap;

/// `model.decoder`.
#[derive(Debug)]
pub struct Make;

impl Op for Make {
    fn name(&self) -> &'static str {
        "model.decoder"
    }

    fn version(&self) -> u32 {
        1
    }

    fn run(&self, args: &Args, context: &dyn Context) -> Result<Value, OpError> {
        let config = config(args)?;
        let layout = Layout::new(&config);
        let weights = init::initial(&config, &layout, args.int("seed")?)?;
        let path = context.scratch("model")?;
        folder::write(&path, &config, &weights)?;
        Ok(Value::Artifact(folder::adopt(context, &path, config, weights, BTreeMap::new())?))
    }
}

/// The config that the arguments describe.
fn config(args: &Args) -> Result<Config, OpError> {
    let shape = args.record("shape")?;
    let size = |name: &str| {
        let value = shape.int(name)?;
        if value >= 1 { Ok(value) } else { Err(too_small(name, value)) }
    };
    let (width, heads, vocab) = (size("width")?, size("heads")?, args.int("vocab")?);
    if vocab < 1 {
        return Err(too_small("vocab", vocab));
    }
    if width % heads != 0 {
        let message = format!(
            "`shape.width` is {width} and `shape.heads` is {heads}: the heads must share the width evenly."
        );
        return Err(OpError::new("run::argument", message));
    }
    let config = Config {
        architectures: vec!["LlamaForCausalLM".to_owned()],
        attention_bias: false,
        bos_token_id: None,
        eos_token_id: None,
        head_dim: Some(width / heads),
        hidden_act: "silu".to_owned(),
        hidden_size: width,
        initializer_range: args.optional_float("deviation")?.unwrap_or(0.02),
        intermediate_size: args.optional_int("ffn")?.unwrap_or_else(|| default_ffn(width)),
        max_position_embeddings: size("context")?,
        mlp_bias: false,
        model_type: "llama".to_owned(),
        num_attention_heads: heads,
        num_hidden_layers: size("layers")?,
        num_key_value_heads: Some(args.optional_int("kv_heads")?.unwrap_or(heads)),
        rms_norm_eps: 1e-5,
        rope_parameters: None,
        rope_scaling: None,
        rope_theta: Some(args.optional_float("theta")?.unwrap_or(10_000.0)),
        tie_word_embeddings: true,
        torch_dtype: Some("float32".to_owned()),
        vocab_size: vocab,
    };
    config.check().map_err(|error| OpError::new("run::argument", error.message))?;
    Ok(config)
}

/// 8/3 of the width, which gives SwiGLU the parameters of a plain block of four widths (Shazeer 2020, section 3.1),
/// rounded up to a multiple of 32.
const fn default_ffn(width: i64) -> i64 {
    ((8 * width + 2) / 3 + 31) / 32 * 32
}

fn too_small(name: &str, value: i64) -> OpError {
    OpError::new("run::argument", format!("`{name}` is {value}; it must be at least 1."))
}
