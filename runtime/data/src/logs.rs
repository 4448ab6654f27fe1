//! Log files: each line's time, level, component and message.

mod form;
mod template;

pub use form::{Form, Line};
pub use template::{masked, template};

use crate::read::{next_line, open};
use crate::table::Table;
use pipe_row::Column;
use pipe_runtime::op::{Context, OpError};
use std::path::Path;

/// Most bytes that one message keeps, with its continuation lines.
const MAX_MESSAGE: usize = 64 << 10;

/// Read a log. Lines without a time continue the line before them.
///
/// # Errors
/// When the file cannot be read, or no line in it has a time.
pub fn read_log(
    path: &Path,
    year: Option<i32>,
    context: &dyn Context,
) -> Result<Vec<Line>, OpError> {
    let mut reader = open(path)?;
    let mut form = Form::new(year);
    let (mut lines, mut buffer): (Vec<Line>, _) = (Vec::new(), Vec::new());
    let (mut number, mut orphans, mut damaged) = (0, 0_u64, 0_u64);
    loop {
        number += 1;
        if !next_line(&mut reader, &mut buffer, path, number)? {
            break;
        }
        let text = String::from_utf8_lossy(&buffer);
        damaged += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
        let text = text.trim_start_matches('\u{feff}').trim_end();
        if text.is_empty() {
            continue;
        }
        match (form.parse(text)?, lines.last_mut()) {
            (Some(line), _) => lines.push(line),
            (None, Some(before)) => before.append(text, MAX_MESSAGE),
            (None, None) => orphans += 1,
        }
        if number.is_multiple_of(8_192) && context.cancelled() {
            return Err(OpError::cancelled());
        }
    }
    if lines.is_empty() {
        return Err(OpError::new(
            "run::no_log_lines",
            format!("{}: no line of the {orphans} in it starts with a time.", path.display()),
        )
        .help("`pipe doc logs.read` lists the forms that are read; syslog needs `year`"));
    }
    for (count, what) in [
        (orphans, "stand before the first time and were left out"),
        (damaged, "are not all UTF-8; what is not was replaced"),
    ] {
        if count > 0 {
            context.warn(&format!("{}: {count} lines {what}.", path.display()));
        }
    }
    Ok(lines)
}

/// Lines as a table.
///
/// # Errors
/// When there are none to make columns of.
pub fn to_table(lines: Vec<Line>) -> Result<Table, OpError> {
    Table::new(vec![
        ("time".to_owned(), Column::time(lines.iter().map(|line| line.time).collect())),
        ("level".to_owned(), Column::optional_text(lines.iter().map(|line| line.level))),
        (
            "component".to_owned(),
            Column::optional_text(lines.iter().map(|line| line.component.as_deref())),
        ),
        ("message".to_owned(), Column::text(lines.iter().map(|line| line.message.as_str()))),
    ])
}
