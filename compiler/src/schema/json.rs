//! JSON Lines: one object a line.

use super::{FEW, Format, MAX_LINE, ROWS, Schema, SchemaError, is_blank, too_long};
use crate::plan::Column;
use pipe_row::ir::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// Whether a row and its end are in the head.
pub(super) fn has_row(head: &[u8]) -> bool {
    let mut lines = head.split_inclusive(|byte| *byte == b'\n');
    lines.any(|line| line.ends_with(b"\n") && !is_blank(line))
}

/// The columns are the fields of the first objects.
pub(super) fn schema(head: &[u8]) -> Result<Schema, SchemaError> {
    let mut order: Vec<String> = Vec::new();
    let mut seen: BTreeMap<String, Guess> = BTreeMap::new();
    let mut rows = 0;
    for (at, line) in head.split(|byte| *byte == b'\n').enumerate() {
        if is_blank(line) {
            continue;
        }
        if rows == ROWS {
            break;
        }
        if line.len() > MAX_LINE {
            return Err(too_long(format!("line {}", at + 1), "JSON Lines has one object a line"));
        }
        let object: serde_json::Map<String, serde_json::Value> = match serde_json::from_slice(line)
        {
            Ok(object) => object,
            Err(error) if rows == 0 => {
                let message = format!("line {} is not a JSON object: {error}", at + 1);
                return Err(SchemaError::new(message, "JSON Lines has one object a line"));
            }
            Err(_) => continue,
        };
        rows += 1;
        for (name, value) in &object {
            if !seen.contains_key(name) {
                order.push(name.clone());
            }
            seen.entry(name.clone()).or_default().see(value);
        }
    }
    let known = |name: &String| Some((name.clone(), seen.get(name)?));
    let guesses: Vec<(String, &Guess)> = order.iter().filter_map(known).collect();
    let empty = guesses.iter().filter(|(_, guess)| guess.present == 0);
    let empty = empty.map(|(name, _)| name.clone()).collect();
    let columns = guesses.iter().map(|(name, guess)| guess.column(name, rows)).collect();
    let few = guesses.iter().filter_map(|(name, guess)| Some((name.clone(), guess.few()?)));
    let few = few.collect();
    let (commas, header) = (BTreeSet::new(), String::new());
    Ok(Schema { columns, empty, commas, few, header, format: Format::JsonLines })
}

/// What the values of a JSON field have been so far.
#[derive(Clone, Debug, Default)]
struct Guess {
    present: usize,
    ints: usize,
    floats: usize,
    bools: usize,
    times: usize,
    texts: usize,
    different: BTreeSet<String>,
    nested: bool,
}

impl Guess {
    fn see(&mut self, value: &serde_json::Value) {
        use serde_json::Value;
        match value {
            Value::Null => return,
            Value::Bool(_) => self.bools += 1,
            Value::Number(number)
                if number.as_i64().is_some_and(|value| value.unsigned_abs() <= 1 << 53) =>
            {
                self.ints += 1
            }
            Value::Number(_) => self.floats += 1,
            Value::String(text) if crate::time::parse(text).is_some() => self.times += 1,
            Value::String(text) => {
                self.texts += 1;
                if self.different.len() <= FEW {
                    self.different.insert(text.clone());
                }
            }
            Value::Array(_) | Value::Object(_) => {
                self.texts += 1;
                self.nested = true;
            }
        }
        self.present += 1;
    }

    /// The values of a field of texts that has few of them, each more than once.
    fn few(&self) -> Option<BTreeSet<String>> {
        let count = self.different.len();
        let few = !self.nested && count > 0 && count <= FEW && self.present >= 3 * count;
        (few && self.texts == self.present).then(|| self.different.clone())
    }

    fn column(&self, name: &str, rows: usize) -> Column {
        let all = self.present;
        let ty = if all == 0 {
            Ty::Str
        } else if self.ints == all {
            Ty::Int
        } else if self.ints + self.floats == all {
            Ty::Float
        } else if self.bools == all {
            Ty::Bool
        } else if self.times == all {
            Ty::Time
        } else {
            Ty::Str
        };
        Column { name: name.to_owned(), ty, optional: all < rows }
    }
}
