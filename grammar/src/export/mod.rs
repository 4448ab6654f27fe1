//! The language for machines that write it: one table of rules, printed as GBNF and as Lark. Its words are those of the
//! JSON Schema of [`crate::json`] too.
//!
//! Engines that decode under a grammar read context-free rules, and `pipe.pest` is read greedily and in order. The table
//! is written so that both say the same: every text it derives reads without a syntax error, and everything that
//! `pipe fmt` prints can be derived. What it leaves out is layout that nobody writes: words that touch what is beside
//! them, as in `if(a){`. What it cannot count are the limits: the range of numbers, the depth of nesting, the size of a
//! file. Reserved words and units come from [`crate::words`].

mod form;
mod gbnf;
mod lark;
mod names;
mod print;
mod regex;
mod table;

pub use form::{Form, Rule};
pub use gbnf::gbnf;
pub use lark::lark;
pub(crate) use regex::{derives, pattern_of};
pub use table::table;
