//! What has to be known before the run, and the error when it is not.

use super::arguments::Given;
use super::signature::NativeParam;
use super::{Evaluator, Native, Typed, Value};
use crate::plan::GIVEN;
use crate::types::Type;
use pipe_grammar::Problem;

const FILES: &str = "which files are read is part of the plan, with their contents";

impl<'a> Evaluator<'a> {
    /// Whether an argument may be known only in the run, or is known. Reports one that must be known and is not.
    pub(super) fn is_known(
        &mut self,
        native: &Native,
        param: &NativeParam,
        given: &Given<'a>,
    ) -> bool {
        if native.fold || !in_run(&given.value) {
            return true;
        }
        let why = if names_files(&param.ty) {
            FILES
        } else if param.column {
            "it names columns, and those are checked before the run"
        } else if native.types.is_some() && !native.is_search() && !is_data(&param.ty) {
            "the columns of the result depend on it, and those are checked before the run"
        } else {
            return true;
        };
        self.unknown_before(&format!("`{}` of `{}`", param.name, native.op), given, why);
        false
    }

    /// The error of something that is known only in the run and has to be known before.
    pub(super) fn unknown_before(&mut self, what: &str, given: &Given<'a>, why: &str) -> Typed<'a> {
        let message = format!("{what} must be known before the run");
        let mut problem =
            Problem::error("plan::known_before", given.span, message).label(why.to_owned());
        problem = match self.binder_in(&given.value) {
            Some(span) => problem
                .also(span, "takes its values in the run")
                .help("take it from a `param` or from a list that the program writes, which unfolds before the run"),
            None if why == FILES => problem.help(
                "take it from a `param`, or choose between what is read: `if condition { data.read(\"a.csv\") } else { data.read(\"b.csv\") }`",
            ),
            None => problem.help("take it from a `param`, or write it down"),
        };
        self.fail(problem)
    }

    /// Where the variable is bound that a value reads.
    fn binder_in(&self, value: &Typed<'a>) -> Option<pipe_grammar::Span> {
        match &value.value {
            Value::Node(node) => {
                let draft = self.drafts.get(node.node)?;
                (draft.op == GIVEN).then_some(draft.span)
            }
            Value::Scalar(scalar) => {
                let mut used = Vec::new();
                super::row::collect(&scalar.expr, &mut used);
                used.iter().find_map(|number| {
                    let super::LeafSource::Node(node) = &self.leaves.get(*number as usize)?.source
                    else {
                        return None;
                    };
                    let draft = self.drafts.get(node.node)?;
                    (draft.op == GIVEN).then_some(draft.span)
                })
            }
            Value::List(items) => items.iter().find_map(|item| self.binder_in(item)),
            Value::Record(fields) => fields.values().find_map(|field| self.binder_in(field)),
            _ => None,
        }
    }
}

/// Whether something in a value is known only in the run.
pub(super) fn in_run(value: &Typed<'_>) -> bool {
    match &value.value {
        Value::Node(_) | Value::Scalar(_) => true,
        Value::List(items) => items.iter().any(in_run),
        Value::Record(fields) => fields.values().any(in_run),
        _ => false,
    }
}

fn names_files(ty: &Type) -> bool {
    match ty {
        Type::Path => true,
        Type::Optional(inner) | Type::List(inner) => names_files(inner),
        Type::Union(members) => members.iter().any(names_files),
        _ => false,
    }
}

/// Whether only ops make values of the type, so that no column can depend on them.
fn is_data(ty: &Type) -> bool {
    match ty {
        Type::Table(_) | Type::Artifact(_) | Type::Function(_) | Type::Any | Type::Var(_) => true,
        Type::Optional(inner) | Type::List(inner) => is_data(inner),
        _ => false,
    }
}
