//! Which rows make a series, and in what order.

use crate::column::{Column, Values};
use crate::error::RowError;
use std::collections::BTreeMap;
use std::ops::Range;

/// The rows of a table as series: those of one entity stand together, oldest first. Rows of equal time keep their
/// order. A row without a time has no place in any series.
#[derive(Clone, Debug)]
pub struct Order {
    rows: usize,
    /// The row at each place; `None` where rows stand as they are.
    places: Option<Vec<usize>>,
    series: Vec<Range<usize>>,
    /// The time at each place.
    times: Option<Vec<i64>>,
}

impl Order {
    /// One series: the rows as they stand, without times.
    #[must_use]
    pub fn as_it_stands(rows: usize) -> Self {
        Self { rows, places: None, series: one(rows), times: None }
    }

    /// The series of `rows` rows: one for each value of the `over` columns (missing values are one more), in the order
    /// of `by`.
    ///
    /// # Errors
    /// When a column has another length, or `by` holds no times.
    pub fn new(rows: usize, over: &[&Column], by: Option<&Column>) -> Result<Self, RowError> {
        for column in over.iter().copied().chain(by) {
            if column.len() != rows {
                return Err(RowError::ColumnLength {
                    column: "order".to_owned(),
                    expected: rows,
                    found: column.len(),
                });
            }
        }
        let times = match by.map(|by| (by.values(), by.ty())) {
            None => None,
            Some((Values::Time(times), _)) => Some(times),
            Some((_, found)) => {
                return Err(RowError::ColumnType {
                    column: "order".to_owned(),
                    expected: crate::ir::Ty::Time,
                    found,
                });
            }
        };
        let valid = by.and_then(Column::valid);
        let Some((places, mut series)) = by_entity(rows, over, valid) else {
            let ascends = times.is_none_or(|times| times.is_sorted());
            if ascends {
                let times = times.cloned();
                return Ok(Self { rows, places: None, series: one(rows), times });
            }
            return Ok(Self::sorted(rows, (0..rows).collect(), one(rows), times));
        };
        series.retain(|series| !series.is_empty());
        Ok(Self::sorted(rows, places, series, times))
    }

    fn sorted(
        rows: usize,
        mut places: Vec<usize>,
        series: Vec<Range<usize>>,
        times: Option<&Vec<i64>>,
    ) -> Self {
        let Some(times) = times else {
            return Self { rows, places: Some(places), series, times: None };
        };
        let time = |row: &usize| times.get(*row).copied().unwrap_or(0);
        for range in &series {
            if let Some(part) = places.get_mut(range.clone())
                && !part.is_sorted_by_key(time)
            {
                part.sort_by_key(time);
            }
        }
        let times = places.iter().map(time).collect();
        Self { rows, places: Some(places), series, times: Some(times) }
    }

    /// The number of rows of the table.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether the rows have times.
    #[must_use]
    pub fn has_times(&self) -> bool {
        self.times.is_some()
    }

    /// The places of each series, one after the other.
    pub(crate) fn series(&self) -> &[Range<usize>] {
        &self.series
    }

    /// The times by place; none where there are none.
    pub(crate) fn times(&self) -> &[i64] {
        self.times.as_deref().unwrap_or_default()
    }

    /// The row at a place.
    pub(crate) fn row(&self, place: usize) -> usize {
        match &self.places {
            None => place,
            Some(places) => places.get(place).copied().unwrap_or(self.rows),
        }
    }

    /// Whether places are rows.
    pub(crate) fn stands(&self) -> bool {
        self.places.is_none()
    }

    /// The number of places: rows that have one.
    pub(crate) fn places(&self) -> usize {
        self.places.as_ref().map_or(self.rows, Vec::len)
    }
}

fn one(rows: usize) -> Vec<Range<usize>> {
    if rows == 0 { Vec::new() } else { std::iter::once(0..rows).collect() }
}

/// Rows by entity, in their order, with the places of each entity; `None` when all rows are one series.
fn by_entity(
    rows: usize,
    over: &[&Column],
    timed: Option<&[bool]>,
) -> Option<(Vec<usize>, Vec<Range<usize>>)> {
    if over.is_empty() && timed.is_none() {
        return None;
    }
    let mut entity = vec![0_usize; rows];
    let mut count = 1;
    for column in over {
        count = refine(&mut entity, column);
    }
    let here = |row: usize| timed.is_none_or(|timed| timed.get(row) == Some(&true));
    let mut sizes = vec![0_usize; count];
    for (_, entity) in entity.iter().enumerate().filter(|(row, _)| here(*row)) {
        if let Some(size) = sizes.get_mut(*entity) {
            *size += 1;
        }
    }
    let mut next = Vec::with_capacity(count);
    let mut series = Vec::with_capacity(count);
    let mut start = 0;
    for size in sizes {
        next.push(start);
        series.push(start..start + size);
        start += size;
    }
    let mut places = vec![0; start];
    for (row, entity) in entity.iter().enumerate().filter(|(row, _)| here(*row)) {
        if let Some(at) = next.get_mut(*entity) {
            if let Some(place) = places.get_mut(*at) {
                *place = row;
            }
            *at += 1;
        }
    }
    Some((places, series))
}

/// Splits entities by the values of a column; gives how many there are now. They are numbered as they appear.
fn refine(entity: &mut [usize], column: &Column) -> usize {
    let here = |row: usize| column.is_present(row);
    match column.values() {
        Values::Str(text) => {
            number(entity, |row| here(row).then(|| text.get(row).unwrap_or_default()))
        }
        Values::Float(values) | Values::Int(values) | Values::Size(values) => {
            // One zero: -0.0 + 0.0 is 0.0. A column has one NaN already.
            let bits = |row: usize| values.get(row).map(|value| (value + 0.0).to_bits());
            number(entity, |row| here(row).then(|| bits(row)))
        }
        Values::Bool(values) => number(entity, |row| here(row).then(|| values.get(row))),
        Values::Time(values) | Values::Duration(values) => {
            number(entity, |row| here(row).then(|| values.get(row)))
        }
    }
}

fn number<K: Ord + Copy>(entity: &mut [usize], key: impl Fn(usize) -> K) -> usize {
    let mut known: BTreeMap<(usize, K), usize> = BTreeMap::new();
    let mut last: Option<((usize, K), usize)> = None;
    for (row, entity) in entity.iter_mut().enumerate() {
        let here = (*entity, key(row));
        let count = known.len();
        *entity = match last {
            Some((key, number)) if key == here => number,
            _ => *known.entry(here).or_insert(count),
        };
        last = Some((here, *entity));
    }
    known.len()
}
