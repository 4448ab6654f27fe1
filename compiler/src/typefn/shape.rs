//! `data.rename`, `data.drop` and `data.encode`: the row with other names, with fewer columns, with numbers for texts.

use super::derive::subject;
use crate::eval::{Evaluator, NativeCall};
use crate::types::{Record, Type};
use crate::value::Const;
use pipe_grammar::Problem;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Each column in its place, some under another name.
pub(super) fn rename<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let row = subject(evaluator, call)?;
    if call.rest.is_empty() && !call.broken {
        let message = "`data.rename` renames nothing";
        let problem = Problem::error("types::missing_argument", call.site.callee, message);
        evaluator.report(problem.help("write the new name, then the old one: `cpu: \"CPU (%)\"`"));
        return None;
    }
    let mut renamed: BTreeMap<String, String> = BTreeMap::new();
    for (new, given) in call.rest.clone() {
        let Some(old) = given.value.text().map(str::to_owned) else {
            if given.value.is_unknown() {
                return Some(Type::table(Record { open: true, ..row }));
            }
            let found = match &given.value.ty {
                Type::Function(_) => "a function".to_owned(),
                other => format!("`{other}`"),
            };
            let message = format!("`{new}` takes the old name, a text, and this is {found}");
            let problem = Problem::error("types::mismatch", given.span, message);
            let is_lambda = matches!(given.value.ty, Type::Function(_));
            evaluator.report(if is_lambda {
                problem.help("`data.derive` computes columns; `data.rename` takes `new: \"old\"`")
            } else {
                problem
            });
            return None;
        };
        if !evaluator.known_columns(call, &given.value, given.span) {
            return None;
        }
        if let Some(first) = renamed.insert(old.clone(), new.to_owned()) {
            let message = format!("`{old}` is renamed twice, to `{first}` and to `{new}`");
            evaluator.report(Problem::error("types::duplicate_column", given.span, message));
            return None;
        }
    }
    let mut made = Record { fields: Vec::new(), ..row.clone() };
    for (name, ty) in &row.fields {
        let new = renamed.get(&**name).map_or(&**name, String::as_str);
        if made.field(new).is_some() {
            let message = format!("two columns would be called `{new}`");
            let problem = Problem::error("types::duplicate_column", call.site.callee, message);
            evaluator.report(problem.help("rename or drop the other one too"));
            return None;
        }
        made.fields.push((Rc::from(new), ty.clone()));
    }
    Some(Type::table(made))
}

/// The row without some columns.
pub(super) fn drop<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let row = subject(evaluator, call)?;
    let given = call.values.get("columns")?.clone();
    let Some(names) = given.value.texts() else {
        return Some(Type::table(Record { open: true, ..Record::default() }));
    };
    let kept: Vec<_> = row
        .fields
        .iter()
        .filter(|(name, _)| !names.iter().any(|gone| **gone == **name))
        .cloned()
        .collect();
    if kept.is_empty() && !row.open && row.spread.is_none() && !call.broken {
        let message = "no column remains";
        evaluator.report(Problem::error("types::missing_argument", given.span, message));
        return None;
    }
    Some(Type::table(Record { fields: kept, ..row }))
}

/// Columns of texts as numbers or truths. The categories are those of an enumeration, or given.
pub(super) fn encode<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let row = subject(evaluator, call)?;
    let given = call.values.get("columns")?.clone();
    let open = || Some(Type::table(Record { open: true, ..Record::default() }));
    let Some(names) = given.value.texts() else { return open() };
    let one_hot = match call.values.get("by").and_then(|by| by.value.text()) {
        Some(by) => by == "one_hot",
        None => return open(),
    };
    let listed = match call.values.get("categories").and_then(|given| given.value.to_const()) {
        Some(Const::List(items)) if !items.is_empty() => Some(items),
        _ => None,
    };
    let mut made = Record { fields: Vec::new(), ..row.clone() };
    let mut all: BTreeMap<String, Const> = BTreeMap::new();
    for (name, ty) in &row.fields {
        if !names.iter().any(|wanted| **wanted == **name) {
            made.set(name, ty.clone());
            continue;
        }
        let (plain, optional) = ty.required();
        let span = evaluator.text_in(given.span, name);
        let categories: Vec<Const> = match (plain, &listed) {
            (Type::Enum(values), None) => values.iter().cloned().map(Const::Str).collect(),
            (Type::Enum(_) | Type::Str, Some(listed)) => listed.clone(),
            (Type::Error, _) => return open(),
            (Type::Str, None) => {
                let message =
                    format!("`{name}` is `str`, which does not say what categories there are");
                let problem = Problem::error("types::categories", span, message);
                evaluator.report(problem.help(
                    "list them: `categories: [\"a\", \"b\"]`, or read the column as an enumeration: `\"a\" | \"b\"`",
                ));
                return None;
            }
            (other, _) => {
                let message = format!("`{name}` is `{other}`, and categories are texts");
                evaluator.report(Problem::error("types::categories", span, message));
                return None;
            }
        };
        if one_hot {
            for category in &categories {
                let Const::Str(text) = category else { continue };
                let new = format!("{name}_{text}");
                if made.field(&new).is_some() || row.field(&new).is_some() {
                    let message = format!("the result has the column `{new}` already");
                    evaluator.report(Problem::error("types::duplicate_column", span, message));
                    return None;
                }
                made.set(&new, Type::Bool);
            }
        } else {
            let unknown = optional || !matches!(plain, Type::Enum(_));
            made.set(name, if unknown { Type::Int.optional() } else { Type::Int });
        }
        all.insert(name.to_string(), Const::List(categories));
    }
    call.more.insert("categories".into(), crate::plan::Arg::Const(Const::Record(all)));
    Some(Type::table(made))
}
