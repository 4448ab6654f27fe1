//! Text to syntax for the `.pipe` language, and back.
//!
//! [`parse`] reads a file: it never fails and never panics, whatever the text is. It gives a tree in which every node
//! knows its place, a list of problems with fixes, and the comments; [`parse_again`] reads a file that changed a little
//! since. [`format`] sets a program in its one layout.
//! `pipe.pest` is the one definition of the syntax; [`words`] is the one table of reserved words and units; [`codes`]
//! explains every problem.
//!
//! This crate does not know what names, types or operations mean, reads no files and prints nothing.
//!
//! ```
//! use pipe_grammar::{FileId, SourceFile, parse};
//! let source = SourceFile::new(FileId(0), "a.pipe", "let wait = 5min\noutput twice = 2 * wait");
//! let parsed = parse(&source);
//! assert_eq!(parsed.module.items.len(), 2);
//! assert_eq!(parsed.problems[0].help.as_deref().map(|help| &help[..12]), Some("write `5m`; "));
//! ```

pub mod ast;
pub mod codes;
pub mod editors;
pub mod export;
pub mod json;
pub mod problem;
pub mod scan;
pub mod source;
pub mod words;

mod earlier;
mod fix;
mod limits;
mod lower;
mod parse;
mod patch;
mod print;
mod recover;
mod syntax;
mod trivia;

pub use earlier::Earlier;
pub use fix::{Fixed, fix};
pub use limits::{MAX_BYTES, MAX_NESTING};
pub use parse::{Parsed, parse, parse_again};
pub use print::{Formatted, format};
pub use problem::{Applicability, Edit, Label, Problem, Severity};
pub use source::{FileId, Place, Position, SourceFile, Span, Units};
pub use trivia::{Comment, Trivia};
pub use words::did_you_mean;
