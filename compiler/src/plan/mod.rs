//! The plan: a DAG of op calls with keys and annotations.
mod annotate;
mod graph;
mod node;

pub(crate) use graph::plan;
pub use node::*;
