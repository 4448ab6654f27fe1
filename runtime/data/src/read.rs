//! Reading files into tables: CSV and JSON Lines, with a place for every complaint.

mod builder;
mod csv;
mod jsonl;
mod lines;

pub use builder::Builder;
pub use lines::{MAX_LINE, next_line, open};

use crate::table::Table;
use pipe_compiler::plan::Column;
use pipe_compiler::schema::{Reading, separator};
use pipe_row::ir::Ty;
use pipe_runtime::op::{Context, OpError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What to do with a row that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Stop with an error.
    Stop,
    /// Leave it out and count it.
    Skip,
}

/// What to read.
pub struct Wanted<'a> {
    /// Columns by name, with their types.
    pub columns: &'a [Column],
    /// The column whose numbers are seconds since 1970.
    pub time: Option<&'a str>,
    /// Policy for rows that do not fit.
    pub malformed: Malformed,
    /// How separated values are written.
    pub how: Reading,
    /// Texts that a column may hold, by column.
    pub allowed: BTreeMap<String, BTreeSet<String>>,
}

/// Read a file: JSON Lines when its name says so, else CSV.
///
/// # Errors
/// When the file cannot be read or a row does not fit, with file and line.
pub fn read_file(path: &Path, wanted: &Wanted, context: &dyn Context) -> Result<Table, OpError> {
    let mut rows = Rows::new(path, wanted);
    let name = path.to_string_lossy();
    if pipe_compiler::schema::is_json_lines(&name) {
        jsonl::read(path, &mut rows, context)?;
    } else {
        let separator = separator(&name, |bytes| lines::head(path, bytes))?;
        csv::read(path, separator, &mut rows, context)?;
    }
    rows.finish(context)
}

/// Rows as they are read, and what was wrong with those left out.
struct Rows<'a> {
    name: String,
    wanted: &'a Wanted<'a>,
    builders: Vec<Builder>,
    read: u64,
    skipped: u64,
    first: Vec<u64>,
    example: String,
}

impl<'a> Rows<'a> {
    fn new(path: &Path, wanted: &'a Wanted<'a>) -> Self {
        let builders = wanted
            .columns
            .iter()
            .map(|column| {
                Builder::new(column, wanted.time == Some(column.name.as_str()))
                    .decimal_comma(wanted.how.decimal_comma)
                    .allowing(wanted.allowed.get(&column.name))
            })
            .collect();
        Self {
            name: file_name(path),
            wanted,
            builders,
            read: 0,
            skipped: 0,
            first: Vec::new(),
            example: String::new(),
        }
    }

    /// Deal with a row that does not fit: an error, or one more left out.
    fn misfit(&mut self, line: u64, problem: &Misfit) -> Result<(), OpError> {
        self.read += 1;
        if self.wanted.malformed == Malformed::Stop {
            return Err(OpError::new(
                problem.code,
                format!("{}:{line}: {}.", self.name, problem.message),
            )
            .help(match &problem.help {
                Some(help) => help,
                None => "correct the file, or read it with `malformed: \"skip\"`",
            }));
        }
        if self.skipped == 0 {
            self.example.clone_from(&problem.message);
        }
        if self.first.len() < 5 {
            self.first.push(line);
        }
        self.skipped += 1;
        Ok(())
    }

    fn finish(self, context: &dyn Context) -> Result<Table, OpError> {
        if self.skipped > 0 {
            let lines: Vec<String> = self.first.iter().map(u64::to_string).collect();
            let more = if self.skipped > self.first.len() as u64 { ", ..." } else { "" };
            context.warn(&format!(
                "{}: left out {} of {} rows that do not fit (line {}{more}): {}.",
                self.name,
                self.skipped,
                self.read,
                lines.join(", "),
                self.example
            ));
        }
        let columns = self.wanted.columns.iter().zip(self.builders);
        Table::new(
            columns
                .map(|(column, builder)| Ok((column.name.clone(), builder.finish()?)))
                .collect::<Result<_, OpError>>()?,
        )
    }
}

/// What is wrong with a row.
struct Misfit {
    code: &'static str,
    message: String,
    help: Option<String>,
}

impl Misfit {
    fn row(message: impl Into<String>) -> Self {
        Self { code: "run::bad_row", message: message.into(), help: None }
    }

    fn not_utf8(message: impl Into<String>) -> Self {
        Self { code: "run::not_utf8", message: message.into(), help: None }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// `int`, `float?` for messages.
fn type_name(ty: Ty, optional: bool) -> String {
    format!("{ty}{}", if optional { "?" } else { "" })
}
