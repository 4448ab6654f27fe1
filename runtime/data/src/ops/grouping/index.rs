//! Which rows belong together: a number for each group, in the order of their first rows.

use crate::table::Table;
use pipe_row::{Column, Values};
use pipe_runtime::op::OpError;
use std::collections::HashMap;
use std::hash::Hash;

/// The rows of a table, put into groups. Groups may have rows in common, as windows do.
pub(in crate::ops) struct Groups {
    /// Rows group by group, in their order within each.
    rows: Vec<usize>,
    /// Where the rows of each group begin in `rows`, and where the last ones end.
    starts: Vec<usize>,
}

impl Groups {
    /// Rows that are equal in the columns `by`, missing values among them; one group of all rows when there are none.
    pub(in crate::ops) fn of(table: &Table, by: &[&str]) -> Result<Self, OpError> {
        let mut of = vec![0; table.rows()];
        for name in by {
            let codes = codes(&table.column(name)?);
            of = dense(of.iter().zip(&codes).map(|(a, b)| (*a, *b)));
        }
        Ok(Self::numbered(&of))
    }

    /// The rows of each group.
    pub(in crate::ops) fn listed(groups: Vec<Vec<usize>>) -> Self {
        let mut starts = vec![0];
        let mut rows = Vec::new();
        for group in groups {
            rows.extend(group);
            starts.push(rows.len());
        }
        Self { rows, starts }
    }

    /// Groups by number; numbers begin at 0 and have no holes.
    fn numbered(of: &[u32]) -> Self {
        let groups = of.iter().max().map_or(0, |last| *last as usize + 1);
        let mut starts = vec![0; groups + 1];
        for group in of {
            if let Some(end) = starts.get_mut(*group as usize + 1) {
                *end += 1;
            }
        }
        let mut before = 0;
        for start in &mut starts {
            before += *start;
            *start = before;
        }
        let mut next = starts.clone();
        let mut rows = vec![0; of.len()];
        for (row, group) in of.iter().enumerate() {
            if let Some(at) = next.get_mut(*group as usize) {
                if let Some(place) = rows.get_mut(*at) {
                    *place = row;
                }
                *at += 1;
            }
        }
        Self { rows, starts }
    }

    /// Number of groups.
    pub(in crate::ops) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The rows of each group, in their order.
    pub(in crate::ops) fn each(&self) -> impl Iterator<Item = &[usize]> {
        self.starts.windows(2).map(|ends| match ends {
            [start, end] => self.rows.get(*start..*end).unwrap_or_default(),
            _ => &[],
        })
    }

    /// The first row of each group.
    pub(in crate::ops) fn firsts(&self) -> impl Iterator<Item = usize> {
        self.each().filter_map(|rows| rows.first().copied())
    }
}

/// A number for each row: equal values have equal numbers, given out in the order of first appearance. Missing values are
/// equal to each other, NaN too, and zero has no sign.
pub(in crate::ops) fn codes(column: &Column) -> Vec<u32> {
    let present = |row: usize| column.is_present(row);
    let bits = |values: &[f64]| -> Vec<u32> {
        let key = |(row, value): (usize, &f64)| present(row).then_some((value + 0.0).to_bits());
        dense(values.iter().enumerate().map(key))
    };
    match column.values() {
        Values::Float(values) | Values::Int(values) | Values::Size(values) => bits(values),
        Values::Time(values) | Values::Duration(values) => {
            let key = |(row, value): (usize, &i64)| present(row).then_some(*value);
            dense(values.iter().enumerate().map(key))
        }
        Values::Bool(values) => {
            let key = |(row, value): (usize, &bool)| present(row).then_some(*value);
            dense(values.iter().enumerate().map(key))
        }
        Values::Str(text) => {
            dense(text.iter().enumerate().map(|(row, value)| present(row).then_some(value)))
        }
    }
}

fn dense<K: Hash + Eq>(keys: impl Iterator<Item = K>) -> Vec<u32> {
    let mut known: HashMap<K, u32> = HashMap::new();
    let number = |key| {
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        *known.entry(key).or_insert(next)
    };
    keys.map(number).collect()
}
