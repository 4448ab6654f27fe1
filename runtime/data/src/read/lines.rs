//! Opening files, and reading lines without trusting their length.

use pipe_runtime::op::OpError;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

/// The longest line or record that is read, in bytes.
pub const MAX_LINE: u64 = pipe_compiler::schema::MAX_LINE as u64;

/// Open a file for reading.
///
/// # Errors
/// When it is missing, a folder, empty, in UTF-16, or not readable.
pub fn open(path: &Path) -> Result<BufReader<File>, OpError> {
    let shown = path.display();
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            OpError::new("run::missing_file", format!("There is no file {shown}."))
                .help("paths in a program are relative to its folder")
        }
        _ => unreadable(path, &error),
    })?;
    let about = file.metadata().map_err(|error| unreadable(path, &error))?;
    if about.is_dir() {
        return Err(OpError::new(
            "run::is_directory",
            format!("{shown} is a folder where a file is needed."),
        ));
    }
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let start = reader.fill_buf().map_err(|error| unreadable(path, &error))?;
    if start.is_empty() {
        return Err(OpError::new("run::empty_file", format!("{shown} is empty.")));
    }
    if start.starts_with(&[0xFF, 0xFE]) || start.starts_with(&[0xFE, 0xFF]) {
        return Err(OpError::new(
            "run::not_utf8",
            format!("{shown} is in UTF-16 where UTF-8 is needed."),
        )
        .help("convert it: `iconv -f UTF-16 -t UTF-8 FILE`"));
    }
    Ok(reader)
}

/// The first bytes of a file.
pub(super) fn head(path: &Path, bytes: usize) -> Result<Vec<u8>, OpError> {
    let mut head = Vec::new();
    let read = open(path)?.take(bytes as u64).read_to_end(&mut head);
    read.map_err(|error| unreadable(path, &error))?;
    Ok(head)
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> OpError {
    OpError::new("run::unreadable", format!("Cannot read {}: {error}.", path.display()))
}

/// The next line without its end; false at the end of the file. Longer lines than [`MAX_LINE`] are an error.
///
/// # Errors
/// When the file cannot be read, or the line is too long; `line` is its number.
pub fn next_line(
    reader: &mut impl BufRead,
    buffer: &mut Vec<u8>,
    path: &Path,
    line: u64,
) -> Result<bool, OpError> {
    buffer.clear();
    let read = reader
        .by_ref()
        .take(MAX_LINE + 1)
        .read_until(b'\n', buffer)
        .map_err(|error| unreadable(path, &error))?;
    if read as u64 > MAX_LINE && buffer.last() != Some(&b'\n') {
        return Err(too_long(path, line, "line"));
    }
    if buffer.last() == Some(&b'\n') {
        buffer.pop();
        if buffer.last() == Some(&b'\r') {
            buffer.pop();
        }
    }
    Ok(read > 0)
}

pub(super) fn too_long(path: &Path, line: u64, what: &str) -> OpError {
    OpError::new(
        "run::line_too_long",
        format!(
            "{}:{line}: the {what} that starts here is longer than {} MiB.",
            path.display(),
            MAX_LINE >> 20
        ),
    )
}

/// A reader that refuses to go on when a record grows too long; the record's reader resets the count.
pub(super) struct Bounded<R> {
    inner: R,
    since: Rc<Cell<u64>>,
}

impl<R> Bounded<R> {
    pub(super) fn new(inner: R, since: Rc<Cell<u64>>) -> Self {
        Self { inner, since }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.since.get() > MAX_LINE {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        let read = self.inner.read(buffer)?;
        self.since.set(self.since.get() + read as u64);
        Ok(read)
    }
}
