//! Initial weights, from the seed alone.

use crate::fault::During;
use crate::model::config::Config;
use crate::model::layout::Layout;
use crate::random::Random;
use pipe_runtime::op::OpError;
use tch::{Device, Kind, TchError, Tensor};

/// Norms are 1, all else is normal with the deviation `initializer_range`; projections that write to the residual stream
/// are smaller by sqrt(2 layers), so that its variance does not grow with depth (Radford et al. 2019, section 2.3).
///
/// # Errors
/// When memory runs out.
pub fn initial(config: &Config, layout: &Layout, seed: i64) -> Result<Tensor, OpError> {
    let flat = Tensor::f_zeros([layout.total], (Kind::Float, Device::Cpu))
        .during("making weights", &[])?;
    for piece in layout.pieces(&flat) {
        let (name, mut view) = piece.during("making weights", &[])?;
        let filled = match deviation(config, name) {
            None => view.f_fill_(1.0),
            Some(deviation) => normal(&view.size(), deviation, &mut stream(seed, name))
                .and_then(|values| view.f_copy_(&values).map(|()| view)),
        };
        let _ = filled.during("making weights", &[])?;
    }
    Ok(flat)
}

#[expect(clippy::cast_precision_loss, reason = "layer counts are small")]
fn deviation(config: &Config, name: &str) -> Option<f64> {
    if name.ends_with("norm.weight") {
        return None;
    }
    let residual = name.ends_with("o_proj.weight") || name.ends_with("down_proj.weight");
    let shrink = if residual { (2.0 * config.num_hidden_layers as f64).sqrt() } else { 1.0 };
    Some(config.initializer_range / shrink)
}

/// A stream per tensor, so that one tensor's shape never changes another's values.
pub(crate) fn stream(seed: i64, name: &str) -> Random {
    let digest = blake3::hash(name.as_bytes());
    let mut number = [0; 8];
    number.copy_from_slice(digest.as_bytes().first_chunk::<8>().unwrap_or(&[0; 8]));
    Random::new(seed, u64::from_le_bytes(number))
}

#[expect(clippy::cast_possible_truncation, reason = "weights are fp32")]
fn normal(size: &[i64], deviation: f64, random: &mut Random) -> Result<Tensor, TchError> {
    let count = usize::try_from(size.iter().product::<i64>()).unwrap_or(0);
    let mut values: Vec<f32> = Vec::with_capacity(count + 1);
    while values.len() < count {
        let (a, b) = random.normals();
        values.push((a * deviation) as f32);
        values.push((b * deviation) as f32);
    }
    values.truncate(count);
    Tensor::f_from_slice(&values)?.f_view(size)
}
