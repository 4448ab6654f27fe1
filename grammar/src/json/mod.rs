//! A program as JSON: its tree without places, for engines and tools that write JSON and no grammar.
//!
//! One table of forms ([`forms`]) says how each part is written as JSON and as text. The [`schema`] is that table, and so
//! is the way back to text ([`text`]); [`tree`] goes from a parsed program to JSON. Words (names, numbers) are those of
//! the table that [`crate::export`] prints. A tree has no layout and needs no precedence, which is what most of that
//! table says; hence a table of its own. Left out are comments, documentation inside blocks, and native declarations,
//! which only the library has.

mod forms;
mod schema;
mod text;
mod tree;

pub use schema::schema;
pub use text::{Misfit, text};
pub use tree::tree;
