//! `data.read`: columns from `row: T`, or from the head of the file.

use super::header;
use crate::eval::{Evaluator, NativeCall, Value};
use crate::plan::{Arg, Column};
use crate::schema::{Reading, Schema};
use crate::types::{Record, Type};
use crate::value::Const;
use pipe_grammar::{Problem, Span, did_you_mean};
use pipe_row::ir::Ty;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub(super) fn result<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let time = call.values.get("time").cloned();
    let given = call.values.get("row").cloned();
    let how = reading(call);
    let mut row = match given.as_ref().map(|given| (&given.value.value, given.span)) {
        Some((Value::Type(Type::Record(row)), span)) => {
            header::fits(evaluator, call, row, how, span);
            (**row).clone()
        }
        Some((Value::Type(Type::Error), _)) => return Some(open_table()),
        Some((Value::Type(other), span)) => {
            let message = format!("a row is a record type, and this is `{other}`");
            evaluator.report(Problem::error("types::not_a_record", span, message));
            return None;
        }
        _ => match from_files(evaluator, call, how)? {
            Some(row) => row,
            None => return Some(open_table()),
        },
    };
    if let Some((given, name)) = time.as_ref().and_then(|given| Some((given, given.value.text()?)))
    {
        let span = evaluator.text_in(given.span, name);
        as_time(evaluator, &mut row, name, span)?;
    }
    let columns = row.fields.iter().map(|(name, ty)| {
        let (ty, optional) = ty.scalar()?;
        Some(Column { name: name.to_string(), ty, optional })
    });
    match columns.collect::<Option<Vec<_>>>() {
        Some(columns) => {
            call.columns.insert("row".into(), columns);
            call.more.extend(allowed(&row));
        }
        None => {
            let span = given.map_or(call.site.span, |given| given.span);
            let wrong = row.fields.iter().find(|(_, ty)| ty.scalar().is_none() && !ty.is_error());
            if let Some((name, ty)) = wrong {
                let message = format!("the column `{name}` is `{ty}`; columns hold scalars");
                evaluator.report(Problem::error("types::column_type", span, message));
            }
            return None;
        }
    }
    Some(Type::table(row))
}

fn open_table() -> Type {
    Type::table(Record { open: true, ..Record::default() })
}

/// How separated values are written, as far as the call says it.
fn reading(call: &NativeCall<'_>) -> Reading {
    let is = |name: &str, value: &str| {
        call.values.get(name).and_then(|given| given.value.text()) == Some(value)
    };
    Reading { decimal_comma: is("decimal", ","), numbered: is("names", "numbered") }
}

/// The argument `allowed`: the texts of columns that are enumerations. It is not there when no column is one.
fn allowed(row: &Record) -> Option<(String, Arg)> {
    let enums = row.fields.iter().filter_map(|(name, ty)| match ty.required().0 {
        Type::Enum(values) => {
            let values = values.iter().cloned().map(Const::Str).collect();
            Some((name.to_string(), Const::List(values)))
        }
        _ => None,
    });
    let enums: BTreeMap<String, Const> = enums.collect();
    (!enums.is_empty()).then(|| ("allowed".to_owned(), Arg::Const(Const::Record(enums))))
}

/// The columns that all files have; an inner `None` when the path is not known.
fn from_files<'a>(
    evaluator: &mut Evaluator<'a>,
    call: &mut NativeCall<'a>,
    how: Reading,
) -> Option<Option<Record>> {
    let Some(path) = call.values.get("path").cloned() else { return Some(None) };
    let Some(Const::Path(pattern)) = path.value.as_const() else {
        if let Value::List(items) = &path.value.value {
            let paths: Vec<String> =
                items.iter().filter_map(|item| item.text().map(str::to_owned)).collect();
            return shared(evaluator, call, &paths, how, path.span);
        }
        return Some(None);
    };
    let pattern = pattern.clone();
    let paths = evaluator.matching(&pattern, path.span);
    shared(evaluator, call, &paths, how, path.span)
}

/// Every file has the same columns; types widen where files differ.
fn shared<'a>(
    evaluator: &mut Evaluator<'a>,
    call: &NativeCall<'a>,
    paths: &[String],
    how: Reading,
    span: Span,
) -> Option<Option<Record>> {
    let mut row: Option<Record> = None;
    let mut numbers: BTreeSet<String> = BTreeSet::new();
    for path in paths {
        let schema = evaluator.head_schema(path, how, span)?;
        decimal_commas(evaluator, call, path, &schema, span);
        let mut next = Record::default();
        for column in &schema.columns {
            let ty = match schema.empty.contains(&column.name) {
                true => {
                    if column.ty == Ty::Float {
                        numbers.insert(column.name.clone());
                    }
                    Type::None
                }
                false => Type::of_scalar(column.ty, column.optional),
            };
            next.fields.push((Rc::from(column.name.as_str()), ty));
        }
        row = Some(match row {
            None => next,
            Some(known) => match widened(&known, &next) {
                Some(both) => both,
                None => {
                    let message = format!(
                        "`{path}` has other columns than `{}`",
                        paths.first().map_or("", String::as_str)
                    );
                    let problem = Problem::error("types::mixed_files", span, message)
                        .label(differences(&known, &next))
                        .help(
                        "read files of one kind, or give `row: T` with the columns that all have",
                    );
                    evaluator.report(problem);
                    return None;
                }
            },
        });
    }
    let mut row = row?;
    for (name, ty) in row.fields.iter_mut().filter(|(_, ty)| *ty == Type::None) {
        let number = numbers.contains(&**name);
        *ty = if number { Type::Float } else { Type::Str }.optional();
    }
    Some(Some(row))
}

/// Which columns one file has and the other lacks.
fn differences(known: &Record, next: &Record) -> String {
    let lacking = |a: &Record, b: &Record| -> Vec<String> {
        let names = a.names().filter(|name| b.field(name).is_none());
        names.map(|name| format!("`{name}`")).collect()
    };
    match (lacking(known, next).as_slice(), lacking(next, known).as_slice()) {
        ([], more) => format!("it has {} too", more.join(", ")),
        (less, []) => format!("it lacks {}", less.join(", ")),
        (less, more) => format!("it lacks {}, and has {}", less.join(", "), more.join(", ")),
    }
}

/// A warning when columns would be numbers if commas were read as points.
fn decimal_commas<'a>(
    evaluator: &mut Evaluator<'a>,
    call: &NativeCall<'a>,
    path: &str,
    schema: &Schema,
    span: Span,
) {
    let names: Vec<String> = schema.commas.iter().map(|name| format!("`{name}`")).collect();
    let (verb, what) = match names.len() {
        0 => return,
        1 => ("holds", "it is read as text"),
        _ => ("hold", "they are read as texts"),
    };
    let message =
        format!("{} of `{path}` {verb} numbers with decimal commas, and {what}", names.join(", "));
    let problem = Problem::warning("types::decimal_comma", span, message);
    let inside = call.site.span.start <= span.start && span.end <= call.site.span.end;
    evaluator.report(if inside {
        problem.edit(Span { start: span.end, ..span }, ", decimal: \",\"")
    } else {
        problem.help("read the file with `decimal: \",\"`")
    });
}

fn widened(a: &Record, b: &Record) -> Option<Record> {
    let mut both = Record::default();
    if a.fields.len() != b.fields.len() {
        return None;
    }
    for (name, ty) in &a.fields {
        let other = b.field(name)?;
        let ty = crate::types::join(ty, other).unwrap_or_else(|| {
            let optional = matches!(ty, Type::Optional(_)) || matches!(other, Type::Optional(_));
            Type::of_scalar(Ty::Str, optional)
        });
        both.fields.push((Rc::clone(name), ty));
    }
    Some(both)
}

/// The column that is read as times.
fn as_time(evaluator: &mut Evaluator<'_>, row: &mut Record, name: &str, span: Span) -> Option<()> {
    let Some(ty) = row.field(name) else {
        let columns = crate::types::columns_text(row);
        let problem = Problem::error(
            "types::unknown_column",
            span,
            format!("the file has no column `{name}`"),
        );
        let problem = match did_you_mean(name, row.names()) {
            Some(near) => problem
                .label(format!("did you mean `{near}`?"))
                .edit(span, crate::value::Quoted(near).to_string()),
            None => problem.help(format!("its columns: {columns}")),
        };
        evaluator.report(problem);
        return None;
    };
    let (plain, optional) = ty.required();
    if !matches!(plain, Type::Time | Type::Int | Type::Float | Type::Error) {
        let message = format!(
            "the column `{name}` is `{plain}`, and times are ISO 8601 or seconds since 1970"
        );
        evaluator.report(Problem::error("types::not_a_time", span, message));
        return None;
    }
    row.set(name, if optional { Type::Time.optional() } else { Type::Time });
    Some(())
}
