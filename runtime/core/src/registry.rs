//! The ops that a program can run, by name.

use crate::compute::Compute;
use crate::op::Op;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Ops that run in this process.
#[derive(Clone, Default)]
pub struct Registry {
    ops: BTreeMap<&'static str, Arc<dyn Op>>,
}

impl Registry {
    /// The ops that every program has.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Self::default();
        registry.register(Box::new(Compute));
        registry.extend(crate::lists::ops());
        registry
    }

    /// Add an op.
    ///
    /// # Panics
    /// When there is one of that name: two crates claim it.
    pub fn register(&mut self, op: Box<dyn Op>) -> &mut Self {
        let name = op.name();
        let before = self.ops.insert(name, Arc::from(op));
        assert!(before.is_none(), "two ops are named {name}");
        self
    }

    /// Add several ops.
    ///
    /// # Panics
    /// When there is one of that name.
    pub fn extend(&mut self, ops: impl IntoIterator<Item = Box<dyn Op>>) -> &mut Self {
        for op in ops {
            self.register(op);
        }
        self
    }

    /// The op of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Op>> {
        self.ops.get(name)
    }

    /// Name and version of every op, sorted by name.
    pub fn list(&self) -> impl Iterator<Item = (&'static str, u32)> + '_ {
        self.ops.iter().map(|(name, op)| (*name, op.version()))
    }
}
