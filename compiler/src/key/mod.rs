//! Cache keys: BLAKE3 over a length-prefixed, versioned encoding of one struct.
//!
//! [`KeyFields`] is what a key is made of, in a form that people can read and that the store keeps, so that two keys
//! can be compared field by field. A plan key has the plan keys of the inputs in it, an action key the digests of their
//! contents; both use the same struct and the same encoding.

mod encode;
mod row;

pub(crate) use encode::{Written, written_key};
pub use row::{row_display, row_field};

use crate::plan::{Arg, Args, Column, Input, Node};
use crate::value::{Const, FieldName};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Version of the encoding; it is part of every key.
pub const FORMAT: u32 = 1;

/// A 32-byte key, shown as hex.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub [u8; 32]);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

impl Serialize for Key {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_hex(&text).ok_or_else(|| serde::de::Error::custom("a key is 64 hex digits"))
    }
}

impl Key {
    /// Read 64 hex digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

/// What a key is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyFields {
    /// [`FORMAT`] when it was made.
    pub format: u32,
    /// The op.
    pub op: String,
    /// Version of the op's meaning.
    pub version: u32,
    /// The tool that computes it, with its version.
    pub tool: Option<String>,
    /// Arguments by parameter name, as `.pipe` writes them; an input shows as [`Field::Input`].
    pub args: BTreeMap<String, Field>,
    /// By the place of each input in the arguments (`with`, `scores.decoder`): its plan key or content digest.
    pub inputs: BTreeMap<String, String>,
    /// The steps before this one when they run as one with it. Not hashed: their last key is this one's input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<KeyFields>,
}

/// An argument in [`KeyFields`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Field {
    /// A scalar, or a row function, as text.
    Text(String),
    /// A list.
    List(Vec<Field>),
    /// A record.
    Record(BTreeMap<String, Field>),
    /// The result of another node; [`KeyFields::inputs`] says which.
    Input(()),
}

/// One difference between two keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    /// `window`, `optimizer.lr`, `version`, `input data`.
    pub field: String,
    /// Before; `None` when the field is new.
    pub old: Option<String>,
    /// After; `None` when the field is gone.
    pub new: Option<String>,
}

impl KeyFields {
    /// The fields of an op call. `None` when an input has no key.
    pub fn of(
        op: &str,
        version: u32,
        tool: Option<&str>,
        args: &Args,
        nokey: &[String],
        input: impl Fn(&Input) -> Option<String>,
    ) -> Option<Self> {
        let mut inputs = BTreeMap::new();
        let mut fields = BTreeMap::new();
        for (name, arg) in args.iter() {
            if !nokey.contains(name) {
                fields.insert(name.clone(), field(arg, name, &input, &mut inputs)?);
            }
        }
        let (op, tool) = (op.to_owned(), tool.map(str::to_owned));
        Some(Self { format: FORMAT, op, version, tool, args: fields, inputs, steps: Vec::new() })
    }

    /// The key of these fields.
    #[must_use]
    pub fn key(&self) -> Key {
        let mut hash = Encoder(blake3::Hasher::new());
        hash.bytes(b"pipe-key");
        hash.number(u64::from(self.format));
        hash.bytes(self.op.as_bytes());
        hash.number(u64::from(self.version));
        hash.bytes(self.tool.as_deref().unwrap_or("").as_bytes());
        hash.number(self.args.len() as u64);
        for (name, value) in &self.args {
            hash.bytes(name.as_bytes());
            hash.field(value);
        }
        hash.number(self.inputs.len() as u64);
        for (name, digest) in &self.inputs {
            hash.bytes(name.as_bytes());
            hash.bytes(digest.as_bytes());
        }
        Key(*hash.0.finalize().as_bytes())
    }

    /// What differs between two keys, in the order version, tool, arguments, inputs.
    #[must_use]
    pub fn diff(old: &Self, new: &Self) -> Vec<FieldChange> {
        let mut changes = Vec::new();
        let mut push = |field: &str, old: Option<String>, new: Option<String>| {
            if old != new {
                changes.push(FieldChange { field: field.to_owned(), old, new });
            }
        };
        push("key format", Some(old.format.to_string()), Some(new.format.to_string()));
        push("op", Some(old.op.clone()), Some(new.op.clone()));
        push("op version", Some(old.version.to_string()), Some(new.version.to_string()));
        push("tool", old.tool.clone(), new.tool.clone());
        let (before, after) = (flat(&old.args), flat(&new.args));
        for name in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
            push(name, before.get(name).cloned(), after.get(name).cloned());
        }
        for name in old.inputs.keys().chain(new.inputs.keys()).collect::<BTreeSet<_>>() {
            push(
                &format!("input {name}"),
                old.inputs.get(name).cloned(),
                new.inputs.get(name).cloned(),
            );
        }
        changes.extend(Self::diff_steps(old, new));
        changes
    }

    /// What differs between the steps of two keys: `filter.where`. Keys that ran as one with other steps differ in their
    /// inputs if they differ at all.
    fn diff_steps(old: &Self, new: &Self) -> Vec<FieldChange> {
        if old.steps.is_empty() || new.steps.is_empty() {
            return Vec::new();
        }
        let ops = |fields: &Self| {
            fields.steps.iter().map(|step| step.op.as_str()).collect::<Vec<_>>().join(", ")
        };
        let (before, after) = (ops(old), ops(new));
        if before != after {
            let (old, new) = (Some(before), Some(after));
            return vec![FieldChange { field: "steps before".to_owned(), old, new }];
        }
        let bare = |step: &Self| Self { inputs: BTreeMap::new(), ..step.clone() };
        let mut changes = Vec::new();
        for (old, new) in old.steps.iter().zip(&new.steps) {
            let word = new.op.rsplit('.').next().unwrap_or(&new.op);
            changes.extend(
                Self::diff(&bare(old), &bare(new)).into_iter().map(|change| FieldChange {
                    field: format!("{word}.{}", change.field),
                    ..change
                }),
            );
        }
        changes
    }

    /// What is read from outside, by step and place: the table of the first step that runs as one with others, and what the
    /// functions of each step read.
    #[must_use]
    pub fn reads(&self) -> BTreeMap<(usize, &str), &str> {
        let mut reads = BTreeMap::new();
        for (at, step) in self.steps.iter().chain([self]).enumerate() {
            let outside = step.inputs.iter().filter(|(place, _)| at == 0 || *place != "table");
            reads.extend(outside.map(|(place, key)| ((at, place.as_str()), key.as_str())));
        }
        reads
    }
}

/// The text that stands for an input in a plan key: the key of its node and the fields taken from it.
#[must_use]
pub fn plan_input(key: Key, path: &[String]) -> String {
    let mut text = key.to_string();
    for name in path {
        text.push('.');
        text.push_str(&FieldName(name).to_string());
    }
    text
}

/// The fields of a node's plan key. `key_of` gives the plan keys of earlier nodes.
pub fn plan_fields(
    node: &Node,
    key_of: impl Fn(crate::plan::NodeId) -> Option<Key>,
) -> Option<KeyFields> {
    node_fields(node, |input| Some(plan_input(key_of(input.node)?, &input.path)))
}

/// The fields of a node's action key. `digest_of` gives the content digest of the value that an input reads. A fused step
/// stands for its table with its own action key: what it makes has no content that is kept.
pub fn action_fields(
    node: &Node,
    digest_of: impl Fn(&Input) -> Option<String>,
) -> Option<KeyFields> {
    node_fields(node, digest_of)
}

/// The fields of a node, or of the last step of a fused one, whose table is named by the key of the step before it.
fn node_fields(node: &Node, input: impl Fn(&Input) -> Option<String>) -> Option<KeyFields> {
    let own = |node: &Node, table: Option<String>| {
        let tool = node.tool.as_deref().map(String::as_str);
        let mut fields =
            KeyFields::of(&node.op, node.version, tool, &node.args, &node.nokey, &input)?;
        fields.inputs.extend(table.map(|table| ("table".to_owned(), table)));
        Some(fields)
    };
    let Some((last, inner)) = node.fused.split_last() else { return own(node, None) };
    let mut table = None;
    let mut steps = Vec::with_capacity(inner.len());
    for step in inner {
        let fields = own(step, table)?;
        table = Some(fields.key().to_string());
        steps.push(fields);
    }
    Some(KeyFields { steps, ..own(last, table)? })
}

struct Encoder(blake3::Hasher);

impl Encoder {
    fn number(&mut self, value: u64) {
        self.0.update(&value.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn field(&mut self, field: &Field) {
        match field {
            Field::Text(text) => {
                self.0.update(b"t");
                self.bytes(text.as_bytes());
            }
            Field::List(items) => {
                self.0.update(b"l");
                self.number(items.len() as u64);
                items.iter().for_each(|item| self.field(item));
            }
            Field::Record(fields) => {
                self.0.update(b"r");
                self.number(fields.len() as u64);
                for (name, value) in fields {
                    self.bytes(name.as_bytes());
                    self.field(value);
                }
            }
            Field::Input(()) => {
                self.0.update(b"i");
            }
        }
    }
}

fn field(
    arg: &Arg,
    place: &str,
    input: &impl Fn(&Input) -> Option<String>,
    inputs: &mut BTreeMap<String, String>,
) -> Option<Field> {
    Some(match arg {
        Arg::Const(value) => const_field(value),
        Arg::Input(read) => {
            inputs.insert(place.to_owned(), input(read)?);
            Field::Input(())
        }
        Arg::Row(function) => row_field(function),
        Arg::Reading { function, reads } => {
            let reads = reads.iter().enumerate();
            let reads = reads
                .map(|(at, read)| field(read, &format!("{place}[{at}]"), input, inputs))
                .collect::<Option<_>>()?;
            let parts = [("function", row_field(function)), ("reads", Field::List(reads))];
            Field::Record(parts.map(|(name, part)| (name.to_owned(), part)).into())
        }
        Arg::Body(body) => Field::Text(body.digest()?),
        Arg::Bound(bound) => {
            let path = bound.path.iter().map(|name| format!(".{}", FieldName(name)));
            inputs.insert(
                place.to_owned(),
                format!("slot {}{}", bound.slot, path.collect::<String>()),
            );
            Field::Input(())
        }
        Arg::Columns(columns) => {
            let mut texts: Vec<String> = columns.iter().map(column_text).collect();
            texts.sort();
            Field::List(texts.into_iter().map(Field::Text).collect())
        }
        Arg::Files(files) => {
            Field::List(files.iter().map(|file| Field::Text(file.digest.clone())).collect())
        }
        Arg::List(items) => {
            let items = items.iter().enumerate();
            let items =
                items.map(|(at, item)| field(item, &format!("{place}[{at}]"), input, inputs));
            Field::List(items.collect::<Option<_>>()?)
        }
        Arg::Record(fields) => {
            let fields = fields.iter().map(|(name, value)| {
                let place = format!("{place}.{}", FieldName(name));
                Some((name.clone(), field(value, &place, input, inputs)?))
            });
            Field::Record(fields.collect::<Option<_>>()?)
        }
    })
}

fn const_field(value: &Const) -> Field {
    match value {
        Const::List(items) => Field::List(items.iter().map(const_field).collect()),
        Const::Record(fields) => Field::Record(
            fields.iter().map(|(name, value)| (name.clone(), const_field(value))).collect(),
        ),
        other => Field::Text(other.to_string()),
    }
}

fn column_text(column: &Column) -> String {
    let optional = if column.optional { "?" } else { "" };
    format!("{}: {}{optional}", FieldName(&column.name), column.ty.name())
}

/// Arguments by their full place, so that a difference deep inside has its own name.
fn flat(args: &BTreeMap<String, Field>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    args.iter().for_each(|(name, field)| flatten(name, field, &mut found));
    found
}

fn flatten(place: &str, field: &Field, found: &mut BTreeMap<String, String>) {
    match field {
        Field::Text(text) => {
            found.insert(place.to_owned(), text.clone());
        }
        Field::List(items) if items.iter().all(|item| matches!(item, Field::Text(_))) => {
            let texts = items.iter().filter_map(|item| match item {
                Field::Text(text) => Some(text.as_str()),
                _ => None,
            });
            found.insert(place.to_owned(), format!("[{}]", texts.collect::<Vec<_>>().join(", ")));
        }
        Field::List(items) => {
            for (at, item) in items.iter().enumerate() {
                flatten(&format!("{place}[{at}]"), item, found);
            }
        }
        Field::Record(fields) => match fields.get("row") {
            Some(Field::Text(row)) if fields.contains_key("gives") => {
                found.insert(place.to_owned(), format!("row => {row}"));
                for (name, field) in fields.iter().filter(|(name, _)| *name != "row") {
                    flatten(&format!("{place} {name}"), field, found);
                }
            }
            _ => fields
                .iter()
                .for_each(|(name, field)| flatten(&format!("{place}.{name}"), field, found)),
        },
        Field::Input(()) => {}
    }
}
