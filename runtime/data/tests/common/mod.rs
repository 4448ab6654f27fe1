//! Calling ops without a store.

#![expect(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

use pipe_compiler::plan::Column as Wanted;
use pipe_data::{Table, read_table};
use pipe_row::Column;
use pipe_row::ir::Ty;
use pipe_runtime::op::{ArgValue, Args, Context, OpError};
use pipe_runtime::registry::Registry;
use pipe_runtime::standalone::Standalone;
use pipe_runtime::value::Value;
use std::path::PathBuf;
use tempfile::TempDir;

pub struct Bench {
    pub folder: TempDir,
    pub context: Standalone,
    registry: Registry,
}

impl Bench {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let context = Standalone::new(folder.path());
        let mut registry = Registry::new();
        pipe_data::register(&mut registry);
        Self { folder, context, registry }
    }

    pub fn run(&self, op: &str, args: Args) -> Result<Value, OpError> {
        self.registry.find(op).unwrap().run(&args, &self.context)
    }

    pub fn table(&self, op: &str, args: Args) -> Result<Table, OpError> {
        self.run(op, args).map(|value| self.open(&value))
    }

    pub fn open(&self, value: &Value) -> Table {
        let Value::Artifact(artifact) = value else { panic!("no artifact: {value:?}") };
        read_table(&self.context.path(artifact).unwrap()).unwrap()
    }

    /// The artifact of a table.
    pub fn give(&self, columns: Vec<(&str, Column)>) -> Value {
        let columns = columns.into_iter().map(|(name, column)| (name.to_owned(), column)).collect();
        let path = self.context.scratch("table.arrow").unwrap();
        pipe_data::write_table(&Table::new(columns).unwrap(), &path).unwrap();
        Value::Artifact(self.context.adopt(&path, "table", "arrow", [].into()).unwrap())
    }

    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub fn read(
        &self,
        path: &std::path::Path,
        columns: &[(&str, Ty, bool)],
        malformed: &str,
    ) -> Result<Table, OpError> {
        let columns = columns.iter().map(|(name, ty, optional)| Wanted {
            name: (*name).into(),
            ty: *ty,
            optional: *optional,
        });
        let args = Args::of([
            ("path", text(&path.to_string_lossy())),
            ("malformed", text(malformed)),
            ("time", Value::None),
        ]);
        self.table("data.read", args.with("row", ArgValue::Columns(columns.collect())))
    }
}

pub fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

pub fn list(items: &[&str]) -> Value {
    Value::List(items.iter().map(|item| text(item)).collect())
}
