//! `data.pivot` and `data.unpivot`: between a row for each value and a column for each value.

use super::derive::subject;
use super::group;
use crate::eval::{Evaluator, NativeCall};
use crate::types::{Record, Type, join};
use pipe_grammar::{Problem, Span};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The columns of `by`, then one for each value of the column `name`.
pub(super) fn wide<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let row = subject(evaluator, call)?;
    let mut made = Record { open: row.open, ..Record::default() };
    group::keys(evaluator, call, &row, &mut made, "by")?;
    let text =
        |name: &str| call.values.get(name).and_then(|given| given.value.text().map(str::to_owned));
    let (name, value) = (text("name")?, text("value")?);
    let ty = row.field(&value).cloned().unwrap_or(Type::Error).optional();
    let given = call.values.get("columns")?.clone();
    let names: Vec<String> = match (given.value.texts(), row.field(&name).map(Type::required)) {
        (Some(names), _) if !names.is_empty() => names,
        (_, Some((Type::Enum(values), _))) => values.iter().cloned().collect(),
        (_, Some((ty, _))) if !ty.is_error() => {
            let span = call.values.get("name")?.span;
            let message = format!(
                "the values of `{name}` become columns, and `{ty}` does not say which there are"
            );
            let problem = Problem::error("types::pivot_columns", span, message);
            evaluator.report(problem.help(
                "list them: `columns: [\"a\", \"b\"]`, or read the column as an enumeration: `\"a\" | \"b\"`",
            ));
            return None;
        }
        _ => return Some(Type::table(Record { open: true, ..made })),
    };
    for name in &names {
        let span = evaluator.text_in(given.span, name);
        taken(evaluator, &made, name, span)?;
        made.fields.push((Rc::from(name.as_str()), ty.clone()));
    }
    columns_arg(call, &names);
    Some(Type::table(made))
}

/// The plan names the columns, also where the type of a column does.
fn columns_arg(call: &mut NativeCall<'_>, names: &[String]) {
    use crate::plan::Arg;
    use crate::value::Const;
    let names = names.iter().cloned().map(Const::Str).collect();
    call.more.insert("columns".into(), Arg::Const(Const::List(names)));
}

/// The other columns, then the name of a column and its value.
pub(super) fn long<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let row = subject(evaluator, call)?;
    let given = call.values.get("columns")?.clone();
    let Some(names) = given.value.texts() else {
        return Some(Type::table(Record { open: true, ..Record::default() }));
    };
    if names.is_empty() {
        let problem =
            Problem::error("types::missing_argument", given.span, "`columns` names no column");
        evaluator.report(problem.help("name the columns whose values go below each other"));
        return None;
    }
    let mut value: Option<(Type, &String)> = None;
    for name in &names {
        let ty = row.field(name).cloned().unwrap_or(Type::Error);
        value = Some(match value {
            None => (ty, name),
            Some((known, first)) => match join(&known, &ty) {
                Some(both) => (both, first),
                None => {
                    let span = evaluator.text_in(given.span, name);
                    let message = format!(
                        "`{name}` is `{ty}` and `{first}` is `{known}`, and one column holds values of one type"
                    );
                    evaluator.report(Problem::error("types::pivot_columns", span, message));
                    return None;
                }
            },
        });
    }
    let kept = row.fields.iter().filter(|(name, _)| !names.iter().any(|wide| **wide == **name));
    let mut made = Record { fields: kept.cloned().collect(), ..row.clone() };
    let texts: BTreeSet<String> = names.iter().cloned().collect();
    let types = [("name", Type::Enum(Rc::new(texts))), ("value", value?.0)];
    for (argument, ty) in types {
        let given = call.values.get(argument)?.clone();
        let name = given.value.text()?.to_owned();
        taken(evaluator, &made, &name, given.span)?;
        made.fields.push((Rc::from(name.as_str()), ty));
    }
    Some(Type::table(made))
}

fn taken(evaluator: &mut Evaluator<'_>, made: &Record, name: &str, span: Span) -> Option<()> {
    if made.field(name).is_none() {
        return Some(());
    }
    let message = format!("the result has the column `{name}` already");
    let problem = Problem::error("types::duplicate_column", span, message);
    evaluator.report(problem.help("rename one of them first: `data.rename(..)`"));
    None
}
