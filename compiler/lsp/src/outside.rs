//! What the server is given from outside: files, the machine, and a view of the store.

use pipe_compiler::plan::{NodeId, Plan};
use pipe_compiler::{Host, Machine};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The way to files that are not open in the editor.
pub trait Disk {
    /// A host for the program at an absolute path; it is asked for absolute paths.
    fn host(&self, program: &Path) -> Box<dyn Host + '_>;
    /// A file that holds the text of a library module, for editors that cannot show a document without a file.
    fn library_file(&self, module: &str) -> Option<PathBuf>;
}

/// What an editor may show of the store beside each node. It never creates or changes a store.
pub trait CacheView {
    /// What a run would do with the nodes of a program's plan; nodes that are left out are not shown.
    fn states(&self, program: &Path, plan: &Plan) -> Vec<NodeState>;
    /// A number that is another one when the program's store has changed.
    fn stamp(&self, program: &Path) -> u64;
}

/// What a run would do with a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeState {
    /// The node.
    pub node: NodeId,
    /// Its result is in the store.
    pub cached: bool,
    /// For people, short: `cached, 3.2 s`, `will run: lr changed`.
    pub text: String,
}

/// A view of no store.
#[derive(Clone, Copy, Debug)]
pub struct NoCache;

impl CacheView for NoCache {
    fn states(&self, _program: &Path, _plan: &Plan) -> Vec<NodeState> {
        Vec::new()
    }

    fn stamp(&self, _program: &Path) -> u64 {
        0
    }
}

/// Everything that the server knows of the world around the editor.
pub struct Outside<'a> {
    /// Files.
    pub disk: &'a dyn Disk,
    /// The store.
    pub cache: &'a dyn CacheView,
    /// Versions of tools, as a run would use them.
    pub tools: BTreeMap<String, String>,
    /// The machine, as a run would use it.
    pub machine: Machine,
}

impl<'a> Outside<'a> {
    /// Files and a store on a machine of which nothing is known.
    #[must_use]
    pub fn new(disk: &'a dyn Disk, cache: &'a dyn CacheView) -> Self {
        let machine = Machine { threads: 1, memory: 0, gpus: 0 };
        Self { disk, cache, tools: BTreeMap::new(), machine }
    }
}
