//! Causal scaled dot-product attention (Vaswani et al. 2017, eq. 1) with grouped heads, blockwise, without ever holding the
//! scores of a whole sequence (Dao et al. 2022).

use tch::{Device, Kind, TchError, Tensor};

/// Head counts and width.
#[derive(Clone, Copy, Debug)]
pub struct Heads {
    /// Query heads.
    pub query: i64,
    /// Key and value heads; a divisor of the query heads.
    pub kv: i64,
    /// Width of a head.
    pub width: i64,
}

impl Heads {
    /// Width of query, key and value together.
    #[must_use]
    pub fn total(self) -> i64 {
        (self.query + 2 * self.kv) * self.width
    }
}

/// What the gradient needs.
#[derive(Debug)]
pub struct Saved {
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    /// Row sums of the CPU kernel; nothing where libtorch keeps its own record.
    sums: Option<Tensor>,
}

/// `[batch, position, heads * width]` from query, key and value in `[batch, position, all heads, width]`.
///
/// # Errors
/// When libtorch fails.
pub fn forward(qkv: &Tensor, heads: Heads) -> Result<(Tensor, Saved), TchError> {
    let part = |start, count| qkv.f_narrow(2, start, count)?.f_transpose(1, 2);
    let query = part(0, heads.query)?;
    let key = part(heads.query, heads.kv)?;
    let value = part(heads.query + heads.kv, heads.kv)?;
    let saved = if qkv.device() == Device::Cpu && qkv.kind() != Kind::Double {
        on_cpu(query, &key, &value, heads)?
    } else {
        anywhere(&query, &key, &value, heads)?
    };
    let [batch, positions, ..] = qkv.size()[..] else {
        return Err(TchError::Shape("attention needs four dimensions".to_owned()));
    };
    let out =
        if saved.sums.is_some() { saved.out.shallow_clone() } else { saved.out.f_detach()? };
    let out = out.f_transpose(1, 2)?.f_reshape([batch, positions, heads.query * heads.width])?;
    Ok((out, saved))
}

fn on_cpu(query: Tensor, key: &Tensor, value: &Tensor, heads: Heads) -> Result<Saved, TchError> {
    let (key, value) = (spread(key, heads)?, spread(value, heads)?);
    let (out, sums) = Tensor::f_internal_scaled_dot_product_flash_attention_for_cpu(
        &query,
        &key,
        &value,
        0.0,
        true,
        None::<&Tensor>,
        None,
    )?;
    Ok(Saved { query, key, value, out, sums: Some(sums) })
}

/// Lets libtorch choose the kernel of the device and record its gradient.
fn anywhere(query: &Tensor, key: &Tensor, value: &Tensor, heads: Heads) -> Result<Saved, TchError> {
    let leaf = |tensor: &Tensor| tensor.f_detach()?.f_set_requires_grad(true);
    let (query, key, value) = (leaf(query)?, leaf(key)?, leaf(value)?);
    let grouped = heads.query != heads.kv;
    let attend = || {
        Tensor::f_scaled_dot_product_attention(
            &query,
            &key,
            &value,
            None::<&Tensor>,
            0.0,
            true,
            None,
            grouped,
        )
    };
    let out = tch::with_grad(attend)?;
    Ok(Saved { query, key, value, out, sums: None })
}

/// dL/d(query, key, value) in the layout of `forward`'s input, given dL/d(out) in that of its result.
///
/// # Errors
/// When libtorch fails.
pub fn backward(dout: &Tensor, saved: &Saved, heads: Heads) -> Result<Tensor, TchError> {
    let [batch, positions, _] = dout.size()[..] else {
        return Err(TchError::Shape("attention gradients have three dimensions".to_owned()));
    };
    let dout = dout.f_view([batch, positions, heads.query, heads.width])?.f_transpose(1, 2)?;
    let (dq, dk, dv) = match &saved.sums {
        Some(sums) => {
            let (dq, dk, dv) =
                Tensor::f_internal_scaled_dot_product_flash_attention_for_cpu_backward(
                    &dout,
                    &saved.query,
                    &saved.key,
                    &saved.value,
                    &saved.out,
                    sums,
                    0.0,
                    true,
                    None::<&Tensor>,
                    None,
                )?;
            (dq, gather(dk, heads)?, gather(dv, heads)?)
        }
        None => recorded(&dout, saved)?,
    };
    let all = Tensor::f_empty(
        [batch, positions, heads.query + 2 * heads.kv, heads.width],
        (dq.kind(), dq.device()),
    )?;
    let put = |start, count, gradient: &Tensor| {
        all.f_narrow(2, start, count)?.f_copy_(&gradient.f_transpose(1, 2)?)
    };
    put(0, heads.query, &dq)?;
    put(heads.query, heads.kv, &dk)?;
    put(heads.query + heads.kv, heads.kv, &dv)?;
    Ok(all)
}

fn recorded(dout: &Tensor, saved: &Saved) -> Result<(Tensor, Tensor, Tensor), TchError> {
    let product = tch::with_grad(|| saved.out.f_mul(dout)?.f_sum(Kind::Float))?;
    let gradients = Tensor::f_run_backward(
        &[product],
        &[&saved.query, &saved.key, &saved.value],
        false,
        false,
    )?;
    let mut gradients = gradients.into_iter();
    match (gradients.next(), gradients.next(), gradients.next()) {
        (Some(dq), Some(dk), Some(dv)) => Ok((dq, dk, dv)),
        _ => Err(TchError::Shape("attention gives three gradients".to_owned())),
    }
}

/// Repeats each key or value head for its group of query heads.
fn spread(heads: &Tensor, counts: Heads) -> Result<Tensor, TchError> {
    if counts.query == counts.kv {
        return Ok(heads.shallow_clone());
    }
    heads.f_repeat_interleave_self_int(counts.query / counts.kv, 1, None)
}

/// Sums the gradients of a group of query heads.
fn gather(gradient: Tensor, counts: Heads) -> Result<Tensor, TchError> {
    if counts.query == counts.kv {
        return Ok(gradient);
    }
    let [batch, _, positions, width] = gradient.size()[..] else {
        return Err(TchError::Shape("attention gradients have four dimensions".to_owned()));
    };
    let groups =
        gradient.f_reshape([batch, counts.kv, counts.query / counts.kv, positions, width])?;
    groups.f_sum_dim_intlist([2].as_slice(), false, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel for CPUs against the path that other devices take (which doubles take on a CPU too).
    #[test]
    fn both_paths_agree() {
        let _no_grad = tch::no_grad_guard();
        for (query, kv) in [(4, 4), (4, 2), (4, 1)] {
            let heads = Heads { query, kv, width: 8 };
            let wave = |scale: f64, last: [i64; 4]| {
                let count = last.iter().product::<i64>();
                (Tensor::arange(count, (Kind::Double, Device::Cpu)) * scale).sin().view(last)
            };
            let qkv = wave(0.37, [2, 5, query + 2 * kv, 8]);
            let dout = wave(0.11, [2, 5, query, 8]).view([2, 5, query * 8]);
            let run = |kind| {
                let (out, saved) = forward(&qkv.to_kind(kind), heads).unwrap();
                let gradient = backward(&dout.to_kind(kind), &saved, heads).unwrap();
                (out.to_kind(Kind::Double), gradient.to_kind(Kind::Double))
            };
            let ((out, gradient), (exact, exact_gradient)) = (run(Kind::Float), run(Kind::Double));
            assert!((out - exact).abs().max().double_value(&[]) < 1e-5);
            assert!((gradient - exact_gradient).abs().max().double_value(&[]) < 1e-5);
        }
    }
}
