//! Values at run time: scalars, lists, records, and artifacts that live in the store.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an op takes and gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// Missing.
    None,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A float. JSON has no NaN or infinities: they are written as text.
    Float(#[serde(with = "float_text")] f64),
    /// Text.
    Str(String),
    /// Nanoseconds since 1970-01-01 UTC.
    Time(i64),
    /// Nanoseconds.
    Duration(i64),
    /// Bytes.
    Size(i64),
    /// A list.
    List(Vec<Value>),
    /// A record.
    Record(BTreeMap<String, Value>),
    /// Data in the store.
    Artifact(Artifact),
}

/// Data in the store: a file or a folder, known by the digest of its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// `table`, `tokenizer`, `tokens`, `model`, `report`, `detector`, ...
    pub kind: String,
    /// BLAKE3 of the content, hex; for a folder of its sorted (name, digest) list.
    pub digest: String,
    /// Size of the content.
    pub bytes: u64,
    /// Names of the files when it is a folder (sorted), empty for a single file.
    pub files: Vec<String>,
    /// File name extension for outputs, without the dot (`arrow`, `json`, `html`), empty for a folder.
    pub extension: String,
    /// Readable fields, such as `rows` or `size`.
    pub meta: BTreeMap<String, Value>,
}

mod float_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Number(f64),
        Text(String),
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            serializer.serialize_f64(*value)
        } else {
            serializer.collect_str(value)
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Form::deserialize(deserializer)? {
            Form::Number(value) => Ok(value),
            Form::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}
