//! Types: what a value may be, how types print, and when one fits another.

mod fit;
mod show;
mod size;

pub(crate) use fit::{Bindings, Found, Mismatch, accepts, join};
pub(crate) use show::{brief, columns_text};
pub(crate) use size::{MAX_PARTS, is_huge};

use pipe_row::ir::Ty;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// Comes from a mistake that is already reported: fits everything, silently.
    Error,
    /// In signatures only: anything.
    Any,
    Bool,
    Int,
    Float,
    Str,
    Path,
    Time,
    Duration,
    Size,
    /// The type of `none`.
    None,
    /// One of these texts.
    Enum(Rc<BTreeSet<String>>),
    Optional(Rc<Type>),
    List(Rc<Type>),
    Record(Rc<Record>),
    /// A table whose rows have this type (a record, a variable or an error).
    Table(Rc<TableType>),
    Artifact(Rc<Artifact>),
    Function(Rc<FunctionType>),
    /// In signatures only: the argument is the name of a type.
    Kind,
    /// A type parameter.
    Var(Rc<str>),
    /// Any of these.
    Union(Rc<Vec<Type>>),
}

/// A record type. Fields keep their order, which is the order of a table's columns; it is never part of the meaning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) fields: Vec<(Rc<str>, Type)>,
    /// `..T`: the rest of the fields.
    pub(crate) spread: Option<Rc<str>>,
    /// Fields that are not listed may exist: columns are not known before the file is.
    pub(crate) open: bool,
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.open == other.open
            && self.spread == other.spread
            && self.fields.len() == other.fields.len()
            && self.fields.iter().all(|(name, ty)| other.field(name) == Some(ty))
    }
}

/// With it, types that are one in memory compare at once.
impl Eq for Record {}

impl Record {
    /// The type of a field.
    pub(crate) fn field(&self, name: &str) -> Option<&Type> {
        self.fields.iter().find(|(field, _)| &**field == name).map(|(_, ty)| ty)
    }

    /// Add a field or replace the type of an existing one.
    pub(crate) fn set(&mut self, name: &str, ty: Type) {
        match self.fields.iter_mut().find(|(field, _)| &**field == name) {
            Some((_, old)) => *old = ty,
            None => self.fields.push((name.into(), ty)),
        }
    }

    /// The names of the fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| &**name)
    }
}

/// `Table<row, part>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableType {
    pub(crate) row: Type,
    /// The part that a signature or an annotation asks for.
    pub(crate) part: Option<Rc<str>>,
}

/// An opaque result of an op, with the fields that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Artifact {
    pub(crate) name: Rc<str>,
    pub(crate) fields: Record,
    /// What it is of, where the library says so: of an `Encoder` the columns that it takes and those that it makes. Empty when
    /// nothing is said.
    pub(crate) args: Rc<[Type]>,
    pub(crate) part: Option<Rc<str>>,
}

/// `(params) -> result`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FunctionType {
    pub(crate) params: Vec<Type>,
    pub(crate) result: Type,
}

impl Type {
    /// A closed record.
    pub(crate) fn record(fields: Vec<(Rc<str>, Type)>) -> Self {
        Self::Record(Rc::new(Record { fields, spread: None, open: false }))
    }

    /// A table with these columns.
    pub(crate) fn table(row: Record) -> Self {
        Self::Table(Rc::new(TableType { row: Self::Record(Rc::new(row)), part: None }))
    }

    /// `T?`; optional optionals do not exist.
    pub(crate) fn optional(self) -> Self {
        match self {
            Self::Optional(_) | Self::None | Self::Error | Self::Any => self,
            other => Self::Optional(Rc::new(other)),
        }
    }

    /// The type without its `?`, and whether it had one.
    pub(crate) fn required(&self) -> (&Self, bool) {
        match self {
            Self::Optional(inner) => (inner, true),
            other => (other, false),
        }
    }

    /// The row of a table, when it is one with known shape.
    pub(crate) fn row(&self) -> Option<&Record> {
        match self {
            Self::Table(table) => match &table.row {
                Self::Record(row) => Some(row),
                _ => None,
            },
            _ => None,
        }
    }

    /// The scalar type in row expressions and whether it may be missing.
    pub(crate) fn scalar(&self) -> Option<(Ty, bool)> {
        let (ty, optional) = self.required();
        let scalar = match ty {
            Self::Bool => Ty::Bool,
            Self::Int => Ty::Int,
            Self::Float => Ty::Float,
            Self::Str | Self::Enum(_) | Self::Path => Ty::Str,
            Self::Time => Ty::Time,
            Self::Duration => Ty::Duration,
            Self::Size => Ty::Size,
            Self::None => return Some((Ty::Float, true)),
            _ => return None,
        };
        Some((scalar, optional))
    }

    /// The type of a scalar column.
    pub(crate) fn of_scalar(ty: Ty, optional: bool) -> Self {
        let plain = match ty {
            Ty::Bool => Self::Bool,
            Ty::Int => Self::Int,
            Ty::Float => Self::Float,
            Ty::Str => Self::Str,
            Ty::Time => Self::Time,
            Ty::Duration => Self::Duration,
            Ty::Size => Self::Size,
        };
        if optional { plain.optional() } else { plain }
    }

    /// Whether it is a number.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::Int | Self::Float)
    }

    /// Whether a mistake hides in it.
    pub(crate) fn is_error(&self) -> bool {
        match self {
            Self::Error => true,
            Self::Optional(inner) | Self::List(inner) => inner.is_error(),
            Self::Table(table) => table.row.is_error(),
            _ => false,
        }
    }

    /// Whether values of it are made by ops only.
    pub(crate) fn is_artifact_named(&self, name: &str) -> bool {
        matches!(self, Self::Artifact(artifact) if &*artifact.name == name)
    }

    /// A table of which more columns may exist: after a mistake in the call that makes it, nothing is said about them.
    pub(crate) fn opened(self) -> Self {
        match self {
            Self::Table(table) => match &table.row {
                Self::Record(row) => {
                    let row = Record { open: true, ..(**row).clone() };
                    let row = Self::Record(Rc::new(row));
                    Self::Table(Rc::new(TableType { row, part: table.part.clone() }))
                }
                _ => Self::Table(table),
            },
            other => other,
        }
    }

    /// Whether it is an opaque result of an op.
    pub(crate) fn is_artifact(&self) -> bool {
        matches!(self, Self::Table(_) | Self::Artifact(_))
    }
}
