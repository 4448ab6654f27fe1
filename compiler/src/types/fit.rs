//! When a type fits another: subtyping with type parameters.

use super::{Artifact, FunctionType, Record, TableType, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What the type parameters of one call stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings {
    bound: BTreeMap<Rc<str>, Type>,
}

/// Why a type does not fit, with the place inside (`.field`, `[..]`) where it starts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mismatch {
    pub(crate) path: String,
    pub(crate) wanted: Type,
    pub(crate) found: Found,
}

/// What was found instead.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    Type(Type),
    MissingField(Rc<str>),
    UnknownField(Rc<str>),
}

impl Mismatch {
    pub(crate) fn new(wanted: &Type, found: &Type) -> Self {
        let found = Found::Type(found.clone());
        Self { path: String::new(), wanted: wanted.clone(), found }
    }

    pub(crate) fn inside(mut self, step: &str) -> Self {
        self.path = format!("{step}{}", self.path);
        self
    }
}

impl Bindings {
    /// What a type parameter stands for.
    pub(crate) fn get(&self, name: &str) -> Option<&Type> {
        self.bound.get(name)
    }

    /// Let a type parameter stand for a type.
    pub(crate) fn set(&mut self, name: &Rc<str>, ty: Type) {
        self.bound.insert(Rc::clone(name), ty);
    }

    /// The type with every parameter replaced; what nothing determines becomes an error type (silent).
    pub(crate) fn apply(&self, ty: &Type) -> Type {
        match ty {
            Type::Var(name) => self.get(name).cloned().unwrap_or(Type::Error),
            Type::Optional(inner) => self.apply(inner).optional(),
            Type::List(item) => Type::List(Rc::new(self.apply(item))),
            Type::Record(record) => Type::Record(Rc::new(self.apply_record(record))),
            Type::Table(table) => Type::Table(Rc::new(TableType {
                row: self.apply(&table.row),
                part: table.part.clone(),
            })),
            Type::Artifact(artifact) if !artifact.fields.fields.is_empty() => {
                Type::Artifact(Rc::new(Artifact {
                    name: Rc::clone(&artifact.name),
                    fields: self.apply_record(&artifact.fields),
                    args: artifact.args.iter().map(|arg| self.apply(arg)).collect(),
                    part: artifact.part.clone(),
                }))
            }
            Type::Function(function) => Type::Function(Rc::new(FunctionType {
                params: function.params.iter().map(|param| self.apply(param)).collect(),
                result: self.apply(&function.result),
            })),
            Type::Union(members) => {
                Type::Union(Rc::new(members.iter().map(|member| self.apply(member)).collect()))
            }
            other => other.clone(),
        }
    }

    fn apply_record(&self, record: &Record) -> Record {
        let mut applied = Record { open: record.open, ..Record::default() };
        if let Some(rest) = &record.spread {
            match self.get(rest) {
                Some(Type::Record(row)) => {
                    applied.fields.clone_from(&row.fields);
                    applied.open |= row.open;
                    applied.spread.clone_from(&row.spread);
                }
                _ => applied.open = true,
            }
        }
        for (name, ty) in &record.fields {
            applied.set(name, self.apply(ty));
        }
        applied
    }
}

/// Whether a value of type `found` can be used where `wanted` is asked for. Binds type parameters of `wanted`.
pub(crate) fn accepts(wanted: &Type, found: &Type, bound: &mut Bindings) -> Result<(), Mismatch> {
    match (wanted, found) {
        (Type::Error | Type::Any, _) | (_, Type::Error) => Ok(()),
        (Type::Var(name), _) => accept_variable(name, found, bound),
        (_, Type::Var(_)) if wanted == found => Ok(()),
        (Type::Union(members), _) => accept_any(wanted, members, found, bound),
        (_, Type::Union(members)) => {
            members.iter().try_for_each(|member| accepts(wanted, member, bound))
        }
        (Type::Optional(_), Type::None) => Ok(()),
        (Type::Optional(inner), Type::Optional(found)) => accepts(inner, found, bound),
        (Type::Optional(inner), _) => accepts(inner, found, bound),
        (Type::Float, Type::Int) | (Type::Str, Type::Enum(_)) => Ok(()),
        (Type::Enum(wanted_values), Type::Enum(found_values))
            if found_values.is_subset(wanted_values) =>
        {
            Ok(())
        }
        (Type::List(wanted), Type::List(found)) => {
            accepts(wanted, found, bound).map_err(|mismatch| mismatch.inside("[..]"))
        }
        (Type::Record(wanted), Type::Record(found)) => accept_record(wanted, found, bound),
        (Type::Table(wanted_table), Type::Table(found_table)) => {
            match (&wanted_table.part, &found_table.part) {
                (Some(wanted_part), Some(found_part)) if wanted_part != found_part => {
                    Err(Mismatch::new(wanted, found))
                }
                _ => accept_row(&wanted_table.row, &found_table.row, bound),
            }
        }
        (Type::Artifact(wanted_artifact), Type::Artifact(found_artifact)) => {
            let parts = (&wanted_artifact.part, &found_artifact.part);
            let parts_fit = !matches!(parts, (Some(a), Some(b)) if a != b);
            if wanted_artifact.name != found_artifact.name || !parts_fit {
                return Err(Mismatch::new(wanted, found));
            }
            let mut args = wanted_artifact.args.iter().zip(found_artifact.args.iter());
            let fit = args.all(|(wanted, found)| {
                *wanted == Type::Any || matches!(wanted, Type::Var(_)) || is_one(wanted, found)
            });
            if !fit {
                return Err(Mismatch::new(wanted, found));
            }
            let args = wanted_artifact.args.iter().zip(found_artifact.args.iter());
            for (wanted, found) in args.filter(|(wanted, _)| matches!(wanted, Type::Var(_))) {
                accepts(wanted, found, bound)?;
            }
            Ok(())
        }
        (Type::Function(wanted_fn), Type::Function(found_fn)) => {
            if wanted_fn.params.len() != found_fn.params.len() {
                return Err(Mismatch::new(wanted, found));
            }
            for (wanted, found) in wanted_fn.params.iter().zip(&found_fn.params) {
                accepts(wanted, found, bound)?;
            }
            accepts(&wanted_fn.result, &found_fn.result, bound)
        }
        _ if wanted == found => Ok(()),
        _ => Err(Mismatch::new(wanted, found)),
    }
}

/// Whether two descriptions of what an artifact is of are one, as far as nothing in them comes from a mistake.
fn is_one(wanted: &Type, found: &Type) -> bool {
    wanted == found || wanted.is_error() || found.is_error()
}

fn accept_variable(name: &Rc<str>, found: &Type, bound: &mut Bindings) -> Result<(), Mismatch> {
    match bound.get(name).cloned() {
        None => {
            bound.set(name, found.clone());
            Ok(())
        }
        Some(Type::Var(own)) if own == *name => Ok(()),
        Some(known) => match join(&known, found) {
            Some(both) => {
                bound.set(name, both);
                Ok(())
            }
            None => Err(Mismatch::new(&known, found)),
        },
    }
}

fn accept_any(
    wanted: &Type,
    members: &[Type],
    found: &Type,
    bound: &mut Bindings,
) -> Result<(), Mismatch> {
    for member in members {
        let mut attempt = bound.clone();
        if accepts(member, found, &mut attempt).is_ok() {
            *bound = attempt;
            return Ok(());
        }
    }
    Err(Mismatch::new(wanted, found))
}

/// Rows of tables may have more columns than a signature asks for; `..T` takes them.
fn accept_row(wanted: &Type, found: &Type, bound: &mut Bindings) -> Result<(), Mismatch> {
    let (Type::Record(wanted_row), Type::Record(found_row)) = (wanted, found) else {
        return accepts(wanted, found, bound);
    };
    fields_fit(wanted_row, found_row, bound, Missing::Never)?;
    bind_rest(wanted_row, found_row, bound);
    Ok(())
}

/// A record with more fields fits too; what a literal has too much is told where it is converted.
fn accept_record(wanted: &Record, found: &Record, bound: &mut Bindings) -> Result<(), Mismatch> {
    fields_fit(wanted, found, bound, Missing::Optional)?;
    bind_rest(wanted, found, bound);
    Ok(())
}

/// Which fields may be left out: those of records that are optional; columns of tables never.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Never,
    Optional,
}

fn fields_fit(
    wanted: &Record,
    found: &Record,
    bound: &mut Bindings,
    missing: Missing,
) -> Result<(), Mismatch> {
    for (name, ty) in &wanted.fields {
        match found.field(name) {
            Some(found) => {
                accepts(ty, found, bound)
                    .map_err(|mismatch| mismatch.inside(&format!(".{name}")))?;
            }
            None if found.open => {}
            None if missing == Missing::Optional && matches!(ty, Type::Optional(_)) => {}
            None => {
                return Err(Mismatch {
                    path: String::new(),
                    wanted: ty.clone(),
                    found: Found::MissingField(Rc::clone(name)),
                });
            }
        }
    }
    Ok(())
}

fn bind_rest(wanted: &Record, found: &Record, bound: &mut Bindings) {
    if let Some(rest) = &wanted.spread {
        let fields = found.fields.iter().filter(|(name, _)| wanted.field(name).is_none());
        let rest_of = Record { fields: fields.cloned().collect(), spread: None, open: found.open };
        bound.set(rest, Type::Record(Rc::new(rest_of)));
    }
}

/// The smallest type that both fit, if there is one.
pub(crate) fn join(left: &Type, right: &Type) -> Option<Type> {
    if left == right {
        return Some(left.clone());
    }
    match (left, right) {
        (Type::Error, other) | (other, Type::Error) => Some(other.clone()),
        (Type::None, other) | (other, Type::None) => Some(other.clone().optional()),
        (Type::Optional(a), b) | (b, Type::Optional(a)) => {
            Some(join(a, b.required().0)?.optional())
        }
        (Type::Int, Type::Float) | (Type::Float, Type::Int) => Some(Type::Float),
        (Type::Enum(a), Type::Enum(b)) => {
            let both: BTreeSet<String> = a.union(b).cloned().collect();
            Some(Type::Enum(Rc::new(both)))
        }
        (Type::Enum(_), Type::Str) | (Type::Str, Type::Enum(_)) => Some(Type::Str),
        (Type::List(a), Type::List(b)) => Some(Type::List(Rc::new(join(a, b)?))),
        (Type::Record(a), Type::Record(b)) => join_records(a, b),
        (Type::Table(a), Type::Table(b)) => {
            let part = if a.part == b.part { a.part.clone() } else { None };
            Some(Type::Table(Rc::new(TableType { row: join(&a.row, &b.row)?, part })))
        }
        (Type::Artifact(a), Type::Artifact(b)) if a.name == b.name && a.args == b.args => {
            let part = if a.part == b.part { a.part.clone() } else { None };
            Some(Type::Artifact(Rc::new(Artifact { part, ..(**a).clone() })))
        }
        _ => {
            let mut bound = Bindings::default();
            if accepts(left, right, &mut bound).is_ok() {
                Some(left.clone())
            } else if accepts(right, left, &mut bound).is_ok() {
                Some(right.clone())
            } else {
                None
            }
        }
    }
}

fn join_records(a: &Record, b: &Record) -> Option<Type> {
    let mut joined = Record { open: a.open || b.open, ..Record::default() };
    for (name, ty) in &a.fields {
        match b.field(name) {
            Some(other) => joined.set(name, join(ty, other)?),
            None if b.open => joined.set(name, ty.clone()),
            None => return None,
        }
    }
    for (name, ty) in &b.fields {
        if a.field(name).is_none() {
            if !a.open {
                return None;
            }
            joined.set(name, ty.clone());
        }
    }
    Some(Type::Record(Rc::new(joined)))
}
