//! Syntax to plan: a pure function of sources, parameters, signatures and a host that reads files.
pub mod key;
pub mod plan;
pub mod value;
