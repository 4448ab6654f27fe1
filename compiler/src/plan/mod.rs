//! The plan: a DAG of op calls with keys and annotations.
mod annotate;
mod args;
mod body;
mod fuse;
mod graph;
mod node;
pub mod split;

pub use args::{Args, Shared};
pub use body::{Body, Bound, GIVEN, Made, given};
pub(crate) use graph::{body, plan};
pub use node::*;
