//! Which results leave a store that has grown too large.
//!
//! A [`Shelf`] holds the facts: what each result took, what it was made from, its size, how often it was of use. A
//! [`Policy`] turns them into a score, and the lowest goes first. The same two serve `pipe store gc` and the simulator
//! ([`simulate`]), which replays recorded [`trace`]s under a budget. Nothing here reads a file or a clock.

mod paper;
mod policy;
mod shelf;
pub mod simulate;
pub mod trace;

pub use paper::{ALPHA, BETA, LAYERS, importance};
pub use policy::Policy;
pub use shelf::{HALF_LIFE, Item, PRIOR, Shelf, need};
