//! Values, ops, scheduler, store and events of a run.
pub mod events;
pub mod op;
pub mod protocol;
pub mod value;
