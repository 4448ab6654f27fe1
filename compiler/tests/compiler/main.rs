//! Programs in, problems and plans out.

mod drivers;
mod fusion;
mod keys;
mod limits;
mod parts;
mod plans;
mod problems;
mod rows;
mod spec;
mod support;
mod tables;
mod windows;
