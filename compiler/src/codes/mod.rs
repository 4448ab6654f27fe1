//! Every problem that the compiler reports, with the page that `pipe explain CODE` prints.

mod plan;
mod resolve;
mod shapes;
mod types;

pub use pipe_grammar::codes::Code;

/// All codes of the compiler and of the grammar, in alphabetical order.
#[must_use]
pub fn all() -> Vec<Code> {
    let mut codes = own();
    codes.extend(pipe_grammar::codes::CODES);
    codes.sort_by_key(|code| code.code);
    codes
}

/// The codes of the compiler.
#[must_use]
pub fn own() -> Vec<Code> {
    [resolve::CODES, types::CODES, shapes::CODES, plan::CODES].concat()
}

/// A page: what it means and why, what causes it, and what to write instead.
const fn page(code: &'static str, title: &'static str, explanation: &'static str) -> Code {
    Code { code, title, explanation }
}
