//! The numbers that outputs and checks hold, by place: `quality.f1`, `losses[2]`, `alerts.rows`.

use crate::value::Value;
use std::collections::BTreeMap;

/// Numbers of one output that are kept; what has more is data, not figures.
const MOST: usize = 200;

/// Longer lists are data.
const LONGEST: usize = 32;

/// Find the numbers in a value: whole numbers and floats as they are, durations in seconds, sizes in bytes, of artifacts
/// what they tell of themselves.
pub(crate) fn find(place: &str, value: &Value, found: &mut BTreeMap<String, f64>) {
    let mut own = BTreeMap::new();
    walk(place, value, &mut own);
    found.extend(own);
}

#[expect(clippy::cast_precision_loss, reason = "figures for people to compare")]
fn walk(place: &str, value: &Value, found: &mut BTreeMap<String, f64>) {
    let number = match value {
        Value::Int(value) | Value::Size(value) => Some(*value as f64),
        Value::Duration(nanos) => Some(*nanos as f64 / 1e9),
        Value::Float(value) => Some(*value),
        _ => None,
    };
    if let Some(number) = number
        && found.len() < MOST
    {
        found.insert(place.to_owned(), number);
    }
    match value {
        Value::List(items) if items.len() <= LONGEST => {
            for (at, item) in items.iter().enumerate() {
                walk(&format!("{place}[{at}]"), item, found);
            }
        }
        Value::Record(fields) => {
            fields.iter().for_each(|(name, field)| walk(&format!("{place}.{name}"), field, found));
        }
        Value::Artifact(artifact) => {
            let fields = artifact.meta.iter();
            fields.for_each(|(name, field)| walk(&format!("{place}.{name}"), field, found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_places() {
        let value = Value::record([
            ("f1", Value::Float(0.5)),
            ("rows", Value::Int(3)),
            ("took", Value::Duration(1_500_000_000)),
            ("name", Value::Str("a".to_owned())),
            ("parts", Value::List(vec![Value::Int(1), Value::record([("b", Value::Int(2))])])),
            ("data", Value::List(vec![Value::Int(1); 1000])),
        ]);
        let mut found = BTreeMap::new();
        find("q", &value, &mut found);
        let found: Vec<(&str, f64)> =
            found.iter().map(|(place, value)| (place.as_str(), *value)).collect();
        let expected = [
            ("q.f1", 0.5),
            ("q.parts[0]", 1.0),
            ("q.parts[1].b", 2.0),
            ("q.rows", 3.0),
            ("q.took", 1.5),
        ];
        assert_eq!(found, expected);
    }
}
