//! A type for the rows of a file, as a program would declare it.

use super::{Reading, Schema};
use crate::plan::Column;
use crate::value::{FieldName, Quoted};
use pipe_row::ir::Ty;
use std::fmt::Write;

/// `type Name = { .. }` with a field for each column. What is a guess stands behind it as a comment: columns without any value,
/// and columns of few different texts, which may be an enumeration.
#[must_use]
pub fn declaration(name: &str, schema: &Schema) -> String {
    let mut text = format!("type {name} = {{\n");
    for column in &schema.columns {
        let optional = if column.optional { "?" } else { "" };
        let field = FieldName(&column.name);
        let _ =
            writeln!(text, "  {field}: {}{optional},{}", column.ty.name(), note(column, schema));
    }
    text.push_str("}\n");
    text
}

fn note(column: &Column, schema: &Schema) -> String {
    if schema.empty.contains(&column.name) {
        return "  # no value in the first rows".into();
    }
    let Some(values) = schema.few.get(&column.name).filter(|_| column.ty == Ty::Str) else {
        return String::new();
    };
    let values: Vec<String> = values.iter().map(|value| Quoted(value).to_string()).collect();
    match (values.len(), column.optional) {
        (_, false) => format!("  # or {}", values.join(" | ")),
        (1, true) => format!("  # or {}?", values.join("")),
        (_, true) => format!("  # or ({})?", values.join(" | ")),
    }
}

/// A name for the type of the rows of a file: `Orders` for `data/orders-2024.csv`.
#[must_use]
pub fn type_name(path: &str) -> String {
    let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default();
    let words = stem.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let name: String = words
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + rest
        })
        .collect();
    if name.is_empty() { "Row".into() } else { name }
}

/// The arguments of `data.read` that a file needs: `, decimal: ","`.
#[must_use]
pub fn arguments(how: Reading) -> String {
    let decimal = if how.decimal_comma { ", decimal: \",\"" } else { "" };
    let names = if how.numbered { ", names: \"numbered\"" } else { "" };
    format!("{decimal}{names}")
}
