//! `data.derive`: the row with more columns.

use crate::eval::{Evaluator, NativeCall};
use crate::types::{Record, Type};
use pipe_grammar::Problem;

pub(super) fn result<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let mut row = subject(evaluator, call)?;
    if call.rest.is_empty() && !call.broken {
        let message = format!("`{}` adds no column", call.native.op);
        let problem = Problem::error("types::missing_argument", call.site.callee, message);
        evaluator.report(
            problem.help("name a column and a function of rows: `share: row => row.a / row.b`"),
        );
        return None;
    }
    for (name, _) in &call.rest {
        let ty = call.rows.get(*name).map_or(Type::Error, |row| row.ty.clone());
        row.set(name, ty);
    }
    Some(Type::table(row))
}

/// The row of the call's first argument; `None` when it is not a table.
pub(super) fn subject<'a>(evaluator: &mut Evaluator<'a>, call: &NativeCall<'a>) -> Option<Record> {
    let (row, _, _) = evaluator.subject_row(call)?;
    Some((*row).clone())
}
