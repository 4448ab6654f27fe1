//! Values, ops, scheduler, store and events of a run.

pub mod args;
pub mod cancel;
pub mod compute;
pub mod content;
mod decoded;
pub mod events;
pub mod keys;
pub mod op;
pub mod outputs;
pub mod protocol;
pub mod registry;
pub mod run;
mod schedule;
pub mod shown;
pub mod standalone;
pub mod states;
pub mod store;
pub mod value;
pub mod worker;

pub use cancel::Cancel;
pub use registry::Registry;
pub use run::{RunOptions, RunSummary, run};
pub use schedule::Machine;
pub use store::Store;
