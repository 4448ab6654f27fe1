//! What earlier compilations read, by file: an editor compiles after each key, and nearly nothing has changed.

use pipe_grammar::{Earlier, Parsed, SourceFile, parse_again};
use std::collections::BTreeMap;

/// The syntax of the files of one program as they were read last. It changes how long a compilation takes and nothing
/// else.
#[derive(Debug, Default)]
pub struct Readings {
    known: BTreeMap<String, Earlier>,
    /// Files of the compilation under way.
    met: BTreeMap<String, Earlier>,
}

impl Readings {
    /// Reads a file.
    pub(crate) fn read(&mut self, source: &SourceFile) -> Parsed {
        let mut earlier = self.known.remove(&source.name).unwrap_or_default();
        let parsed = parse_again(source, &mut earlier);
        self.met.insert(source.name.clone(), earlier);
        parsed
    }

    /// A compilation has read all its files: others are forgotten.
    pub(crate) fn turn(&mut self) {
        self.known = std::mem::take(&mut self.met);
    }
}
