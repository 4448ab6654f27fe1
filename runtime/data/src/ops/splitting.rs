//! `data.split`: parts that never mix again.

use super::shaping::evaluate;
use crate::call::Call;
use crate::table::Table;
use pipe_row::ir::Scalar;
use pipe_row::{Column, Values};
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use std::collections::BTreeMap;

/// The parts, in the order in which a series is cut.
const PARTS: [&str; 4] = ["train", "valid", "calib", "test"];

/// A part's name and its share of the rows.
type Share = (&'static str, f64);

pub(super) fn split(call: &Call) -> Result<Value, OpError> {
    let table = call.table("table")?;
    let shares = shares(call)?;
    let seed = call.args.int("seed")?;
    let key =
        call.args.optional_row_fn("key")?.map(|function| evaluate(&table, function)).transpose()?;
    let by = call.args.str("by")?;
    let placed = match by {
        "time" => by_time(&times(&table, key)?, &shares),
        "random" => by_rank(&draw(table.rows(), seed), &shares),
        "group" => by_group(&group_keys(key, by)?, seed, &shares),
        _ => by_hash(&row_keys(&table, key)?, seed, &shares),
    };
    let mut parts = BTreeMap::new();
    for (part, (name, _)) in shares.iter().enumerate() {
        let keep: Vec<bool> = placed.iter().map(|place| *place == Some(part)).collect();
        let rows = table.filtered(&keep)?;
        if rows.rows() == 0 {
            call.context.warn(&format!(
                "The part `{name}` has no rows: {} are too few to split.",
                table.rows()
            ));
        }
        parts.insert((*name).to_owned(), call.give_table_as(name, &rows)?);
    }
    Ok(Value::Record(parts))
}

fn shares(call: &Call) -> Result<Vec<Share>, OpError> {
    let mut shares = Vec::new();
    for name in PARTS {
        let share = call.float_within(name, 0.0, 1.0)?;
        if share > 0.0 {
            shares.push((name, share));
        }
    }
    let sum: f64 = shares.iter().map(|(_, share)| share).sum();
    if shares.is_empty() || sum > 1.0 + 1e-9 {
        return Err(OpError::new(
            "run::argument",
            format!("The parts add up to {sum} and must add up to more than 0 and at most 1."),
        ));
    }
    Ok(shares)
}

/// The times to cut by: the key when there is one, else the time column.
pub(super) fn times(table: &Table, key: Option<Column>) -> Result<Vec<i64>, OpError> {
    let Some(key) = key else { return table.times(&table.time_column(None)?) };
    match key.into_parts() {
        (Values::Time(times), None) => Ok(times),
        (other, None) => Err(OpError::new(
            "run::argument",
            format!("`key` gives {} where the time of a row is needed.", other.ty()),
        )),
        _ => Err(OpError::new("run::missing_time", "`key` gives no time for some rows.")),
    }
}

/// Cut by rank in time; equal times stay together, on the side of the earlier part.
pub(super) fn by_time(times: &[i64], shares: &[Share]) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by_key(|row| times.get(*row).copied());
    let mut ranks = vec![0; times.len()];
    let (mut first, mut before) = (0, None);
    for (rank, row) in order.into_iter().enumerate() {
        let time = times.get(row).copied();
        if time != before {
            (first, before) = (rank, time);
        }
        if let Some(place) = ranks.get_mut(row) {
            *place = first;
        }
    }
    by_rank(&ranks, shares)
}

/// Each row's part from its rank: the first share of all rows is the first part, and so on.
pub(super) fn by_rank(ranks: &[usize], shares: &[Share]) -> Vec<Option<usize>> {
    let bounds = bounds(ranks.len(), shares);
    ranks.iter().map(|rank| bounds.iter().position(|bound| rank < bound)).collect()
}

/// Ranks at which the parts end.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "row counts lie within 2^52 and shares within 0 and 1"
)]
fn bounds(rows: usize, shares: &[Share]) -> Vec<usize> {
    let ends = shares.iter().scan(0.0, |sum, (_, share)| {
        *sum += share;
        Some(((*sum * rows as f64 + 1e-6).floor() as usize).min(rows))
    });
    ends.collect()
}

/// A seeded permutation: each row's rank.
pub(super) fn draw(rows: usize, seed: i64) -> Vec<usize> {
    let mut order: Vec<(u64, usize)> =
        (0..rows).map(|row| (hash(&(row as u64).to_le_bytes(), seed), row)).collect();
    order.sort_unstable();
    let mut ranks = vec![0; rows];
    for (rank, (_, row)) in order.into_iter().enumerate() {
        if let Some(place) = ranks.get_mut(row) {
            *place = rank;
        }
    }
    ranks
}

/// Fill the parts with whole groups in a seeded order: a group goes where the middle of its rows falls.
pub(super) fn by_group(keys: &[Vec<u8>], seed: i64, shares: &[Share]) -> Vec<Option<usize>> {
    let mut sizes: BTreeMap<&[u8], usize> = BTreeMap::new();
    for key in keys {
        *sizes.entry(key).or_default() += 1;
    }
    let mut order: Vec<(u64, &[u8], usize)> =
        sizes.into_iter().map(|(key, size)| (hash(key, seed), key, size)).collect();
    order.sort_unstable();
    let bounds = bounds(keys.len(), shares);
    let (mut placed, mut before) = (BTreeMap::new(), 0);
    for (_, key, size) in order {
        let middle = before + size / 2;
        placed.insert(key, bounds.iter().position(|bound| middle < *bound));
        before += size;
    }
    keys.iter().map(|key| placed.get(key.as_slice()).copied().flatten()).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a hash as a fraction of its range")]
pub(super) fn by_hash(keys: &[Vec<u8>], seed: i64, shares: &[Share]) -> Vec<Option<usize>> {
    let place = |key: &Vec<u8>| {
        let mut at = hash(key, seed) as f64 / (u64::MAX as f64 + 1.0);
        for (part, (_, share)) in shares.iter().enumerate() {
            if at < *share {
                return Some(part);
            }
            at -= share;
        }
        None
    };
    keys.iter().map(place).collect()
}

pub(super) fn group_keys(key: Option<Column>, by: &str) -> Result<Vec<Vec<u8>>, OpError> {
    let key = key.ok_or_else(|| {
        OpError::new(
            "run::argument",
            format!("Splitting by {by} needs a `key`: what makes rows belong together."),
        )
    })?;
    Ok((0..key.len()).map(|row| bytes(&key.get(row))).collect())
}

/// The key of each row, or all of its values.
pub(super) fn row_keys(table: &Table, key: Option<Column>) -> Result<Vec<Vec<u8>>, OpError> {
    if let Some(key) = key {
        return Ok((0..key.len()).map(|row| bytes(&key.get(row))).collect());
    }
    let mut columns = table.columns()?;
    columns.sort_by(|a, b| a.0.cmp(&b.0));
    let row_key = |row| {
        let values = columns.iter().flat_map(|(_, column)| {
            let value = bytes(&column.get(row));
            (value.len() as u64).to_le_bytes().into_iter().chain(value).collect::<Vec<u8>>()
        });
        values.collect()
    };
    Ok((0..table.rows()).map(row_key).collect())
}

fn bytes(value: &Scalar) -> Vec<u8> {
    let tagged = |tag: u8, bytes: &[u8]| [&[tag], bytes].concat();
    match value {
        Scalar::None => vec![0],
        Scalar::Float(value) => tagged(1, &(value + 0.0).to_bits().to_le_bytes()),
        Scalar::Int(value) => tagged(2, &value.to_le_bytes()),
        Scalar::Bool(value) => tagged(3, &[u8::from(*value)]),
        Scalar::Str(text) => tagged(4, text.as_bytes()),
        Scalar::Time(value) => tagged(5, &value.to_le_bytes()),
        Scalar::Duration(value) => tagged(6, &value.to_le_bytes()),
        Scalar::Size(value) => tagged(7, &value.to_le_bytes()),
    }
}

/// The first eight bytes of the BLAKE3 of seed and key.
fn hash(key: &[u8], seed: i64) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.update(key);
    hasher.finalize().as_bytes().iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}
