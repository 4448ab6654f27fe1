//! What an editor asks about a program: its problems, what every name means, and the type of every expression.
//!
//! [`crate::analyse`] gives an [`Analysis`]. Types are recorded while the program is evaluated ([`Facts`]); nothing is
//! recorded, and nothing is spent, when a program is only checked or compiled. What names mean is found by a walk over
//! the syntax ([`names`]) when it is asked for, because an editor asks in code that is never evaluated too.

mod cursor;
mod facts;
mod names;

pub use cursor::Surroundings;
pub(crate) use facts::Facts;
pub use names::{Meaning, Mention, Sort};

use crate::resolve::{BUILT_IN_TYPES, ModuleId, Program, name_span};
use crate::sources::Sources;
use crate::types::{Record, Type, brief};
use pipe_grammar::ast::{Expr, FnDecl, FnParam, Item, ItemKind, Module, TypeExpr, TypeKind};
use pipe_grammar::{FileId, Problem, Span};
use std::cell::OnceCell;

/// A program as an editor sees it.
pub struct Analysis {
    /// The texts that spans point into.
    pub sources: Sources,
    /// Everything that is wrong, in file order.
    pub problems: Vec<Problem>,
    program: Program,
    facts: Facts,
    mentions: OnceCell<Vec<Mention>>,
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

/// What is bound at a place.
#[derive(Clone, Copy)]
pub enum Bound<'a> {
    /// A declaration.
    Item(ModuleView<'a>, &'a Item),
    /// A parameter of a function.
    Param(ModuleView<'a>, &'a FnDecl, &'a FnParam),
    /// A name inside a declaration, or a type parameter.
    Inner,
}

/// A function that is called.
#[derive(Clone, Copy)]
pub struct Callee<'a> {
    /// Where it is declared.
    pub module: ModuleView<'a>,
    /// Its declaration, with its documentation.
    pub item: &'a Item,
    /// Its parameters and result.
    pub function: &'a FnDecl,
}

/// A field of a record or an artifact, or a column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldView {
    /// Its name.
    pub name: String,
    /// Its type as text.
    pub ty: String,
}

impl Analysis {
    pub(crate) fn new(
        sources: Sources,
        problems: Vec<Problem>,
        program: Program,
        facts: Facts,
    ) -> Self {
        Self { sources, problems, program, facts, mentions: OnceCell::new() }
    }

    /// The program, the files that it uses, and the library modules that they need.
    pub fn modules(&self) -> impl Iterator<Item = ModuleView<'_>> {
        (0..self.program.modules.len()).filter_map(|module| self.module(module))
    }

    fn module(&self, module: ModuleId) -> Option<ModuleView<'_>> {
        let module = self.program.modules.get(module)?;
        Some(ModuleView { file: module.file, library: module.library.as_deref(), ast: &module.ast })
    }

    fn module_of(&self, file: FileId) -> Option<ModuleId> {
        self.program.modules.iter().position(|module| module.file == file)
    }

    /// Names of all library modules, needed or not.
    #[must_use]
    pub fn library_names(&self) -> &[String] {
        &self.program.library_names
    }

    /// Type names that need no declaration.
    #[must_use]
    pub fn built_in_types() -> &'static [&'static str] {
        &BUILT_IN_TYPES
    }

    /// The library module of this name, when the program needs it.
    #[must_use]
    pub fn library(&self, name: &str) -> Option<ModuleView<'_>> {
        self.module(*self.program.library.get(name)?)
    }

    /// The file that `name` stands for in a file, by its `use`.
    #[must_use]
    pub fn used(&self, file: FileId, name: &str) -> Option<ModuleView<'_>> {
        let module = self.program.modules.get(self.module_of(file)?)?;
        self.module(*module.uses.get(name)?)
    }

    /// Every mention of a name in the program's own files, in the order of their places.
    #[must_use]
    pub fn mentions(&self) -> &[Mention] {
        self.mentions.get_or_init(|| names::mentions(&self.program))
    }

    /// The mention at byte `at`, also directly behind the name.
    #[must_use]
    pub fn mention_at(&self, file: FileId, at: u32) -> Option<&Mention> {
        let mentions = self.mentions();
        let behind = mentions.partition_point(|it| (it.span.file, it.span.start) <= (file, at));
        let mention = mentions.get(behind.checked_sub(1)?)?;
        (mention.span.file == file && at <= mention.span.end).then_some(mention)
    }

    /// What is bound at the place of a name.
    #[must_use]
    pub fn bound_at(&self, span: Span) -> Option<Bound<'_>> {
        let module = self.module(self.module_of(span.file)?)?;
        for item in &module.ast.items {
            if name_span(item) == span {
                return Some(Bound::Item(module, item));
            }
            if let ItemKind::Fn(function) = &item.kind
                && let Some(param) = function.params.iter().find(|param| param.name.span == span)
            {
                return Some(Bound::Param(module, function, param));
            }
        }
        Some(Bound::Inner)
    }

    /// The function that an expression in a file names, where these names are bound around it.
    #[must_use]
    pub fn callee(
        &self,
        file: FileId,
        callee: &Expr,
        inside: &Surroundings<'_>,
    ) -> Option<Callee<'_>> {
        let module = self.module_of(file)?;
        let found = names::callee(&self.program, module, callee, |name| inside.is_local(name));
        let (module, item, function) = found?;
        Some(Callee { module: self.module(module)?, item, function })
    }

    /// What surrounds byte `at` of a file.
    #[must_use]
    pub fn surroundings(&self, file: FileId, at: u32) -> Surroundings<'_> {
        let module = self.module_of(file).and_then(|module| self.program.modules.get(module));
        module.map_or_else(Surroundings::default, |module| cursor::surroundings(&module.ast, at))
    }

    /// The type of the expression or bound name that stands exactly at a span.
    #[must_use]
    pub fn type_at(&self, span: Span) -> Option<String> {
        self.known(span).map(ToString::to_string)
    }

    /// The same, with long records and tables cut short.
    #[must_use]
    pub fn brief_type_at(&self, span: Span) -> Option<String> {
        self.known(span).map(brief)
    }

    fn known(&self, span: Span) -> Option<&Type> {
        self.facts.at(span).filter(|ty| **ty != Type::Error)
    }

    /// The fields of the record or artifact that stands exactly at a span.
    #[must_use]
    pub fn fields_at(&self, span: Span) -> Option<Vec<FieldView>> {
        match self.known(span)?.required().0 {
            Type::Record(record) => Some(fields(record)),
            Type::Artifact(artifact) => Some(fields(&artifact.fields)),
            Type::Table(_) => Some(vec![FieldView { name: "rows".into(), ty: "int".into() }]),
            _ => None,
        }
    }

    /// The columns of the table that stands exactly at a span.
    #[must_use]
    pub fn columns_at(&self, span: Span) -> Option<Vec<FieldView>> {
        self.known(span)?.required().0.row().map(fields)
    }

    /// The texts that the value at a span may be.
    #[must_use]
    pub fn values_at(&self, span: Span) -> Vec<String> {
        match self.known(span).map(|ty| ty.required().0) {
            Some(Type::Enum(values)) => values.iter().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// The texts that a type as written in a module allows.
    #[must_use]
    pub fn values_of(&self, module: ModuleView<'_>, ty: &TypeExpr) -> Vec<String> {
        let mut values = Vec::new();
        self.collect_values(module.file, ty, 8, &mut values);
        values
    }

    /// Names of types may stand for others; `depth` ends cycles.
    fn collect_values(&self, file: FileId, ty: &TypeExpr, depth: usize, values: &mut Vec<String>) {
        match &ty.kind {
            TypeKind::Literal(value) => values.push(value.clone()),
            TypeKind::Union(members) => {
                members.iter().for_each(|it| self.collect_values(file, it, depth, values));
            }
            TypeKind::Optional(inner) | TypeKind::List(inner) => {
                self.collect_values(file, inner, depth, values);
            }
            TypeKind::Named { path, .. } if depth > 0 => {
                let [name] = path.as_slice() else { return };
                let here = self.module_of(file).and_then(|id| self.program.modules.get(id));
                let Some(here) = here else { return };
                let (module, item) = match here.types.get(&name.text) {
                    Some(item) => (here, *item),
                    None => match self.program.library_types.get(&name.text) {
                        Some(id) => match self.program.modules.get(id.module) {
                            Some(module) => (module, id.item),
                            None => return,
                        },
                        None => return,
                    },
                };
                if let Some(ItemKind::Type { ty: Some(ty), .. }) =
                    module.ast.items.get(item).map(|item| &item.kind)
                {
                    self.collect_values(module.file, ty, depth - 1, values);
                }
            }
            _ => {}
        }
    }
}

fn fields(record: &Record) -> Vec<FieldView> {
    let fields = record.fields.iter();
    fields.map(|(name, ty)| FieldView { name: name.to_string(), ty: brief(ty) }).collect()
}
