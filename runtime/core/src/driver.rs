//! The driver contract: what asks for nodes while the run goes on.
//!
//! A driver is a node whose arguments hold bodies. Given the results so far, in the order in which it asked, it names
//! the next points or gives its value. The engine makes a body's nodes for each point, under ordinary keys, and asks
//! again once all of them have results. So a driver computes nothing, sees no clock and no store, and the same results
//! lead it along the same way: a run that was killed finds what it had reached.

use crate::op::{Args, OpError};
use crate::value::Value;

/// Most points that a driver may ask for of one body.
pub const MOST_POINTS: usize = 10_000;

/// Most nodes that all drivers of a run may make together.
pub const MOST_NODES: usize = 100_000;

/// A pure function from results in trial order to the next points or the end.
pub trait Driver: Send + Sync {
    /// Its name in the standard library, `flow.each`.
    fn name(&self) -> &'static str;

    /// Version of its meaning; equal to the signature's.
    fn version(&self) -> u32;

    /// What to do next. Called with no trials first, and again whenever all points that it asked for have results. A
    /// body among the arguments reads as the list of the names of its variables.
    ///
    /// # Errors
    /// An [`OpError`] that tells a user what is wrong with the arguments or a result.
    fn next(&self, args: &Args, trials: &[Trial]) -> Result<Next, OpError>;
}

/// What a driver wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// The results of these points; at least one.
    Ask(Vec<Point>),
    /// The driver's own result.
    Done(Value),
}

/// A body with values for its variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Name of the argument that holds the body.
    pub body: String,
    /// A value for each variable of the body.
    pub bound: Vec<Value>,
    /// What tells it from the driver's other points, for names: `host=web-1`.
    pub label: String,
}

/// A point with its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// What was asked.
    pub point: Point,
    /// What came of it.
    pub result: Value,
}
