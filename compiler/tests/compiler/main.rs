//! Programs in, problems and plans out.

mod common;
mod keys;
mod limits;
mod parts;
mod plans;
mod problems;
mod rows;
mod spec;
