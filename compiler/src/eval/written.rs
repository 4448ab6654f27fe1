//! Types as written in a program, made into types.

use super::Evaluator;
use super::expr::TooLarge;
use crate::resolve::{BUILT_IN_TYPES, DeclId, ModuleId};
use crate::types::{Artifact, Bindings, FunctionType, Record, TableType, Type, is_huge};
use pipe_grammar::ast::{Item, ItemKind, Name, TypeExpr, TypeField, TypeKind};
use pipe_grammar::{Problem, Span, did_you_mean};
use std::collections::BTreeSet;
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    /// The type that is written; `vars` are the type parameters in scope.
    pub(crate) fn written(&mut self, module: ModuleId, ty: &'a TypeExpr, vars: &[Name]) -> Type {
        match &ty.kind {
            TypeKind::Named { path, args } => self.named_type(module, path, args, vars, ty.span),
            TypeKind::Literal(value) => Type::Enum(Rc::new(BTreeSet::from([value.clone()]))),
            TypeKind::Union(members) => self.union(module, members, vars),
            TypeKind::Optional(inner) => self.written(module, inner, vars).optional(),
            TypeKind::List(item) => Type::List(Rc::new(self.written(module, item, vars))),
            TypeKind::Record(fields) => {
                let record = Type::Record(Rc::new(self.record_type(module, fields, vars)));
                self.bounded(record, ty.span)
            }
            TypeKind::Function { params, result } => Type::Function(Rc::new(FunctionType {
                params: params.iter().map(|param| self.written(module, param, vars)).collect(),
                result: self.written(module, result, vars),
            })),
        }
    }

    /// A type, or an error where it would be endless to look at.
    fn bounded(&mut self, ty: Type, span: Span) -> Type {
        if is_huge(&ty) {
            return self.too_large(TooLarge::Type, span).ty;
        }
        ty
    }

    fn union(&mut self, module: ModuleId, members: &'a [TypeExpr], vars: &[Name]) -> Type {
        let mut values = BTreeSet::new();
        let mut others: Vec<Type> = Vec::new();
        let mut optional = false;
        for member in members {
            match self.written(module, member, vars) {
                Type::Enum(more) => values.extend(more.iter().cloned()),
                Type::None => optional = true,
                Type::Union(more) => others.extend(more.iter().cloned()),
                other => others.push(other),
            }
        }
        if !values.is_empty() {
            others.push(Type::Enum(Rc::new(values)));
        }
        let ty = match others.len() {
            0 => Type::None,
            1 => others.pop().unwrap_or(Type::Error),
            _ => Type::Union(Rc::new(others)),
        };
        if optional { ty.optional() } else { ty }
    }

    fn record_type(&mut self, module: ModuleId, fields: &'a [TypeField], vars: &[Name]) -> Record {
        let mut record = Record::default();
        for field in fields {
            match field {
                TypeField::Field { name, ty } => {
                    if let TypeKind::Named { path, .. } = &ty.kind
                        && path.is_empty()
                    {
                        continue;
                    }
                    let ty = self.written(module, ty, vars);
                    record.set(&name.text, ty);
                }
                TypeField::Spread(base) => match self.written(module, base, vars) {
                    Type::Record(base) => {
                        base.fields.iter().for_each(|(name, ty)| record.set(name, ty.clone()));
                        record.open |= base.open;
                        record.spread = record.spread.take().or_else(|| base.spread.clone());
                    }
                    Type::Var(name) => record.spread = Some(name),
                    Type::Table(table) => match &table.row {
                        Type::Record(row) => {
                            row.fields.iter().for_each(|(name, ty)| record.set(name, ty.clone()));
                        }
                        _ => record.open = true,
                    },
                    Type::Error | Type::Any => record.open = true,
                    other => {
                        let message = format!(
                            "`..` takes the fields of a record type, and this is `{other}`"
                        );
                        self.report(Problem::error("types::not_a_record", base.span, message));
                        record.open = true;
                    }
                },
            }
        }
        record
    }

    /// A named type with its arguments.
    pub(crate) fn named_type(
        &mut self,
        module: ModuleId,
        path: &[Name],
        args: &'a [TypeExpr],
        vars: &[Name],
        span: Span,
    ) -> Type {
        let (first, member) = match path {
            [first] => (first, None),
            [first, member] => (first, Some(member)),
            _ => return Type::Error,
        };
        if member.is_none() {
            if vars.iter().any(|var| var.text == first.text) {
                return Type::Var(Rc::from(first.text.as_str()));
            }
            if let Some(ty) = self.built_in_type(module, &first.text, args, vars, span) {
                return ty;
            }
        }
        match self.type_declaration(module, first, member) {
            Some(id) => {
                let ty = self.declared_type_with(module, id, args, vars, span);
                self.bounded(ty, span)
            }
            None => self.unknown_type(module, first, member, vars),
        }
    }

    fn built_in_type(
        &mut self,
        module: ModuleId,
        name: &str,
        args: &'a [TypeExpr],
        vars: &[Name],
        span: Span,
    ) -> Option<Type> {
        let ty = match name {
            "bool" => Type::Bool,
            "int" => Type::Int,
            "float" => Type::Float,
            "str" => Type::Str,
            "path" => Type::Path,
            "time" => Type::Time,
            "duration" => Type::Duration,
            "size" => Type::Size,
            "none" => Type::None,
            "any" => Type::Any,
            "Type" => Type::Kind,
            "Table" => return Some(self.table_type(module, args, vars, span)),
            _ => return None,
        };
        if let Some(extra) = args.first() {
            self.report(
                Problem::error(
                    "types::type_arguments",
                    extra.span,
                    format!("`{name}` takes no type arguments"),
                )
                .help(format!("write `{name}`")),
            );
        }
        Some(ty)
    }

    fn table_type(
        &mut self,
        module: ModuleId,
        args: &'a [TypeExpr],
        vars: &[Name],
        span: Span,
    ) -> Type {
        let row = match args.first() {
            Some(row) => self.written(module, row, vars),
            None => Type::Record(Rc::new(Record { open: true, ..Record::default() })),
        };
        let row = match row {
            Type::Record(_) | Type::Var(_) | Type::Error | Type::Any => row,
            other => {
                let message = format!("the rows of a table are records, and this is `{other}`");
                let at = args.first().map_or(span, |arg| arg.span);
                let problem = Problem::error("types::not_a_record", at, message);
                self.report(
                    problem.help("write `Table<{ name: type, ... }>` or the name of a record type"),
                );
                Type::Error
            }
        };
        Type::Table(Rc::new(TableType { row, part: part_name(args.get(1), vars) }))
    }

    fn type_declaration(
        &self,
        module: ModuleId,
        first: &Name,
        member: Option<&Name>,
    ) -> Option<DeclId> {
        let here = &self.program.modules[module];
        let Some(member) = member else {
            return match here.types.get(&first.text) {
                Some(item) => Some(DeclId { module, item: *item }),
                None => self.program.library_types.get(&first.text).copied(),
            };
        };
        let other = here.uses.get(&first.text).or_else(|| self.program.library.get(&first.text))?;
        Some(DeclId {
            module: *other,
            item: *self.program.modules[*other].types.get(&member.text)?,
        })
    }

    fn declared_type_with(
        &mut self,
        module: ModuleId,
        id: DeclId,
        args: &'a [TypeExpr],
        vars: &[Name],
        span: Span,
    ) -> Type {
        let ty = self.declared_type(id);
        let item: &'a Item = self.program.item(id);
        let ItemKind::Type { params, .. } = &item.kind else { return Type::Error };
        if let Type::Artifact(artifact) = &ty {
            let artifact = (**artifact).clone();
            return Type::Artifact(Rc::new(
                if params.first().is_none_or(|param| param.text == PART) {
                    Artifact { part: part_name(args.first(), vars), ..artifact }
                } else {
                    let args = args.iter().take(params.len());
                    let args = args.map(|arg| self.written(module, arg, vars)).collect();
                    Artifact { args, ..artifact }
                },
            ));
        }
        if params.len() != args.len() {
            let name = self.item_name(id);
            let message = format!(
                "`{name}` takes {} type arguments, and {} are given",
                params.len(),
                args.len()
            );
            self.report(
                Problem::error("types::type_arguments", span, message)
                    .also(crate::resolve::name_span(item), "declared here"),
            );
            return Type::Error;
        }
        let mut bound = Bindings::default();
        for (param, arg) in params.iter().zip(args) {
            bound.set(&Rc::from(param.text.as_str()), self.written(module, arg, vars));
        }
        if params.is_empty() { ty } else { bound.apply(&ty) }
    }

    /// The type that a declaration stands for.
    pub(crate) fn declared_type(&mut self, id: DeclId) -> Type {
        if let Some(ty) = self.types.get(&id) {
            return ty.clone();
        }
        if self.cyclic.contains(&id) || !self.open.insert(id) {
            return Type::Error;
        }
        let item: &'a Item = self.program.item(id);
        let ty = match &item.kind {
            ItemKind::Type { name, params, ty } => {
                let shape = ty.as_ref().map(|ty| self.written(id.module, ty, params));
                if item.attrs.iter().any(|attr| attr.name.text == "native") {
                    let fields = match shape {
                        Some(Type::Record(record)) => (*record).clone(),
                        _ => Record::default(),
                    };
                    Type::Artifact(Rc::new(Artifact {
                        name: Rc::from(name.text.as_str()),
                        fields,
                        args: Rc::default(),
                        part: None,
                    }))
                } else {
                    shape.unwrap_or(Type::Error)
                }
            }
            _ => Type::Error,
        };
        self.open.remove(&id);
        self.types.insert(id, ty.clone());
        ty
    }

    fn unknown_type(
        &mut self,
        module: ModuleId,
        first: &Name,
        member: Option<&Name>,
        vars: &[Name],
    ) -> Type {
        let here = &self.program.modules[module];
        if let Some(name) = here.values.get(&first.text)
            && member.is_none()
            && matches!(here.ast.items[*name].kind, ItemKind::Broken { .. })
        {
            return Type::Error;
        }
        let (word, span) =
            member.map_or((&first.text, first.span), |member| (&member.text, member.span));
        let near = match member {
            Some(_) => {
                let other =
                    here.uses.get(&first.text).or_else(|| self.program.library.get(&first.text));
                let names = other.map(|other| self.program.modules[*other].types.keys());
                did_you_mean(word, names.into_iter().flatten().map(String::as_str))
                    .map(str::to_owned)
            }
            None => {
                let known = BUILT_IN_TYPES.iter().copied().filter(|name| *name != "any");
                let known = known.chain(here.types.keys().map(String::as_str));
                let known = known.chain(self.program.library_types.keys().map(String::as_str));
                let known = known.chain(vars.iter().map(|var| var.text.as_str()));
                habit(word)
                    .map(str::to_owned)
                    .or_else(|| did_you_mean(word, known).map(str::to_owned))
            }
        };
        let written =
            member.map_or(first.text.clone(), |member| format!("{}.{}", first.text, member.text));
        let mut problem =
            Problem::error("types::unknown_type", span, format!("there is no type `{written}`"));
        problem = match near {
            Some(near) => problem.label(format!("did you mean `{near}`?")).edit(span, near),
            None => problem.help(format!("declare it with `type {word} = ...`")),
        };
        self.report(problem);
        Type::Error
    }
}

/// What the library calls a type parameter that stands for a part and not for a type.
const PART: &str = "P";

/// The part that the second argument of `Table` names, unless it is a type parameter.
fn part_name(arg: Option<&TypeExpr>, vars: &[Name]) -> Option<Rc<str>> {
    match &arg?.kind {
        TypeKind::Named { path, .. } => {
            let name = path.first()?;
            (!vars.iter().any(|var| var.text == name.text)).then(|| Rc::from(name.text.as_str()))
        }
        TypeKind::Literal(name) => Some(Rc::from(name.as_str())),
        _ => None,
    }
}

/// Our name for a type that other languages call differently.
fn habit(word: &str) -> Option<&'static str> {
    Some(match word {
        "string" | "String" | "text" | "Str" => "str",
        "integer" | "Int" | "i64" | "i32" | "u64" | "long" => "int",
        "number" | "double" | "f64" | "f32" | "Float" | "real" => "float",
        "boolean" | "Bool" => "bool",
        "datetime" | "timestamp" | "date" | "Time" => "time",
        "bytes" | "Size" => "size",
        "file" | "Path" => "path",
        "interval" | "timedelta" | "Duration" => "duration",
        "table" | "DataFrame" | "Frame" | "Dataset" => "Table",
        "null" | "None" | "unit" => "none",
        _ => return None,
    })
}
