//! Tables and texts: reading, shaping, splitting, logs, tokenizers, reports.
//!
//! Every op here is a pure function of its arguments. Data goes in and out as artifacts; the formats are open:
//! Arrow IPC for tables, `tokenizer.json`, safetensors for tokens, one HTML file for a report.

mod call;
pub mod codes;
pub mod logs;
mod ops;
pub mod read;
mod report;
pub mod table;
pub mod time;
pub mod tokens;

pub use call::{Call, Native, count};
pub use ops::register;
pub use table::{Table, read_table, write_table};
