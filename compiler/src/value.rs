//! Values known before anything runs.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Const {
    /// `none`.
    None,
    /// `true`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A float; enters keys by its bits, with one NaN and `-0.0` as `0.0`.
    Float(f64),
    /// Text, and values of string enumerations.
    Str(String),
    /// A path inside the project, as written.
    Path(String),
    /// Nanoseconds since 1970-01-01 UTC.
    Time(i64),
    /// Nanoseconds.
    Duration(i64),
    /// Bytes.
    Size(i64),
    /// A list.
    List(Vec<Const>),
    /// A record; field order is never part of a value.
    Record(BTreeMap<String, Const>),
}

/// Units of durations from the largest, with nanoseconds per unit.
const DURATIONS: [(&str, i64); 8] = [
    ("w", 604_800_000_000_000),
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Units of sizes from the largest, with bytes per unit.
const SIZES: [(&str, i64); 9] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("KB", 1_000),
    ("B", 1),
];

/// A constant as it is written in `.pipe`. Equal values print equally, different values differently.
impl fmt::Display for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => f.write_str(&float(*value)),
            Self::Str(text) => write!(f, "{}", Quoted(text)),
            Self::Path(text) => write!(f, "path({})", Quoted(text)),
            Self::Time(nanos) => f.write_str(&crate::time::format(*nanos)),
            Self::Duration(nanos) => f.write_str(&with_unit(*nanos, &DURATIONS, "s")),
            Self::Size(bytes) => f.write_str(&with_unit(*bytes, &SIZES, "B")),
            Self::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Self::Record(fields) => {
                f.write_str("{")?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    let comma = if at == 0 { " " } else { ", " };
                    write!(f, "{comma}{}: {value}", FieldName(name))?;
                }
                f.write_str(if fields.is_empty() { "}" } else { " }" })
            }
        }
    }
}

/// Text in quotes with `.pipe` escapes.
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for letter in self.0.chars() {
            match letter {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                '\r' => f.write_str("\\r")?,
                '$' => f.write_str("\\$")?,
                other => write!(f, "{other}")?,
            }
        }
        f.write_str("\"")
    }
}

/// A field's name, in quotes when it is not a word.
pub struct FieldName<'a>(pub &'a str);

impl fmt::Display for FieldName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.0.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && self.0.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if word { f.write_str(self.0) } else { write!(f, "{}", Quoted(self.0)) }
    }
}

/// The shortest text that reads back as the same float; always recognisable as a float.
#[must_use]
pub fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value == 0.0 {
        return "0.0".into();
    }
    format!("{value:?}")
}

fn with_unit(amount: i64, units: &[(&'static str, i64)], zero: &str) -> String {
    if amount == 0 {
        return format!("0{zero}");
    }
    let fitting = units.iter().find(|(_, each)| amount % each == 0);
    fitting.map_or_else(
        || format!("{amount}{zero}"),
        |(unit, each)| format!("{}{unit}", amount / each),
    )
}
