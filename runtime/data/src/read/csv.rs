//! CSV: a header line, then rows.

use super::lines::{Bounded, MAX_LINE, open, too_long, unreadable};
use super::{Misfit, Rows};
use crate::table::quoted;
use pipe_compiler::schema::column_names;
use pipe_runtime::op::{Context, OpError};
use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

pub(super) fn read(
    path: &Path,
    delimiter: u8,
    rows: &mut Rows,
    context: &dyn Context,
) -> Result<(), OpError> {
    let since = Rc::new(Cell::new(0));
    let bounded = Bounded::new(open(path)?, Rc::clone(&since));
    let mut reader =
        ::csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(bounded);
    let cells = reader.byte_headers().map_err(|error| failed(path, &error, 1))?;
    let header = header(path, cells, rows.wanted.how.numbered)?;
    let places = places(rows, &header, path)?;
    let total = std::fs::metadata(path).map_or(0, |about| about.len());
    let mut record = ::csv::ByteRecord::new();
    loop {
        since.set(0);
        let start = reader.position().line();
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(error) => return Err(failed(path, &error, start)),
        }
        let (line, byte) = record.position().map_or((start, 0), |at| (at.line(), at.byte()));
        match fields(&record, &header, &places, rows) {
            Ok(cells) => {
                rows.read += 1;
                rows.builders.iter_mut().zip(cells).for_each(|(builder, cell)| builder.push(cell));
            }
            Err(problem) => rows.misfit(line, &problem)?,
        }
        if rows.read.is_multiple_of(8_192) {
            if context.cancelled() {
                return Err(OpError::cancelled());
            }
            context.progress(byte, total, "reading");
        }
    }
}

/// One row's values, in the order of the wanted columns.
fn fields(
    record: &::csv::ByteRecord,
    header: &[String],
    places: &[usize],
    rows: &Rows,
) -> Result<Vec<super::builder::Cell>, Misfit> {
    if record.len() != header.len() {
        return Err(Misfit::row(format!(
            "the row has {} fields where the header has {}",
            record.len(),
            header.len()
        )));
    }
    let cell = |(place, builder): (&usize, &super::Builder)| {
        let bytes = record.get(*place).unwrap_or_default();
        let text = std::str::from_utf8(bytes).map_err(|_| {
            let name = header.get(*place).map_or("", String::as_str);
            Misfit::not_utf8(format!("`{name}` is not UTF-8 text"))
        })?;
        builder.cell(text)
    };
    places.iter().zip(&rows.builders).map(cell).collect()
}

fn header(path: &Path, record: &::csv::ByteRecord, numbered: bool) -> Result<Vec<String>, OpError> {
    let cells: Result<Vec<&str>, _> = record.iter().map(std::str::from_utf8).collect();
    let cells = cells.map_err(|_| {
        let message = format!("{}:1: the header is not UTF-8 text.", path.display());
        OpError::new("run::not_utf8", message)
    })?;
    let bad = |message: &str| {
        OpError::new("run::bad_header", format!("{}:1: {message}.", path.display()))
    };
    if cells.iter().all(|cell| cell.trim().is_empty()) {
        return Err(bad("the header is empty"));
    }
    column_names(cells.into_iter(), numbered).map_err(|error| bad(&error.message).help(error.help))
}

fn places(rows: &Rows, header: &[String], path: &Path) -> Result<Vec<usize>, OpError> {
    let place = |column: &pipe_compiler::plan::Column| {
        header.iter().position(|name| *name == column.name).ok_or_else(|| {
            OpError::new(
                "run::missing_column",
                format!(
                    "{}:1: the header has no `{}`; it has {}.",
                    path.display(),
                    column.name,
                    quoted(header)
                ),
            )
        })
    };
    rows.wanted.columns.iter().map(place).collect()
}

fn failed(path: &Path, error: &::csv::Error, line: u64) -> OpError {
    match error.kind() {
        ::csv::ErrorKind::Io(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
            too_long(path, line.max(1), "row").help(format!(
                "a quote that is never closed swallows the rest of a file; rows hold at most {} MiB",
                MAX_LINE >> 20
            ))
        }
        ::csv::ErrorKind::Io(error) => unreadable(path, error),
        _ => OpError::new("run::bad_row", format!("{}:{line}: {error}.", path.display())),
    }
}
