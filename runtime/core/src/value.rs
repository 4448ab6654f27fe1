//! Values at run time: scalars, lists, records, and artifacts that live in the store.

use crate::op::OpError;
use blake3::Hasher;
use pipe_compiler::value::Const;
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

impl Value {
    /// Digest of the value, hex: BLAKE3 over a tagged, length-prefixed encoding. Equal values have equal
    /// digests, whatever the order of fields; all NaNs are one value and `-0.0` is `0.0`.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hasher = Hasher::new();
        hasher.update(b"pipe-value\x001");
        self.feed(&mut hasher);
        hasher.finalize().to_hex().to_string()
    }

    fn feed(&self, hasher: &mut Hasher) {
        match self {
            Self::None => drop(hasher.update(&[0])),
            Self::Bool(value) => drop(hasher.update(&[1, u8::from(*value)])),
            Self::Int(value) => number(hasher, 2, *value),
            Self::Float(value) => {
                hasher.update(&[3]).update(&canonical(*value).to_bits().to_le_bytes());
            }
            Self::Str(value) => text(hasher, 4, value),
            Self::Time(value) => number(hasher, 5, *value),
            Self::Duration(value) => number(hasher, 6, *value),
            Self::Size(value) => number(hasher, 7, *value),
            Self::List(items) => {
                length(hasher, 8, items.len());
                items.iter().for_each(|item| item.feed(hasher));
            }
            Self::Record(fields) => feed_fields(hasher, 9, fields),
            Self::Artifact(artifact) => {
                text(hasher, 10, &artifact.kind);
                text(hasher, 10, &artifact.digest);
                feed_fields(hasher, 10, &artifact.meta);
            }
        }
    }

    /// The part of the value at `path`: fields of records, or readable fields of an artifact.
    ///
    /// # Errors
    /// When there is no such field.
    pub fn project(&self, path: &[String]) -> Result<&Self, OpError> {
        let mut found = self;
        for name in path {
            let field = match found {
                Self::Record(fields) => fields.get(name),
                Self::Artifact(artifact) => artifact.meta.get(name),
                _ => None,
            };
            found = field.ok_or_else(|| {
                OpError::new("run::field", format!("The result has no field `{}`.", path.join(".")))
                    .help("The op and its signature disagree; please report this.")
            })?;
        }
        Ok(found)
    }

    /// Every artifact within the value, in field order.
    pub fn artifacts<'a>(&'a self, found: &mut Vec<&'a Artifact>) {
        match self {
            Self::Artifact(artifact) => found.push(artifact),
            Self::List(items) => items.iter().for_each(|item| item.artifacts(found)),
            Self::Record(fields) => fields.values().for_each(|field| field.artifacts(found)),
            _ => {}
        }
    }

    /// A record of these fields.
    pub fn record<N: Into<String>>(fields: impl IntoIterator<Item = (N, Self)>) -> Self {
        Self::Record(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// What kind of value it is, in the words of the language.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match self {
            Self::None => "none",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "str",
            Self::Time(_) => "time",
            Self::Duration(_) => "duration",
            Self::Size(_) => "size",
            Self::List(_) => "a list",
            Self::Record(_) => "a record",
            Self::Artifact(artifact) => &artifact.kind,
        }
    }
}

impl From<&Const> for Value {
    fn from(constant: &Const) -> Self {
        match constant {
            Const::None => Self::None,
            Const::Bool(value) => Self::Bool(*value),
            Const::Int(value) => Self::Int(*value),
            Const::Float(value) => Self::Float(*value),
            Const::Str(value) | Const::Path(value) => Self::Str(value.clone()),
            Const::Time(value) => Self::Time(*value),
            Const::Duration(value) => Self::Duration(*value),
            Const::Size(value) => Self::Size(*value),
            Const::List(items) => Self::List(items.iter().map(Self::from).collect()),
            Const::Record(fields) => {
                Self::record(fields.iter().map(|(name, field)| (name, Self::from(field))))
            }
        }
    }
}

/// One NaN, one zero.
fn canonical(value: f64) -> f64 {
    if value.is_nan() {
        f64::NAN
    } else if value == 0.0 {
        0.0
    } else {
        value
    }
}

fn number(hasher: &mut Hasher, tag: u8, value: i64) {
    hasher.update(&[tag]).update(&value.to_le_bytes());
}

fn length(hasher: &mut Hasher, tag: u8, items: usize) {
    hasher.update(&[tag]).update(&(items as u64).to_le_bytes());
}

fn text(hasher: &mut Hasher, tag: u8, value: &str) {
    length(hasher, tag, value.len());
    hasher.update(value.as_bytes());
}

fn feed_fields(hasher: &mut Hasher, tag: u8, fields: &BTreeMap<String, Value>) {
    length(hasher, tag, fields.len());
    for (name, field) in fields {
        text(hasher, 4, name);
        field.feed(hasher);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_depend_on_content_alone() {
        let one = Value::record([("a", Value::Int(1)), ("b", Value::Float(-0.0))]);
        let two = Value::record([("b", Value::Float(0.0)), ("a", Value::Int(1))]);
        assert_eq!(one.digest(), two.digest());
        let split = |parts: &[&str]| {
            Value::List(parts.iter().map(|part| Value::Str((*part).to_owned())).collect()).digest()
        };
        assert_ne!(split(&["ab", "c"]), split(&["a", "bc"]));
        assert_ne!(Value::Int(1).digest(), Value::Size(1).digest());
        // Pinned: stored results are found by such digests.
        let none = "440578a4cb048d629bb206aaddf9b250a71f1397d40367d9362bd4bf1d75daf3";
        assert_eq!(Value::None.digest(), none);
    }

    #[test]
    fn floats_survive_json() {
        for value in [0.1 + 0.2, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, f64::MAX] {
            let json = serde_json::to_string(&Value::Float(value)).unwrap();
            let back: Value = serde_json::from_str(&json).unwrap();
            assert_eq!(back.digest(), Value::Float(value).digest(), "{json}");
        }
    }

    #[test]
    fn fields_are_found_through_records_and_meta() {
        let table = Artifact {
            kind: "table".to_owned(),
            digest: "00".to_owned(),
            bytes: 1,
            files: Vec::new(),
            extension: "arrow".to_owned(),
            meta: BTreeMap::from([("rows".to_owned(), Value::Int(1200))]),
        };
        let value = Value::record([("train", Value::Artifact(table))]);
        let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(value.project(&path("train.rows")).unwrap(), &Value::Int(1200));
        assert_eq!(value.project(&path("train")).unwrap().describe(), "1,200 rows");
        assert_eq!(value.project(&path("train.no")).unwrap_err().code, "run::field");
    }
}
