//! The columns of a table file, from its header and its first rows. The compiler and the runtime use the same rules.
//!
//! A column is `int`, `float`, `bool`, `time` (ISO 8601) or `str`: the first of these that all its cells are. Empty cells, and
//! outside columns of texts also `NA`, `null` and `NaN`, are missing values and make the column optional.

use crate::plan::Column;
use pipe_row::ir::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// Rows that decide the types of columns.
pub const ROWS: usize = 1_000;

/// What a file's head says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The columns in file order.
    pub columns: Vec<Column>,
    /// Columns without any value in the first rows, so that their types are a guess.
    pub empty: BTreeSet<String>,
    /// How the file is written.
    pub format: Format,
}

/// How a table file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Separated values with a header.
    Csv {
        /// The byte between cells.
        separator: u8,
    },
    /// One JSON object a line.
    JsonLines,
}

/// Why a head is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// A plain sentence.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl SchemaError {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

/// Find the columns of a table. `head` holds the first bytes of the file; `cut` says that there are more.
///
/// # Errors
/// When the file is empty, is not text, or its header cannot be used.
pub fn infer(path: &str, head: &[u8], cut: bool) -> Result<Schema, SchemaError> {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    if head.starts_with(&[0xFF, 0xFE]) || head.starts_with(&[0xFE, 0xFF]) {
        return Err(SchemaError::new("it is UTF-16 text", "save it as UTF-8"));
    }
    let head = if cut { whole_lines(head) } else { head };
    if let Err(error) = std::str::from_utf8(head) {
        let line = 1 + head.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count();
        return Err(SchemaError::new(format!("line {line} is not UTF-8 text"), "save it as UTF-8"));
    }
    if head.iter().all(u8::is_ascii_whitespace) {
        return Err(SchemaError::new(
            "it is empty",
            "a table has at least a header line with the names of its columns",
        ));
    }
    if is_json_lines(path) { json_lines(head) } else { csv(head) }
}

/// Whether a path names JSON Lines.
#[must_use]
pub fn is_json_lines(path: &str) -> bool {
    let extension = path.rsplit('.').next().unwrap_or("");
    extension.eq_ignore_ascii_case("jsonl") || extension.eq_ignore_ascii_case("ndjson")
}

fn whole_lines(head: &[u8]) -> &[u8] {
    let end = head.iter().rposition(|byte| *byte == b'\n').map_or(head.len(), |at| at + 1);
    head.get(..end).unwrap_or(head)
}

fn csv(head: &[u8]) -> Result<Schema, SchemaError> {
    let separator = separator(head);
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(head);
    let headers = reader
        .headers()
        .map_err(|error| {
            SchemaError::new(
                format!("its header is malformed: {error}"),
                "the first line names the columns",
            )
        })?
        .clone();
    check_header(&headers.iter().collect::<Vec<_>>())?;
    let mut guesses: Vec<Guess> = headers.iter().map(|_| Guess::default()).collect();
    for record in reader.records().take(ROWS) {
        let Ok(record) = record else { break };
        if record.len() != guesses.len() {
            continue;
        }
        guesses.iter_mut().zip(record.iter()).for_each(|(guess, cell)| guess.see(cell));
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
            Ty::Str
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

/// Whether a cell stands for a missing value.
#[must_use]
pub fn is_missing(cell: &str) -> bool {
    matches!(cell, "" | "NA" | "N/A" | "null" | "NULL" | "NaN" | "nan")
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

/// A truth value as tables write it.
#[must_use]
pub fn read_bool(cell: &str) -> Option<bool> {
    match cell {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

fn json_lines(head: &[u8]) -> Result<Schema, SchemaError> {
    let mut order: Vec<String> = Vec::new();
    let mut seen: BTreeMap<String, JsonGuess> = BTreeMap::new();
    let mut rows = 0;
    for (at, line) in head.split(|byte| *byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if rows == ROWS {
            break;
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
    let guesses: Vec<(String, &JsonGuess)> = order.iter().filter_map(known).collect();
    let empty = guesses.iter().filter(|(_, guess)| guess.present == 0);
    let empty = empty.map(|(name, _)| name.clone()).collect();
    let columns = guesses.iter().map(|(name, guess)| guess.column(name, rows)).collect();
    Ok(Schema { columns, empty, format: Format::JsonLines })
}

/// What the values of a JSON field have been so far.
#[derive(Clone, Debug, Default)]
struct JsonGuess {
    present: usize,
    ints: usize,
    floats: usize,
    bools: usize,
    times: usize,
    texts: usize,
}

impl JsonGuess {
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
            Value::String(_) | Value::Array(_) | Value::Object(_) => self.texts += 1,
        }
        self.present += 1;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(path: &str, text: &str) -> String {
        match infer(path, text.as_bytes(), false) {
            Ok(schema) => {
                let texts = schema.columns.iter().map(|column| {
                    let optional = if column.optional { "?" } else { "" };
                    format!("{}: {}{optional}", column.name, column.ty.name())
                });
                texts.collect::<Vec<_>>().join(", ")
            }
            Err(error) => format!("error: {}", error.message),
        }
    }

    #[test]
    fn types_come_from_all_cells() {
        let text = "\u{FEFF}time,n,x,ok,id,note\n2024-01-01T00:00:00Z,1,1.5,true,007,a\n2024-01-02,2,,false,008,\n";
        assert_eq!(
            columns("a.csv", text),
            "time: time, n: int, x: float?, ok: bool, id: str, note: str?"
        );
        assert_eq!(columns("a.csv", "a;b\n1;2,5\n"), "a: int, b: str");
        assert_eq!(columns("a.csv", "a\tb\n1\tNaN\n2\t3\n"), "a: int, b: int?");
        assert_eq!(columns("a.csv", "a,b,c\n1,NA,NA\n,2,DE\n"), "a: int?, b: int?, c: str");
        assert_eq!(columns("a.csv", "a,b\n"), "a: str?, b: str?");
        assert_eq!(columns("a.csv", "a,b\n1,2\n3\n4,x\n"), "a: int, b: str");
    }

    #[test]
    fn headers_that_cannot_be_used() {
        assert_eq!(columns("a.csv", "a,a\n1,2\n"), "error: columns 1 and 2 are both called `a`");
        assert_eq!(columns("a.csv", "a,,c\n1,2,3\n"), "error: column 2 has no name");
        assert_eq!(columns("a.csv", " \n"), "error: it is empty");
        assert_eq!(
            infer("a.csv", b"a\n\xFF\n", false).map_err(|error| error.message),
            Err("line 2 is not UTF-8 text".into())
        );
    }

    #[test]
    fn json_lines_have_fields() {
        let text =
            "{\"text\": \"x\", \"n\": 1}\n{\"text\": \"y\", \"n\": 1.5, \"at\": \"2024-01-01\"}\n";
        assert_eq!(columns("a.jsonl", text), "text: str, n: float, at: time?");
        assert_eq!(columns("a.jsonl", "[1]\n").split(':').next(), Some("error"));
    }
}
