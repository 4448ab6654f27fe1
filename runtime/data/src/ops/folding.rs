//! `data.folds`: pairs of parts for cross-validation.

use super::splitting::{by_group, by_hash, by_rank, by_time, draw, group_keys, row_keys, times};
use crate::call::Call;
use crate::ops::shaping::evaluate;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use std::collections::BTreeMap;

pub(super) fn folds(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let k = call.count_from("k", 2)?;
    let seed = call.args.int("seed")?;
    let key =
        call.args.optional_row_fn("key")?.map(|function| evaluate(&table, function)).transpose()?;
    let by = call.args.str("by")?;
    let shares = |blocks: usize| vec![("", 1.0 / blocks as f64); blocks];
    let blocks = match by {
        "time" => by_time(&times(&table, key)?, &shares(k + 1)),
        "random" => by_rank(&draw(table.rows(), seed), &shares(k)),
        "group" => by_group(&group_keys(key, by)?, seed, &shares(k)),
        _ => by_hash(&row_keys(&table, key)?, seed, &shares(k)),
    };
    // What rounding leaves behind the last block belongs to it.
    let last = if by == "time" { k } else { k - 1 };
    let blocks: Vec<usize> = blocks.into_iter().map(|block| block.unwrap_or(last)).collect();
    let mut folds = BTreeMap::new();
    for fold in 1..=k {
        call.stop_if_cancelled()?;
        let held = if by == "time" { fold } else { fold - 1 };
        let learned = |block: usize| if by == "time" { block < held } else { block != held };
        let mut parts = BTreeMap::new();
        let train: Vec<bool> = blocks.iter().map(|block| learned(*block)).collect();
        let valid: Vec<bool> = blocks.iter().map(|block| *block == held).collect();
        for (name, keep) in [("train", train), ("valid", valid)] {
            let rows = table.filtered(&keep)?;
            if rows.rows() == 0 {
                call.context.warn(&format!(
                    "The part `{name}` of fold {fold} has no rows: {} are too few for {k} folds.",
                    table.rows()
                ));
            }
            parts.insert(name.to_owned(), call.give_table_as(&format!("{name}{fold}"), &rows)?);
        }
        folds.insert(fold.to_string(), Value::Record(parts));
    }
    Ok(Value::Record(folds))
}
