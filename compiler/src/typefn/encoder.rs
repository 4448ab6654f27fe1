//! `encode.fit` and `encode.apply`: an encoder's type says which columns it takes and what becomes of each.
//!
//! `Encoder<{ host: str, cpu: float }, { host: { host_1: bool, host_other: bool }, cpu: float }>`: the column `host` gives its
//! place to the columns of a record, `cpu` to one of its name. So what an encoder makes is known before it is fitted, also
//! behind functions, lists and choices.

use super::derive::subject;
use crate::eval::{Evaluator, NativeCall};
use crate::plan::Arg;
use crate::types::{Artifact, Record, Type};
use crate::value::Const;
use pipe_grammar::{Problem, Span};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Most columns that one column of texts becomes.
const MOST: i64 = 1_000;
const SCALES: [&str; 3] = ["standard", "robust", "min_max"];

/// The type of a fitted encoder.
pub(super) fn fitted<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let row = subject(evaluator, call)?;
    let plain = call.bound.apply(&call.native.result);
    let Type::Artifact(encoder) = &plain else { return Some(plain) };
    let given = call.values.get("columns")?.clone();
    let by = call.values.get("by").and_then(|by| by.value.text()).map(str::to_owned);
    let (Some(names), Some(by)) = (given.value.texts(), by) else { return Some(plain) };
    if names.is_empty() {
        let message = "`columns` names no column";
        evaluator.report(Problem::error("types::missing_argument", given.span, message));
        return None;
    }
    let most = slots(evaluator, call)?;
    let (mut takes, mut gives) = (Record::default(), Record::default());
    let mut categories: BTreeMap<String, Const> = BTreeMap::new();
    for name in &names {
        let Some(ty) = row.field(name) else { continue };
        let span = evaluator.text_in(given.span, name);
        if takes.field(name).is_some() {
            let message = format!("`{name}` is in `columns` twice");
            evaluator.report(Problem::error("types::duplicate_column", span, message));
            return None;
        }
        let column = Encoded { name, ty: ty.required().0, by: &by, most };
        if matches!(column.ty, Type::Error) {
            return Some(plain);
        }
        let (from, to) = column.types(evaluator, span)?;
        takes.set(name, from);
        gives.set(name, to);
        if let (Type::Enum(values), None) = (column.ty, most) {
            let values = values.iter().cloned().map(Const::Str).collect();
            categories.insert(name.clone(), Const::List(values));
        }
    }
    call.more.insert("categories".into(), Arg::Const(Const::Record(categories)));
    let args = [takes, gives].map(|record| Type::Record(Rc::new(record)));
    Some(Type::Artifact(Rc::new(Artifact { args: args.into(), ..(**encoder).clone() })))
}

/// `most`, when it is given.
fn slots(evaluator: &mut Evaluator<'_>, call: &NativeCall<'_>) -> Option<Option<i64>> {
    let Some(given) = call.values.get("most") else { return Some(None) };
    match given.value.as_const() {
        Some(Const::Int(most)) if (1..=MOST).contains(most) => Some(Some(*most)),
        Some(Const::None) | None => Some(None),
        Some(other) => {
            let message = format!(
                "`most` is how many categories get a column, from 1 to {MOST}, and this is {other}"
            );
            evaluator.report(Problem::error("types::categories", given.span, message));
            None
        }
    }
}

/// A column that is encoded.
struct Encoded<'c> {
    name: &'c str,
    /// Without its `?`.
    ty: &'c Type,
    by: &'c str,
    most: Option<i64>,
}

impl Encoded<'_> {
    /// What it may hold where the encoder is used, and what becomes of it.
    fn types(&self, evaluator: &mut Evaluator<'_>, span: Span) -> Option<(Type, Type)> {
        let Self { name, ty, by, most } = self;
        if SCALES.contains(by) {
            if ty.is_number() {
                return Some((Type::Float, Type::Float));
            }
            let message = format!("`{name}` is `{ty}`, and `by: \"{by}\"` scales numbers");
            let problem = Problem::error("types::mismatch", span, message);
            evaluator.report(match ty {
                Type::Str | Type::Enum(_) => problem.help(
                    "texts become numbers with `by: \"ordinal\"`, `\"one_hot\"` or `\"frequency\"`",
                ),
                Type::Duration | Type::Size => problem.help(format!(
                    "make it a number before, in a unit: `data.derive({name}: row => row.{name} / {})`",
                    if matches!(ty, Type::Size) { "1MB" } else { "1s" }
                )),
                _ => problem,
            });
            return None;
        }
        if !matches!(ty, Type::Str | Type::Enum(_)) {
            let message = format!("`{name}` is `{ty}`, and categories are texts");
            let problem = Problem::error("types::categories", span, message);
            evaluator.report(match ty.is_number() {
                true => problem.help(
                    "numbers are scaled with `by: \"standard\"`, `\"robust\"` or `\"min_max\"`",
                ),
                false => problem,
            });
            return None;
        }
        let made = match (*by, ty, most) {
            ("ordinal", ..) => Type::Int.optional(),
            ("frequency", ..) => Type::Float,
            (_, _, Some(most)) => {
                let numbers = (1..=*most).map(|at| at.to_string()).chain(["other".to_owned()]);
                truths(name, numbers)
            }
            (_, Type::Enum(values), None) => truths(name, values.iter().cloned()),
            _ => {
                let message =
                    format!("`{name}` is `str`, which does not say how many columns it becomes");
                let problem = Problem::error("types::categories", span, message);
                evaluator.report(problem.help("say how many of the most frequent texts get a column of their own, `most: 8`, or read the column as an enumeration: `\"a\" | \"b\"`"));
                return None;
            }
        };
        Some((Type::Str, made))
    }
}

fn truths(name: &str, ends: impl Iterator<Item = String>) -> Type {
    Type::record(ends.map(|end| (Rc::from(format!("{name}_{end}")), Type::Bool)).collect())
}

/// The row with the columns of an encoder in place of those it takes.
pub(super) fn encoded<'a>(
    evaluator: &mut Evaluator<'a>,
    call: &mut NativeCall<'a>,
) -> Option<Type> {
    let row = subject(evaluator, call)?;
    evaluator.check_encoder(call);
    let with = call.values.get("with")?.clone();
    let table = call.native.params.first().and_then(|param| call.values.get(&param.name))?.span;
    let open = || Some(Type::table(Record { open: true, ..row.clone() }));
    let Type::Artifact(encoder) = &with.value.ty else { return open() };
    let [Type::Record(takes), Type::Record(gives)] = &*encoder.args else { return open() };
    for (name, wanted) in &takes.fields {
        let problem = match row.field(name) {
            None if row.open => continue,
            None => {
                let message = format!("the encoder has been fitted on `{name}`, which is not here");
                let label = format!("its columns: {}", crate::types::columns_text(&row));
                let problem = Problem::error("types::missing_column", table, message).label(label);
                match &row.spread {
                    Some(rest) => problem.help(format!(
                        "say that the rows have it: `Table<{{ {name}: {wanted}, ..{rest} }}>`"
                    )),
                    None => problem,
                }
            }
            Some(found) if fits(wanted, found.required().0) => continue,
            Some(found) => {
                let what = if *wanted == Type::Str { "texts" } else { "numbers" };
                let message =
                    format!("`{name}` is `{found}`, and the encoder has been fitted on {what}");
                Problem::error("types::mismatch", table, message)
            }
        };
        evaluator.report(problem.also(with.span, "the encoder"));
        call.broken = true;
        return open();
    }
    let mut made = Record { fields: Vec::new(), ..row.clone() };
    for (name, ty) in &row.fields {
        let optional = ty.required().1;
        match gives.field(name) {
            None => made.fields.push((Rc::clone(name), ty.clone())),
            Some(Type::Record(columns)) => made.fields.extend(columns.fields.iter().cloned()),
            Some(one) => {
                let one = if optional { one.clone().optional() } else { one.clone() };
                made.fields.push((Rc::clone(name), one));
            }
        }
    }
    let twice = (1..made.fields.len()).find(|at| {
        let name = made.fields.get(*at).map(|(name, _)| name);
        made.fields.iter().take(*at).any(|(earlier, _)| Some(earlier) == name)
    });
    if let Some((name, _)) = twice.and_then(|at| made.fields.get(at)) {
        let message = format!("the result has the column `{name}` already");
        let problem = Problem::error("types::duplicate_column", table, message);
        evaluator.report(problem.help("rename it first: `data.rename(..)`"));
        call.broken = true;
        return open();
    }
    Some(Type::table(made))
}

fn fits(wanted: &Type, found: &Type) -> bool {
    match wanted {
        Type::Str => matches!(found, Type::Str | Type::Enum(_) | Type::Error),
        _ => found.is_number() || found.is_error(),
    }
}
