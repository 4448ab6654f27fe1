//! Optimizers with state that can be saved, learning-rate schedules, and gradient clipping.

pub mod adamw;
pub mod schedule;
