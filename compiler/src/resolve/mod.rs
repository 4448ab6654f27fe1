//! From syntax to modules: which files and library modules take part, what each name means, in which order to look.

mod load;
mod order;
mod references;
mod unused;

pub(crate) use load::{
    BUILT_IN_TYPES, folder_of, join_path, load, load_library, misspelt, near_file,
};
pub(crate) use order::order;
pub(crate) use references::{Reference, ReferenceKind, references, unused_inside};
pub(crate) use unused::report_unused;

use pipe_grammar::ast::{Item, ItemKind, Module, Name};
use pipe_grammar::{FileId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Ops that are called without their module, and the module.
pub(crate) const BARE_OPS: [(&str, &str); 1] = [("exec", "process")];

/// Number of a module in its program.
pub(crate) type ModuleId = usize;

/// A declaration: its module and its place in the module's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DeclId {
    pub(crate) module: ModuleId,
    pub(crate) item: usize,
}

/// One file or library module.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Name of a library module; empty for files.
    pub(crate) library: Option<String>,
    /// Folder of the file, with `/` at the end unless it is empty.
    pub(crate) folder: String,
    pub(crate) file: FileId,
    pub(crate) ast: Module,
    /// `let`, `param`, `fn`, `use`.
    pub(crate) values: BTreeMap<String, usize>,
    pub(crate) types: BTreeMap<String, usize>,
    /// `output` and `check`: looked up last.
    pub(crate) roots: BTreeMap<String, usize>,
    /// Modules behind `use`.
    pub(crate) uses: BTreeMap<String, ModuleId>,
}

/// Everything that one compilation looks at.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// The first is the program itself.
    pub(crate) modules: Vec<Loaded>,
    /// Loaded library modules.
    pub(crate) library: BTreeMap<String, ModuleId>,
    /// Library types by name.
    pub(crate) library_types: BTreeMap<String, DeclId>,
    /// Names of all library modules, loaded or not.
    pub(crate) library_names: Vec<String>,
}

/// What a declaration binds and where.
pub(crate) fn bound_name(item: &Item) -> Option<&Name> {
    match &item.kind {
        ItemKind::Use { name, .. } | ItemKind::Param { name, .. } | ItemKind::Type { name, .. } => {
            Some(name)
        }
        ItemKind::Let(binding) | ItemKind::Output(binding) | ItemKind::Check(binding) => {
            Some(&binding.name)
        }
        ItemKind::Fn(function) => Some(&function.name),
        ItemKind::Broken { name } => name.as_ref(),
    }
}

impl Program {
    /// The item behind an id.
    pub(crate) fn item(&self, id: DeclId) -> &Item {
        &self.modules[id.module].ast.items[id.item]
    }

    /// The files of library modules.
    pub(crate) fn library_files(&self) -> BTreeSet<FileId> {
        let library = self.modules.iter().filter(|module| module.library.is_some());
        library.map(|module| module.file).collect()
    }

    /// The declaration that a reference in `module` means, if it is one of a file or a loaded library module.
    pub(crate) fn target(&self, module: ModuleId, reference: &Reference<'_>) -> Option<DeclId> {
        let here = self.modules.get(module)?;
        match reference.kind {
            ReferenceKind::Type => match reference.member {
                Some(member) => {
                    let other = *here
                        .uses
                        .get(reference.name)
                        .or_else(|| self.library.get(reference.name))?;
                    Some(DeclId { module: other, item: *self.modules[other].types.get(member)? })
                }
                None => match here.types.get(reference.name) {
                    Some(item) => Some(DeclId { module, item: *item }),
                    None => self.library_types.get(reference.name).copied(),
                },
            },
            ReferenceKind::Value => self.value_target(module, here, reference),
        }
    }

    fn value_target(
        &self,
        module: ModuleId,
        here: &Loaded,
        reference: &Reference<'_>,
    ) -> Option<DeclId> {
        if let Some(member) = reference.member {
            if let Some(other) = here.uses.get(reference.name) {
                return self.member(*other, member);
            }
            if reference.called
                && let Some(library) = self.library.get(reference.name)
                && let Some(found) = self.member(*library, member)
            {
                return Some(found);
            }
        }
        if let Some(item) =
            here.values.get(reference.name).or_else(|| here.roots.get(reference.name))
        {
            return Some(DeclId { module, item: *item });
        }
        if let Some(item) = here.types.get(reference.name) {
            return Some(DeclId { module, item: *item });
        }
        let library = self.library.get(reference.name)?;
        self.member(*library, reference.member?)
    }

    fn member(&self, module: ModuleId, name: &str) -> Option<DeclId> {
        let values = &self.modules[module].values;
        let item = values.get(name).or_else(|| self.modules[module].types.get(name))?;
        Some(DeclId { module, item: *item })
    }
}

/// The span of a declaration's name, or of the whole declaration.
pub(crate) fn name_span(item: &Item) -> Span {
    bound_name(item).map_or(item.span, |name| name.span)
}
