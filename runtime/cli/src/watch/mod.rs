//! Parts of `pipe watch`: a thread that runs plans, and what changed in words.

mod differences;
mod keys;
mod runner;

pub(crate) use differences::differences;
pub(crate) use keys::{Key, keys};
pub(crate) use runner::{Runner, Update};
