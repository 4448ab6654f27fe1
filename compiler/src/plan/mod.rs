//! The plan: a DAG of op calls with keys and annotations.
mod node;

pub use node::*;
