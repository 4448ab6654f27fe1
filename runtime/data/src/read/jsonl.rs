//! JSON Lines: one object a line.

use super::lines::{next_line, open};
use super::{Misfit, Rows};
use pipe_runtime::op::{Context, OpError};
use std::path::Path;

pub(super) fn read(path: &Path, rows: &mut Rows, context: &dyn Context) -> Result<(), OpError> {
    let mut reader = open(path)?;
    let total = std::fs::metadata(path).map_or(0, |about| about.len());
    let (mut buffer, mut line, mut bytes) = (Vec::new(), 0, 0);
    loop {
        line += 1;
        if !next_line(&mut reader, &mut buffer, path, line)? {
            return Ok(());
        }
        bytes += buffer.len() as u64 + 1;
        let text = buffer.strip_prefix(b"\xEF\xBB\xBF").filter(|_| line == 1).unwrap_or(&buffer);
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match fields(text, rows) {
            Ok(cells) => {
                rows.read += 1;
                rows.builders.iter_mut().zip(cells).for_each(|(builder, cell)| builder.push(cell));
            }
            Err(problem) => rows.misfit(line, &problem)?,
        }
        if line.is_multiple_of(8_192) {
            if context.cancelled() {
                return Err(OpError::cancelled());
            }
            context.progress(bytes, total, "reading");
        }
    }
}

fn fields(text: &[u8], rows: &Rows) -> Result<Vec<super::builder::Cell>, Misfit> {
    if std::str::from_utf8(text).is_err() {
        return Err(Misfit::not_utf8("the line is not UTF-8 text"));
    }
    let value: serde_json::Value = serde_json::from_slice(text)
        .map_err(|error| Misfit::row(format!("the line is not JSON: {error}")))?;
    let object = value.as_object().ok_or_else(|| Misfit::row("the line is not a JSON object"))?;
    let columns = rows.wanted.columns.iter().zip(&rows.builders);
    columns.map(|(column, builder)| builder.json(object.get(&column.name))).collect()
}
