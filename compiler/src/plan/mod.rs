//! The plan: a DAG of op calls with keys and annotations.
mod annotate;
mod body;
mod graph;
mod node;

pub use body::{Body, Bound, GIVEN, Made, given};
pub(crate) use graph::plan;
pub use node::*;
