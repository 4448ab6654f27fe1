//! What is known of each open program, and which of it a change makes stale.

use crate::documents::Documents;
use crate::outside::Outside;
use crate::overlay::Overlay;
use crate::place;
use pipe_compiler::{Analysis, Inputs, Readings};
use pipe_grammar::{FileId, SourceFile};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// An analysed program. Every open document is one, also when others use it.
pub(crate) struct Program {
    /// Its file.
    pub(crate) path: PathBuf,
    pub(crate) analysis: Analysis,
    /// Files that it asked for, whether they exist or not.
    asked: BTreeSet<PathBuf>,
}

impl Program {
    /// Look at the program at a path, which need not be open.
    pub(crate) fn look(path: &Path, documents: &Documents, outside: &Outside<'_>) -> Option<Self> {
        let readings = &mut Readings::default();
        let (analysis, asked) = analyse(path, documents, outside, readings, &|| false)?;
        Some(Self { path: path.to_owned(), analysis, asked })
    }

    /// The path of a file of the program; `None` for library modules.
    pub(crate) fn path_of(&self, file: FileId) -> Option<PathBuf> {
        let name = &self.analysis.sources.get(file)?.name;
        if name.starts_with('<') {
            return None;
        }
        Some(place::normal(&folder(&self.path).join(name)))
    }

    /// The file at a path, when the program has read it.
    pub(crate) fn file_at(&self, path: &Path) -> Option<&SourceFile> {
        let files = self.analysis.sources.files();
        files.iter().find(|file| self.path_of(file.id).as_deref() == Some(path))
    }

    /// The program's own file.
    pub(crate) fn main(&self) -> Option<&SourceFile> {
        self.analysis.sources.files().first()
    }
}

/// All programs, by path.
#[derive(Default)]
pub(crate) struct Programs {
    known: BTreeMap<PathBuf, Rc<Program>>,
    stale: BTreeSet<PathBuf>,
    /// Programs that are known better by now; to free one takes time that an editor need not wait for.
    retired: Vec<Rc<Program>>,
    readings: RefCell<BTreeMap<PathBuf, Readings>>,
}

impl Programs {
    /// What is known of a program, if it is up to date.
    pub(crate) fn fresh(&self, path: &Path) -> Option<Rc<Program>> {
        if self.stale.contains(path) {
            return None;
        }
        self.known.get(path).cloned()
    }

    /// All programs that are up to date.
    pub(crate) fn all_fresh(&self) -> impl Iterator<Item = &Rc<Program>> {
        self.known
            .iter()
            .filter(|(path, _)| !self.stale.contains(*path))
            .map(|(_, program)| program)
    }

    /// A program that has to be looked at again.
    pub(crate) fn first_stale(&self) -> Option<PathBuf> {
        self.stale.first().cloned()
    }

    /// A file has changed: whoever has asked for it is stale.
    pub(crate) fn changed(&mut self, path: &Path) {
        let users = self.known.iter().filter(|(_, program)| program.asked.contains(path));
        self.stale.extend(users.map(|(user, _)| user.clone()));
    }

    /// Anything may have changed on disk.
    pub(crate) fn all_changed(&mut self) {
        self.stale.extend(self.known.keys().cloned());
    }

    /// A document was opened.
    pub(crate) fn add(&mut self, path: &Path) {
        self.changed(path);
        self.stale.insert(path.to_owned());
    }

    /// A document was closed: it is a program no more.
    pub(crate) fn remove(&mut self, path: &Path) {
        self.known.remove(path);
        self.stale.remove(path);
        self.readings.get_mut().remove(path);
        self.changed(path);
    }

    /// Free what is known better by now.
    pub(crate) fn free_retired(&mut self) {
        self.retired.clear();
    }

    /// Analyse a program; what its last analysis has read is not read again.
    pub(crate) fn analyse(
        &self,
        path: &Path,
        documents: &Documents,
        outside: &Outside<'_>,
        interrupted: &dyn Fn() -> bool,
    ) -> Option<(Analysis, BTreeSet<PathBuf>)> {
        let mut readings = self.readings.borrow_mut().remove(path).unwrap_or_default();
        let found = analyse(path, documents, outside, &mut readings, interrupted);
        self.readings.borrow_mut().insert(path.to_owned(), readings);
        found
    }

    /// Look at a program; `None` when `interrupted` said that nobody waits for it.
    pub(crate) fn look_at(
        &mut self,
        path: &Path,
        documents: &Documents,
        outside: &Outside<'_>,
        interrupted: &dyn Fn() -> bool,
    ) -> Option<Rc<Program>> {
        let (analysis, asked) = self.analyse(path, documents, outside, interrupted)?;
        let program = Rc::new(Program { path: path.to_owned(), analysis, asked });
        self.retired.extend(self.known.insert(path.to_owned(), Rc::clone(&program)));
        self.stale.remove(path);
        Some(program)
    }
}

/// Analyse the program at a path, which need not be open.
fn analyse(
    path: &Path,
    documents: &Documents,
    outside: &Outside<'_>,
    readings: &mut Readings,
    interrupted: &dyn Fn() -> bool,
) -> Option<(Analysis, BTreeSet<PathBuf>)> {
    let folder = folder(path);
    let host = Overlay::new(folder, documents, outside.disk.host(path), interrupted);
    let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy();
    let inputs = Inputs {
        file: &name,
        host: &host,
        library: &pipe_stdlib::FILES,
        params: &BTreeMap::new(),
        tools: &outside.tools,
        machine: outside.machine,
    };
    let analysis = pipe_compiler::analyse(&inputs, readings);
    let (asked, stopped) = host.finish();
    (!stopped).then_some((analysis, asked))
}

/// The folder of a program.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}
