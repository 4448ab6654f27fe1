//! Text to syntax for the `.pipe` language, and back.
pub mod ast;
pub mod codes;
pub mod problem;
pub mod source;
pub mod words;

mod limits;
mod lower;
mod parse;
mod patch;
mod print;
mod recover;
mod scan;
mod syntax;
mod trivia;

pub use limits::{MAX_BYTES, MAX_NESTING};
pub use parse::{Parsed, parse};
pub use print::{Formatted, format};
pub use problem::{Edit, Label, Problem, Severity};
pub use source::{FileId, Place, SourceFile, Span};
pub use trivia::{Comment, Trivia};
pub use words::did_you_mean;
