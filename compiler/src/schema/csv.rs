//! Separated values: a header line, then rows whose cells may be quoted.

use super::{Format, MAX_LINE, ROWS, Schema, SchemaError, is_missing, read_bool, too_long};
use crate::plan::Column;
use pipe_row::ir::Ty;
use std::collections::BTreeMap;

/// Whether the header, a row and its end are in the head.
pub(super) fn has_row(head: &[u8]) -> bool {
    let mut reader = reader(head, separator(head));
    let mut row = csv::ByteRecord::new();
    let read = reader.byte_headers().is_ok() && reader.read_byte_record(&mut row).unwrap_or(false);
    read && reader.position().byte() < head.len() as u64
}

fn reader(head: &[u8], separator: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(head)
}

/// The columns are the cells of the header.
pub(super) fn schema(head: &[u8]) -> Result<Schema, SchemaError> {
    const QUOTE: &str = "a quote that is never closed swallows the rest of a file";
    let separator = separator(head);
    let mut reader = reader(head, separator);
    let headers = reader
        .headers()
        .map_err(|error| {
            SchemaError::new(
                format!("its header is malformed: {error}"),
                "the first line names the columns",
            )
        })?
        .clone();
    let mut end = reader.position().clone();
    if end.byte() > MAX_LINE as u64 {
        return Err(too_long("the header", QUOTE));
    }
    check_header(&headers.iter().collect::<Vec<_>>())?;
    let mut guesses: Vec<Guess> = headers.iter().map(|_| Guess::default()).collect();
    let mut record = csv::StringRecord::new();
    for _ in 0..ROWS {
        let Ok(true) = reader.read_record(&mut record) else { break };
        let start = std::mem::replace(&mut end, reader.position().clone());
        if end.byte() - start.byte() > MAX_LINE as u64 {
            return Err(too_long(format!("the row that starts in line {}", start.line()), QUOTE));
        }
        if record.len() == guesses.len() {
            guesses.iter_mut().zip(record.iter()).for_each(|(guess, cell)| guess.see(cell));
        }
    }
    let named = || headers.iter().map(str::trim).zip(guesses.iter());
    let empty = named().filter(|(_, guess)| !guess.any).map(|(name, _)| name.to_owned()).collect();
    let columns = named().map(|(name, guess)| guess.column(name)).collect();
    Ok(Schema { columns, empty, format: Format::Csv { separator } })
}

/// The byte between cells: the most frequent of `,`, `;` and tab in the header, outside quotes.
#[must_use]
pub fn separator(head: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [0usize; 3];
    const CANDIDATES: [u8; 3] = [b',', b';', b'\t'];
    for byte in head {
        if *byte == b'\n' && !quoted {
            break;
        }
        if *byte == b'"' {
            quoted = !quoted;
        } else if !quoted {
            let found = CANDIDATES
                .iter()
                .zip(counts.iter_mut())
                .find(|(candidate, _)| **candidate == *byte);
            if let Some((_, count)) = found {
                *count += 1;
            }
        }
    }
    let best = CANDIDATES.iter().zip(counts).rev().max_by_key(|(_, count)| *count);
    best.map_or(b',', |(byte, count)| if count == 0 { b',' } else { *byte })
}

fn check_header(names: &[&str]) -> Result<(), SchemaError> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        let name = name.trim();
        if name.is_empty() {
            return Err(SchemaError::new(
                format!("column {} has no name", at + 1),
                "the first line names the columns; give this one a name",
            ));
        }
        if let Some(first) = seen.insert(name, at) {
            return Err(SchemaError::new(
                format!("columns {} and {} are both called `{name}`", first + 1, at + 1),
                "give each column a name of its own",
            ));
        }
    }
    Ok(())
}

/// What the cells of a column have been so far.
#[derive(Clone, Debug)]
struct Guess {
    int: bool,
    float: bool,
    bool: bool,
    time: bool,
    empty: bool,
    /// `NA` and such: missing, unless the column holds texts.
    word: bool,
    /// `NaN`: missing as numbers are.
    nan: bool,
    any: bool,
}

impl Default for Guess {
    fn default() -> Self {
        Self {
            int: true,
            float: true,
            bool: true,
            time: true,
            empty: false,
            word: false,
            nan: false,
            any: false,
        }
    }
}

impl Guess {
    fn see(&mut self, cell: &str) {
        let cell = cell.trim();
        if is_missing(cell) {
            self.empty |= cell.is_empty();
            self.word |= !cell.is_empty();
            self.nan |= cell.eq_ignore_ascii_case("nan");
            return;
        }
        self.any = true;
        self.int &= is_int(cell);
        self.float &= is_float(cell);
        self.bool &= read_bool(cell).is_some();
        self.time &= crate::time::parse(cell).is_some();
    }

    fn column(&self, name: &str) -> Column {
        let ty = if !self.any {
            if self.nan { Ty::Float } else { Ty::Str }
        } else if self.int {
            Ty::Int
        } else if self.float {
            Ty::Float
        } else if self.bool {
            Ty::Bool
        } else if self.time {
            Ty::Time
        } else {
            Ty::Str
        };
        let optional = self.empty || !self.any || (self.word && ty != Ty::Str);
        Column { name: name.to_owned(), ty, optional }
    }
}

/// Whether a cell is a whole number that a table holds exactly. Numbers with leading zeros are names, not numbers.
fn is_int(cell: &str) -> bool {
    let digits = cell.strip_prefix(['-', '+']).unwrap_or(cell);
    let zeros = digits.len() > 1 && digits.starts_with('0');
    !zeros
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && cell.parse::<i64>().is_ok_and(|value| value.unsigned_abs() <= 1 << 53)
}

fn is_float(cell: &str) -> bool {
    let digits = cell.strip_prefix(['-', '+']).unwrap_or(cell);
    if matches!(digits, "inf" | "Inf" | "Infinity" | "infinity") {
        return true;
    }
    let zeros = digits.len() > 1
        && digits.starts_with('0')
        && !digits.starts_with("0.")
        && !digits.starts_with("0e");
    !zeros
        && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && cell.parse::<f64>().is_ok()
}
