//! The parser that `pest_derive` makes from `pipe.pest`.
#![allow(missing_docs, reason = "generated code")]

#[derive(pest_derive::Parser)]
#[grammar = "pipe.pest"]
pub(crate) struct Grammar;
