//! `data.select`: some columns, in the order given.

use super::derive::subject;
use crate::eval::{Evaluator, NativeCall};
use crate::types::{Record, Type};
use pipe_grammar::Problem;
use std::rc::Rc;

pub(super) fn result<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let row = subject(evaluator, call)?;
    let given = call.values.get("columns").cloned()?;
    let Some(names) = given.value.texts() else {
        return Some(Type::table(Record { open: true, ..Record::default() }));
    };
    let mut kept = Record { open: row.open, ..Record::default() };
    for name in &names {
        if kept.field(name).is_some() {
            let span = evaluator.text_in(given.span, name);
            evaluator.report(Problem::error(
                "types::duplicate_column",
                span,
                format!("`{name}` is selected twice"),
            ));
            return None;
        }
        let ty = row.field(name).cloned().unwrap_or(Type::Error);
        kept.fields.push((Rc::from(name.as_str()), ty));
    }
    Some(Type::table(kept))
}
