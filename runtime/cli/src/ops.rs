//! The ops of this program: those that run here, without libtorch.

use pipe_runtime::Registry;
use pipe_runtime::exec::Exec;

/// All ops that run in this process; external programs only where `exec` allows them.
pub(crate) fn registry(exec: bool) -> Registry {
    let mut registry = Registry::new();
    registry.register(Box::new(Exec { allowed: exec }));
    pipe_data::register(&mut registry);
    pipe_detect::register(&mut registry);
    registry
}
