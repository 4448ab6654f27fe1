//! `data.pivot`, `data.unpivot`, `data.rename`, `data.drop`, `data.distinct`, `data.fill`, `data.encode`.

use super::grouping::{Groups, gathered};
use crate::call::Call;
use crate::table::{Table, quoted};
use pipe_row::ir::{Scalar, Ty};
use pipe_row::{Column, Values};
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use std::collections::BTreeMap;

pub(super) fn pivot(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let by = call.args.strings("by")?;
    let names = call.names("columns")?;
    let name = call.args.str("name")?;
    let texts = table.texts(name)?;
    let value = table.column(call.args.str("value")?)?;
    let groups = Groups::of(&table, &by)?;
    let mut found: Vec<Vec<Option<usize>>> = vec![vec![None; groups.len()]; names.len()];
    for (group, rows) in groups.each().enumerate() {
        for row in rows {
            let Some(text) = texts.get(*row).and_then(Option::as_deref) else { continue };
            let Some(at) = names.iter().position(|name| name == text) else { continue };
            let Some(place) = found.get_mut(at).and_then(|column| column.get_mut(group)) else {
                continue;
            };
            if let Some(first) = place.replace(*row) {
                return Err(twice(&table, &by, text, first, *row));
            }
        }
    }
    let mut columns = Vec::new();
    for name in by {
        columns.push((name.to_owned(), gathered(&table.column(name)?, groups.firsts().map(Some))));
    }
    for (name, rows) in names.into_iter().zip(found) {
        columns.push((name, gathered(&value, rows.into_iter())));
    }
    call.give_table(&Table::new(columns)?)
}

fn twice(table: &Table, by: &[&str], text: &str, first: usize, second: usize) -> OpError {
    let key = by.iter().filter_map(|name| {
        Some(format!("`{name}` {}", shown(&table.column(name).ok()?.get(second))))
    });
    OpError::new(
        "run::pivot_twice",
        format!(
            "Rows {} and {} both have a value `{text}` for {}.",
            first + 1,
            second + 1,
            key.collect::<Vec<_>>().join(", ")
        ),
    )
    .help("make one value of them first, with `data.group`")
}

fn shown(value: &Scalar) -> String {
    match value {
        Scalar::None => "(missing)".to_owned(),
        Scalar::Str(text) => format!("\"{text}\""),
        Scalar::Float(value) => value.to_string(),
        Scalar::Int(value) | Scalar::Size(value) => value.to_string(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Time(nanos) => crate::time::show_time(*nanos),
        Scalar::Duration(nanos) => format!("{} s", *nanos as f64 / 1e9),
    }
}

pub(super) fn unpivot(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let wide = call.names("columns")?;
    let each = |row: usize| std::iter::repeat_n(Some(row), wide.len());
    let mut columns = Vec::new();
    for (name, column) in table.columns()? {
        if !wide.contains(&name) {
            columns.push((name, gathered(&column, (0..table.rows()).flat_map(each))));
        }
    }
    let names = (0..table.rows()).flat_map(|_| wide.iter());
    columns.push((call.args.str("name")?.to_owned(), Column::text(names)));
    let parts: Vec<Column> =
        wide.iter().map(|name| table.column(name)).collect::<Result<_, _>>()?;
    columns.push((call.args.str("value")?.to_owned(), woven(&parts, table.rows(), &wide)?));
    call.give_table(&Table::new(columns)?)
}

/// The values of several columns row by row; whole numbers become floats where one of them has floats.
fn woven(parts: &[Column], rows: usize, names: &[String]) -> Result<Column, OpError> {
    let float = parts.iter().any(|part| part.ty() == Ty::Float);
    let mut ty = None;
    for part in parts {
        let here = if float && part.ty() == Ty::Int { Ty::Float } else { part.ty() };
        if ty.replace(here).is_some_and(|known| known != here) {
            let message = format!("The columns {} hold values of several types.", quoted(names));
            return Err(OpError::new("run::column_type", message));
        }
    }
    let mut values = Values::empty(ty.unwrap_or(Ty::Str));
    let mut valid = Vec::with_capacity(rows * parts.len());
    for row in 0..rows {
        for part in parts {
            valid.push(part.is_present(row));
            match (&mut values, part.get(row)) {
                (Values::Float(v), Scalar::Float(value)) => v.push(value),
                #[expect(clippy::cast_precision_loss, reason = "whole numbers lie within 2^53")]
                (
                    Values::Float(v) | Values::Int(v) | Values::Size(v),
                    Scalar::Int(value) | Scalar::Size(value),
                ) => v.push(value as f64),
                (Values::Float(v) | Values::Int(v) | Values::Size(v), _) => v.push(0.0),
                (Values::Bool(v), value) => v.push(value == Scalar::Bool(true)),
                (Values::Str(v), Scalar::Str(text)) => v.push(&text),
                (Values::Str(v), _) => v.push(""),
                (Values::Time(v), Scalar::Time(nanos)) => v.push(nanos),
                (Values::Duration(v), Scalar::Duration(nanos)) => v.push(nanos),
                (Values::Time(v) | Values::Duration(v), _) => v.push(0),
            }
        }
    }
    Column::new(values, Some(valid)).map_err(|error| {
        OpError::new("run::inexact", format!("The values cannot be held: {error}."))
    })
}

pub(super) fn rename(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let names = call.args.record("names")?;
    let mut new: BTreeMap<&str, &str> = BTreeMap::new();
    for name in names.names() {
        let old = names.str(name)?;
        table.ty(old)?;
        new.insert(old, name);
    }
    let columns = table.columns()?.into_iter().map(|(name, column)| {
        let name = new.get(name.as_str()).map_or(name.clone(), |new| (*new).to_owned());
        (name, column)
    });
    call.give_table(&Table::new(columns.collect())?)
}

pub(super) fn drop_columns(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let gone = call.names("columns")?;
    for name in &gone {
        table.ty(name)?;
    }
    let kept = table.columns()?.into_iter().filter(|(name, _)| !gone.contains(name));
    call.give_table(&Table::new(kept.collect())?)
}

pub(super) fn distinct(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let all = table.names();
    let by = call.args.strings("by")?;
    let by = if by.is_empty() { all.iter().map(String::as_str).collect() } else { by };
    let mut keep = vec![false; table.rows()];
    for first in Groups::of(&table, &by)?.firsts() {
        if let Some(keep) = keep.get_mut(first) {
            *keep = true;
        }
    }
    call.give_table(&table.filtered(&keep)?)
}

pub(super) fn fill(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let names = call.names("columns")?;
    let series = Groups::of(&table, &call.args.strings("over")?)?;
    let after = call.args.str("from")? == "after";
    for name in &names {
        table.ty(name)?;
    }
    let mut columns = Vec::new();
    for (name, column) in table.columns()? {
        if !names.contains(&name) || column.first_missing().is_none() {
            columns.push((name, column));
            continue;
        }
        let mut source: Vec<Option<usize>> = vec![None; table.rows()];
        for rows in series.each() {
            let mut last = None;
            let mut see = |row: &usize| {
                last = if column.is_present(*row) { Some(*row) } else { last };
                if let Some(place) = source.get_mut(*row) {
                    *place = last;
                }
            };
            if after {
                rows.iter().rev().for_each(&mut see)
            } else {
                rows.iter().for_each(&mut see)
            }
        }
        columns.push((name, gathered(&column, source.into_iter())));
    }
    call.give_table(&Table::new(columns)?)
}

pub(super) fn encode(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let one_hot = call.args.str("by")? == "one_hot";
    let categories = call.args.record("categories")?;
    let wanted = categories.names();
    let mut columns = Vec::new();
    for (name, column) in table.columns()? {
        if !wanted.contains(&name.as_str()) {
            columns.push((name, column));
            continue;
        }
        let known = categories.strings(&name)?;
        let place = |text: &Option<String>| {
            text.as_deref().and_then(|text| known.iter().position(|known| *known == text))
        };
        let texts = table.texts(&name)?;
        let places: Vec<Option<usize>> = texts.iter().map(place).collect();
        let mut unknown = texts
            .iter()
            .zip(&places)
            .filter(|(_, at)| at.is_none())
            .filter_map(|(text, _)| text.as_ref());
        if let Some(example) = unknown.next() {
            call.context.warn(&format!(
                "`{name}`: {} of {} rows hold none of the categories, such as `{example}`.",
                unknown.count() + 1,
                table.rows()
            ));
        }
        if one_hot {
            for (at, category) in known.iter().enumerate() {
                let truths = places.iter().map(|place| *place == Some(at)).collect();
                columns.push((format!("{name}_{category}"), Column::boolean(truths)));
            }
        } else {
            let numbers =
                places.into_iter().map(|place| place.and_then(|at| i64::try_from(at).ok()));
            let column = Column::optional_int(numbers)
                .map_err(|error| OpError::new("run::inexact", format!("{error}.")))?;
            columns.push((name, column));
        }
    }
    call.give_table(&Table::new(columns)?)
}
