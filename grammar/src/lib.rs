//! Text to syntax for the `.pipe` language.
pub mod ast;
pub mod problem;
pub mod source;

pub use problem::{Edit, Label, Problem, Severity};
pub use source::{FileId, Place, SourceFile, Span};
