//! Problem codes with their documentation.

pub use pipe_grammar::codes::Code;

/// All codes of the compiler and of the grammar.
#[must_use]
pub fn codes() -> Vec<Code> {
    Vec::new()
}
