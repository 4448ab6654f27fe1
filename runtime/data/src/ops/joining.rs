//! `data.join`.

use crate::call::Call;
use crate::table::{Table, polars_error, quoted};
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use polars::prelude::{DataFrameJoinOps, JoinArgs, JoinType, MaintainOrderJoin};

pub(super) fn join(call: &Call) -> Result<Value, OpError> {
    let (left, right) = (call.table("table")?, call.table("with")?);
    let how = match call.args.str("how")? {
        "left" => JoinType::Left,
        _ => JoinType::Inner,
    };
    call.give_table(&joined(&left, &right, &call.names("on")?, how, call.args.str("suffix")?)?)
}

/// `right`'s columns beside `left`'s, where the `on` columns are equal.
fn joined(
    left: &Table,
    right: &Table,
    on: &[String],
    how: JoinType,
    suffix: &str,
) -> Result<Table, OpError> {
    for name in on {
        let (here, there) = (left.ty(name)?, right.ty(name)?);
        if here != there {
            return Err(OpError::new(
                "run::join_types",
                format!(
                    "`{name}` is {here} in one table and {there} in the other, so no rows can be equal."
                ),
            ));
        }
    }
    let right = renamed(left, right, on, suffix)?;
    let mut args = JoinArgs::new(how);
    args.maintain_order = MaintainOrderJoin::LeftRight;
    let frame = left
        .frame()
        .join(right.frame(), on, on, args, None)
        .map_err(|error| polars_error(&error))?;
    Table::over(frame, left.sizes().union(right.sizes()).cloned().collect())
}

/// The right table with the suffix on names that both have.
fn renamed(left: &Table, right: &Table, on: &[String], suffix: &str) -> Result<Table, OpError> {
    let mut columns = Vec::new();
    for (name, column) in right.columns()? {
        let clashes = left.has(&name) && !on.contains(&name);
        let new = if clashes { format!("{name}{suffix}") } else { name };
        let taken = clashes && (left.has(&new) || right.has(&new));
        if taken {
            return Err(OpError::new(
                "run::join_names",
                format!(
                    "Both tables have {}, and `{new}` is taken too.",
                    quoted(&[new.trim_end_matches(suffix)])
                ),
            )
            .help("choose another `suffix`"));
        }
        columns.push((new, column));
    }
    Table::new(columns)
}
