//! The shape of a decoder: what its config will say, read from the arguments of the op that makes it.

use super::super::{Evaluator, NativeCall, Typed, Value};
use super::{Tokenizer, int};
use pipe_grammar::{Problem, Span};

/// What is known of a model before it exists.
#[derive(Clone, Debug)]
pub(crate) struct ModelShape {
    /// Blocks.
    layers: Option<i64>,
    /// Width of the residual stream.
    width: Option<i64>,
    heads: Option<i64>,
    kv_heads: Option<i64>,
    /// Width of the feed-forward block.
    ffn: Option<i64>,
    /// Longest sequence, and where it is said.
    pub(super) context: Option<(i64, Span)>,
    /// Tokens in the vocabulary when a number says so, and where.
    pub(super) vocab: Option<(i64, Span)>,
    /// The tokenizer whose size the vocabulary is.
    pub(super) tokenizer: Option<Tokenizer>,
    /// Most tokens that its tokenizer may have.
    largest_vocab: Option<i64>,
    /// Where it is made.
    pub(super) span: Span,
}

/// Linear modules of a block of a Llama-type decoder, as Hugging Face names them.
const LLAMA: [&str; 7] =
    ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];

impl ModelShape {
    /// The names by which adapters find its linear modules.
    pub(super) fn modules(&self) -> [&'static str; 7] {
        LLAMA
    }

    /// Number of weights: the embedding, which is the output projection too, and the blocks. `None` when a size is not
    /// known; without the embedding when the vocabulary is not.
    pub(super) fn weights(&self) -> Option<u64> {
        let (layers, width, heads) = (self.layers?, self.width?, self.heads?);
        let (layers, width, heads) =
            (u64::try_from(layers).ok()?, u64::try_from(width).ok()?, u64::try_from(heads).ok()?);
        let kv_width = self.kv_heads.and_then(|heads| u64::try_from(heads).ok()).unwrap_or(heads)
            * width.checked_div(heads)?;
        let ffn = self.ffn_width()?;
        let block = 2 * width * width + 2 * width * kv_width + 3 * width * ffn + 2 * width;
        let vocab = self.vocab.map(|(vocab, _)| vocab).or(self.largest_vocab).unwrap_or(0);
        let embedding = u64::try_from(vocab).ok()?.checked_mul(width)?;
        layers.checked_mul(block)?.checked_add(embedding)?.checked_add(width)
    }

    /// Values that one token leaves behind in all blocks for the backward pass, at the least: what goes into each
    /// linear module and norm, the rotated queries and keys, and what attention gives.
    pub(super) fn activations(&self) -> Option<u64> {
        let (layers, width) = (u64::try_from(self.layers?).ok()?, u64::try_from(self.width?).ok()?);
        layers.checked_mul(8 * width + 3 * self.ffn_width()?)
    }

    /// Width of the feed-forward block; by default 8/3 of the width in steps of 32, as `model.decoder` documents.
    fn ffn_width(&self) -> Option<u64> {
        match self.ffn {
            Some(ffn) => u64::try_from(ffn).ok(),
            None => {
                Some(u64::try_from(self.width?).ok()?.checked_mul(8)?.div_ceil(3).div_ceil(32) * 32)
            }
        }
    }
}

impl<'a> Evaluator<'a> {
    /// The shape of `model.decoder(shape, vocab: ..)`; reports sizes that make no decoder.
    pub(super) fn decoder_shape(&mut self, call: &mut NativeCall<'a>) -> Option<ModelShape> {
        let shape = call.values.get("shape")?.clone();
        let size =
            |name: &str| field(&shape.value, name).and_then(|value| value.as_const().and_then(int));
        let number = |name: &str| call.values.get(name)?.value.as_const().and_then(int);
        let vocab = call.values.get("vocab")?;
        let tokenizer = self.tokenizer_in(vocab);
        let largest_vocab =
            tokenizer.and_then(|(node, _)| match self.drafts.get(node)?.args.get("vocab")? {
                crate::plan::Arg::Const(value) => int(value),
                _ => None,
            });
        let model = ModelShape {
            layers: size("layers"),
            width: size("width"),
            heads: size("heads"),
            kv_heads: number("kv_heads"),
            ffn: number("ffn"),
            context: size("context").map(|context| (context, shape.span)),
            vocab: vocab.value.as_const().and_then(int).map(|tokens| (tokens, vocab.span)),
            tokenizer,
            largest_vocab,
            span: call.site.span,
        };
        self.check_heads(call, &model, shape.span);
        Some(model)
    }

    fn check_heads(&mut self, call: &mut NativeCall<'a>, model: &ModelShape, span: Span) {
        let sizes = [("layers", model.layers), ("width", model.width), ("heads", model.heads)];
        let mut refuse = |evaluator: &mut Self, message: String, help: String| {
            evaluator.report(Problem::error("shapes::decoder", span, message).help(help));
            call.broken = true;
        };
        for (name, size) in sizes {
            if let Some(size) = size.filter(|size| *size < 1) {
                return refuse(self, format!("`{name}` is {size}"), "it is at least 1".into());
            }
        }
        let (Some(width), Some(heads)) = (model.width, model.heads) else { return };
        if width % heads != 0 || (width / heads) % 2 != 0 {
            let below =
                (1..=heads).rev().find(|heads| width % heads == 0 && (width / heads) % 2 == 0);
            let help = match below {
                Some(fits) => format!("with this width {fits} heads do"),
                None => "take an even width".to_owned(),
            };
            let message = format!(
                "{heads} heads cannot share a width of {width}: each takes an even part of the same size"
            );
            return refuse(self, message, help);
        }
        if let Some(kv) = model.kv_heads.filter(|kv| *kv < 1 || heads % kv != 0) {
            let message =
                format!("{kv} key and value heads cannot serve {heads} heads in equal groups");
            refuse(self, message, format!("take a divisor of {heads}"));
        }
    }
}

/// A field of a record value.
fn field<'v, 'a>(value: &'v Typed<'a>, name: &str) -> Option<&'v Typed<'a>> {
    match &value.value {
        Value::Record(fields) => fields.get(name),
        _ => None,
    }
}
