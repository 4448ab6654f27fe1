//! Values known before anything runs.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
