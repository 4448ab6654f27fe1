//! The ops of this program: those that run here, without libtorch.

use pipe_runtime::Registry;
use pipe_runtime::exec::{Exec, Programs};

/// All ops that run in this process; external programs only where they are allowed.
pub(crate) fn registry(programs: Programs) -> Registry {
    let mut registry = Registry::new();
    registry.register(Box::new(Exec(programs)));
    pipe_data::register(&mut registry);
    pipe_detect::register(&mut registry);
    registry
}
