//! Values, ops, scheduler, store and events of a run.

pub mod args;
pub mod content;
pub mod events;
pub mod op;
pub mod protocol;
pub mod registry;
pub mod shown;
pub mod standalone;
pub mod value;
