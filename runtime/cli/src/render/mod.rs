//! What people see: problems, plans and runs, readable without colour and within the terminal's width.

pub(crate) mod diff;
mod fan;
pub(crate) mod lineage;
pub(crate) mod metrics;
pub(crate) mod plan;
pub(crate) mod problem;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod style;
pub(crate) mod watch;
