//! `data.read`: columns from `row: T`, or from the head of the file.

use crate::eval::{Evaluator, NativeCall, Value};
use crate::plan::Column;
use crate::types::{Record, Type};
use crate::value::Const;
use pipe_grammar::{Problem, Span, did_you_mean};
use pipe_row::ir::Ty;
use std::collections::BTreeSet;
use std::rc::Rc;

pub(super) fn result<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let time = call.values.get("time").cloned();
    let given = call.values.get("row").cloned();
    let mut row = match given.as_ref().map(|given| (&given.value.value, given.span)) {
        Some((Value::Type(Type::Record(row)), _)) => (**row).clone(),
        Some((Value::Type(Type::Error), _)) => return Some(open_table()),
        Some((Value::Type(other), span)) => {
            let message = format!("a row is a record type, and this is `{other}`");
            evaluator.report(Problem::error("types::not_a_record", span, message));
            return None;
        }
        _ => match from_files(evaluator, call)? {
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

/// The columns that all files have; an inner `None` when the path is not known.
fn from_files<'a>(
    evaluator: &mut Evaluator<'a>,
    call: &mut NativeCall<'a>,
) -> Option<Option<Record>> {
    let Some(path) = call.values.get("path").cloned() else { return Some(None) };
    let Some(Const::Path(pattern)) = path.value.as_const() else {
        if let Value::List(items) = &path.value.value {
            let paths: Vec<String> =
                items.iter().filter_map(|item| item.text().map(str::to_owned)).collect();
            return shared(evaluator, &paths, path.span);
        }
        return Some(None);
    };
    let pattern = pattern.clone();
    let paths = evaluator.matching(&pattern, path.span);
    shared(evaluator, &paths, path.span)
}

/// Every file has the same columns; types widen where files differ.
fn shared(evaluator: &mut Evaluator<'_>, paths: &[String], span: Span) -> Option<Option<Record>> {
    let mut row: Option<Record> = None;
    let mut numbers: BTreeSet<String> = BTreeSet::new();
    for path in paths {
        let schema = evaluator.head_schema(path, span)?;
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
                    let problem = Problem::error("types::mixed_files", span, message).help(
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
