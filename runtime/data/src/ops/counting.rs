//! `logs.count`: what a log says in each step of time, as numbers.

use super::resampling::Steps;
use crate::call::Call;
use crate::logs::template;
use crate::table::Table;
use pipe_row::Column;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use std::collections::BTreeSet;

pub(super) fn count_log(call: &Call) -> Result<Value, OpError> {
    let log = call.table("log")?;
    call.give_table(&counted(&log, call.positive_duration("every")?)?)
}

fn counted(log: &Table, every: i64) -> Result<Table, OpError> {
    let steps = Steps::over(&log.times("time")?, every)?;
    let (levels, messages) = (log.texts("level")?, log.texts("message")?);
    let mut counts: [Vec<i64>; 3] = [steps.each(0), steps.each(0), steps.each(0)];
    let mut templates: Vec<BTreeSet<u64>> = steps.each(BTreeSet::new());
    for ((step, level), message) in steps.of.iter().zip(&levels).zip(&messages) {
        let is_error = matches!(level.as_deref(), Some("error" | "fatal"));
        let is_warning = level.as_deref() == Some("warning");
        for (counts, add) in counts.iter_mut().zip([true, is_error, is_warning]) {
            if let Some(count) = counts.get_mut(*step) {
                *count += i64::from(add);
            }
        }
        if let Some(seen) = templates.get_mut(*step) {
            seen.insert(template(message.as_deref().unwrap_or_default()));
        }
    }
    let (distinct, new) = novelty(&templates);
    let [lines, errors, warnings] = counts;
    let whole = |values: &[i64]| {
        Column::bind_int(values).map_err(|error| OpError::new("run::inexact", format!("{error}.")))
    };
    Table::new(vec![
        ("time".to_owned(), Column::time(steps.starts())),
        ("log_lines".to_owned(), whole(&lines)?),
        ("log_errors".to_owned(), whole(&errors)?),
        ("log_warnings".to_owned(), whole(&warnings)?),
        ("log_templates".to_owned(), whole(&distinct)?),
        ("log_new".to_owned(), whole(&new)?),
    ])
}

/// Distinct templates of each step, and those among them that no earlier step had.
fn novelty(templates: &[BTreeSet<u64>]) -> (Vec<i64>, Vec<i64>) {
    let mut known: BTreeSet<u64> = BTreeSet::new();
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    templates
        .iter()
        .map(|step| {
            let before = known.len();
            known.extend(step);
            (count(step.len()), count(known.len() - before))
        })
        .unzip()
}
