//! The language server of `.pipe` files: editor requests answered from grammar and compiler.
//!
//! [`serve`] speaks the Language Server Protocol over any reader and writer. It is one loop: the newest text is checked
//! when no message waits, and a check gives up as soon as one does, so that a keystroke never waits for an old check.
//! Files are read through a [`Disk`] below the open documents; what is cached it learns from a [`CacheView`]. The server
//! runs no program, knows no store, and writes no file.
//!
//! ```text
//! let outside = Outside::new(&disk, &NoCache);
//! let end = serve(BufReader::new(stdin()), stdout(), &outside);
//! ```

mod actions;
mod client;
mod columns;
mod complete;
mod diagnostics;
mod documents;
mod find;
mod format;
mod hints;
mod hover;
mod inbox;
mod outline;
mod outside;
mod overlay;
mod place;
mod programs;
mod rename;
mod requests;
mod server;
mod signature;
mod symbols;
mod tell;
mod tokens;
mod transport;

pub use outside::{CacheView, Disk, NoCache, NodeState, Outside};
pub use server::{End, serve};
