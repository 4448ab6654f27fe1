//! The plan: a DAG of op calls with keys and annotations.
mod annotate;
mod body;
mod graph;
mod node;

pub use body::{Body, Bound, GIVEN, Made, given};
pub(crate) use graph::{body, plan};
pub use node::*;
