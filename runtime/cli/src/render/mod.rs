//! What people see: problems, plans and runs, readable without colour and within the terminal's width.

mod fan;
pub(crate) mod plan;
pub(crate) mod problem;
pub(crate) mod run;
pub(crate) mod style;
pub(crate) mod watch;
