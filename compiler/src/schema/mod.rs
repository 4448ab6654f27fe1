//! The columns of a table file, from its header and its first rows. The compiler and the runtime use the same rules.
//!
//! A column is `int`, `float`, `bool`, `time` (ISO 8601) or `str`: the first of these that all its cells are. Empty cells, and
//! outside columns of texts also `NA`, `null` and `NaN`, are missing values and make the column optional. A column without
//! any value is `float?` when a `NaN` is among its cells, because only numbers are missing in that way, and else `str?`.

mod csv;
mod declare;
mod json;

pub use self::csv::{column_names, has_thousands, with_point};
pub use self::declare::{arguments, declaration, type_name};

use crate::plan::Column;
use std::collections::{BTreeMap, BTreeSet};

/// Rows that decide the types of columns.
pub const ROWS: usize = 1_000;

/// The longest line or row that can be read, in bytes; the ops that read tables have the same limit.
pub const MAX_LINE: usize = 16 << 20;

/// Most values of a column of texts that may be an enumeration.
const FEW: usize = 8;

/// Bytes of a file that are read first.
const HEAD: usize = 1 << 20;

/// Bytes of a file that are read at most: a header and a row of the greatest length.
const MAX_HEAD: usize = 2 * MAX_LINE + HEAD;

/// How a file of separated values is read, as far as the program says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reading {
    /// `decimal: ","`: numbers are written with a comma where others have a point.
    pub decimal_comma: bool,
    /// `names: "numbered"`: columns without a name of their own are told apart by numbers.
    pub numbered: bool,
}

/// What a file's head says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The columns in file order.
    pub columns: Vec<Column>,
    /// Columns without any value in the first rows, so that their types are a guess.
    pub empty: BTreeSet<String>,
    /// Columns read as texts that would be numbers with a comma for the point.
    pub commas: BTreeSet<String>,
    /// The values of columns of texts that have few of them, each more than once.
    pub few: BTreeMap<String, BTreeSet<String>>,
    /// The first line of separated values.
    pub header: String,
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

/// Find the columns of a table. `head` gives the first bytes of the file, as many as it is asked for; it is asked for more
/// when the first row is not in them.
///
/// # Errors
/// What `head` reports; and, inside, when the file is empty, is not text, or its header cannot be used.
pub fn read<E>(
    path: &str,
    how: Reading,
    mut head: impl FnMut(usize) -> Result<Vec<u8>, E>,
) -> Result<Result<Schema, SchemaError>, E> {
    let mut bytes = HEAD;
    loop {
        let text = head(bytes)?;
        let cut = text.len() >= bytes;
        if !cut || bytes >= MAX_HEAD || has_row(path, without_mark(&text)) {
            return Ok(infer(path, how, &text, cut));
        }
        bytes = (4 * bytes).min(MAX_HEAD);
    }
}

fn has_row(path: &str, head: &[u8]) -> bool {
    if is_json_lines(path) { json::has_row(head) } else { csv::has_row(path, head) }
}

/// The byte between the cells of a file of separated values. `head` gives the first bytes, as many as it is asked for; it is
/// asked for more when the header does not end in them.
///
/// # Errors
/// What `head` reports.
pub fn separator<E>(
    path: &str,
    mut head: impl FnMut(usize) -> Result<Vec<u8>, E>,
) -> Result<u8, E> {
    let mut bytes = HEAD;
    loop {
        let text = head(bytes)?;
        if text.len() < bytes || bytes >= MAX_HEAD || csv::has_header(&text) {
            return Ok(csv::separator(path, &text));
        }
        bytes = (4 * bytes).min(MAX_HEAD);
    }
}

/// Find the columns of a table. `head` holds the first bytes of the file; `cut` says that there are more.
fn infer(path: &str, how: Reading, head: &[u8], cut: bool) -> Result<Schema, SchemaError> {
    let head = without_mark(head);
    if head.starts_with(&[0xFF, 0xFE]) || head.starts_with(&[0xFE, 0xFF]) {
        return Err(SchemaError::new("it is UTF-16 text", "save it as UTF-8"));
    }
    let mut head = if cut { whole_lines(head) } else { head };
    if let Err(error) = std::str::from_utf8(head) {
        let (text, _) = head.split_at(error.valid_up_to());
        if !cut || error.error_len().is_some() {
            let line = 1 + text.iter().filter(|byte| **byte == b'\n').count();
            return Err(SchemaError::new(
                format!("line {line} is not UTF-8 text"),
                "save it as UTF-8",
            ));
        }
        head = text;
    }
    if is_blank(head) {
        return Err(SchemaError::new(
            if cut { "its first lines are all blank" } else { "it is empty" },
            "a table has at least a header line with the names of its columns",
        ));
    }
    if is_json_lines(path) { json::schema(head) } else { csv::schema(path, head, how) }
}

fn without_mark(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head)
}

fn is_blank(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_whitespace)
}

fn too_long(what: impl std::fmt::Display, help: &str) -> SchemaError {
    SchemaError::new(format!("{what} is longer than {} MiB", MAX_LINE >> 20), help)
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

/// Whether a cell stands for a missing value.
#[must_use]
pub fn is_missing(cell: &str) -> bool {
    matches!(cell, "" | "NA" | "N/A" | "null" | "NULL" | "NaN" | "nan")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(path: &str, text: &str) -> String {
        shown(infer(path, Reading::default(), text.as_bytes(), false))
    }

    fn shown(schema: Result<Schema, SchemaError>) -> String {
        match schema {
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
    fn columns_without_a_value() {
        assert_eq!(
            columns("a.csv", "a,b,c\nNaN,,NA\n,,\nnan,,NA\n"),
            "a: float?, b: str?, c: str?"
        );
        assert_eq!(columns("a.csv", "a\nNA\nNaN\n"), "a: float?");
        assert_eq!(columns("a.csv", "a\nNaN\nx\n"), "a: str");
    }

    /// As a file whose head is asked for; with the sizes that were.
    fn read_columns(path: &str, text: &str) -> (String, Vec<usize>) {
        let mut asked = Vec::new();
        let schema = read::<()>(path, Reading::default(), |bytes| {
            asked.push(bytes);
            Ok(text.as_bytes().iter().take(bytes).copied().collect())
        });
        (shown(schema.unwrap()), asked)
    }

    #[test]
    fn the_head_grows_to_the_first_row() {
        let long = |length: usize| "ü".repeat(length / 2);
        let row = |length: usize| format!("{{\"a\": 1, \"b\": \"{}\"}}\n", long(length));
        let short = row(10).repeat(100_000);
        assert_eq!(read_columns("a.jsonl", &short), ("a: int, b: str".into(), vec![HEAD]));
        let first = row(3 << 20) + &short;
        assert_eq!(read_columns("a.jsonl", &first), ("a: int, b: str".into(), vec![HEAD, 4 << 20]));
        let last = row(3 << 20);
        assert_eq!(read_columns("a.jsonl", last.trim_end()).0, "a: int, b: str");
        let table = |header: usize, cell: usize| {
            format!("a,{}\n1,\"{}\"\n2,x\n", "b".repeat(header), long(cell))
        };
        for (header, cell) in [(3 << 20, 2), (1, 3 << 20), (9 << 20, 15 << 20)] {
            let text = table(header, cell) + &"3,4\n".repeat(3 << 20);
            let name = "b".repeat(header);
            let (found, _) = read_columns("a.csv", &text);
            assert!(found == format!("a: int, {name}: str"), "{header} {cell}");
        }
    }

    #[test]
    fn lines_beyond_the_limit_are_told_as_such() {
        let text = "ü".repeat(MAX_LINE / 2 + 1);
        let json = format!("\n{{\"a\": \"{text}\"}}\n");
        let far = json.repeat(3);
        let wide = format!("a,{text}\n1,2\n");
        let quoted = format!("a,b\n1,\"{text}\n");
        let quoted_more = quoted.clone() + &text + &text;
        let expected = [
            ("a.jsonl", &json, "error: line 2 is longer than 16 MiB"),
            ("a.jsonl", &far, "error: line 2 is longer than 16 MiB"),
            ("a.csv", &wide, "error: the header is longer than 16 MiB"),
            ("a.csv", &quoted, "error: the row that starts in line 2 is longer than 16 MiB"),
            ("a.csv", &quoted_more, "error: the row that starts in line 2 is longer than 16 MiB"),
        ];
        for (path, text, message) in expected {
            assert_eq!(read_columns(path, text).0, message);
        }
        let blank = "\n".repeat(MAX_HEAD) + "{}";
        assert_eq!(read_columns("a.jsonl", &blank).0, "error: its first lines are all blank");
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
    fn separators() {
        for (path, text, found) in [
            ("a.csv", "a|b|c,d\n", b'|'),
            ("a.csv", "a,b;c\n1;2;3\n", b','),
            ("a.csv", "\"a;b;c\",d\n", b','),
            ("a.csv", "\"a\n;;;\",d\n", b','),
            ("a.csv", "a\n1;2\n", b','),
            ("a.tsv", "a,b\n", b'\t'),
        ] {
            let head = |bytes: usize| Ok(text.bytes().take(bytes).collect());
            assert_eq!(separator::<()>(path, head), Ok(found), "{text}");
        }
        let far = format!("{}|b,c|d\n", "a".repeat(3 << 20));
        assert_eq!(separator::<()>("a.csv", |n| Ok(far.bytes().take(n).collect())), Ok(b'|'));
    }

    #[test]
    fn decimal_commas_are_read_when_asked_for_and_noticed_else() {
        let text = "a;b;c;d\n1,5;1;x;1.234,5\n2;2;y,1;2\n";
        let read = |decimal_comma| {
            infer("a.csv", Reading { decimal_comma, numbered: false }, text.as_bytes(), false)
        };
        assert_eq!(shown(read(false)), "a: str, b: int, c: str, d: str");
        assert_eq!(read(false).map(|schema| schema.commas), Ok(["a".to_owned()].into()));
        assert_eq!(shown(read(true)), "a: float, b: int, c: str, d: str");
        assert_eq!(read(true).map(|schema| schema.commas), Ok(BTreeSet::new()));
        for (cell, thousands) in [
            ("1,234.5", true),
            ("-1.234,5", true),
            ("1 234", true),
            ("12'345'678", true),
            ("1.5", false),
            ("1234,5", false),
            ("a,bcd", false),
            ("", false),
        ] {
            assert_eq!(has_thousands(cell), thousands, "{cell}");
        }
    }

    #[test]
    fn columns_are_numbered_when_asked_for() {
        let names = |cells: &[&str], numbered| {
            column_names(cells.iter().copied(), numbered).map_err(|error| error.message)
        };
        let told = |text: &str| Err(text.to_owned());
        assert_eq!(names(&["", "a"], false), told("column 1 has no name"));
        assert_eq!(names(&["a", " a "], false), told("columns 1 and 2 are both called `a`"));
        let fine = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(names(&["", "a", "a", "", "a"], true), fine(&["#1", "a", "a#2", "#4", "a#3"]));
        assert_eq!(names(&["a#2", "a", "a"], true), told("columns 1 and 3 are both called `a#2`"));
    }

    #[test]
    fn headers_that_cannot_be_used() {
        assert_eq!(columns("a.csv", "a,a\n1,2\n"), "error: columns 1 and 2 are both called `a`");
        assert_eq!(columns("a.csv", "a,,c\n1,2,3\n"), "error: column 2 has no name");
        assert_eq!(columns("a.csv", " \n"), "error: it is empty");
        assert_eq!(
            infer("a.csv", Reading::default(), b"a\n\xFF\n", false).map_err(|error| error.message),
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
