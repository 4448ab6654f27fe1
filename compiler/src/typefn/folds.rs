//! `data.folds`: as many pairs of parts as `k` says.

use super::derive::subject;
use crate::eval::{Evaluator, NativeCall};
use crate::types::{TableType, Type};
use crate::value::Const;
use pipe_grammar::Problem;
use std::rc::Rc;

/// The parts of a fold.
pub(crate) const PARTS: [&str; 2] = ["train", "valid"];

pub(super) fn result<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let row = Rc::new(subject(evaluator, call)?);
    super::split::group_needs_key(evaluator, call)?;
    evaluator.check_overlap(call);
    let given = call.values.get("k")?;
    match given.value.as_const() {
        Some(Const::Int(2..=1_000)) | None => {}
        Some(other) => {
            let message =
                format!("`k` is the number of folds, from 2 to 1000, and this is {other}");
            evaluator.report(Problem::error("types::fold_count", given.span, message));
            return None;
        }
    }
    let table = |part: &str| {
        let table = TableType { row: Type::Record(Rc::clone(&row)), part: Some(Rc::from(part)) };
        (Rc::from(part), Type::Table(Rc::new(table)))
    };
    Some(Type::List(Rc::new(Type::record(PARTS.map(table).into()))))
}
