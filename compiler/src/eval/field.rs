//! `base.name` and `base[index]`.

use super::{Evaluator, LeafSource, NodeValue, Scope, Typed, Value};
use crate::types::{Record, Type, columns_text};
use crate::value::Const;
use pipe_grammar::ast::{Expr, ExprKind, Name};
use pipe_grammar::{Problem, Span, did_you_mean};
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    /// `base.name`.
    pub(super) fn field(
        &mut self,
        base: &'a Expr,
        name: &'a Name,
        span: Span,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        if let Some(space) = self.namespace(base, &name.text, false, scope) {
            return self.namespace_member(&space, name);
        }
        if let ExprKind::Name(word) = &base.kind
            && let Some(near) = self.unknown_base(word, scope)
        {
            let problem =
                Problem::error("resolve::unknown_name", base.span, format!("there is no `{word}`"))
                    .label(format!("did you mean `{near}`?"))
                    .edit(base.span, near);
            return self.fail(problem);
        }
        let value = self.expr(base, scope);
        let _ = span;
        self.member(&value, &name.text, name.span)
    }

    /// A field of a value.
    pub(crate) fn member(&mut self, base: &Typed<'a>, name: &str, span: Span) -> Typed<'a> {
        match &base.ty {
            Type::Error | Type::Any => Typed::error(),
            Type::Record(record) => self.record_member(base, record, name, span),
            Type::Artifact(artifact) => match artifact.fields.field(name) {
                Some(ty) => self.projection(base, name, ty.clone()),
                None => {
                    let what = format!("`{}`", artifact.name);
                    self.unknown_field(&what, &artifact.fields, name, span)
                }
            },
            Type::Table(_) if name == "rows" => self.projection(base, name, Type::Int),
            Type::Table(_) => {
                let columns = base.ty.row().is_some_and(|row| row.field(name).is_some());
                let message = format!("a table has no field `{name}`");
                let problem = Problem::error("types::unknown_field", span, message);
                let op =
                    self.program.library.get("data").is_some_and(|module| {
                        self.program.modules[*module].values.contains_key(name)
                    });
                self.fail(if columns {
                    problem.help(format!(
                        "`{name}` is a column: read it in a function of rows, `row => row.{name}`"
                    ))
                } else if op {
                    // The dot touches the name behind it.
                    let dot = Span { start: span.start.saturating_sub(1), end: span.start, ..span };
                    problem
                        .help(format!("`data.{name}` takes a table: `t |> data.{name}(..)`"))
                        .edit(dot, " |> data.")
                } else {
                    problem.help(
                        "a table has the field `rows`; its columns are read in functions of rows",
                    )
                })
            }
            Type::None | Type::Optional(_) => {
                let message = format!("this may be missing, so its field `{name}` cannot be read");
                let problem = Problem::error("types::optional", span, message)
                    .label(format!("the value is `{}`", base.ty))
                    .help(if base.ty.scalar().is_none() && matches!(base.ty, Type::Optional(_)) {
                        "give another for when it is missing, `(value ?? other).field`, or read it where it is there, `if value != none { value.field } else { .. }`"
                    } else {
                        "give a value for when it is missing: `(value ?? other).field`"
                    });
                self.fail(problem)
            }
            Type::Var(var) => {
                let message =
                    format!("`{var}` may be any type, so its field `{name}` is not known");
                let problem = Problem::error("types::unknown_field", span, message);
                let help =
                    format!("say which fields are needed: `Table<{{ {name}: float, ..{var} }}>`");
                self.fail(problem.help(help))
            }
            Type::List(_) => {
                let message = format!("a list has no field `{name}`");
                let problem = Problem::error("types::unknown_field", span, message);
                self.fail(problem.help(super::habits::of_list(name)))
            }
            other => {
                let message = format!("`{other}` has no fields");
                let problem = Problem::error("types::unknown_field", span, message);
                self.fail(problem.label(format!("no `{name}` in it")))
            }
        }
    }

    fn record_member(
        &mut self,
        base: &Typed<'a>,
        record: &Record,
        name: &str,
        span: Span,
    ) -> Typed<'a> {
        if let Value::Row(source) = &base.value {
            return match record.field(name) {
                Some(ty) => self.column(name, ty.clone()),
                None if record.open || record.spread.is_some() => Typed::error(),
                None => {
                    let source = Rc::clone(source);
                    self.unknown_column(
                        source.name.as_deref(),
                        Some(source.span),
                        record,
                        name,
                        span,
                    )
                }
            };
        }
        if let Value::Record(fields) = &base.value
            && let Some(value) = fields.get(name)
        {
            return value.clone();
        }
        match record.field(name) {
            Some(ty) => self.projection(base, name, ty.clone()),
            None if record.open || record.spread.is_some() => Typed::error(),
            None => self.unknown_field("this record", record, name, span),
        }
    }

    fn column(&mut self, name: &str, ty: Type) -> Typed<'a> {
        match ty.scalar() {
            Some((scalar, optional)) => {
                self.leaf(LeafSource::Column(name.into()), scalar, optional, ty)
            }
            None => Typed::unknown(ty),
        }
    }

    /// A field of a node's result, or an unknown value of the field's type.
    fn projection(&mut self, base: &Typed<'a>, name: &str, ty: Type) -> Typed<'a> {
        let Value::Node(node) = &base.value else { return Typed::unknown(ty) };
        let mut path = node.path.clone();
        path.push(name.to_owned());
        let origin = match node.origin.fields.is_empty() {
            true => Rc::clone(&node.origin),
            false => Rc::new(node.origin.field(name)),
        };
        let value = NodeValue { node: node.node, path, origin };
        Typed { ty, value: Value::Node(Rc::new(value)) }
    }

    fn unknown_field(&mut self, what: &str, record: &Record, name: &str, span: Span) -> Typed<'a> {
        let message = format!("{what} has no field `{name}`");
        let mut problem = Problem::error("types::unknown_field", span, message);
        problem = match did_you_mean(name, record.names()) {
            Some(near) => problem.label(format!("did you mean `{near}`?")).edit(span, near),
            None => problem.help(format!("its fields: {}", columns_text(record))),
        };
        self.fail(problem)
    }

    /// The error of a column that a table does not have.
    pub(crate) fn unknown_column(
        &mut self,
        table: Option<&str>,
        source: Option<Span>,
        record: &Record,
        name: &str,
        span: Span,
    ) -> Typed<'a> {
        let table = table.map_or("the table".to_owned(), |table| format!("`{table}`"));
        let message = format!("{table} has no column `{name}`");
        let mut problem = Problem::error("types::unknown_column", span, message);
        let columns = format!("its columns: {}", columns_text(record));
        problem = match near_column(name, record) {
            Some(near) => {
                let (span, text) = self.renamed(span, near);
                problem.label(format!("did you mean `{near}`?")).edit(span, text)
            }
            None => problem.help(columns.clone()),
        };
        if let Some(source) = source {
            problem = problem.also(source, columns);
        }
        self.fail(problem)
    }

    /// What to write for the column `near` where another name stands: a text in a list, or `.name`, which becomes `["any name"]`.
    fn renamed(&self, span: Span, near: &str) -> (Span, String) {
        let quoted = crate::value::Quoted(near).to_string();
        if self.source_of(span).starts_with('"') {
            return (span, quoted);
        }
        let dot = Span { start: span.start.saturating_sub(1), ..span };
        let named = crate::value::FieldName(near).to_string();
        if named.starts_with('"') && self.source_of(dot).starts_with('.') {
            return (dot, format!("[{quoted}]"));
        }
        (span, named)
    }

    /// `base[index]`: an item of a list, or a field by its name.
    pub(super) fn index(
        &mut self,
        base: &'a Expr,
        index: &'a Expr,
        span: Span,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        if matches!((&base.kind, &index.kind), (ExprKind::Name(_), ExprKind::Broken)) {
            return Typed::error();
        }
        let value = self.expr(base, scope);
        let at = self.expr(index, scope);
        match (&value.ty, at.as_const()) {
            (Type::Error, _) => Typed::error(),
            (Type::Record(_) | Type::Artifact(_) | Type::Table(_), Some(Const::Str(name))) => {
                let name = name.clone();
                self.member(&value, &name, index.span)
            }
            (Type::List(item), Some(Const::Int(number))) => {
                let (item, number) = ((**item).clone(), *number);
                self.item(&value, item, number, index.span)
            }
            (Type::List(item), None) if at.is_unknown() => Typed::unknown((**item).clone()),
            (_, None) if at.ty.is_error() => Typed::error(),
            (Type::List(_), _) => {
                let message = "a list is indexed with a whole number that is known before the run";
                self.fail(
                    Problem::error("types::index", index.span, message)
                        .label(format!("this is `{}`", at.ty)),
                )
            }
            (Type::Record(_) | Type::Artifact(_), _) => {
                let message = "a field is named by a text that is known before the run";
                self.fail(
                    Problem::error("types::index", index.span, message)
                        .label(format!("this is `{}`", at.ty)),
                )
            }
            (other, _) => {
                let message = format!("`{other}` cannot be indexed");
                self.fail(
                    Problem::error("types::index", span, message).help("lists and records can"),
                )
            }
        }
    }

    fn item(&mut self, list: &Typed<'a>, item: Type, number: i64, span: Span) -> Typed<'a> {
        match &list.value {
            Value::List(items) => match usize::try_from(number).ok().and_then(|at| items.get(at)) {
                Some(value) => Typed { ty: value.ty.clone(), value: value.value.clone() },
                None => {
                    let message = format!(
                        "the list has {} items, and this asks for number {number}",
                        items.len()
                    );
                    let problem = Problem::error("types::index", span, message);
                    self.fail(problem.help("the first item is number 0"))
                }
            },
            Value::Node(_) if number >= 0 => {
                let list = super::arguments::Given { value: list.clone(), span };
                self.item_in_run(&list, item, number, span)
            }
            Value::Node(_) => {
                let message = "the first item of a list is number 0";
                let problem = Problem::error("types::index", span, message);
                self.fail(problem.help("take the last one with `list.last`"))
            }
            _ => Typed::unknown(item),
        }
    }
}

/// The column that a name may mean: misspelt, or written without what only a text can hold, as `cpu` for `CPU (%)`.
fn near_column<'r>(name: &str, record: &'r Record) -> Option<&'r str> {
    if let Some(near) = did_you_mean(name, record.names()) {
        return Some(near);
    }
    let folded = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let wanted = folded(name);
    let only = |fits: &dyn Fn(&str) -> bool| {
        let mut found = record.names().filter(|column| fits(&folded(column)));
        found.next().filter(|_| found.next().is_none())
    };
    if wanted.is_empty() {
        return None;
    }
    only(&|column| column == wanted)
        .or_else(|| only(&|column| wanted.len() >= 3 && column.starts_with(&wanted)))
}
