//! One training as a state machine: each step sees the rows of one window, and changes weights, optimizer state and curves.

use crate::eval::perplexity::mean_loss;
use crate::fault::During;
use crate::model::decoder::Decoder;
use crate::model::folder::Loaded;
use crate::optim::adamw::{State, Update, clip};
use crate::rows::TokenRows;
use crate::stepwise::{Step, Steps};
use crate::train::checkpoint::{self, Position};
use crate::train::curve::{Curve, Exact, Seen, Valid};
use crate::train::fit;
use crate::train::order::Order;
use crate::train::settings::Settings;
use pipe_runtime::op::{Context, OpError};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tch::{Device, Kind, TchError, Tensor};

/// Time between checkpoints, when no number of steps is given.
const CHECKPOINT: Duration = Duration::from_secs(10);
/// Largest share of the training's work that goes into validation.
const VALID_SHARE: u64 = 10;
/// Most validations.
const VALIDATIONS: u64 = 10;
/// First factor of fp16 losses, and the steps after which it doubles.
const LOSS_SCALE: (f64, u64) = (65_536.0, 2_000);

/// A training in progress.
pub struct Training {
    pub(super) settings: Settings,
    pub(super) decoder: Decoder,
    pub(super) weights: Tensor,
    pub(super) position: Position,
    rows: Arc<TokenRows>,
    valid: Option<Arc<TokenRows>>,
    order: Order,
    gradient: Tensor,
    state: State,
    pending: Vec<Pending>,
    resumed_at: u64,
    since: Instant,
    saved: Instant,
}

/// A step whose numbers have not been read from the device.
struct Pending {
    step: u64,
    tokens: u64,
    loss: Tensor,
    norm: Tensor,
    lr: f64,
}

impl Training {
    /// Begins, or continues from a checkpoint.
    ///
    /// # Errors
    /// When model and rows do not fit, or memory runs out.
    pub fn start(
        settings: Settings,
        model: &Loaded,
        rows: Arc<TokenRows>,
        valid: Option<Arc<TokenRows>>,
        context: &dyn Context,
    ) -> Result<Self, OpError> {
        for rows in std::iter::once(&rows).chain(&valid) {
            rows.check_fits(&model.config)?;
        }
        let longest = valid.as_ref().map_or(rows.length, |valid| valid.length.max(rows.length));
        let decoder = Decoder::new(model.config.clone(), settings.place, longest)?;
        let window = settings.batch.saturating_mul(settings.accumulate);
        let mut order =
            Order::new(settings.seed, u32::try_from(rows.rows).unwrap_or(u32::MAX), window);
        let total = settings.steps(&mut order, &rows);
        let elements = decoder.layout.total;
        let kept = resume(context, elements, total);
        let resumed_at = kept.as_ref().map_or(0, |(position, ..)| position.step);
        let (position, weights, state) = match kept {
            Some(kept) => kept,
            None => fresh(model, elements, total).during("copying the model", &[])?,
        };
        let device = settings.place.device;
        let place = || {
            let gradient = Tensor::f_zeros([elements], (Kind::Float, device))?;
            let state = State {
                mean: state.mean.f_to_device(device)?,
                square: state.square.f_to_device(device)?,
            };
            Ok::<_, TchError>((weights.f_to_device(device)?, gradient, state))
        };
        let (weights, gradient, state) =
            place().during("placing weights, gradient and optimizer state", &[])?;
        let now = Instant::now();
        Ok(Self {
            settings,
            decoder,
            weights,
            position,
            rows,
            valid,
            order,
            gradient,
            state,
            pending: Vec::new(),
            resumed_at,
            since: now,
            saved: now,
        })
    }

    /// Forward, backward and update for the next window of rows.
    fn advance(&mut self) -> Result<(), OpError> {
        let step = self.position.step;
        let rows = self.order.rows(step).to_vec();
        let targets: u64 = rows
            .iter()
            .filter_map(|&row| self.rows.targets.get(row as usize))
            .map(|&n| u64::from(n))
            .sum();
        let rate =
            self.settings.optimizer.lr * self.settings.schedule.factor(step, self.position.total);
        if targets > 0 {
            let loss = self.accumulate(&rows, targets)?;
            let norm =
                self.update(rate).during("the optimizer step", &[("weights", &self.weights)])?;
            self.pending.push(Pending { step: step + 1, tokens: targets, loss, norm, lr: rate });
        }
        self.position.step += 1;
        Ok(())
    }

    /// The gradient of the mean loss over all targets of the window, however it is cut into micro-batches.
    fn accumulate(&mut self, rows: &[u32], targets: u64) -> Result<Tensor, OpError> {
        let device = self.settings.place.device;
        let _ = self.gradient.f_zero_().during("clearing the gradient", &[])?;
        let ready = self.decoder.ready(&self.weights)?;
        let scale = self.scale() / float(targets);
        let mut loss: Option<Tensor> = None;
        for part in rows.chunks(self.settings.batch as usize) {
            let (batch, counted) = self.rows.batch(part, device)?;
            if counted == 0 {
                continue;
            }
            let own = self.decoder.loss_and_gradient(
                &ready,
                &batch,
                scale,
                self.settings.recompute,
                &self.gradient,
            )?;
            loss = Some(match loss {
                None => own,
                Some(loss) => loss.f_add(&own).during("summing losses", &[])?,
            });
        }
        loss.ok_or_else(|| OpError::new("run::torch", "A step without targets has no loss."))
    }

    fn scale(&self) -> f64 {
        if self.settings.place.compute == Kind::Half { self.position.loss_scale.0 } else { 1.0 }
    }

    /// Clips and updates. An fp16 step whose gradient overflowed changes nothing but the factor of the next loss.
    fn update(&mut self, rate: f64) -> Result<Tensor, TchError> {
        if self.settings.place.compute == Kind::Half {
            let _ = self.gradient.f_mul_scalar_(1.0 / self.scale())?;
        }
        let (norm, factor) = clip(&self.gradient, self.settings.clip)?;
        if self.settings.place.compute == Kind::Half && !self.rescale(norm.f_double_value(&[])?) {
            return Ok(norm);
        }
        let update = Update {
            step: float(self.position.step + 1),
            lr: rate,
            decayed: self.decoder.layout.decayed,
        };
        self.settings.optimizer.update(
            &self.weights,
            &self.gradient,
            factor.as_ref(),
            &self.state,
            update,
        )?;
        Ok(norm)
    }

    /// Whether an fp16 gradient is usable; adapts the factor (Micikevicius et al. 2018, section 3.2).
    fn rescale(&mut self, norm: f64) -> bool {
        let position = &mut self.position;
        position.scale_age += 1;
        if !norm.is_finite() {
            position.loss_scale.0 = (position.loss_scale.0 / 2.0).max(1.0);
            position.scale_age = 0;
        } else if position.scale_age >= LOSS_SCALE.1 {
            position.loss_scale.0 *= 2.0;
            position.scale_age = 0;
        }
        norm.is_finite()
    }

    /// Reads pending numbers from the device into curves and metrics.
    fn flush(&mut self, context: &dyn Context) -> Result<(), OpError> {
        for pending in std::mem::take(&mut self.pending) {
            let read = || {
                Ok::<_, TchError>((
                    pending.loss.f_double_value(&[0])?,
                    pending.norm.f_double_value(&[])?,
                ))
            };
            let (loss, norm) = read().during("reading the loss", &[])?;
            let mean = loss / float(pending.tokens);
            if !mean.is_finite() {
                let message = format!(
                    "The loss is not finite at step {} (learning rate {:.2e}).",
                    pending.step, pending.lr
                );
                return Err(OpError::new("run::not_finite", message)
                    .help("use a lower `lr`, a longer `warmup`, or a smaller `clip`."));
            }
            let (step, tokens, lr) = (pending.step, pending.tokens, pending.lr);
            self.position.curve.add(Seen { step, tokens, loss, lr, norm }, self.position.total);
            if step.is_multiple_of(self.settings.log_every) || step == self.position.total {
                context.metric("loss", step, mean);
                context.metric("lr", step, lr);
                context.metric("grad_norm", step, norm);
            }
            context.progress(step, self.position.total, &self.note(step, mean));
        }
        Ok(())
    }

    fn note(&self, step: u64, loss: f64) -> String {
        let seconds = self.since.elapsed().as_secs_f64();
        let per_step = self.position.curve.tokens() / step.max(1);
        let rate = float(per_step * (step - self.resumed_at)) / seconds.max(1e-9);
        format!("loss {loss:.3}, {rate:.0} tokens/s")
    }

    /// Steps between validations, so that they cost a small share of the training.
    fn validate_every(&self, valid: &TokenRows) -> u64 {
        let total = self.position.total.max(1);
        let training = self.rows.all_targets() * total / self.order.steps_per_epoch().max(1) * 3;
        let affordable = training / VALID_SHARE / valid.all_targets().max(1);
        total.div_ceil(affordable.clamp(1, VALIDATIONS))
    }

    fn validate(&mut self, context: &dyn Context) -> Result<(), OpError> {
        let Some(valid) = self.valid.clone() else { return Ok(()) };
        let step = self.position.step;
        if step != self.position.total && !step.is_multiple_of(self.validate_every(&valid)) {
            return Ok(());
        }
        let ready = self.decoder.ready(&self.weights)?;
        let loss =
            mean_loss(&self.decoder, &ready, &valid, self.settings.batch as usize, &|_| Ok(()))?;
        context.metric("valid_loss", step, loss);
        self.position.curve.valid.push(Valid { step, loss: Exact(loss) });
        Ok(())
    }

    fn checkpoint_due(&self, context: &dyn Context) -> bool {
        context.checkpoint().is_some()
            && match self.settings.checkpoint_every {
                Some(every) => self.position.step.is_multiple_of(every),
                None => self.saved.elapsed() >= CHECKPOINT,
            }
    }
}

impl Steps for Training {
    fn resumed_at(&self) -> u64 {
        self.resumed_at
    }

    fn step(&mut self, context: &dyn Context) -> Result<Step, OpError> {
        let _no_grad = tch::no_grad_guard();
        if self.position.step < self.position.total {
            self.advance()?;
            let waits = self.settings.place.device != Device::Cpu;
            if !waits
                || self.position.step.is_multiple_of(self.settings.log_every)
                || self.position.step == self.position.total
            {
                self.flush(context)?;
            }
            self.validate(context)?;
        }
        if self.position.step >= self.position.total {
            self.flush(context)?;
            return fit::finish(self, context).map(Step::Done);
        }
        let saved = if self.checkpoint_due(context) { self.save(context)? } else { None };
        Ok(Step::More { saved })
    }

    fn save(&mut self, context: &dyn Context) -> Result<Option<u64>, OpError> {
        let Some(folder) = context.checkpoint() else { return Ok(None) };
        self.flush(context)?;
        checkpoint::save(folder, &self.position, &self.weights, &self.state)?;
        self.saved = Instant::now();
        Ok(Some(self.position.step))
    }
}

fn resume(context: &dyn Context, elements: i64, total: u64) -> Option<(Position, Tensor, State)> {
    match checkpoint::load(context.checkpoint()?, elements, total) {
        Ok(found) => found,
        Err(why) => {
            context.warn(&format!("The checkpoint cannot be used ({why}); training begins again."));
            None
        }
    }
}

fn fresh(model: &Loaded, elements: i64, total: u64) -> Result<(Position, Tensor, State), TchError> {
    let curve = Curve::default();
    let position =
        Position { step: 0, total, curve, loss_scale: Exact(LOSS_SCALE.0), scale_age: 0 };
    Ok((position, model.weights().f_detach_copy()?, State::new(elements, Device::Cpu)?))
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}
