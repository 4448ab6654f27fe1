//! What an editor asks about a program: its problems, what every name means, and the type of every expression.
//!
//! [`crate::analyse`] gives an [`Analysis`]. Types are recorded while the program is evaluated ([`Facts`]); nothing is
//! recorded, and nothing is spent, when a program is only checked or compiled. What names mean is found afterwards by a
//! walk over the syntax ([`names`]), because an editor asks for it in code that is never evaluated too.

mod facts;

pub(crate) use facts::Facts;

use crate::resolve::Program;
use crate::sources::Sources;
use pipe_grammar::ast::Module;
use pipe_grammar::{FileId, Problem};

/// A program as an editor sees it.
pub struct Analysis {
    /// The texts that spans point into.
    pub sources: Sources,
    /// Everything that is wrong, in file order.
    pub problems: Vec<Problem>,
    pub(crate) program: Program,
    pub(crate) facts: Facts,
}

/// A file of the program, or a library module that it needs.
#[derive(Clone, Copy)]
pub struct ModuleView<'a> {
    /// Its text.
    pub file: FileId,
    /// The name of a library module.
    pub library: Option<&'a str>,
    /// Its syntax.
    pub ast: &'a Module,
}

impl Analysis {
    /// The program, the files that it uses, and the library modules that they need.
    pub fn modules(&self) -> impl Iterator<Item = ModuleView<'_>> {
        self.program.modules.iter().map(|module| ModuleView {
            file: module.file,
            library: module.library.as_deref(),
            ast: &module.ast,
        })
    }

    /// Names of all library modules, needed or not.
    #[must_use]
    pub fn library_names(&self) -> &[String] {
        &self.program.library_names
    }
}
