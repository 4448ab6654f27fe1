//! The ops of this program: those that run here, without libtorch.

use pipe_runtime::Registry;

/// All ops that run in this process.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    pipe_data::register(&mut registry);
    pipe_detect::register(&mut registry);
    registry
}
