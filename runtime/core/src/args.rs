//! Arguments at run time: resolved from the plan, read by ops through typed getters.
//!
//! Every getter comes twice: `args.float("q")?` for what must be there, and
//! `args.optional_float("q")?` for what may be `none`. [`Fields`] does the same for records within.

use crate::op::{ArgValue, Args, OpError};
use crate::value::{Artifact, Value};
use pipe_compiler::plan::{self, Arg, Column, FileArg, Input};
use pipe_row::ir::RowFn;
use std::collections::BTreeMap;

/// One argument or one field of a record within an argument.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A value.
    Value(&'a Value),
    /// Anything that an argument can be.
    Arg(&'a ArgValue),
}

/// The fields of a record argument, with the getters of [`Args`].
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    path: String,
    of: Of<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Of<'a> {
    Args(&'a BTreeMap<String, ArgValue>),
    Values(&'a BTreeMap<String, Value>),
}

impl<'a> Item<'a> {
    fn value(self) -> Option<&'a Value> {
        match self {
            Self::Value(value) | Self::Arg(ArgValue::Value(value)) => Some(value),
            Self::Arg(_) => None,
        }
    }

    fn is_none(self) -> bool {
        matches!(self.value(), Some(Value::None))
    }

    fn type_name(self) -> &'a str {
        match self {
            Self::Value(value) | Self::Arg(ArgValue::Value(value)) => value.type_name(),
            Self::Arg(ArgValue::Row(_)) => "a function of a row",
            Self::Arg(ArgValue::Columns(_)) => "a table type",
            Self::Arg(ArgValue::Files(_)) => "files",
            Self::Arg(ArgValue::List(_)) => "a list",
            Self::Arg(ArgValue::Record(_)) => "a record",
        }
    }

    /// The item as a record, whose fields are called `path.name` in messages.
    fn fields(self, path: &str) -> Option<Fields<'a>> {
        let of = match self {
            Self::Value(Value::Record(fields))
            | Self::Arg(ArgValue::Value(Value::Record(fields))) => Of::Values(fields),
            Self::Arg(ArgValue::Record(fields)) => Of::Args(fields),
            _ => return None,
        };
        Some(Fields { path: format!("{path}."), of })
    }

    fn items(self) -> Option<Vec<Item<'a>>> {
        match self {
            Self::Value(Value::List(items)) | Self::Arg(ArgValue::Value(Value::List(items))) => {
                Some(items.iter().map(Item::Value).collect())
            }
            Self::Arg(ArgValue::List(items)) => Some(items.iter().map(Item::Arg).collect()),
            _ => None,
        }
    }
}

/// How one kind of value is read out of an item.
trait Read<'a>: Sized {
    const WANTED: &'static str;
    fn read(item: Item<'a>, path: &str) -> Option<Self>;
}

macro_rules! read_values {
    ($($ty:ty, $wanted:literal, $pattern:pat $(if $when:expr)? => $result:expr;)*) => {$(
        impl<'a> Read<'a> for $ty {
            const WANTED: &'static str = $wanted;
            fn read(item: Item<'a>, _: &str) -> Option<Self> {
                match item.value()? {
                    $pattern $(if $when)? => Some($result),
                    _ => None,
                }
            }
        }
    )*};
}

struct Time(i64);
struct Duration(i64);
struct Size(i64);
struct Table<'a>(&'a Artifact);

read_values! {
    bool, "a bool", Value::Bool(value) => *value;
    i64, "an int", Value::Int(value) => *value;
    &'a str, "a str", Value::Str(value) => value;
    Time, "a time", Value::Time(value) => Time(*value);
    Duration, "a duration", Value::Duration(value) => Duration(*value);
    Size, "a size", Value::Size(value) => Size(*value);
    &'a Artifact, "an artifact", Value::Artifact(artifact) => artifact;
    Table<'a>, "a table", Value::Artifact(artifact) if artifact.kind == "table" => Table(artifact);
    &'a [Value], "a list", Value::List(items) => items;
}

impl<'a> Read<'a> for &'a Value {
    const WANTED: &'static str = "a value";
    fn read(item: Item<'a>, _: &str) -> Option<Self> {
        item.value()
    }
}

impl<'a> Read<'a> for f64 {
    const WANTED: &'static str = "a float";
    #[expect(clippy::cast_precision_loss, reason = "an int where a float is wanted")]
    fn read(item: Item<'a>, _: &str) -> Option<Self> {
        match item.value()? {
            Value::Float(value) => Some(*value),
            Value::Int(value) => Some(*value as f64),
            _ => None,
        }
    }
}

impl<'a> Read<'a> for usize {
    const WANTED: &'static str = "an int that is not negative";
    fn read(item: Item<'a>, path: &str) -> Option<Self> {
        i64::read(item, path).and_then(|value| usize::try_from(value).ok())
    }
}

impl<'a> Read<'a> for &'a [Column] {
    const WANTED: &'static str = "a table type";
    fn read(item: Item<'a>, _: &str) -> Option<Self> {
        match item {
            Item::Arg(ArgValue::Columns(columns)) => Some(columns),
            _ => None,
        }
    }
}

impl<'a> Read<'a> for &'a [FileArg] {
    const WANTED: &'static str = "files";
    fn read(item: Item<'a>, _: &str) -> Option<Self> {
        match item {
            Item::Arg(ArgValue::Files(files)) => Some(files),
            _ => None,
        }
    }
}

impl<'a> Read<'a> for &'a RowFn {
    const WANTED: &'static str = "a function of a row";
    fn read(item: Item<'a>, _: &str) -> Option<Self> {
        match item {
            Item::Arg(ArgValue::Row(function)) => Some(function),
            _ => None,
        }
    }
}

impl<'a> Read<'a> for Fields<'a> {
    const WANTED: &'static str = "a record";
    fn read(item: Item<'a>, path: &str) -> Option<Self> {
        item.fields(path)
    }
}

impl<'a> Read<'a> for Vec<Fields<'a>> {
    const WANTED: &'static str = "a list of records";
    fn read(item: Item<'a>, path: &str) -> Option<Self> {
        item.items()?.into_iter().map(|item| item.fields(path)).collect()
    }
}

macro_rules! read_lists {
    ($($item:ty, $wanted:literal;)*) => {$(
        impl<'a> Read<'a> for Vec<$item> {
            const WANTED: &'static str = $wanted;
            fn read(item: Item<'a>, path: &str) -> Option<Self> {
                item.items()?.into_iter().map(|item| <$item>::read(item, path)).collect()
            }
        }
    )*};
}

read_lists! {
    &'a str, "a list of str";
    f64, "a list of floats";
    i64, "a list of ints";
    &'a Artifact, "a list of artifacts";
}

macro_rules! getters {
    ($($name:ident, $optional:ident: $ty:ty, $read:ty $(, $part:tt)?; $doc:literal;)*) => {
        impl<'a> Fields<'a> {$(
            #[doc = $doc]
            ///
            /// # Errors
            /// When the argument is missing or something else.
            pub fn $name(&self, name: &str) -> Result<$ty, OpError> {
                self.read::<$read>(name).map(|value| value$(.$part)?)
            }

            #[doc = $doc]
            /// Nothing when it is `none` or absent.
            ///
            /// # Errors
            /// When the argument is something else.
            pub fn $optional(&self, name: &str) -> Result<Option<$ty>, OpError> {
                self.read_optional::<$read>(name).map(|value| value.map(|value| value$(.$part)?))
            }
        )*}

        #[expect(clippy::needless_lifetimes, reason = "some of the types name it")]
        impl Args {$(
            #[doc = $doc]
            ///
            /// # Errors
            /// When the argument is missing or something else.
            pub fn $name<'a>(&'a self, name: &str) -> Result<$ty, OpError> {
                self.fields().$name(name)
            }

            #[doc = $doc]
            /// Nothing when it is `none` or absent.
            ///
            /// # Errors
            /// When the argument is something else.
            pub fn $optional<'a>(&'a self, name: &str) -> Result<Option<$ty>, OpError> {
                self.fields().$optional(name)
            }
        )*}
    };
}

getters! {
    value, optional_value: &'a Value, &'a Value; "Any value.";
    bool, optional_bool: bool, bool; "A bool.";
    int, optional_int: i64, i64; "A whole number.";
    count, optional_count: usize, usize; "A whole number that is not negative.";
    float, optional_float: f64, f64; "A float; whole numbers serve too.";
    str, optional_str: &'a str, &'a str; "Text, a path, or a value of a string enumeration.";
    time, optional_time: i64, Time, 0; "Nanoseconds since 1970-01-01 UTC.";
    duration, optional_duration: i64, Duration, 0; "Nanoseconds.";
    size, optional_size: i64, Size, 0; "Bytes.";
    list, optional_list: &'a [Value], &'a [Value]; "A list of values.";
    strings, optional_strings: Vec<&'a str>, Vec<&'a str>; "A list of text.";
    floats, optional_floats: Vec<f64>, Vec<f64>; "A list of floats; whole numbers serve too.";
    ints, optional_ints: Vec<i64>, Vec<i64>; "A list of whole numbers.";
    artifact, optional_artifact: &'a Artifact, &'a Artifact; "Data in the store, of any kind.";
    artifacts, optional_artifacts: Vec<&'a Artifact>, Vec<&'a Artifact>; "A list of data in the store.";
    table, optional_table: &'a Artifact, Table<'a>, 0; "A table.";
    columns, optional_columns: &'a [Column], &'a [Column]; "The columns of a table type (`row: T`).";
    files, optional_files: &'a [FileArg], &'a [FileArg]; "Files with the digests that the plan saw.";
    row_fn, optional_row_fn: &'a RowFn, &'a RowFn; "A function of a row.";
    record, optional_record: Fields<'a>, Fields<'a>; "A record.";
    records, optional_records: Vec<Fields<'a>>, Vec<Fields<'a>>; "A list of records.";
}

impl Args {
    /// The arguments as fields of one record.
    #[must_use]
    pub fn fields(&self) -> Fields<'_> {
        Fields { path: String::new(), of: Of::Args(&self.0) }
    }

    /// Data in the store, of this kind.
    ///
    /// # Errors
    /// When the argument is missing or something else.
    pub fn artifact_of(&self, name: &str, kind: &str) -> Result<&Artifact, OpError> {
        let artifact = self.artifact(name)?;
        if artifact.kind == kind {
            return Ok(artifact);
        }
        Err(OpError::new(
            "run::argument",
            format!("`{name}` must be of kind `{kind}` and is of kind `{}`.", artifact.kind),
        ))
    }

    /// Arguments of plain values, for tests and tools.
    pub fn of<N: Into<String>>(values: impl IntoIterator<Item = (N, Value)>) -> Self {
        Self(
            values.into_iter().map(|(name, value)| (name.into(), ArgValue::Value(value))).collect(),
        )
    }

    /// Add an argument.
    #[must_use]
    pub fn with(mut self, name: &str, value: ArgValue) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// Every artifact within the arguments.
    #[must_use]
    pub fn all_artifacts(&self) -> Vec<&Artifact> {
        let mut found = Vec::new();
        self.0.values().for_each(|arg| arg.artifacts(&mut found));
        found
    }
}

impl ArgValue {
    /// Every artifact within the argument.
    pub fn artifacts<'a>(&'a self, found: &mut Vec<&'a Artifact>) {
        match self {
            Self::Value(value) => value.artifacts(found),
            Self::List(items) => items.iter().for_each(|item| item.artifacts(found)),
            Self::Record(fields) => fields.values().for_each(|field| field.artifacts(found)),
            Self::Row(_) | Self::Columns(_) | Self::Files(_) => {}
        }
    }
}

impl<'a> Fields<'a> {
    /// The item of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Item<'a>> {
        match self.of {
            Of::Args(fields) => fields.get(name).map(Item::Arg),
            Of::Values(fields) => fields.get(name).map(Item::Value),
        }
    }

    /// Names in order.
    #[must_use]
    pub fn names(&self) -> Vec<&'a str> {
        match self.of {
            Of::Args(fields) => fields.keys().map(String::as_str).collect(),
            Of::Values(fields) => fields.keys().map(String::as_str).collect(),
        }
    }

    /// The record as a value, when everything in it is one.
    #[must_use]
    pub fn to_value(&self) -> Option<Value> {
        let field = |name: &&'a str| Some(((*name).to_owned(), self.get(name)?.value()?.clone()));
        self.names().iter().map(field).collect::<Option<_>>().map(Value::Record)
    }

    fn read<T: Read<'a>>(&self, name: &str) -> Result<T, OpError> {
        let path = format!("{}{name}", self.path);
        let item = self.get(name).ok_or_else(|| {
            OpError::new("run::argument", format!("`{path}` is missing: it must be {}.", T::WANTED))
        })?;
        T::read(item, &path).ok_or_else(|| {
            let found = item.type_name();
            OpError::new("run::argument", format!("`{path}` must be {} and is {found}.", T::WANTED))
        })
    }

    fn read_optional<T: Read<'a>>(&self, name: &str) -> Result<Option<T>, OpError> {
        match self.get(name) {
            None => Ok(None),
            Some(item) if item.is_none() => Ok(None),
            Some(_) => self.read(name).map(Some),
        }
    }
}

/// The arguments of a node, given the results that it reads.
///
/// # Errors
/// When an input has no such field.
pub fn resolve<'v>(
    args: &plan::Args,
    value_of: &dyn Fn(&Input) -> Option<&'v Value>,
) -> Result<Args, OpError> {
    let each = |(name, arg): (&String, &Arg)| Ok((name.clone(), resolve_arg(arg, value_of)?));
    args.iter().map(each).collect::<Result<_, _>>().map(Args)
}

/// One argument, given the results that it reads.
///
/// # Errors
/// When an input has no such field.
pub fn resolve_arg<'v>(
    arg: &Arg,
    value_of: &dyn Fn(&Input) -> Option<&'v Value>,
) -> Result<ArgValue, OpError> {
    Ok(match arg {
        Arg::Const(constant) => ArgValue::Value(Value::from(constant)),
        Arg::Input(input) => {
            let whole = value_of(input).ok_or_else(|| {
                OpError::new("run::input", format!("Node {} has no result yet.", input.node.0))
            })?;
            ArgValue::Value(whole.project(&input.path)?.clone())
        }
        Arg::Row(function) => ArgValue::Row(function.clone()),
        Arg::Reading { function, reads } => ArgValue::Row(closed(function, reads, value_of)?),
        Arg::Body(body) => {
            ArgValue::Value(Value::List(body.bound.iter().cloned().map(Value::Str).collect()))
        }
        Arg::Bound(_) => {
            return Err(OpError::new("run::plan", "A variable of a body stands outside of it."));
        }
        Arg::Columns(columns) => ArgValue::Columns(columns.clone()),
        Arg::Files(files) => ArgValue::Files(files.clone()),
        Arg::List(items) => {
            let items: Vec<_> =
                items.iter().map(|item| resolve_arg(item, value_of)).collect::<Result<_, _>>()?;
            plain_list(&items).map_or(ArgValue::List(items), ArgValue::Value)
        }
        Arg::Record(fields) => {
            let each =
                |(name, field): (&String, &Arg)| Ok((name.clone(), resolve_arg(field, value_of)?));
            let fields: BTreeMap<_, _> = fields.iter().map(each).collect::<Result<_, OpError>>()?;
            plain_record(&fields).map_or(ArgValue::Record(fields), ArgValue::Value)
        }
    })
}

/// A row function with the results that it reads in place of its last columns.
fn closed<'v>(
    function: &RowFn,
    reads: &[Arg],
    value_of: &dyn Fn(&Input) -> Option<&'v Value>,
) -> Result<RowFn, OpError> {
    let kept = function.columns.len().saturating_sub(reads.len());
    let names = function.columns.iter().skip(kept).map(|column| column.name.as_str());
    let mut values = Vec::with_capacity(reads.len());
    for (read, name) in reads.iter().zip(names) {
        let value = resolve_arg(read, value_of)?;
        let value = Item::Arg(&value).value().cloned().unwrap_or(Value::List(Vec::new()));
        values.push(crate::compute::scalar(name, &value)?);
    }
    function.fill(&values).map_err(|error| {
        OpError::new("run::value", format!("A result does not fit the function of a row: {error}."))
    })
}

fn plain_list(items: &[ArgValue]) -> Option<Value> {
    let plain = |item: &ArgValue| Item::Arg(item).value().cloned();
    items.iter().map(plain).collect::<Option<_>>().map(Value::List)
}

fn plain_record(fields: &BTreeMap<String, ArgValue>) -> Option<Value> {
    let plain = |(name, field)| Some((String::clone(name), Item::Arg(field).value()?.clone()));
    fields.iter().map(plain).collect::<Option<_>>().map(Value::Record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipe_compiler::plan::NodeId;
    use pipe_compiler::value::Const;

    #[test]
    fn getters_read_and_explain() {
        let optimizer =
            Value::record([("kind", Value::Str("adamw".into())), ("lr", Value::Int(1))]);
        let args = Args::of([
            ("q", Value::Float(0.5)),
            ("n", Value::Int(-3)),
            ("every", Value::Duration(5)),
            ("nothing", Value::None),
            ("optimizer", optimizer),
            ("names", Value::List(vec![Value::Str("a".into()), Value::Str("b".into())])),
        ]);
        assert_eq!(args.float("q").unwrap(), 0.5);
        assert_eq!(args.duration("every").unwrap(), 5);
        assert_eq!(args.optional_table("nothing").unwrap(), None);
        assert_eq!(args.optional_int("absent").unwrap(), None);
        assert_eq!(args.strings("names").unwrap(), ["a", "b"]);
        let optimizer = args.record("optimizer").unwrap();
        assert_eq!(optimizer.float("lr").unwrap(), 1.0);
        let message = |result: Result<i64, OpError>| result.unwrap_err().message;
        assert_eq!(message(args.int("q")), "`q` must be an int and is float.");
        assert_eq!(message(args.int("m")), "`m` is missing: it must be an int.");
        assert_eq!(message(optimizer.int("kind")), "`optimizer.kind` must be an int and is str.");
        assert!(args.count("n").is_err());
    }

    #[test]
    fn plan_arguments_resolve_to_values() {
        let result = Value::record([("f1", Value::Float(0.75))]);
        let input = Arg::Input(Input { node: NodeId(0), path: vec!["f1".to_owned()] });
        let list = Arg::List(vec![input, Arg::Const(Const::Int(2))]);
        let args = plan::Args::from([("scores".to_owned(), list)]);
        let args = resolve(&args, &|_| Some(&result)).unwrap();
        assert_eq!(args.floats("scores").unwrap(), [0.75, 2.0]);
    }
}
