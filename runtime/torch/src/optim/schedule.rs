//! Learning-rate schedules: what the peak rate is multiplied with at each step.

use pipe_runtime::args::Fields;
use pipe_runtime::op::OpError;

/// How the rate falls after the warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Half a cosine (Loshchilov and Hutter 2017, eq. 5, one period).
    Cosine,
    /// A straight line.
    Linear,
    /// Not at all.
    Constant,
}

/// A schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    shape: Shape,
    warmup: u64,
    floor: f64,
}

impl Schedule {
    /// From the record that `sched.*` makes; a constant rate when there is none.
    ///
    /// # Errors
    /// Names the setting that makes no sense.
    pub fn from_fields(fields: Option<&Fields>) -> Result<Self, OpError> {
        let Some(fields) = fields else {
            return Ok(Self { shape: Shape::Constant, warmup: 0, floor: 1.0 });
        };
        let shape = match fields.str("kind")? {
            "cosine" => Shape::Cosine,
            "linear" => Shape::Linear,
            "constant" => Shape::Constant,
            other => {
                let message = format!(
                    "`{other}` is no schedule; there are sched.cosine, sched.linear and sched.constant."
                );
                return Err(OpError::new("run::argument", message));
            }
        };
        let floor = fields.optional_float("floor")?.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&floor) {
            return Err(OpError::new(
                "run::argument",
                format!("`schedule.floor` is {floor}; it is a share of the peak, 0 to 1."),
            ));
        }
        let warmup = fields.optional_count("warmup")?.unwrap_or(0);
        Ok(Self { shape, warmup: warmup as u64, floor })
    }

    /// The factor at `step` of `total`, both counted from 0: rises over the warm-up, is 1 at its end, and reaches the
    /// floor with the last step.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "step counts are far below 2^53")]
    pub fn factor(&self, step: u64, total: u64) -> f64 {
        if step < self.warmup {
            return (step + 1) as f64 / self.warmup as f64;
        }
        let length = total.saturating_sub(self.warmup + 1).max(1);
        let done = ((step - self.warmup) as f64 / length as f64).min(1.0);
        let fall = match self.shape {
            Shape::Constant => return 1.0,
            Shape::Linear => 1.0 - done,
            Shape::Cosine => f64::midpoint(1.0, libm::cos(std::f64::consts::PI * done)),
        };
        self.floor + (1.0 - self.floor) * fall
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-12, "{found} is not {wanted}");
    }

    /// Expected values by hand: the cosine at 0, 1/4, 1/2 and 1 of its half period.
    #[test]
    fn cosine_goes_from_peak_to_floor() {
        let schedule = Schedule { shape: Shape::Cosine, warmup: 4, floor: 0.1 };
        close(schedule.factor(0, 13), 0.25);
        close(schedule.factor(3, 13), 1.0);
        close(schedule.factor(4, 13), 1.0);
        close(
            schedule.factor(6, 13),
            0.1 + 0.9 * f64::midpoint(1.0, std::f64::consts::FRAC_1_SQRT_2),
        );
        close(schedule.factor(8, 13), 0.55);
        close(schedule.factor(12, 13), 0.1);
        close(schedule.factor(40, 13), 0.1);
    }

    #[test]
    fn linear_and_constant() {
        let linear = Schedule { shape: Shape::Linear, warmup: 0, floor: 0.0 };
        close(linear.factor(0, 5), 1.0);
        close(linear.factor(1, 5), 0.75);
        close(linear.factor(4, 5), 0.0);
        let constant = Schedule { shape: Shape::Constant, warmup: 2, floor: 0.0 };
        close(constant.factor(0, 5), 0.5);
        close(constant.factor(4, 5), 1.0);
        close(linear.factor(0, 1), 1.0);
    }
}
