//! What the suites share: case files and a host over a folder.
//!
//! A case file holds many small programs. `--- name ---` opens one; a comment `# error[code] 12-18: part of the
//! message` stands above the line that the problem is reported in (columns and message may be left out).

pub mod case;
pub mod editor;
pub mod host;
pub mod pipe;
pub mod random;
pub mod snapshot;
