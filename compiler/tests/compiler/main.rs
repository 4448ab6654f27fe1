//! Programs in, problems and plans out.

mod drawing;
mod drivers;
mod fusion;
mod keys;
mod limits;
mod parts;
mod plans;
mod problems;
mod rows;
mod spec;
mod splitting;
mod support;
mod tables;
mod windows;
