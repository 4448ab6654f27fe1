//! `pipe lsp`: the language server over stdin and stdout, with this project's files and store.

use super::{Failure, Outcome, exit};
use crate::host::Disk;
use crate::machine;
use crate::project::Project;
use crate::render::style::seconds;
use crate::session::tools;
use pipe_compiler::host::{FileInfo, Host, HostError};
use pipe_compiler::plan::Plan;
use pipe_lsp::{CacheView, End, NodeState, Outside};
use pipe_runtime::Store;
use pipe_runtime::exec::Programs;
use pipe_runtime::states::{Expected, states};
use pipe_runtime::store::FileDigests;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Answer an editor until it leaves.
pub(crate) fn lsp() -> Outcome {
    let outside =
        Outside { disk: &Folders, cache: &Stores, tools: tools(), machine: machine::machine() };
    match pipe_lsp::serve(BufReader::new(std::io::stdin()), std::io::stdout(), &outside) {
        End::Asked => Ok(exit::OK),
        End::Left => Err(Failure {
            code: 1,
            message: "the editor left without saying so".into(),
            help: None,
        }),
    }
}

/// Files of the projects that the open programs belong to.
struct Folders;

impl pipe_lsp::Disk for Folders {
    fn host(&self, program: &Path) -> Box<dyn Host + '_> {
        match Project::of(program, None, &[]) {
            Ok(project) => {
                let digests = FileDigests::new(&project.store, false);
                Box::new(ProjectFiles { project, digests })
            }
            Err(_) => Box::new(pipe_compiler::host::NoFiles),
        }
    }

    /// The library's text below the folder for temporary files, under this version's name.
    fn library_file(&self, module: &str) -> Option<PathBuf> {
        let (_, text) = pipe_stdlib::FILES.iter().find(|(name, _)| *name == module)?;
        let version = env!("CARGO_PKG_VERSION");
        let folder = std::env::temp_dir().join(format!("pipe-{version}-library"));
        let file = folder.join(format!("{module}.pipe"));
        if std::fs::read_to_string(&file).is_ok_and(|there| there == *text) {
            return Some(file);
        }
        std::fs::create_dir_all(&folder).ok()?;
        std::fs::write(&file, text).ok()?;
        Some(file)
    }
}

/// Files below one project's folder.
struct ProjectFiles {
    project: Project,
    digests: FileDigests,
}

impl ProjectFiles {
    fn with<T>(&self, ask: impl FnOnce(&Disk<'_>) -> T) -> T {
        let digest = |path: &Path| self.digests.digest(path);
        ask(&Disk::new(&self.project, &digest))
    }
}

impl Host for ProjectFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        self.with(|disk| disk.read(path))
    }

    fn stat(&self, path: &str) -> Result<FileInfo, HostError> {
        self.with(|disk| disk.stat(path))
    }

    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, HostError> {
        self.with(|disk| disk.head(path, bytes))
    }

    fn digest(&self, path: &str) -> Result<String, HostError> {
        self.with(|disk| disk.digest(path))
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, HostError> {
        self.with(|disk| disk.glob(pattern))
    }
}

/// The stores of the projects that the open programs belong to; none is ever made.
struct Stores;

impl CacheView for Stores {
    fn states(&self, program: &Path, plan: &Plan) -> Vec<NodeState> {
        let Ok(project) = Project::of(program, None, &[]) else { return Vec::new() };
        let Ok(Some(store)) = Store::find(&project.store) else { return Vec::new() };
        let Ok(states) = states(plan, &store, &crate::ops::registry(Programs::Refused)) else {
            return Vec::new();
        };
        let shown = plan.nodes.iter().zip(states.planned).map(|(node, status)| {
            let took = store.last_seconds(&node.name, &node.op).ok().flatten();
            let text = match (status.state, took) {
                (Expected::Cached, Some(took)) => format!("cached, {}", seconds(took)),
                (Expected::Cached, None) => "cached".to_owned(),
                (Expected::Run, _) if status.why.is_empty() => "will run".to_owned(),
                (Expected::Run, _) => format!("will run: {}", status.why),
                (Expected::Maybe, _) => "may run".to_owned(),
                (Expected::Expand, _) => "expands".to_owned(),
            };
            NodeState { node: node.id, cached: status.state == Expected::Cached, text }
        });
        shown.collect()
    }

    /// From the sizes and times of the database's files.
    fn stamp(&self, program: &Path) -> u64 {
        let Ok(project) = Project::of(program, None, &[]) else { return 0 };
        let files = ["store.db", "store.db-wal"].map(|name| project.store.join(name));
        files.iter().flat_map(std::fs::metadata).fold(0, |all, found| {
            let time = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let time = time.map_or(0, |time| time.as_nanos() as u64);
            all.rotate_left(7) ^ time ^ found.len()
        })
    }
}
