//! Rotary position embedding (Su et al. 2021, eq. 34) on interleaved pairs: position p turns pair j of a head by the
//! angle p theta^(-2j/d), which is a product of complex numbers. With the rows of query and key interleaved
//! (see [`crate::model::layout`]) this equals the `rotate_half` form of Hugging Face.

use tch::{Device, Kind, TchError, Tensor};

/// Factors of unit length, one for each position and pair.
#[derive(Debug)]
pub struct Rope {
    turn: Tensor,
    turn_back: Tensor,
}

impl Rope {
    /// Factors for `positions` positions and heads of width `width`, computed in f64 and rounded once.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn new(base: f64, width: i64, positions: i64, device: Device) -> Result<Self, TchError> {
        let double = (Kind::Double, Device::Cpu);
        let inverse = inverse_frequencies(base, width);
        let frequencies = Tensor::f_from_slice(&inverse)?;
        let positions = Tensor::f_arange(positions, double)?;
        let angles = positions.f_outer(&frequencies)?.f_unsqueeze(1)?;
        let cos = angles.f_cos()?.f_to_kind(Kind::Float)?;
        let sin = angles.f_sin()?.f_to_kind(Kind::Float)?;
        let turn = Tensor::f_complex(&cos, &sin)?.f_to_device(device)?;
        let turn_back = Tensor::f_complex(&cos, &sin.f_neg()?)?.f_to_device(device)?;
        Ok(Self { turn, turn_back })
    }

    /// Turns heads `[batch, position, head, width]` in place (fp32).
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn apply_(&self, heads: &Tensor) -> Result<(), TchError> {
        turn_(heads, &self.turn)
    }

    /// Turns gradients of heads back, in place: the inverse of a rotation is its transpose.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn back_(&self, gradients: &Tensor) -> Result<(), TchError> {
        turn_(gradients, &self.turn_back)
    }
}

fn turn_(heads: &Tensor, factors: &Tensor) -> Result<(), TchError> {
    let [batch, positions, count, width] = <[i64; 4]>::try_from(heads.size()).map_err(|size| {
        TchError::Shape(format!("heads have four dimensions, these have {size:?}"))
    })?;
    let factors = factors.f_narrow(0, 0, positions)?;
    let mut pairs = heads.f_view([batch, positions, count, width / 2, 2])?.f_view_as_complex()?;
    let _ = pairs.f_mul_(&factors)?;
    Ok(())
}

/// theta^(-2j/d) rounded to fp32, as Hugging Face computes it.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "rounded to fp32 on purpose"
)]
fn inverse_frequencies(base: f64, width: i64) -> Vec<f64> {
    let exponent = |pair: i64| (2 * pair) as f32 / width as f32;
    (0..width / 2).map(|pair| f64::from(1.0 / (base as f32).powf(exponent(pair)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by hand from eq. 34: width 4, base 100, so the angles are p and p / 10.
    #[test]
    fn rotates_each_pair_by_its_angle() {
        let rope = Rope::new(100.0, 4, 3, Device::Cpu).unwrap();
        let heads = Tensor::from_slice(&[1f32, 0.0, 0.0, 2.0]).repeat([3]).view([1, 3, 1, 4]);
        rope.apply_(&heads).unwrap();
        let turned = Vec::<f32>::try_from(heads.view([-1])).unwrap();
        for p in 0..3u8 {
            let (a, b) = (f32::from(p), f32::from(p) / 10.0);
            let wanted = [a.cos(), a.sin(), -2.0 * b.sin(), 2.0 * b.cos()];
            let found = &turned[usize::from(p) * 4..][..4];
            assert!(
                wanted.iter().zip(found).all(|(x, y)| (x - y).abs() < 1e-6),
                "{wanted:?} {found:?}"
            );
        }
        rope.back_(&heads).unwrap();
        let back = Vec::<f32>::try_from(heads.view([-1])).unwrap();
        assert!(
            back.chunks(4).all(|row| (row[0] - 1.0).abs() < 1e-6 && (row[3] - 2.0).abs() < 1e-6)
        );
    }
}
