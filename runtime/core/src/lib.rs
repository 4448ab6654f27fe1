//! Values, ops, scheduler, store and events of a run.
//!
//! A [`run`] takes a plan from the compiler, a [`Registry`] of ops and a [`Store`], computes what the
//! plan's outputs need and the store lacks, and tells of it in [`events`]. `spec/runs.md` says what holds.
//!
//! ```no_run
//! # fn example(plan: &pipe_compiler::plan::Plan) -> Result<(), pipe_runtime::op::OpError> {
//! let registry = pipe_runtime::Registry::new();
//! let mut store = pipe_runtime::Store::open(".pipe".as_ref())?;
//! let options = pipe_runtime::RunOptions::new("out/train");
//! let summary = pipe_runtime::run(plan, &registry, &mut store, &options, &mut |event| println!("{event:?}"))?;
//! std::process::exit(summary.exit_code().into());
//! # }
//! ```

pub mod args;
pub mod cancel;
pub mod codes;
pub mod compute;
pub mod content;
mod decoded;
pub mod driver;
pub mod events;
pub mod evict;
pub mod exec;
pub mod flow;
mod growing;
pub mod keys;
mod lists;
mod numbers;
pub mod op;
pub mod outputs;
pub mod protocol;
pub mod registry;
mod roots;
pub mod run;
mod schedule;
pub mod shown;
pub mod standalone;
pub mod states;
pub mod store;
mod tune;
pub mod value;
pub mod watch;
pub mod worker;

pub use cancel::Cancel;
pub use registry::Registry;
pub use run::{RunOptions, RunSummary, Runs, run};
pub use schedule::Machine;
pub use store::Store;
