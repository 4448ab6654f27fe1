//! Output projection and cross-entropy in one, a few hundred rows at a time.
//!
//! The logits of a batch are the largest tensor of training by far, and each is needed for a moment only. With the gradient
//! at hand (softmax minus one-hot), rows go from logits to loss, to dL/dx and into dL/dW while they are in the
//! cache, and nothing of size rows x vocabulary is ever kept.

use tch::{Kind, TchError, Tensor};

/// Elements of logits at a time.
const CHUNK: i64 = 1 << 20;

/// What is predicted.
#[derive(Debug)]
pub struct Targets {
    /// Token to predict for each row; any valid token where `weight` is 0.
    pub token: Tensor,
    /// 1 for rows that count, 0 for padding (fp32); nothing when every row counts.
    pub weight: Option<Tensor>,
}

impl Targets {
    fn rows(&self, start: i64, count: i64) -> Result<(Tensor, Option<Tensor>), TchError> {
        let weight =
            self.weight.as_ref().map(|weight| weight.f_narrow(0, start, count)).transpose()?;
        Ok((self.token.f_narrow(0, start, count)?.f_unsqueeze(1)?, weight))
    }
}

/// Sum of the losses of all rows that count, in f64.
///
/// # Errors
/// When libtorch fails.
pub fn loss(x: &Tensor, weight: &Tensor, targets: &Targets) -> Result<Tensor, TchError> {
    let mut total = Tensor::f_zeros([1], (Kind::Double, x.device()))?;
    for (start, count) in chunks(x, weight) {
        let rows = x.f_narrow(0, start, count)?;
        let (token, counted) = targets.rows(start, count)?;
        let logits = rows.f_mm(&weight.f_tr()?)?.f_to_kind(Kind::Float)?;
        let likely = logits.f_log_softmax(-1, None)?;
        total = total.f_add_(&chunk_loss(&likely, &token, counted.as_ref())?)?;
    }
    Ok(total)
}

/// The same sum, with `scale` times its gradients: dL/dx, and dL/dW added to `dweight`.
///
/// # Errors
/// When libtorch fails.
pub fn loss_and_gradients(
    x: &Tensor,
    weight: &Tensor,
    targets: &Targets,
    scale: f64,
    dweight: &Tensor,
) -> Result<(Tensor, Tensor), TchError> {
    let mut total = Tensor::f_zeros([1], (Kind::Double, x.device()))?;
    let dx = x.f_empty_like()?;
    let buffers = Buffers::new(x, weight)?;
    for (start, count) in chunks(x, weight) {
        let rows = x.f_narrow(0, start, count)?;
        let (token, counted) = targets.rows(start, count)?;
        let mut likely = buffers.log_softmax(&rows, weight)?;
        total = total.f_add_(&chunk_loss(&likely, &token, counted.as_ref())?)?;

        let minus_one = Tensor::f_full_like(&token, -1.0)?.f_to_kind(Kind::Float)?;
        likely = likely.f_exp_()?.f_scatter_add_(1, &token, &minus_one)?;
        let error = likely.f_to_kind(weight.kind())?;
        let mut drows = dx.f_narrow(0, start, count)?;
        let _ = error.f_mm_out(&drows, weight)?;
        let scaled = match counted {
            None => {
                let _ = drows.f_mul_scalar_(scale)?;
                rows.f_mul_scalar(scale)?
            }
            Some(counted) => {
                let factor = counted.f_mul_scalar(scale)?.f_unsqueeze(1)?.f_to_kind(rows.kind())?;
                let _ = drows.f_mul_(&factor)?;
                rows.f_mul(&factor)?
            }
        };
        add_product(dweight, &error.f_tr()?, &scaled)?;
    }
    Ok((total, dx))
}

/// Adds a b to `into`, which is fp32.
pub(crate) fn add_product(into: &Tensor, a: &Tensor, b: &Tensor) -> Result<(), TchError> {
    let mut into = into.shallow_clone();
    if a.kind() == Kind::Float {
        let _ = into.f_addmm_(a, b)?;
    } else {
        let _ = into.f_add_(&a.f_mm(b)?.f_to_kind(Kind::Float)?)?;
    }
    Ok(())
}

struct Buffers {
    logits: Tensor,
    likely: Tensor,
}

impl Buffers {
    fn new(x: &Tensor, weight: &Tensor) -> Result<Self, TchError> {
        let rows = chunk_rows(weight).min(rows_of(x));
        let size = [rows, rows_of(weight)];
        let logits = Tensor::f_empty(size, (weight.kind(), x.device()))?;
        Ok(Self { logits, likely: Tensor::f_empty(size, (Kind::Float, x.device()))? })
    }

    fn log_softmax(&self, rows: &Tensor, weight: &Tensor) -> Result<Tensor, TchError> {
        let count = rows_of(rows);
        let logits = self.logits.f_narrow(0, 0, count)?;
        let likely = self.likely.f_narrow(0, 0, count)?;
        let _ = rows.f_mm_out(&logits, &weight.f_tr()?)?;
        let _ = logits.f_to_kind(Kind::Float)?.f_internal_log_softmax_out(&likely, -1, false)?;
        Ok(likely)
    }
}

fn chunk_loss(
    likely: &Tensor,
    token: &Tensor,
    counted: Option<&Tensor>,
) -> Result<Tensor, TchError> {
    let own = likely.f_gather(1, token, false)?.f_squeeze_dim(1)?;
    let own = match counted {
        None => own,
        Some(weight) => own.f_mul(weight)?,
    };
    own.f_sum_dim_intlist([0].as_slice(), true, Kind::Double)?.f_neg()
}

fn chunks(x: &Tensor, weight: &Tensor) -> impl Iterator<Item = (i64, i64)> + use<> {
    let (rows, most) = (rows_of(x), chunk_rows(weight));
    (0..)
        .map(move |chunk| chunk * most)
        .take_while(move |start| *start < rows)
        .map(move |start| (start, most.min(rows - start)))
}

fn chunk_rows(weight: &Tensor) -> i64 {
    (CHUNK / rows_of(weight).max(1)).clamp(16, 4096)
}

fn rows_of(tensor: &Tensor) -> i64 {
    tensor.size().first().copied().unwrap_or(0)
}
