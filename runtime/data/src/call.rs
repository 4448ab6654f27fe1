//! One call of an op: typed access to its arguments, and writing its result.

use crate::table::{Table, read_table, write_table};
use pipe_row::ir::RowFn;
use pipe_runtime::op::{Args, Context, Op, OpError};
use pipe_runtime::value::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An op that is a function of its call.
pub struct Native {
    name: &'static str,
    version: u32,
    run: fn(&Call) -> Result<Value, OpError>,
}

impl Native {
    /// An op of this name and version.
    #[must_use]
    pub const fn new(
        name: &'static str,
        version: u32,
        run: fn(&Call) -> Result<Value, OpError>,
    ) -> Self {
        Self { name, version, run }
    }
}

impl Op for Native {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn run(&self, args: &Args, context: &dyn Context) -> Result<Value, OpError> {
        (self.run)(&Call { args, context })
    }
}

/// The arguments of a call and what it may use.
pub struct Call<'a> {
    /// Its arguments.
    pub args: &'a Args,
    /// What the op may use besides its arguments.
    pub context: &'a dyn Context,
}

impl Call<'_> {
    /// A duration longer than zero, in nanoseconds.
    ///
    /// # Errors
    /// When the argument is something else.
    pub fn positive_duration(&self, name: &str) -> Result<i64, OpError> {
        let nanos = self.args.duration(name)?;
        if nanos > 0 {
            return Ok(nanos);
        }
        Err(OpError::new("run::argument", format!("`{name}` must be longer than zero.")))
    }

    /// A number between two others, both included.
    ///
    /// # Errors
    /// When the argument is something else.
    pub fn float_within(&self, name: &str, least: f64, most: f64) -> Result<f64, OpError> {
        let value = self.args.float(name)?;
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        Err(OpError::new(
            "run::argument",
            format!("`{name}` is {value} and must lie between {least} and {most}."),
        ))
    }

    /// A count of at least `least`.
    ///
    /// # Errors
    /// When the argument is something else.
    pub fn count_from(&self, name: &str, least: usize) -> Result<usize, OpError> {
        let value = self.args.int(name)?;
        usize::try_from(value).ok().filter(|count| *count >= least).ok_or_else(|| {
            OpError::new(
                "run::argument",
                format!("`{name}` is {value} and must be at least {least}."),
            )
        })
    }

    /// A list of names.
    ///
    /// # Errors
    /// When the argument is something else, or empty.
    pub fn names(&self, name: &str) -> Result<Vec<String>, OpError> {
        let names: Vec<String> = self.args.strings(name)?.into_iter().map(str::to_owned).collect();
        if names.is_empty() {
            return Err(OpError::new("run::argument", format!("`{name}` names no column.")));
        }
        Ok(names)
    }

    /// Row functions by name.
    ///
    /// # Errors
    /// When the argument is something else.
    pub fn rows(&self, name: &str) -> Result<Vec<(&str, &RowFn)>, OpError> {
        let fields = self.args.record(name)?;
        fields.names().into_iter().map(|field| Ok((field, fields.row_fn(field)?))).collect()
    }

    /// Files to read: those that the plan saw, or a path.
    ///
    /// # Errors
    /// When the argument is something else.
    pub fn files(&self, name: &str) -> Result<Vec<PathBuf>, OpError> {
        if let Ok(files) = self.args.files(name) {
            return Ok(files.iter().map(|file| PathBuf::from(&file.path)).collect());
        }
        Ok(vec![PathBuf::from(self.args.str(name)?)])
    }

    /// Where the content of an artifact lies.
    ///
    /// # Errors
    /// When the argument is something else, or the store has lost it.
    pub fn path(&self, name: &str, kind: &str) -> Result<PathBuf, OpError> {
        self.context.path(self.args.artifact_of(name, kind)?)
    }

    /// A table.
    ///
    /// # Errors
    /// When the argument is something else, or the file is damaged.
    pub fn table(&self, name: &str) -> Result<Arc<Table>, OpError> {
        self.decoded(name, "table", read_table)
    }

    /// A list of tables.
    ///
    /// # Errors
    /// When the argument is something else, or a file is damaged.
    pub fn tables(&self, name: &str) -> Result<Vec<Arc<Table>>, OpError> {
        let artifacts = self.args.artifacts(name)?.into_iter();
        let tables = artifacts.map(|artifact| {
            if artifact.kind != "table" {
                let message =
                    format!("`{name}` must hold tables, and has one of kind `{}`.", artifact.kind);
                return Err(OpError::new("run::argument", message));
            }
            self.decoded_artifact(artifact, read_table)
        });
        tables.collect()
    }

    /// The decoded content of an artifact, shared between calls.
    ///
    /// # Errors
    /// When the argument is something else, and those of `decode`.
    pub fn decoded<T: Send + Sync + 'static>(
        &self,
        name: &str,
        kind: &str,
        decode: fn(&Path) -> Result<T, OpError>,
    ) -> Result<Arc<T>, OpError> {
        self.decoded_artifact(self.args.artifact_of(name, kind)?, decode)
    }

    fn decoded_artifact<T: Send + Sync + 'static>(
        &self,
        artifact: &pipe_runtime::value::Artifact,
        decode: fn(&Path) -> Result<T, OpError>,
    ) -> Result<Arc<T>, OpError> {
        let erased = self.context.decoded(artifact, &|path| {
            let decoded: Arc<dyn Any + Send + Sync> = Arc::new(decode(path)?);
            Ok(decoded)
        })?;
        match erased.downcast::<T>() {
            Ok(decoded) => Ok(decoded),
            Err(_) => Ok(Arc::new(decode(&self.context.path(artifact)?)?)),
        }
    }

    /// Write a table as the result.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn give_table(&self, table: &Table) -> Result<Value, OpError> {
        self.give_table_as("table", table)
    }

    /// Write a table as one of several results.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn give_table_as(&self, name: &str, table: &Table) -> Result<Value, OpError> {
        let path = self.context.scratch(&format!("{name}.arrow"))?;
        write_table(table, &path)?;
        let meta = BTreeMap::from([("rows".to_owned(), count(table.rows()))]);
        self.context.adopt(&path, "table", "arrow", meta).map(Value::Artifact)
    }

    /// Write a file as the result.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn give_file(
        &self,
        bytes: &[u8],
        kind: &str,
        extension: &str,
        meta: BTreeMap<String, Value>,
    ) -> Result<Value, OpError> {
        let path = self.context.scratch(&format!("{kind}.{extension}"))?;
        std::fs::write(&path, bytes).map_err(|error| {
            OpError::new("run::write", format!("Cannot write {}: {error}.", path.display()))
        })?;
        self.context.adopt(&path, kind, extension, meta).map(Value::Artifact)
    }

    /// Stop here when the run is being stopped.
    ///
    /// # Errors
    /// [`OpError::cancelled`] then.
    pub fn stop_if_cancelled(&self) -> Result<(), OpError> {
        if self.context.cancelled() { Err(OpError::cancelled()) } else { Ok(()) }
    }
}

/// A count as a value.
#[must_use]
pub fn count(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}
