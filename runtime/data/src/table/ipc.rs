//! Tables as files: Arrow IPC, one batch, uncompressed, nothing in it but the table.
//!
//! Equal tables give equal bytes: columns are rebuilt before writing, so that no slack of earlier
//! computations (shared text buffers, values below missing rows) gets in.

use super::{Table, polars_error};
use pipe_runtime::op::OpError;
use polars::prelude::{
    CompatLevel, DataFrame, IpcReader, IpcWriter, PlSmallStr, SerReader, SerWriter,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

const SIZES: &str = "pipe.sizes";

/// Write a table to a new file.
///
/// # Errors
/// When the file cannot be written.
pub fn write_table(table: &Table, path: &Path) -> Result<(), OpError> {
    let failed = |error: &dyn std::fmt::Display| {
        OpError::new("run::write", format!("Cannot write {}: {error}.", path.display()))
    };
    let mut frame = normal(table)?;
    let file = File::create(path).map_err(|error| failed(&error))?;
    let mut out = BufWriter::new(file);
    let mut writer =
        IpcWriter::new(&mut out).with_compat_level(CompatLevel::oldest()).with_parallel(false);
    if !table.sizes().is_empty() {
        let names: Vec<&String> = table.sizes().iter().collect();
        let text = serde_json::to_string(&names).map_err(|error| failed(&error))?;
        let metadata: BTreeMap<PlSmallStr, PlSmallStr> = [(SIZES.into(), text.into())].into();
        writer.set_custom_schema_metadata(Arc::new(metadata));
    }
    writer.finish(&mut frame).map_err(|error| failed(&error))?;
    out.flush().map_err(|error| failed(&error))
}

fn normal(table: &Table) -> Result<DataFrame, OpError> {
    let rebuilt = Table::new(table.columns()?)?;
    Ok(rebuilt.frame)
}

/// Read a table that [`write_table`] wrote.
///
/// # Errors
/// When the file is not such a table.
pub fn read_table(path: &Path) -> Result<Table, OpError> {
    let file = File::open(path).map_err(|error| {
        OpError::new("run::lost", format!("Cannot open {}: {error}.", path.display()))
    })?;
    let mut reader = IpcReader::new(file);
    let metadata = reader.custom_metadata().map_err(|error| polars_error(&error))?;
    let sizes: BTreeSet<String> = metadata
        .as_deref()
        .and_then(|metadata| metadata.get(&PlSmallStr::from_static(SIZES)))
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let frame = reader.finish().map_err(|error| polars_error(&error))?;
    Table::over(frame, sizes)
}
