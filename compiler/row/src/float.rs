//! Floats in serialised expressions: formats such as JSON have no infinity and no NaN, so these are words.

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serializer};
use std::fmt;

const WORDS: [(&str, f64); 3] =
    [("nan", f64::NAN), ("inf", f64::INFINITY), ("-inf", f64::NEG_INFINITY)];

pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    let word = WORDS.iter().find(|(_, float)| float.total_cmp(value).is_eq());
    match word {
        Some((word, _)) => serializer.serialize_str(word),
        None if value.is_nan() => serializer.serialize_str("nan"),
        None => serializer.serialize_f64(*value),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    deserializer.deserialize_any(Float)
}

struct Float;

#[expect(clippy::cast_precision_loss, reason = "a float written without a fraction")]
impl Visitor<'_> for Float {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, `nan`, `inf` or `-inf`")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
        Ok(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<f64, E> {
        let known = WORDS.iter().find(|(known, _)| *known == word);
        known.map(|(_, value)| *value).ok_or_else(|| E::invalid_value(Unexpected::Str(word), &self))
    }
}
