//! A Llama-type decoder (Touvron et al. 2023, section 2.2): forward, loss, and the gradient of all weights.

use crate::fault::During;
use crate::model::block::{Block, Rows};
use crate::model::config::Config;
use crate::model::layout::Layout;
use crate::nn::attention::Heads;
use crate::nn::head::{self, Targets};
use crate::nn::norm;
use crate::nn::rope::Rope;
use crate::place::Place;
use pipe_runtime::op::OpError;
use tch::{Kind, TchError, Tensor};

/// The architecture on a device. Weights are separate: they come as a flat tensor of its [`Layout`].
#[derive(Debug)]
pub struct Decoder {
    /// Shape and constants.
    pub config: Config,
    /// Where each weight lies.
    pub layout: Layout,
    /// Device and precision.
    pub place: Place,
    rope: Rope,
}

/// Weights ready for matrix products: folded with the norms and in compute precision. Made once a step.
#[derive(Debug)]
pub struct Ready {
    blocks: Vec<Block>,
    embedding: Tensor,
    head: Tensor,
    norm: Tensor,
}

/// Token rows with what is predicted at each position.
#[derive(Debug)]
pub struct Batch {
    /// `[rows, positions]`, on the device.
    pub tokens: Tensor,
    /// For all positions, row after row.
    pub targets: Targets,
}

impl Decoder {
    /// A decoder for sequences of up to `positions` tokens.
    ///
    /// # Errors
    /// When the config is not supported.
    pub fn new(config: Config, place: Place, positions: i64) -> Result<Self, OpError> {
        config.check()?;
        let rope = Rope::new(config.rope_base(), config.head_width(), positions, place.device)
            .during("making rotary factors", &[])?;
        Ok(Self { layout: Layout::new(&config), config, place, rope })
    }

    fn heads(&self) -> Heads {
        Heads {
            query: self.config.num_attention_heads,
            kv: self.config.kv_heads(),
            width: self.config.head_width(),
        }
    }

    /// Prepares flat fp32 weights on the device.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn ready(&self, flat: &Tensor) -> Result<Ready, OpError> {
        let make = || -> Result<Ready, TchError> {
            let view = |part| self.layout.view(flat, part);
            let blocks = self.layout.blocks.iter();
            let blocks: Result<Vec<_>, _> = blocks
                .map(|parts| Block::new(&self.layout, *parts, flat, self.place.compute))
                .collect();
            let head = view(self.layout.head)?.f_to_kind(self.place.compute)?;
            Ok(Ready {
                blocks: blocks?,
                embedding: view(self.layout.embedding)?,
                head,
                norm: view(self.layout.norm)?,
            })
        };
        make().during("preparing weights", &[("weights", flat)])
    }

    /// Logits `[rows, positions, vocabulary]`, in fp32.
    ///
    /// # Errors
    /// When libtorch fails; the error says where.
    pub fn logits(&self, ready: &Ready, tokens: &Tensor) -> Result<Tensor, OpError> {
        let (x, _) = self.hidden(ready, tokens)?;
        let project = || {
            let mut size = tokens.size();
            size.push(self.config.vocab_size);
            x.f_mm(&ready.head.f_tr()?)?.f_to_kind(Kind::Float)?.f_view(size.as_slice())
        };
        project().during("the output projection", &[("x", &x), ("weight", &ready.head)])
    }

    /// Sum of the losses of all targets, in f64.
    ///
    /// # Errors
    /// When libtorch fails; the error says where.
    pub fn loss(&self, ready: &Ready, batch: &Batch) -> Result<Tensor, OpError> {
        let (x, _) = self.hidden(ready, &batch.tokens)?;
        head::loss(&x, &ready.head, &batch.targets)
            .during("the loss", &[("x", &x), ("weight", &ready.head)])
    }

    /// Rows after the last block and norm, in compute precision, without anything kept for gradients.
    fn hidden(&self, ready: &Ready, tokens: &Tensor) -> Result<(Tensor, Tensor), OpError> {
        let rows = self.rows(tokens)?;
        let mut x = self.embed(ready, tokens)?;
        for (layer, block) in ready.blocks.iter().enumerate() {
            let (next, _) = block
                .forward(&x, &rows, &self.rope)
                .during(&format!("block {layer} forward"), &[("x", &x)])?;
            x = next;
        }
        let last = || {
            let (plain, _) = norm::forward(&x, self.config.rms_norm_eps)?;
            plain.f_mul(&ready.norm)?.f_to_kind(self.place.compute)
        };
        let normed = last().during("the last norm", &[("x", &x)])?;
        Ok((normed, x))
    }

    fn rows(&self, tokens: &Tensor) -> Result<Rows, OpError> {
        let [batch, positions] = tokens.size()[..] else {
            return Err(OpError::new(
                "run::torch",
                format!("Tokens have two dimensions, not {:?}.", tokens.size()),
            ));
        };
        Ok(Rows {
            batch,
            positions,
            heads: self.heads(),
            eps: self.config.rms_norm_eps,
            compute: self.place.compute,
        })
    }

    fn embed(&self, ready: &Ready, tokens: &Tensor) -> Result<Tensor, OpError> {
        let look_up = || {
            let rows = Tensor::f_embedding(&ready.embedding, tokens, -1, false, false)?;
            rows.f_view([-1, self.config.hidden_size])
        };
        look_up().during("the embedding", &[("tokens", tokens), ("weight", &ready.embedding)])
    }

    /// Sum of the losses in f64; adds `scale` times its gradient to `gradient`, a flat fp32 tensor.
    /// With `recompute` only the input of each block is kept, and the block runs again for its gradient.
    ///
    /// # Errors
    /// When libtorch fails; the error says where.
    pub fn loss_and_gradient(
        &self,
        ready: &Ready,
        batch: &Batch,
        scale: f64,
        recompute: bool,
        gradient: &Tensor,
    ) -> Result<Tensor, OpError> {
        let rows = self.rows(&batch.tokens)?;
        let mut x = self.embed(ready, &batch.tokens)?;
        let mut kept = Vec::with_capacity(ready.blocks.len());
        for (layer, block) in ready.blocks.iter().enumerate() {
            let (next, saved) = block
                .forward(&x, &rows, &self.rope)
                .during(&format!("block {layer} forward"), &[("x", &x)])?;
            kept.push(if recompute { (Some(x), None) } else { (None, Some(saved)) });
            x = next;
        }
        let (loss, mut dx) = self
            .end(ready, &x, batch, scale, gradient)
            .during("the loss and its gradient", &[("x", &x), ("weight", &ready.head)])?;
        drop(x);
        for (layer, block) in ready.blocks.iter().enumerate().rev() {
            let mut back = || {
                let saved = match kept.pop() {
                    Some((_, Some(saved))) => saved,
                    Some((Some(x), None)) => block.forward(&x, &rows, &self.rope)?.1,
                    _ => return Err(TchError::Shape("a block kept nothing".to_owned())),
                };
                block.backward(&mut dx, saved, &rows, &self.rope, gradient)
            };
            back().during(&format!("block {layer} backward"), &[])?;
        }
        self.embedding_gradient(&dx, &batch.tokens, gradient)
            .during("the gradient of the embedding", &[("dx", &dx), ("tokens", &batch.tokens)])?;
        Ok(loss)
    }

    /// Last norm, output projection and loss, there and back.
    fn end(
        &self,
        ready: &Ready,
        x: &Tensor,
        batch: &Batch,
        scale: f64,
        gradient: &Tensor,
    ) -> Result<(Tensor, Tensor), TchError> {
        let (plain, factor) = norm::forward(x, self.config.rms_norm_eps)?;
        let normed = plain.f_mul(&ready.norm)?.f_to_kind(self.place.compute)?;
        let dhead = self.layout.view(gradient, self.layout.head)?;
        let (loss, dnormed) =
            head::loss_and_gradients(&normed, &ready.head, &batch.targets, scale, &dhead)?;
        let dnormed = dnormed.f_to_kind(Kind::Float)?;
        let mut dnorm = self.layout.view(gradient, self.layout.norm)?;
        let _ = dnorm.f_add_(&dnormed.f_mul(&plain)?.f_sum_dim_intlist(
            [0].as_slice(),
            false,
            None,
        )?)?;
        let mut dx = plain.f_zeros_like()?;
        norm::backward(&mut dx, dnormed.f_mul(&ready.norm)?, &plain, &factor)?;
        Ok((loss, dx))
    }

    fn embedding_gradient(
        &self,
        dx: &Tensor,
        tokens: &Tensor,
        gradient: &Tensor,
    ) -> Result<(), TchError> {
        let rows = tokens.f_reshape([-1])?;
        let own = Tensor::f_embedding_dense_backward(dx, &rows, self.config.vocab_size, -1, false)?;
        let _ = self.layout.view(gradient, self.layout.embedding)?.f_add_(&own)?;
        Ok(())
    }
}
