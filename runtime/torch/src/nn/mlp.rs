//! SwiGLU (Shazeer 2020, eq. 6): silu(gate) * up, with gate and up side by side in one tensor.

use tch::{TchError, Tensor};

/// silu(gate), which the gradient needs, and silu(gate) * up.
///
/// # Errors
/// When libtorch fails.
pub fn forward(gate_up: &Tensor) -> Result<(Tensor, Tensor), TchError> {
    let (gate, up) = halves(gate_up)?;
    let active = gate.f_silu()?;
    let product = active.f_mul(&up)?;
    Ok((active, product))
}

/// dL/d(gate, up) side by side, given dL/d(product).
///
/// # Errors
/// When libtorch fails.
pub fn backward(
    mut dproduct: Tensor,
    gate_up: &Tensor,
    active: &Tensor,
) -> Result<Tensor, TchError> {
    let (gate, up) = halves(gate_up)?;
    let gradient = gate_up.f_empty_like()?;
    let (dgate, dup) = halves(&gradient)?;
    let _ = dproduct.f_mul_out(&dup, active)?;
    dproduct = dproduct.f_mul_(&up)?;
    let _ = gate.f_silu_backward_grad_input(&dgate, &dproduct)?;
    Ok(gradient)
}

fn halves(both: &Tensor) -> Result<(Tensor, Tensor), TchError> {
    let half = both.size().last().copied().unwrap_or(0) / 2;
    Ok((both.f_narrow(-1, 0, half)?, both.f_narrow(-1, half, half)?))
}
