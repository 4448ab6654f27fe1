//! AdamW (Loshchilov and Hutter 2019, algorithm 2) on flat tensors, with state that can be saved.
//!
//! With t from 1: m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; and
//! w -= lr (m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps) + decay w). Decay applies to the first `decayed` elements.
//!
//! The tensors are worked through in pieces that stay in the cache for all eight operations of an update.

use pipe_runtime::args::Fields;
use pipe_runtime::op::OpError;
use tch::{Device, Kind, TchError, Tensor};

/// Elements at a time on a CPU; four tensors of this size fit the second-level cache of two cores.
const PIECE: i64 = 1 << 17;

/// Settings.
#[derive(Clone, Debug, PartialEq)]
pub struct AdamW {
    /// Peak learning rate, which the schedule scales.
    pub lr: f64,
    /// Decay of the two averages.
    pub betas: (f64, f64),
    /// Added to the denominator.
    pub eps: f64,
    /// Decoupled weight decay.
    pub weight_decay: f64,
}

/// The averages of a flat tensor of weights.
#[derive(Debug)]
pub struct State {
    /// Average gradient.
    pub mean: Tensor,
    /// Average squared gradient.
    pub square: Tensor,
}

impl AdamW {
    /// From the record that `optim.adamw` makes.
    ///
    /// # Errors
    /// Names the setting that makes no sense.
    pub fn from_fields(fields: &Fields) -> Result<Self, OpError> {
        let kind = fields.str("kind")?;
        if kind != "adamw" {
            return Err(OpError::new(
                "run::argument",
                format!("`{kind}` is no optimizer; there is `optim.adamw`."),
            ));
        }
        let betas = fields.floats("betas")?;
        let [first, second] = betas[..] else {
            return Err(refused("betas", "two numbers"));
        };
        let settings = Self {
            lr: fields.float("lr")?,
            betas: (first, second),
            eps: fields.float("eps")?,
            weight_decay: fields.float("weight_decay")?,
        };
        let share = |value: f64| (0.0..1.0).contains(&value);
        match settings {
            Self { lr, .. } if !(lr.is_finite() && lr >= 0.0) => {
                Err(refused("lr", "a number of at least 0"))
            }
            Self { betas: (a, b), .. } if !share(a) || !share(b) => {
                Err(refused("betas", "at least 0 and below 1"))
            }
            Self { eps, .. } if !(eps.is_finite() && eps >= 0.0) => {
                Err(refused("eps", "a number of at least 0"))
            }
            Self { weight_decay: decay, .. } if !(decay.is_finite() && decay >= 0.0) => {
                Err(refused("weight_decay", "a number of at least 0"))
            }
            settings => Ok(settings),
        }
    }

    /// One update. `step` counts from 1, `factor` (one element) multiplies the gradient first.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn update(
        &self,
        weights: &Tensor,
        gradient: &Tensor,
        factor: Option<&Tensor>,
        state: &State,
        update: Update,
    ) -> Result<(), TchError> {
        let total = weights.size().first().copied().unwrap_or(0);
        let piece = if weights.device() == Device::Cpu { PIECE } else { total.max(1) };
        for (start, end, decays) in [(0, update.decayed, true), (update.decayed, total, false)] {
            let mut at = start;
            while at < end {
                let count = piece.min(end - at);
                let part = |tensor: &Tensor| tensor.f_narrow(0, at, count);
                let piece = State { mean: part(&state.mean)?, square: part(&state.square)? };
                self.update_piece(part(weights)?, part(gradient)?, factor, piece, update, decays)?;
                at += count;
            }
        }
        Ok(())
    }

    fn update_piece(
        &self,
        mut weights: Tensor,
        mut gradient: Tensor,
        factor: Option<&Tensor>,
        state: State,
        update: Update,
        decays: bool,
    ) -> Result<(), TchError> {
        let (first, second) = self.betas;
        if let Some(factor) = factor {
            gradient = gradient.f_mul_(factor)?;
        }
        let State { mut mean, mut square } = state;
        mean = mean.f_lerp_(&gradient, 1.0 - first)?;
        square = square.f_lerp_(&gradient.f_square()?, 1.0 - second)?;
        if update.lr == 0.0 {
            return Ok(());
        }
        let correction = |beta: f64| 1.0 - libm::pow(beta, update.step);
        let over = correction(first) / update.lr;
        let mut below = square.f_sqrt()?.f_mul_scalar_(-over / correction(second).sqrt())?;
        below = below.f_add_scalar_(-over * self.eps)?;
        if decays && self.weight_decay > 0.0 {
            weights = weights.f_mul_scalar_(1.0 - update.lr * self.weight_decay)?;
        }
        let _ = weights.f_addcdiv_(&mean, &below)?;
        Ok(())
    }
}

/// What differs between updates.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// Number of this update, from 1.
    pub step: f64,
    /// Learning rate now.
    pub lr: f64,
    /// Elements that decay, the first ones.
    pub decayed: i64,
}

impl State {
    /// Zeros.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn new(count: i64, device: Device) -> Result<Self, TchError> {
        let zeros = || Tensor::f_zeros([count], (Kind::Float, device));
        Ok(Self { mean: zeros()?, square: zeros()? })
    }
}

/// The norm of a gradient and the factor that brings it down to `limit`, without waiting for the device
/// (Pascanu et al. 2013, algorithm 1).
///
/// # Errors
/// When libtorch fails.
pub fn clip(gradient: &Tensor, limit: Option<f64>) -> Result<(Tensor, Option<Tensor>), TchError> {
    let norm = gradient.f_norm()?;
    let Some(limit) = limit else {
        return Ok((norm, None));
    };
    let mut factor = norm.f_add_scalar(1e-6)?.f_reciprocal_()?;
    factor = factor.f_mul_scalar_(limit)?.f_clamp_max_(1.0)?;
    Ok((norm, Some(factor)))
}

fn refused(name: &str, wanted: &str) -> OpError {
    OpError::new("run::argument", format!("`optimizer.{name}` must be {wanted}."))
}
