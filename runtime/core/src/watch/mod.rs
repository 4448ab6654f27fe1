//! Watching what a program reads.
//!
//! Events of the file system only say where to look: [`Seen`] compares digests with what the last compilation saw, so
//! a file that was touched, or saved as it was, changes nothing. [`Settling`] waits until a burst of saves is over.
//! [`Watcher`] follows folders and not files, because editors save by renaming, and a watch on a file would go with the
//! file that was there before.

mod guard;
mod seen;
mod settling;
mod watcher;

pub use guard::Guard;
pub use seen::{Seen, Suspects, whole};
pub use settling::Settling;
pub use watcher::{Notice, Watcher};
