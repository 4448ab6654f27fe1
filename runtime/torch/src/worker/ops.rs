//! The ops of this program by name.

use crate::stepwise::Stepwise;
use pipe_runtime::op::Op;
use std::collections::BTreeMap;

/// Ops by name.
pub struct Ops {
    plain: BTreeMap<&'static str, Box<dyn Op>>,
    stepwise: BTreeMap<&'static str, Box<dyn Stepwise>>,
}

/// An op that was found.
pub enum Found<'a> {
    /// Works in one go.
    Plain(&'a dyn Op),
    /// Works in steps.
    Stepwise(&'a dyn Stepwise),
}

impl Ops {
    /// All ops of this program.
    #[must_use]
    pub fn all() -> Self {
        Self::of(crate::plain_ops(), crate::stepwise_ops())
    }

    /// These ops.
    #[must_use]
    pub fn of(plain: Vec<Box<dyn Op>>, stepwise: Vec<Box<dyn Stepwise>>) -> Self {
        Self {
            plain: plain.into_iter().map(|op| (op.name(), op)).collect(),
            stepwise: stepwise.into_iter().map(|op| (op.name(), op)).collect(),
        }
    }

    /// The op of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Found<'_>> {
        let stepwise = self.stepwise.get(name).map(|op| Found::Stepwise(op.as_ref()));
        stepwise.or_else(|| self.plain.get(name).map(|op| Found::Plain(op.as_ref())))
    }

    /// Names and versions, sorted by name.
    #[must_use]
    pub fn list(&self) -> BTreeMap<&'static str, u32> {
        let plain = self.plain.values().map(|op| (op.name(), op.version()));
        plain.chain(self.stepwise.values().map(|op| (op.name(), op.version()))).collect()
    }
}
