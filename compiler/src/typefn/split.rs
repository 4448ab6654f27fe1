//! `data.split`: a record of the parts that have a share.

use super::derive::subject;
use crate::eval::{Evaluator, NativeCall};
use crate::types::{TableType, Type};
use crate::value::Const;
use pipe_grammar::Problem;
use std::rc::Rc;

/// The parts, in the order in which a series is cut.
const PARTS: [&str; 4] = ["train", "valid", "calib", "test"];

pub(super) fn result<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let row = Rc::new(subject(evaluator, call)?);
    let mut fields = Vec::new();
    let mut sum = 0.0;
    let mut known = true;
    for name in PARTS {
        let Some(given) = call.values.get(name) else { continue };
        let share = match given.value.as_const() {
            Some(Const::Float(share)) => *share,
            _ => {
                known = false;
                1e-12
            }
        };
        if !(0.0..=1.0).contains(&share) {
            let message =
                format!("`{name}` is a share of the rows, between 0 and 1, and this is {share}");
            evaluator.report(Problem::error("types::split_share", given.span, message));
            return None;
        }
        sum += share;
        if share > 0.0 {
            let part = Some(Rc::from(name));
            let table = TableType { row: Type::Record(Rc::clone(&row)), part };
            fields.push((Rc::from(name), Type::Table(Rc::new(table))));
        }
    }
    if known && fields.is_empty() {
        let problem =
            Problem::error("types::split_share", call.site.callee, "no part gets any rows");
        evaluator.report(problem.help("give shares: `train: 0.8, test: 0.2`"));
        return None;
    }
    if known && sum > 1.0 + 1e-9 {
        let message = format!("the shares add up to {sum:.3}, which is more than 1");
        evaluator.report(Problem::error("types::split_share", call.site.span, message));
        return None;
    }
    group_needs_key(evaluator, call)?;
    evaluator.check_overlap(call);
    Some(Type::record(fields))
}

/// Rows are kept together by groups only when a `key` says what a group is.
pub(super) fn group_needs_key<'a>(
    evaluator: &mut Evaluator<'a>,
    call: &NativeCall<'a>,
) -> Option<()> {
    let wants_key = matches!(call.values.get("by").and_then(|by| by.value.text()), Some("group"));
    if wants_key && !call.rows.contains_key("key") && !call.broken {
        let message = "a split by group needs to know what makes a group";
        let problem = Problem::error("types::missing_argument", call.site.callee, message);
        evaluator.report(problem.help("add `key: row => row.name`"));
        return None;
    }
    Some(())
}
