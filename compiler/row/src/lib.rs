//! Row expressions: the IR and its batch interpreter, which is the definition of what they mean.
pub mod column;
pub mod error;
mod functions;
mod interpret;
pub mod ir;
mod kernel;
mod lane;
mod members;
mod number;
pub mod print;
mod program;
pub mod text;
pub mod typing;

pub use column::{Column, Values};
pub use error::{RowError, TypeError};
pub use interpret::BATCH;
pub use program::{MAX_DEPTH, MAX_NODES};
pub use text::Text;
