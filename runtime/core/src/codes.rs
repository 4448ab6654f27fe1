//! Every error that a run can end with, with the page that `pipe explain CODE` prints.
//!
//! A page lies in the lowest crate that gives its code. The worker program and the commands of `pipe` have their
//! pages here, where all that prints pages can see them.

mod run;
mod store;
mod worker;

pub use pipe_compiler::Code;

/// Codes that only the commands of `pipe` give.
pub const COMMANDS: &[Code] = &[page(
    "params::flag",
    "a param that is called like a flag of `pipe`",
    "`--NAME VALUE` sets a param only where `pipe` has no flag of that name. Here it has one, so the flag keeps
its meaning and does not reach the param. This is a warning, because there is another way.

  param out: int = 1
  output doubled = out * 2

Set it with

  pipe run program.pipe --set out=3

or in a file for `--params`, or give it another name.",
)];

/// Codes that only the worker program `pipe-torch` gives itself.
pub const TORCH: &[Code] = worker::TORCH;

/// The codes of this crate.
#[must_use]
pub fn own() -> Vec<Code> {
    [run::CODES, store::CODES, worker::CODES].concat()
}

/// All codes of this crate and of those below it, of the worker and of the commands, in alphabetical order.
#[must_use]
pub fn all() -> Vec<Code> {
    joined(pipe_compiler::codes::all(), &[own().as_slice(), TORCH, COMMANDS].concat())
}

/// Two lists of codes in alphabetical order.
#[must_use]
pub fn joined(mut codes: Vec<Code>, more: &[Code]) -> Vec<Code> {
    codes.extend(more);
    codes.sort_by_key(|code| code.code);
    codes
}

/// A page: what it means and why, an example of the situation, and what to do.
#[must_use]
pub const fn page(code: &'static str, title: &'static str, explanation: &'static str) -> Code {
    Code { code, title, explanation }
}
