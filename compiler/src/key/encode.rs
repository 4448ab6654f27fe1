//! The bytes of a key, written straight from arguments: the same bytes as those of [`super::KeyFields`], without its
//! texts and maps. Arguments are written apart, so that a call that is made again writes only those that changed.

use super::{FORMAT, Field, Key, column_text, row_field};
use crate::plan::{Arg, Input, NodeId};
use crate::value::{Const, FieldName};
use std::fmt::Write;

/// Arguments as they stand in a key, and the inputs in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    bytes: Vec<u8>,
    count: u64,
    inputs: Vec<(String, Read)>,
}

/// What stands at an input's place.
#[derive(Clone, Debug)]
enum Read {
    Result(Input),
    /// A slot of a body, as text.
    Slot(String),
}

impl Written {
    /// Add an argument. `None` when it cannot be part of a key.
    pub(crate) fn arg(&mut self, name: &str, arg: &Arg) -> Option<()> {
        self.count += 1;
        self.text(name);
        self.value(name, arg)
    }

    fn number(&mut self, value: usize) {
        self.bytes.extend_from_slice(&(value as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// A text of which the length is known once it is written.
    fn shown(&mut self, value: impl std::fmt::Display) {
        self.bytes.push(b't');
        let start = self.bytes.len();
        self.number(0);
        // Writing to memory does not fail.
        write!(Bytes(&mut self.bytes), "{value}").ok();
        let length = (self.bytes.len() - start - 8) as u64;
        if let Some(place) = self.bytes.get_mut(start..start + 8) {
            place.copy_from_slice(&length.to_le_bytes());
        }
    }

    fn open(&mut self, tag: u8, length: usize) {
        self.bytes.push(tag);
        self.number(length);
    }

    fn value(&mut self, place: &str, arg: &Arg) -> Option<()> {
        match arg {
            Arg::Const(value) => self.constant(value),
            Arg::Input(input) => {
                self.bytes.push(b'i');
                self.inputs.push((place.to_owned(), Read::Result(input.clone())));
            }
            Arg::Row(function) => self.field(&row_field(function)),
            Arg::Reading { function, reads } => {
                self.open(b'r', 2);
                self.text("function");
                self.field(&row_field(function));
                self.text("reads");
                self.list(place, reads)?;
            }
            Arg::Body(body) => self.shown(body.digest()?),
            Arg::Bound(bound) => {
                self.bytes.push(b'i');
                let mut text = format!("slot {}", bound.slot);
                for name in &bound.path {
                    write!(text, ".{}", FieldName(name)).ok();
                }
                self.inputs.push((place.to_owned(), Read::Slot(text)));
            }
            Arg::Columns(columns) => {
                let mut texts: Vec<String> = columns.iter().map(column_text).collect();
                texts.sort();
                self.open(b'l', texts.len());
                texts.iter().for_each(|text| self.shown(text));
            }
            Arg::Files(files) => {
                self.open(b'l', files.len());
                files.iter().for_each(|file| self.shown(&file.digest));
            }
            Arg::List(items) => self.list(place, items)?,
            Arg::Record(fields) => {
                self.open(b'r', fields.len());
                for (name, value) in fields {
                    self.text(name);
                    self.value(&format!("{place}.{}", FieldName(name)), value)?;
                }
            }
        }
        Some(())
    }

    fn list(&mut self, place: &str, items: &[Arg]) -> Option<()> {
        self.open(b'l', items.len());
        let mut items = items.iter().enumerate();
        items.try_for_each(|(at, item)| self.value(&format!("{place}[{at}]"), item))
    }

    fn constant(&mut self, value: &Const) {
        match value {
            Const::List(items) => {
                self.open(b'l', items.len());
                items.iter().for_each(|item| self.constant(item));
            }
            Const::Record(fields) => {
                self.open(b'r', fields.len());
                for (name, value) in fields {
                    self.text(name);
                    self.constant(value);
                }
            }
            other => self.shown(other),
        }
    }

    fn field(&mut self, field: &Field) {
        match field {
            Field::Text(text) => self.shown(text),
            Field::List(items) => {
                self.open(b'l', items.len());
                items.iter().for_each(|item| self.field(item));
            }
            Field::Record(fields) => {
                self.open(b'r', fields.len());
                for (name, value) in fields {
                    self.text(name);
                    self.field(value);
                }
            }
            Field::Input(()) => self.bytes.push(b'i'),
        }
    }
}

/// The plan key of an op call from its arguments, which stand in the order of their names. `None` when an input has no
/// key.
pub(crate) fn written_key<'w>(
    op: &str,
    version: u32,
    tool: Option<&str>,
    args: impl Iterator<Item = &'w Written> + Clone,
    key_of: impl Fn(NodeId) -> Option<Key>,
) -> Option<Key> {
    let mut all = Written { bytes: Vec::with_capacity(1024), count: 0, inputs: Vec::new() };
    all.text("pipe-key");
    all.number(FORMAT as usize);
    all.text(op);
    all.number(version as usize);
    all.text(tool.unwrap_or(""));
    all.bytes.extend_from_slice(&args.clone().map(|args| args.count).sum::<u64>().to_le_bytes());
    args.clone().for_each(|args| all.bytes.extend_from_slice(&args.bytes));
    let mut inputs: Vec<&(String, Read)> = args.flat_map(|args| &args.inputs).collect();
    inputs.sort_by(|a, b| a.0.cmp(&b.0));
    // Of two inputs at one place the later one counts, as in a map.
    inputs.reverse();
    inputs.dedup_by(|a, b| a.0 == b.0);
    inputs.reverse();
    all.number(inputs.len());
    for (place, read) in inputs {
        all.text(place);
        match read {
            Read::Slot(text) => all.text(text),
            Read::Result(input) => all.input(key_of(input.node)?, &input.path),
        }
    }
    Some(Key(*blake3::hash(&all.bytes).as_bytes()))
}

impl Written {
    /// The key of a node and the fields taken from it, as [`super::plan_input`] writes them.
    fn input(&mut self, key: Key, path: &[String]) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let start = self.bytes.len();
        self.number(0);
        for byte in key.0 {
            let digit = |half: u8| DIGITS.get(usize::from(half)).copied().unwrap_or(b'0');
            self.bytes.extend([digit(byte >> 4), digit(byte & 15)]);
        }
        for name in path {
            write!(Bytes(&mut self.bytes), ".{}", FieldName(name)).ok();
        }
        let length = (self.bytes.len() - start - 8) as u64;
        if let Some(place) = self.bytes.get_mut(start..start + 8) {
            place.copy_from_slice(&length.to_le_bytes());
        }
    }
}

/// Text to bytes without a text in between.
struct Bytes<'b>(&'b mut Vec<u8>);

impl Write for Bytes<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
