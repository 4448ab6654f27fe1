//! One program on the command line: its project, its params, and compiling it.

use crate::args::ProgramArgs;
use crate::commands::Failure;
use crate::host::Disk;
use crate::project::Project;
use crate::{machine, params};
use pipe_compiler::host::Host;
use pipe_compiler::{Checked, Compiled, Inputs, ParamText};
use pipe_runtime::store::FileDigests;
use pipe_runtime::watch::Seen;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The libtorch that this version is built with; it enters the keys of torch ops.
const TORCH: &str = "2.11.0";

/// Versions of the tools that enter keys.
pub(crate) fn tools() -> BTreeMap<String, String> {
    BTreeMap::from([("torch".to_owned(), TORCH.to_owned())])
}

/// A program, ready to be compiled.
pub(crate) struct Session {
    /// Its folders.
    pub(crate) project: Project,
    /// Its path as given.
    pub(crate) file: String,
    params: BTreeMap<String, ParamText>,
    tools: BTreeMap<String, String>,
}

impl Session {
    /// Find the program's project and read its params.
    pub(crate) fn new(program: &ProgramArgs, out: Option<&Path>) -> Result<Self, Failure> {
        let file = &program.file;
        let shown = file.display();
        if file.is_dir() {
            return Err(
                Failure::usage(format!("{shown} is a folder")).help("name a .pipe file in it")
            );
        }
        if !file.exists() {
            return Err(Failure::usage(format!("there is no file {shown}")));
        }
        let Some(name) = file.to_str() else {
            return Err(Failure::usage(format!("the path {shown} is not UTF-8")));
        };
        Ok(Self {
            project: Project::of(file, out, &program.allow)?,
            file: name.to_owned(),
            params: params::collect(&program.set, program.params.as_deref())?,
            tools: tools(),
        })
    }

    /// Find problems; no file that the program reads is hashed.
    pub(crate) fn check(&self) -> Checked {
        self.with_inputs(false, pipe_compiler::check)
    }

    /// Make the plan. `keep` allows a new store to be made for remembering digests.
    pub(crate) fn compile(&self, keep: bool) -> Compiled {
        self.with_inputs(keep, pipe_compiler::compile)
    }

    /// Make the plan, and say what it was made from.
    pub(crate) fn compile_to_watch(&self, params: Option<&Path>) -> (Compiled, Seen) {
        let digests = FileDigests::new(&self.project.store, true);
        let digest = |path: &Path| digests.digest(path);
        let seen = RefCell::default();
        let host = Disk::new(&self.project, &digest).noting(&seen);
        let compiled = self.on(&host, pipe_compiler::compile);
        let mut seen = seen.into_inner();
        params.into_iter().for_each(|path| seen.there(path));
        seen.settle(&|path| digests.digest(path).ok());
        (compiled, seen)
    }

    /// The files that a pattern stands for now.
    pub(crate) fn glob(&self, pattern: &str) -> Vec<String> {
        let digest = |_: &Path| Err(std::io::ErrorKind::Unsupported.into());
        Disk::new(&self.project, &digest).glob(pattern).unwrap_or_default()
    }

    fn with_inputs<T>(&self, keep: bool, work: impl FnOnce(&Inputs<'_>) -> T) -> T {
        let digests = FileDigests::new(&self.project.store, keep);
        let digest = |path: &Path| digests.digest(path);
        self.on(&Disk::new(&self.project, &digest), work)
    }

    fn on<T>(&self, host: &Disk<'_>, work: impl FnOnce(&Inputs<'_>) -> T) -> T {
        work(&Inputs {
            file: &self.file,
            host,
            library: &pipe_stdlib::FILES,
            params: &self.params,
            tools: &self.tools,
            machine: machine::machine(),
        })
    }
}

/// The worker program: what `PIPE_TORCH` says, else `pipe-torch` beside this program.
pub(crate) fn worker_program() -> Option<PathBuf> {
    let named = std::env::var_os("PIPE_TORCH").filter(|path| !path.is_empty()).map(PathBuf::from);
    let beside = || Some(std::env::current_exe().ok()?.parent()?.join("pipe-torch"));
    named.or_else(beside).filter(|path| path.is_file())
}
