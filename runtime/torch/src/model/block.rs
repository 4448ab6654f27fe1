//! One block of a decoder: attention and feed-forward, each around the residual stream, with gradients.
//!
//! The weight of a norm is folded into the projection behind it: (x w) P^T = x (P w)^T.

use crate::model::layout::{BlockParts, Layout};
use crate::nn::attention::{self, Heads};
use crate::nn::head::add_product;
use crate::nn::rope::Rope;
use crate::nn::{mlp, norm};
use tch::{Kind, TchError, Tensor};

/// How the rows of a batch are arranged, and the constants of a block.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// Sequences.
    pub batch: i64,
    /// Positions in each.
    pub positions: i64,
    /// Heads.
    pub heads: Heads,
    /// Epsilon of the norms.
    pub eps: f64,
    /// Kind of matrix products.
    pub compute: Kind,
}

/// Weights of a block, ready for matrix products.
#[derive(Debug)]
pub struct Block {
    qkv: Folded,
    gate_up: Folded,
    out: Tensor,
    down: Tensor,
    parts: BlockParts,
    layout: Layout,
}

/// A projection behind a norm.
#[derive(Debug)]
struct Folded {
    /// The projection times the norm's weight, in compute precision.
    product: Tensor,
    projection: Tensor,
    norm: Tensor,
}

/// What the gradient of a block needs.
#[derive(Debug)]
pub struct Saved {
    normed: Tensor,
    factor: Tensor,
    attention: attention::Saved,
    attended: Tensor,
    normed_mlp: Tensor,
    factor_mlp: Tensor,
    gate_up: Tensor,
    active: Tensor,
    product: Tensor,
}

impl Folded {
    fn new(projection: Tensor, norm: Tensor, compute: Kind) -> Result<Self, TchError> {
        Ok(Self { product: projection.f_mul(&norm)?.f_to_kind(compute)?, projection, norm })
    }

    /// Adds the gradients of projection and norm, given dL/d(output) and the input.
    fn add_gradients(
        &self,
        dy: &Tensor,
        x: &Tensor,
        dprojection: Tensor,
        dnorm: Tensor,
    ) -> Result<(), TchError> {
        let dproduct = dy.f_tr()?.f_mm(x)?.f_to_kind(Kind::Float)?;
        let (mut dprojection, mut dnorm) = (dprojection, dnorm);
        let _ = dprojection.f_addcmul_(&dproduct, &self.norm)?;
        let _ = dnorm.f_add_(&dproduct.f_mul(&self.projection)?.f_sum_dim_intlist(
            [0].as_slice(),
            false,
            None,
        )?)?;
        Ok(())
    }
}

impl Block {
    /// Prepares the weights of one block.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn new(
        layout: &Layout,
        parts: BlockParts,
        flat: &Tensor,
        compute: Kind,
    ) -> Result<Self, TchError> {
        let view = |part| layout.view(flat, part);
        Ok(Self {
            qkv: Folded::new(view(parts.qkv)?, view(parts.norm_attention)?, compute)?,
            gate_up: Folded::new(view(parts.gate_up)?, view(parts.norm_mlp)?, compute)?,
            out: view(parts.out)?.f_to_kind(compute)?,
            down: view(parts.down)?.f_to_kind(compute)?,
            parts,
            layout: layout.clone(),
        })
    }

    /// The residual stream after the block, from `[rows, width]` before it.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn forward(
        &self,
        x: &Tensor,
        rows: &Rows,
        rope: &Rope,
    ) -> Result<(Tensor, Saved), TchError> {
        let (normed, factor) = norm::forward(x, rows.eps)?;
        let normed = normed.f_to_kind(rows.compute)?;
        let qkv =
            rotated(&normed.f_mm(&self.qkv.product.f_tr()?)?, rows, |heads| rope.apply_(heads))?;
        let (attended, attention) = attention::forward(&qkv, rows.heads)?;
        let attended = attended.f_view([rows.batch * rows.positions, -1])?;
        let middle = add_projected(x, &attended, &self.out)?;

        let (normed_mlp, factor_mlp) = norm::forward(&middle, rows.eps)?;
        let normed_mlp = normed_mlp.f_to_kind(rows.compute)?;
        let gate_up = normed_mlp.f_mm(&self.gate_up.product.f_tr()?)?;
        let (active, product) = mlp::forward(&gate_up)?;
        let after = add_projected(&middle, &product, &self.down)?;
        let saved = Saved {
            normed,
            factor,
            attention,
            attended,
            normed_mlp,
            factor_mlp,
            gate_up,
            active,
            product,
        };
        Ok((after, saved))
    }

    /// Turns dL/d(after) into dL/d(before), and adds the gradients of the weights.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn backward(
        &self,
        dx: &mut Tensor,
        saved: Saved,
        rows: &Rows,
        rope: &Rope,
        gradient: &Tensor,
    ) -> Result<(), TchError> {
        let view = |part| self.layout.view(gradient, part);
        let dy = dx.f_to_kind(rows.compute)?;
        add_product(&view(self.parts.down)?, &dy.f_tr()?, &saved.product)?;
        let dgate_up = mlp::backward(dy.f_mm(&self.down)?, &saved.gate_up, &saved.active)?;
        let dnormed = dgate_up.f_mm(&self.gate_up.product)?.f_to_kind(Kind::Float)?;
        let (projection, weight) = (view(self.parts.gate_up)?, view(self.parts.norm_mlp)?);
        self.gate_up.add_gradients(&dgate_up, &saved.normed_mlp, projection, weight)?;
        norm::backward(dx, dnormed, &saved.normed_mlp, &saved.factor_mlp)?;

        let dy = dx.f_to_kind(rows.compute)?;
        add_product(&view(self.parts.out)?, &dy.f_tr()?, &saved.attended)?;
        let dattended = dy.f_mm(&self.out)?.f_view([rows.batch, rows.positions, -1])?;
        let dqkv = attention::backward(&dattended, &saved.attention, rows.heads)?;
        let dqkv = rotated(&dqkv, rows, |heads| rope.back_(heads))?
            .f_view([rows.batch * rows.positions, -1])?;
        let dnormed = dqkv.f_mm(&self.qkv.product)?.f_to_kind(Kind::Float)?;
        let (projection, weight) = (view(self.parts.qkv)?, view(self.parts.norm_attention)?);
        self.qkv.add_gradients(&dqkv, &saved.normed, projection, weight)?;
        norm::backward(dx, dnormed, &saved.normed, &saved.factor)
    }
}

/// x + y W^T, with x in fp32.
fn add_projected(x: &Tensor, y: &Tensor, weight: &Tensor) -> Result<Tensor, TchError> {
    if y.kind() == Kind::Float {
        return x.f_addmm(y, &weight.f_tr()?);
    }
    x.f_add(&y.f_mm(&weight.f_tr()?)?.f_to_kind(Kind::Float)?)
}

/// All heads as `[batch, position, head, width]`, with queries and keys turned (in place when they are fp32).
fn rotated(
    qkv: &Tensor,
    rows: &Rows,
    turn: impl Fn(&Tensor) -> Result<(), TchError>,
) -> Result<Tensor, TchError> {
    let heads = rows.heads;
    let all = qkv.f_view([rows.batch, rows.positions, heads.query + 2 * heads.kv, heads.width])?;
    let turning = all.f_narrow(2, 0, heads.query + heads.kv)?;
    if all.kind() == Kind::Float {
        turn(&turning)?;
    } else {
        let full = turning.f_to_kind(Kind::Float)?;
        turn(&full)?;
        turning.shallow_clone().f_copy_(&full)?;
    }
    Ok(all)
}
