//! `data.concat`: the columns that all tables have, each wide enough for all. That is the type of the list's items.

use crate::eval::{Evaluator, NativeCall, Value};
use crate::types::{Record, Type};
use pipe_grammar::Problem;
use std::rc::Rc;

pub(super) fn result<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let given = call.values.get("tables").cloned()?;
    if matches!(&given.value.value, Value::List(items) if items.is_empty()) {
        let message = "there is no table in this list";
        evaluator.report(Problem::error("types::empty_list", given.span, message));
        return None;
    }
    let Type::List(item) = &given.value.ty else { return None };
    match &**item {
        Type::Table(table) => match &table.row {
            Type::Record(row) => Some(Type::table((**row).clone())),
            row => {
                Some(Type::Table(Rc::new(crate::types::TableType { row: row.clone(), part: None })))
            }
        },
        Type::Error => Some(Type::table(Record { open: true, ..Record::default() })),
        other => {
            let message = format!("`data.concat` takes tables, and these are `{other}`");
            evaluator.report(Problem::error("types::mismatch", given.span, message));
            None
        }
    }
}
