//! Ops that work in steps, so that a worker can run several at once, stop them, and let others join in between.

use pipe_runtime::op::{Args, Context, Op, OpError};
use pipe_runtime::value::Value;

/// An op that works in steps.
pub trait Stepwise: Op {
    /// Begins, or continues from the context's checkpoint.
    ///
    /// # Errors
    /// When the arguments do not make sense or inputs cannot be read.
    fn start(&self, args: &Args, context: &dyn Context) -> Result<Box<dyn Steps>, OpError>;
}

/// Work in progress.
pub trait Steps {
    /// Steps that were done before, by a process that ended.
    fn resumed_at(&self) -> u64;

    /// One step.
    ///
    /// # Errors
    /// Those of the op.
    fn step(&mut self, context: &dyn Context) -> Result<Step, OpError>;

    /// Saves the state, so that a later start continues from here. Gives the step that was saved, when there is where to save.
    ///
    /// # Errors
    /// When it cannot be written.
    fn save(&mut self, context: &dyn Context) -> Result<Option<u64>, OpError>;
}

/// What a step led to.
#[derive(Debug)]
pub enum Step {
    /// There is more to do.
    More {
        /// Step of the checkpoint that was written, when one was.
        saved: Option<u64>,
    },
    /// The result.
    Done(Value),
}

/// Takes all steps, for callers that run one op at a time.
///
/// # Errors
/// Those of the op; [`OpError::cancelled`] after saving when the context says so.
pub fn run_through(
    op: &dyn Stepwise,
    args: &Args,
    context: &dyn Context,
) -> Result<Value, OpError> {
    let mut steps = op.start(args, context)?;
    loop {
        if context.cancelled() {
            steps.save(context)?;
            return Err(OpError::cancelled());
        }
        if let Step::Done(value) = steps.step(context)? {
            return Ok(value);
        }
    }
}
