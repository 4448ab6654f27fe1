//! The ops that a program can run and the drivers that can expand, by name.

use crate::compute::Compute;
use crate::driver::Driver;
use crate::flow;
use crate::op::Op;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Ops that run in this process, and drivers.
#[derive(Clone, Default)]
pub struct Registry {
    ops: BTreeMap<&'static str, Arc<dyn Op>>,
    drivers: BTreeMap<&'static str, Arc<dyn Driver>>,
}

impl Registry {
    /// The ops and drivers that every program has.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Self::default();
        registry.register(Box::new(Compute));
        registry.extend(crate::lists::ops());
        registry.register_driver(Box::new(flow::Each));
        registry.register_driver(Box::new(flow::Choose));
        registry.register_driver(Box::new(flow::Iterate));
        registry.register_driver(Box::new(crate::tune::Halving));
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

    /// Add a driver.
    ///
    /// # Panics
    /// When there is one of that name.
    pub fn register_driver(&mut self, driver: Box<dyn Driver>) -> &mut Self {
        let name = driver.name();
        let before = self.drivers.insert(name, Arc::from(driver));
        assert!(before.is_none(), "two drivers are named {name}");
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

    /// The driver of that name.
    #[must_use]
    pub fn driver(&self, name: &str) -> Option<&Arc<dyn Driver>> {
        self.drivers.get(name)
    }

    /// Name and version of every driver, sorted by name.
    pub fn drivers(&self) -> impl Iterator<Item = (&'static str, u32)> + '_ {
        self.drivers.iter().map(|(name, driver)| (*name, driver.version()))
    }

    /// Name and version of every op, sorted by name.
    pub fn list(&self) -> impl Iterator<Item = (&'static str, u32)> + '_ {
        self.ops.iter().map(|(name, op)| (*name, op.version()))
    }
}
