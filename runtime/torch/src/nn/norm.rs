//! RMSNorm (Zhang and Sennrich 2019, eq. 4) without its weight: x / sqrt(mean(x^2) + eps), in fp32.
//!
//! The weight is a diagonal matrix before a projection, so it is multiplied into that projection once a step
//! instead of into every row.

use tch::{Kind, TchError, Tensor};

/// Normalised rows, and the factor of each row, which the gradient needs.
///
/// # Errors
/// When libtorch fails.
pub fn forward(x: &Tensor, eps: f64) -> Result<(Tensor, Tensor), TchError> {
    let width = width(x);
    let mut factor = x.f_norm_scalaropt_dim(2.0, [-1].as_slice(), true)?.f_square()?;
    factor = factor.f_mul_scalar_(1.0 / width)?.f_add_scalar_(eps)?.f_rsqrt_()?;
    Ok((x.f_mul(&factor)?, factor))
}

/// Adds dL/dx to `into`, given dL/dy: r (dy - y mean(dy y)), with r the row factors.
///
/// # Errors
/// When libtorch fails.
pub fn backward(
    into: &mut Tensor,
    mut dy: Tensor,
    y: &Tensor,
    factor: &Tensor,
) -> Result<(), TchError> {
    let scale = -1.0 / width(y);
    let y = &y.f_to_kind(Kind::Float)?;
    let mut along = dy.f_mul(y)?.f_sum_dim_intlist([-1].as_slice(), true, None)?;
    along = along.f_mul_scalar_(scale)?;
    dy = dy.f_addcmul_(y, &along)?;
    let _ = into.f_addcmul_(&dy, factor)?;
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "widths are small")]
fn width(x: &Tensor) -> f64 {
    x.size().last().copied().unwrap_or(1) as f64
}
