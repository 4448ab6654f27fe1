//! Making a value fit a type: conversions that lose nothing, and the errors when there is none.

use super::{Evaluator, Typed, Value};
use crate::resolve::join_path;
use crate::types::{Bindings, Found, Mismatch, Record, Type, accepts, brief};
use crate::value::Const;
use pipe_grammar::{Problem, Span, did_you_mean};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    /// The value as `wanted`: whole numbers as floats, texts as paths, times and enumeration values.
    pub(super) fn fit(
        &mut self,
        value: Typed<'a>,
        wanted: &Type,
        bound: &mut Bindings,
        span: Span,
    ) -> Result<Typed<'a>, Mismatch> {
        if value.ty == Type::Error && !matches!(value.value, Value::List(_) | Value::Record(_)) {
            return Ok(value);
        }
        match wanted {
            Type::Any | Type::Error => Ok(value),
            Type::Var(_) => accepts(wanted, &value.ty, bound).map(|()| value),
            Type::Union(members) => self.fit_any(value, wanted, members, bound, span),
            Type::Optional(inner) => match &value.ty {
                Type::None => Ok(value),
                Type::Optional(found) => {
                    accepts(inner, found, bound)?;
                    if **inner == Type::Float { Ok(self.as_float(value, span)) } else { Ok(value) }
                }
                _ => self.fit(value, inner, bound, span),
            },
            Type::List(item) => self.fit_list(value, wanted, item, bound, span),
            Type::Record(record) => self.fit_record(value, wanted, record, bound, span),
            Type::Float if value.ty == Type::Int => Ok(self.as_float(value, span)),
            _ => match self.reread(&value, wanted, span) {
                Some(value) => Ok(value),
                None => match (wanted, value.text()) {
                    (Type::Enum(_), Some(text)) => {
                        let only = Type::Enum(Rc::new(BTreeSet::from([text.to_owned()])));
                        Err(Mismatch::new(wanted, &only))
                    }
                    _ => accepts(wanted, &value.ty, bound).map(|()| value),
                },
            },
        }
    }

    /// A constant text where something else is wanted.
    fn reread(&mut self, value: &Typed<'a>, wanted: &Type, span: Span) -> Option<Typed<'a>> {
        let Some(Const::Str(text)) = value.as_const() else { return None };
        match wanted {
            Type::Path => {
                let folder = self.folder_of(span);
                Some(Typed::constant(Const::Path(join_path(&folder, text))))
            }
            Type::Time => Some(Typed::constant(Const::Time(crate::time::parse(text)?))),
            Type::Enum(values) if values.contains(text) => {
                Some(Typed { ty: wanted.clone(), value: value.value.clone() })
            }
            _ => None,
        }
    }

    /// The folder that paths written at `span` are relative to.
    fn folder_of(&self, span: Span) -> String {
        if let Some(folder) = self.param_folders.get(&span.file) {
            return folder.clone();
        }
        let module = self.program.modules.iter().find(|module| module.file == span.file);
        let module =
            module.filter(|module| module.library.is_none()).or(self.program.modules.first());
        module.map_or_else(String::new, |module| module.folder.clone())
    }

    fn fit_any(
        &mut self,
        value: Typed<'a>,
        wanted: &Type,
        members: &[Type],
        bound: &mut Bindings,
        span: Span,
    ) -> Result<Typed<'a>, Mismatch> {
        for exact in [true, false] {
            for member in members {
                if exact && *member != value.ty {
                    continue;
                }
                let mut attempt = bound.clone();
                if let Ok(value) = self.fit(value.clone(), member, &mut attempt, span) {
                    *bound = attempt;
                    return Ok(value);
                }
            }
        }
        Err(Mismatch::new(wanted, &value.ty))
    }

    fn fit_list(
        &mut self,
        value: Typed<'a>,
        wanted: &Type,
        item: &Type,
        bound: &mut Bindings,
        span: Span,
    ) -> Result<Typed<'a>, Mismatch> {
        let Value::List(items) = &value.value else {
            return accepts(wanted, &value.ty, bound).map(|()| value);
        };
        let mut fitted = Vec::with_capacity(items.len());
        for (at, each) in items.iter().enumerate() {
            let each = self.fit(each.clone(), item, bound, span);
            fitted.push(each.map_err(|mismatch| mismatch.inside(&format!("[{at}]")))?);
        }
        let list = Typed::list(fitted);
        let empty = matches!(&list.value, Value::List(items) if items.is_empty());
        let ty = if empty { Type::List(Rc::new(bound.apply(item))) } else { list.ty };
        Ok(Typed { ty, value: list.value })
    }

    fn fit_record(
        &mut self,
        value: Typed<'a>,
        wanted: &Type,
        record: &Record,
        bound: &mut Bindings,
        span: Span,
    ) -> Result<Typed<'a>, Mismatch> {
        let Value::Record(fields) = &value.value else {
            return accepts(wanted, &value.ty, bound).map(|()| value);
        };
        let mut fitted: BTreeMap<Rc<str>, Typed<'a>> = BTreeMap::new();
        for (name, ty) in &record.fields {
            let field = match fields.get(name) {
                Some(field) => field.clone(),
                None if matches!(ty, Type::Optional(_)) => Typed::constant(Const::None),
                None => {
                    let found = Found::MissingField(Rc::clone(name));
                    return Err(Mismatch { path: String::new(), wanted: ty.clone(), found });
                }
            };
            let field = self
                .fit(field, ty, bound, span)
                .map_err(|mismatch| mismatch.inside(&format!(".{name}")))?;
            fitted.insert(Rc::clone(name), field);
        }
        let closed = record.spread.is_none() && !record.open;
        for (name, field) in fields.iter() {
            if fitted.contains_key(name) {
                continue;
            }
            if closed {
                let found = Found::UnknownField(Rc::clone(name));
                return Err(Mismatch { path: String::new(), wanted: wanted.clone(), found });
            }
            fitted.insert(Rc::clone(name), field.clone());
        }
        Ok(Typed::record(fitted))
    }

    /// The error of a value that does not fit. `what` wants the type: "`rank`", "`output model`".
    pub(super) fn mismatch(
        &self,
        mismatch: &Mismatch,
        value: &Typed<'a>,
        what: &str,
        span: Span,
    ) -> Problem {
        let what = if mismatch.path.is_empty() {
            what.to_owned()
        } else {
            format!("`{}` of {what}", mismatch.path.trim_start_matches('.'))
        };
        match &mismatch.found {
            Found::MissingField(name) => {
                let (code, kind) = if value.ty.is_artifact() {
                    ("types::missing_column", "column")
                } else {
                    ("types::missing_field", "field")
                };
                let message =
                    format!("{what} needs the {kind} `{name}` of type `{}`", mismatch.wanted);
                let problem = Problem::error(code, span, message);
                match &value.ty {
                    Type::Table(_) => match value.ty.row() {
                        Some(row) => problem
                            .label(format!("its columns: {}", crate::types::columns_text(row)))
                            .help(match did_you_mean(name, row.names()) {
                                Some(near) => {
                                    let near = crate::value::Quoted(near);
                                    format!("give it this name: `data.rename({name}: {near})`")
                                }
                                None => format!("add it with `data.derive({name}: row => ...)`"),
                            }),
                        None => problem,
                    },
                    _ => problem.help(format!("add `{name}: ...`")),
                }
            }
            Found::UnknownField(name) => {
                let message = format!("{what} has no field `{name}`");
                let problem = Problem::error("types::unknown_field", span, message);
                match &mismatch.wanted {
                    Type::Record(record) => match did_you_mean(name, record.names()) {
                        Some(near) => problem
                            .label(format!("did you mean `{near}`?"))
                            .help(format!("write `{near}`")),
                        None => problem
                            .help(format!("its fields: {}", crate::types::columns_text(record))),
                    },
                    _ => problem,
                }
            }
            Found::Type(found) => self.wrong_type(mismatch, value, found, &what, span),
        }
    }

    fn wrong_type(
        &self,
        mismatch: &Mismatch,
        value: &Typed<'a>,
        found: &Type,
        what: &str,
        span: Span,
    ) -> Problem {
        let wanted = &mismatch.wanted;
        if let (Type::Enum(_), Some(text), true) =
            (wanted.required().0, value.text(), mismatch.path.is_empty())
        {
            return super::operator::unknown_value(text, wanted, span);
        }
        if let (Type::Table(wanted), Type::Table(other)) = (wanted.required().0, found)
            && let (Some(wanted), Some(other)) = (&wanted.part, &other.part)
            && wanted != other
        {
            let message = format!("this is the part `{other}`, and `{wanted}` is declared");
            return Problem::error("parts::wrong_part", span, message);
        }
        if let (Type::Table(_), Type::Record(record)) = (wanted.required().0, found)
            && let tables = table_fields(record)
            && !tables.is_empty()
        {
            let message = format!("{what} is one table, and this is a record of {}", tables.len());
            return Problem::error("types::mismatch", span, message)
                .label(format!("the tables: {}", tables.join(", ")))
                .help(format!("take one of its parts: {}", tables.join(", ")));
        }
        let shown = if value.ty == *found { shown(value) } else { format!("`{}`", brief(found)) };
        let message = format!("{what} is `{}`, and this is {shown}", brief(wanted));
        let problem = Problem::error("types::mismatch", span, message)
            .label(format!("`{}` here", brief(found)));
        let (wanted, found) = (wanted.required().0, found);
        match (wanted, found) {
            (_, Type::Optional(inner))
                if **inner == *wanted || (*wanted == Type::Float && **inner == Type::Int) =>
            {
                match column_in(mismatch, value) {
                    Some(column) => problem.help(filled(column, wanted)),
                    None => problem.help(
                        "it may be missing: give a value for that case with `value ?? other`",
                    ),
                }
            }
            (_, Type::Optional(inner))
                if inner.scalar().is_none()
                    && accepts(wanted, inner, &mut Bindings::default()).is_ok() =>
            {
                let text = self.sources.slice(span);
                let name = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                let name = if name && !text.is_empty() { text } else { "value" };
                problem.help(format!("it may be missing: give another for that case, `{name} ?? other`, or use it where it is there, `if {name} != none {{ .. }} else {{ .. }}`"))
            }
            (Type::Duration, Type::Int | Type::Float) => {
                let text = self.sources.slice(span);
                let number =
                    text.chars().all(|c| c.is_ascii_digit() || c == '_') && !text.is_empty();
                let problem = problem.help("durations have a unit: ns us ms s m h d w");
                if number { problem.edit(span, format!("{text}s")) } else { problem }
            }
            (Type::Size, Type::Int | Type::Float) => {
                problem.help("sizes have a unit: B KB MB GB TB KiB MiB GiB TiB")
            }
            (Type::List(item), found) if accepts(item, found, &mut Bindings::default()).is_ok() => {
                let text = self.sources.slice(span);
                problem.edit(span, format!("[{text}]"))
            }
            (Type::Int, Type::Float) => {
                problem.help("round it: `math.round(x)`, or write a whole number")
            }
            (Type::Str, found) if found.scalar().is_some() => {
                problem.help("put it into a text: `\"${value}\"`")
            }
            (Type::Time, Type::Str) => problem.help("write times as `\"2024-01-31T12:00:00Z\"`"),
            _ => problem,
        }
    }
}

/// The column of a table in which a mismatch lies.
fn column_in<'m>(mismatch: &'m Mismatch, value: &Typed<'_>) -> Option<&'m str> {
    let column = mismatch.path.strip_prefix('.')?;
    value.ty.row().filter(|row| row.field(column).is_some()).map(|_| column)
}

/// How a column that may be missing becomes one that may not.
fn filled(column: &str, wanted: &Type) -> String {
    let zero = match wanted {
        Type::Int => "0",
        Type::Float => "0.0",
        Type::Bool => "false",
        Type::Duration => "0s",
        Type::Size => "0B",
        _ => "\"\"",
    };
    let word = crate::value::FieldName(column).to_string();
    if word.starts_with('"') {
        return format!("it may be missing: derive a column `row[{word}] ?? {zero}` before");
    }
    format!("it may be missing: fill it before, `data.derive({word}: row => row.{word} ?? {zero})`")
}

/// The names of the tables in a record.
fn table_fields(record: &Record) -> Vec<&str> {
    let tables = record.fields.iter().filter(|(_, ty)| matches!(ty, Type::Table(_)));
    tables.map(|(name, _)| &**name).collect()
}

/// A value for a message: its literal when it is short, else its type.
fn shown(value: &Typed<'_>) -> String {
    match value.as_const() {
        Some(
            constant @ (Const::Int(_)
            | Const::Float(_)
            | Const::Bool(_)
            | Const::Duration(_)
            | Const::Size(_)),
        ) => {
            format!("`{}` ({constant})", value.ty)
        }
        _ => format!("`{}`", brief(&value.ty)),
    }
}
