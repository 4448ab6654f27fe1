//! `encode.fit` and `encode.apply`: what is learned of columns, and columns made with it.
//!
//! Scales are those of scikit-learn 1.5: StandardScaler, RobustScaler and MinMaxScaler without clipping.

use super::grouping::{mean, quantile, spread};
use crate::call::{Call, count};
use crate::table::Table;
use pipe_row::Column;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

const FORMAT: &str = "pipe-encoder-1";

/// An encoder as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Encoder {
    /// Format of the file.
    format: String,
    /// Rows that it learned from.
    rows: usize,
    columns: Vec<Learned>,
}

/// What was learned of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Learned {
    name: String,
    #[serde(flatten)]
    how: How,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum How {
    /// The categories in the order of their numbers.
    Ordinal(Vec<String>),
    /// The new columns, each with its category; one without a category holds for all texts that have no column.
    OneHot(Vec<Slot>),
    /// The share of the rows with each text.
    Frequency(BTreeMap<String, f64>),
    /// (x - center) / spread.
    Scale { center: f64, spread: f64 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Slot {
    column: String,
    category: Option<String>,
}

pub(super) fn fit(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let names = call.names("columns")?;
    let kind = call.args.str("by")?;
    let known = call.args.record("categories")?;
    let most = match call.args.optional_value("most")? {
        Some(_) => Some(call.count_from("most", 1)?),
        None => None,
    };
    let least = call.count_from("least", 1)?;
    let mut columns = Vec::with_capacity(names.len());
    for name in &names {
        let categories = known.optional_strings(name)?;
        let how = match kind {
            "standard" | "robust" | "min_max" => scale(&table, name, kind)?,
            _ => texts(&Texts::of(&table, name, least)?, name, kind, categories, most),
        };
        columns.push(Learned { name: name.clone(), how });
    }
    let listed = names.into_iter().map(Value::Str).collect();
    let meta = BTreeMap::from([
        ("kind".to_owned(), Value::Str(kind.to_owned())),
        ("columns".to_owned(), Value::List(listed)),
        ("rows".to_owned(), count(table.rows())),
    ]);
    let encoder = Encoder { format: FORMAT.to_owned(), rows: table.rows(), columns };
    let text = serde_json::to_vec_pretty(&encoder).map_err(|error| {
        OpError::new("run::write", format!("The encoder cannot be written: {error}."))
    })?;
    call.give_file(&text, "encoder", "json", meta)
}

/// The texts of a column with the numbers of their rows.
struct Texts {
    seen: BTreeMap<String, usize>,
    rows: usize,
}

impl Texts {
    /// Those in at least `least` rows.
    fn of(table: &Table, name: &str, least: usize) -> Result<Self, OpError> {
        let texts = table.texts(name)?;
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        texts.iter().flatten().for_each(|text| *seen.entry(text.clone()).or_default() += 1);
        if seen.is_empty() {
            return Err(no_values(name));
        }
        seen.retain(|_, rows| *rows >= least);
        Ok(Self { seen, rows: texts.iter().flatten().count() })
    }

    /// The most frequent ones; of equals the first by their letters.
    fn most(&self, most: usize) -> Vec<&String> {
        let mut all: Vec<(&String, &usize)> = self.seen.iter().collect();
        all.sort_by_key(|(_, rows)| std::cmp::Reverse(**rows));
        all.into_iter().take(most).map(|(text, _)| text).collect()
    }
}

fn texts(
    texts: &Texts,
    name: &str,
    kind: &str,
    categories: Option<Vec<&str>>,
    most: Option<usize>,
) -> How {
    match (kind, categories) {
        ("ordinal", _) => How::Ordinal(texts.seen.keys().cloned().collect()),
        ("frequency", _) => {
            #[expect(clippy::cast_precision_loss, reason = "numbers of rows lie below 2^53")]
            let share = |rows: &usize| *rows as f64 / texts.rows as f64;
            How::Frequency(
                texts.seen.iter().map(|(text, rows)| (text.clone(), share(rows))).collect(),
            )
        }
        (_, Some(categories)) => {
            let slot = |category: &str| Slot {
                column: format!("{name}_{category}"),
                category: Some(category.to_owned()),
            };
            How::OneHot(categories.into_iter().map(slot).collect())
        }
        (_, None) => {
            let most = most.unwrap_or(texts.seen.len());
            let found = texts.most(most);
            let slot = |at: usize| Slot {
                column: format!("{name}_{}", at + 1),
                category: found.get(at).map(|text| (*text).clone()),
            };
            let other = Slot { column: format!("{name}_other"), category: None };
            How::OneHot((0..most).map(slot).chain([other]).collect())
        }
    }
}

fn scale(table: &Table, name: &str, kind: &str) -> Result<How, OpError> {
    let mut numbers: Vec<f64> = table.floats(name)?.into_iter().flatten().collect();
    let found = match kind {
        "standard" => mean(&numbers).zip(spread(&numbers)),
        "robust" => {
            let center = quantile(&mut numbers, 0.5);
            let quartiles = quantile(&mut numbers, 0.25).zip(quantile(&mut numbers, 0.75));
            center.zip(quartiles.map(|(low, high)| high - low))
        }
        _ => {
            let low = numbers.iter().copied().reduce(f64::min);
            let high = numbers.iter().copied().reduce(f64::max);
            low.zip(high).map(|(low, high)| (low, high - low))
        }
    };
    let (center, spread) = found.ok_or_else(|| no_values(name))?;
    if !center.is_finite() || !spread.is_finite() {
        return Err(OpError::new(
            "run::arithmetic",
            format!("Column `{name}` cannot be scaled: its values are infinite, or too large."),
        )
        .help("leave such rows out with `data.filter`"));
    }
    Ok(How::Scale { center, spread: if spread > 0.0 { spread } else { 1.0 } })
}

fn no_values(name: &str) -> OpError {
    OpError::new(
        "run::no_values",
        format!("Column `{name}` has no value in the rows to learn from."),
    )
}

fn read(path: &Path) -> Result<Encoder, OpError> {
    let damaged = |error: &dyn std::fmt::Display| {
        OpError::new("run::bad_encoder", format!("{} is not an encoder: {error}.", path.display()))
    };
    let text = std::fs::read(path).map_err(|error| damaged(&error))?;
    let encoder: Encoder = serde_json::from_slice(&text).map_err(|error| damaged(&error))?;
    if encoder.format != FORMAT {
        let found = &encoder.format;
        return Err(damaged(&format!("its format is `{found}` where `{FORMAT}` is needed")));
    }
    Ok(encoder)
}

pub(super) fn apply(call: &Call) -> Result<Value, OpError> {
    let encoder = call.decoded("with", "encoder", read)?;
    let table = call.table("table")?;
    let mut columns = Vec::new();
    for learned in &encoder.columns {
        table.ty(&learned.name)?;
    }
    for (name, column) in table.columns()? {
        match encoder.columns.iter().find(|learned| learned.name == name) {
            Some(learned) => columns.extend(learned.encoded(&table, call)?),
            None => columns.push((name, column)),
        }
    }
    call.give_table(&Table::new(columns)?)
}

impl Learned {
    /// The columns that come of this one.
    fn encoded(&self, table: &Table, call: &Call) -> Result<Vec<(String, Column)>, OpError> {
        let name = &self.name;
        if let How::Scale { center, spread } = &self.how {
            let column = table.column(name)?;
            let scaled = table.floats(name)?.into_iter().enumerate().map(|(row, value)| {
                let scaled = value.map(|value| (value - center) / spread);
                // A NaN in a column that has no missing values stays one.
                scaled.or_else(|| column.is_present(row).then_some(f64::NAN))
            });
            return Ok(vec![(name.clone(), Column::optional_float(scaled))]);
        }
        let texts = table.texts(name)?;
        let is_known = |text: &String| match &self.how {
            How::Ordinal(categories) => categories.binary_search(text).is_ok(),
            How::OneHot(slots) => slots.iter().any(|slot| slot.category.as_ref() == Some(text)),
            How::Frequency(shares) => shares.contains_key(text),
            How::Scale { .. } => true,
        };
        self.tell_unknown(&texts, is_known, call);
        Ok(match &self.how {
            How::Ordinal(categories) => {
                let number = |text: &Option<String>| {
                    let at = categories.binary_search(text.as_ref()?).ok()?;
                    i64::try_from(at).ok()
                };
                let numbers = Column::optional_int(texts.iter().map(number));
                let numbers =
                    numbers.map_err(|error| OpError::new("run::inexact", format!("{error}.")))?;
                vec![(name.clone(), numbers)]
            }
            How::Frequency(shares) => {
                let share = |text: &Option<String>| {
                    text.as_ref().map(|text| shares.get(text).copied().unwrap_or(0.0))
                };
                vec![(name.clone(), Column::optional_float(texts.iter().map(share)))]
            }
            How::OneHot(slots) => {
                let holds = |slot: &Slot, text: &Option<String>| match (&slot.category, text) {
                    (Some(category), Some(text)) => category == text,
                    (None, Some(text)) if slot.is_other(name) => !is_known(text),
                    _ => false,
                };
                let column = |slot: &Slot| {
                    let truths = texts.iter().map(|text| holds(slot, text)).collect();
                    (slot.column.clone(), Column::boolean(truths))
                };
                slots.iter().map(column).collect()
            }
            How::Scale { .. } => Vec::new(),
        })
    }

    /// A warning about texts that the encoder has not seen; those that count as others are meant to be there.
    fn tell_unknown(
        &self,
        texts: &[Option<String>],
        is_known: impl Fn(&String) -> bool,
        call: &Call,
    ) {
        let mut unknown = texts.iter().flatten().filter(|text| !is_known(text));
        let others = match &self.how {
            How::OneHot(slots) => slots.iter().any(|slot| slot.is_other(&self.name)),
            _ => false,
        };
        let Some(example) = unknown.next().filter(|_| !others) else { return };
        let rows = unknown.count() + 1;
        call.context.warn(&format!(
            "`{}`: {rows} of {} rows hold texts that the encoder has not seen, such as `{example}`.",
            self.name,
            texts.len()
        ));
    }
}

impl Slot {
    /// Whether it holds for texts without a column; others without a category hold for none.
    fn is_other(&self, name: &str) -> bool {
        self.category.is_none() && self.column == format!("{name}_other")
    }
}
