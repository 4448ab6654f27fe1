//! Separated values: a header line, then rows whose cells may be quoted.

use super::{
    FEW, Format, MAX_LINE, ROWS, Reading, Schema, SchemaError, is_missing, read_bool, too_long,
};
use crate::plan::Column;
use pipe_row::ir::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// What may stand between cells; where two are as frequent, the first of them does.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Whether the header, a row and its end are in the head.
pub(super) fn has_row(path: &str, head: &[u8]) -> bool {
    let mut reader = reader(head, separator(path, head));
    let mut row = csv::ByteRecord::new();
    let read = reader.byte_headers().is_ok() && reader.read_byte_record(&mut row).unwrap_or(false);
    read && reader.position().byte() < head.len() as u64
}

fn reader(head: &[u8], separator: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(head)
}

/// The columns are the cells of the header.
pub(super) fn schema(path: &str, head: &[u8], how: Reading) -> Result<Schema, SchemaError> {
    const QUOTE: &str = "a quote that is never closed swallows the rest of a file";
    let separator = separator(path, head);
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
    let names = column_names(headers.iter(), how.numbered)?;
    let mut guesses: Vec<Guess> = names.iter().map(|_| Guess::default()).collect();
    let mut record = csv::StringRecord::new();
    for _ in 0..ROWS {
        let Ok(true) = reader.read_record(&mut record) else { break };
        let start = std::mem::replace(&mut end, reader.position().clone());
        if end.byte() - start.byte() > MAX_LINE as u64 {
            return Err(too_long(format!("the row that starts in line {}", start.line()), QUOTE));
        }
        if record.len() == guesses.len() {
            guesses.iter_mut().zip(record.iter()).for_each(|(guess, cell)| guess.see(cell, how));
        }
    }
    let named = || names.iter().zip(guesses.iter());
    let those = |fits: fn(&Guess) -> bool| -> BTreeSet<String> {
        named().filter(|(_, guess)| fits(guess)).map(|(name, _)| name.clone()).collect()
    };
    let few = named().filter_map(|(name, guess)| Some((name.clone(), guess.few()?)));
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(Schema {
        columns: named().map(|(name, guess)| guess.column(name)).collect(),
        empty: those(|guess| !guess.any),
        commas: those(Guess::has_decimal_commas),
        few: few.collect(),
        header: String::from_utf8_lossy(line).trim_end().to_owned(),
        format: Format::Csv { separator },
    })
}

/// The byte between cells: a tab in `.tsv` files, else the most frequent of `,` `;` tab and `|` in the header, outside quotes.
pub(super) fn separator(path: &str, head: &[u8]) -> u8 {
    if path.rsplit('.').next().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv")) {
        return b'\t';
    }
    let mut quoted = false;
    let mut counts = SEPARATORS.map(|separator| (separator, 0_usize));
    for byte in head {
        match byte {
            b'\n' if !quoted => break,
            b'"' => quoted = !quoted,
            byte if !quoted => {
                if let Some((_, count)) = counts.iter_mut().find(|(known, _)| known == byte) {
                    *count += 1;
                }
            }
            _ => {}
        }
    }
    let best = counts.iter().rev().max_by_key(|(_, count)| *count).filter(|(_, count)| *count > 0);
    best.map_or(b',', |(separator, _)| *separator)
}

/// Whether the first line ends in the head, so that its separator is known.
pub(super) fn has_header(head: &[u8]) -> bool {
    let mut quoted = false;
    head.iter().any(|byte| {
        quoted ^= *byte == b'"';
        *byte == b'\n' && !quoted
    })
}

/// The names of the columns from the cells of a header, without blanks around them. With `numbered`, a cell without text is
/// called `#3` by its place, and a name that has been there before gets `#2`, `#3`, .. behind it.
///
/// # Errors
/// When a column has no name, or two have the same.
pub fn column_names<'a>(
    cells: impl Iterator<Item = &'a str>,
    numbered: bool,
) -> Result<Vec<String>, SchemaError> {
    let cells: Vec<&str> = cells.map(str::trim).collect();
    let mut names: Vec<String> = Vec::with_capacity(cells.len());
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, cell) in cells.iter().enumerate() {
        let time = times.entry(cell).and_modify(|times| *times += 1).or_insert(1);
        let name = match (*cell, *time) {
            ("", _) if numbered => format!("#{}", at + 1),
            ("", _) => {
                return Err(SchemaError::new(
                    format!("column {} has no name", at + 1),
                    format!(
                        "name it in the first line, or read it as `#{}` with `names: \"numbered\"`",
                        at + 1
                    ),
                ));
            }
            (cell, time) if numbered && time > 1 => format!("{cell}#{time}"),
            (cell, _) => cell.to_owned(),
        };
        if let Some(first) = seen.insert(name.clone(), at) {
            return Err(SchemaError::new(
                format!("columns {} and {} are both called `{name}`", first + 1, at + 1),
                format!(
                    "give each a name of its own, or read the second as `{name}#2` with `names: \"numbered\"`"
                ),
            ));
        }
        names.push(name);
    }
    Ok(names)
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
    /// With a comma for the point it would be a number.
    comma: bool,
    commas: bool,
    rows: usize,
    texts: BTreeSet<String>,
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
            comma: true,
            commas: false,
            rows: 0,
            texts: BTreeSet::new(),
        }
    }
}

impl Guess {
    fn see(&mut self, cell: &str, how: Reading) {
        let cell = cell.trim();
        if is_missing(cell) {
            self.empty |= cell.is_empty();
            self.word |= !cell.is_empty();
            self.nan |= cell.eq_ignore_ascii_case("nan");
            return;
        }
        self.any = true;
        self.rows += 1;
        if self.texts.len() <= FEW {
            self.texts.insert(cell.to_owned());
        }
        let pointed = with_point(cell);
        self.commas |= pointed.is_some();
        self.comma &= pointed.as_deref().map_or_else(|| is_int(cell), is_float);
        self.int &= is_int(cell);
        self.float &= match (how.decimal_comma, &pointed) {
            (true, Some(pointed)) => is_float(pointed),
            (true, None) => is_int(cell) || (is_float(cell) && !cell.contains('.')),
            (false, _) => is_float(cell),
        };
        self.bool &= read_bool(cell).is_some();
        self.time &= crate::time::parse(cell).is_some();
    }

    fn has_decimal_commas(&self) -> bool {
        self.any && self.comma && self.commas && !self.float
    }

    /// The values of a column of texts that has few of them, each more than once.
    fn few(&self) -> Option<BTreeSet<String>> {
        let texts = self.any && !self.int && !self.float && !self.bool && !self.time && !self.comma;
        let few = self.texts.len() <= FEW && self.rows >= 3 * self.texts.len();
        (texts && few).then(|| self.texts.clone())
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

/// A number with a decimal comma, written with a point; `None` when there is no such comma.
#[must_use]
pub fn with_point(cell: &str) -> Option<String> {
    let (whole, part) = cell.split_once(',')?;
    let plain = !part.contains([',', '.']) && !whole.contains('.');
    (plain && part.starts_with(|c: char| c.is_ascii_digit())).then(|| format!("{whole}.{part}"))
}

/// Whether a cell is a number with marks between its thousands: `1,234.5`, `1.234,5`, `1 234`.
#[must_use]
pub fn has_thousands(cell: &str) -> bool {
    let digits = cell.strip_prefix(['-', '+']).unwrap_or(cell);
    let bare: String = digits.chars().filter(|c| c.is_ascii_digit()).collect();
    let mut groups = digits.split([',', '.', ' ', '\'', '\u{a0}', '\u{202f}']);
    let first = groups.next().unwrap_or_default();
    let rest: Vec<&str> = groups.collect();
    let (last, middle) = match rest.split_last() {
        Some((last, middle)) => (*last, middle),
        None => return false,
    };
    let whole = |group: &str| group.len() == 3;
    let all_digits = |group: &str| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit());
    !bare.is_empty()
        && (1..=3).contains(&first.len())
        && all_digits(first)
        && all_digits(last)
        && middle.iter().all(|group| whole(group) && all_digits(group))
        && (!middle.is_empty() || whole(last))
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
