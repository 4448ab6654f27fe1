//! What an expression evaluates to: a type, and as much of the value as is known before the run.

use super::groups::Aggregate;
use crate::resolve::ModuleId;
use crate::types::Type;
use crate::value::Const;
use pipe_grammar::Span;
use pipe_grammar::ast::{Block, FnDecl, Item, Name};
use pipe_row::ir::{Expr, Ty};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A value with its type.
#[derive(Clone, Debug)]
pub(crate) struct Typed<'a> {
    pub(crate) ty: Type,
    pub(crate) value: Value<'a>,
}

/// As much of a value as is known.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    /// Only the type is known: inside functions that are checked without a call, and after mistakes.
    Unknown,
    /// A scalar.
    Const(Const),
    List(Rc<Vec<Typed<'a>>>),
    Record(Rc<BTreeMap<Rc<str>, Typed<'a>>>),
    /// The result of a node, or a field of it.
    Node(Rc<NodeValue>),
    /// A scalar that is computed from columns or from results of nodes.
    Scalar(Rc<Scalar>),
    /// The row that a function of rows is given.
    Row(Rc<RowSource>),
    Function(Rc<Function<'a>>),
    /// The name of a type, as an argument.
    Type(Type),
}

/// A result of a node, or a field of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodeValue {
    pub(crate) node: usize,
    pub(crate) path: Vec<String>,
    pub(crate) origin: Rc<Origin>,
}

/// What rows a value holds, on what it has been fitted, and by what it was chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Origin {
    pub(crate) rows: Seen,
    pub(crate) fitted: Seen,
    /// What single values that shaped it, such as a limit in a filter, were taken from. They bring no rows along.
    pub(crate) told: Seen,
    /// Parts on which it was chosen among others, and where.
    pub(crate) selected: BTreeMap<Part, Span>,
    /// Of a record, or a list of records: what each field holds, where that is known apart.
    pub(crate) fields: BTreeMap<Rc<str>, Origin>,
}

/// Sources and parts of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// Nodes that read the data.
    pub(crate) sources: BTreeSet<usize>,
    pub(crate) parts: BTreeSet<Part>,
}

/// A part of a split.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part {
    pub(crate) split: usize,
    pub(crate) name: Rc<str>,
    /// Which fold of a cross-validation.
    pub(crate) fold: Option<u32>,
}

/// `train`, or `train of fold 2`.
impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.fold {
            None => f.write_str(&self.name),
            Some(fold) => write!(f, "{} of fold {fold}", self.name),
        }
    }
}

impl Origin {
    /// What a value holds that may be this one or another, in its fields as in the whole.
    pub(crate) fn join(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            self.clone_from(other);
            return;
        }
        let mut fields = BTreeMap::new();
        if !self.fields.is_empty() && !other.fields.is_empty() {
            for name in self.fields.keys().chain(other.fields.keys()) {
                let mut field = self.field(name);
                field.join(&other.field(name));
                fields.insert(Rc::clone(name), field);
            }
        }
        self.add(other);
        self.fields = fields;
    }

    /// What a field of it holds; the choice of a record is one of its fields too.
    pub(crate) fn field(&self, name: &str) -> Self {
        match self.fields.get(name) {
            Some(field) => {
                let mut field = field.clone();
                field.selected.extend(self.selected.clone());
                field
            }
            None => Self { fields: BTreeMap::new(), ..self.clone() },
        }
    }

    /// Be shaped by a single value, which itself is no row of it.
    pub(crate) fn read(&mut self, value: &Self) {
        self.told.add(&value.rows);
        self.told.add(&value.told);
        self.fitted.add(&value.fitted);
        self.selected.extend(value.selected.clone());
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty()
            && self.fitted.is_empty()
            && self.told.is_empty()
            && self.selected.is_empty()
    }

    /// Have what another has, as a whole.
    pub(crate) fn add(&mut self, other: &Self) {
        self.rows.add(&other.rows);
        self.fitted.add(&other.fitted);
        self.told.add(&other.told);
        for (part, place) in &other.selected {
            self.selected.entry(part.clone()).or_insert(*place);
        }
    }
}

impl Seen {
    pub(crate) fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.parts.is_empty()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.sources.extend(&other.sources);
        self.parts.extend(other.parts.iter().cloned());
    }
}

/// An expression over leaves, with the number of its nodes and its depth.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    pub(crate) expr: Expr,
    pub(crate) size: usize,
    pub(crate) depth: usize,
}

/// What a leaf of a scalar expression reads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) source: LeafSource,
    pub(crate) ty: Ty,
    pub(crate) optional: bool,
}

/// A column of the row, a result of a node, or one value of a group of rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LeafSource {
    Column(Rc<str>),
    Node(Rc<NodeValue>),
    Group(Rc<Aggregate>),
}

/// Where the rows of a row function come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowSource {
    /// The table's expression, for messages.
    pub(crate) name: Option<String>,
    pub(crate) span: Span,
}

/// Something that can be called.
#[derive(Clone, Debug)]
pub(crate) enum Function<'a> {
    Lambda { params: &'a [Name], body: &'a Block, scope: Scope<'a> },
    Declared { module: ModuleId, item: &'a Item, function: &'a FnDecl },
}

/// Names bound around an expression.
#[derive(Clone, Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) module: ModuleId,
    locals: Option<Rc<Local<'a>>>,
}

#[derive(Debug)]
struct Local<'a> {
    name: &'a str,
    value: Typed<'a>,
    outer: Option<Rc<Local<'a>>>,
}

/// Long chains of names are let go one by one, not by recursion.
impl Drop for Local<'_> {
    fn drop(&mut self) {
        let mut next = self.outer.take();
        while let Some(local) = next.and_then(Rc::into_inner) {
            let mut local = local;
            next = local.outer.take();
        }
    }
}

impl<'a> Scope<'a> {
    /// The top of a module.
    pub(crate) fn module(module: ModuleId) -> Self {
        Self { module, locals: None }
    }

    /// This scope with one more name.
    pub(crate) fn with(&self, name: &'a str, value: Typed<'a>) -> Self {
        let local = Local { name, value, outer: self.locals.clone() };
        Self { module: self.module, locals: Some(Rc::new(local)) }
    }

    /// The value of a local name.
    pub(crate) fn local(&self, name: &str) -> Option<&Typed<'a>> {
        let mut at = self.locals.as_deref();
        while let Some(local) = at {
            if local.name == name {
                return Some(&local.value);
            }
            at = local.outer.as_deref();
        }
        None
    }

    /// All local names, innermost first.
    pub(crate) fn names(&self) -> Vec<&'a str> {
        let mut names = Vec::new();
        let mut at = self.locals.as_deref();
        while let Some(local) = at {
            names.push(local.name);
            at = local.outer.as_deref();
        }
        names
    }
}

impl<'a> Typed<'a> {
    /// The result of a mistake that is already reported.
    pub(crate) fn error() -> Self {
        Self { ty: Type::Error, value: Value::Unknown }
    }

    /// A value of which only the type is known.
    pub(crate) fn unknown(ty: Type) -> Self {
        Self { ty, value: Value::Unknown }
    }

    /// A scalar constant.
    pub(crate) fn constant(value: Const) -> Self {
        let ty = match &value {
            Const::None => Type::None,
            Const::Bool(_) => Type::Bool,
            Const::Int(_) => Type::Int,
            Const::Float(_) => Type::Float,
            Const::Str(_) => Type::Str,
            Const::Path(_) => Type::Path,
            Const::Time(_) => Type::Time,
            Const::Duration(_) => Type::Duration,
            Const::Size(_) => Type::Size,
            Const::List(items) => {
                return Self::list(items.iter().cloned().map(Self::constant).collect());
            }
            Const::Record(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, value)| (Rc::from(name.as_str()), Self::constant(value.clone())));
                return Self::record(fields.collect());
            }
        };
        Self { ty, value: Value::Const(value) }
    }

    /// A list of values that share a type (the join of theirs; an error type when there is none).
    pub(crate) fn list(items: Vec<Self>) -> Self {
        let mut item = Type::Error;
        for each in &items {
            item = crate::types::join(&item, &each.ty).unwrap_or(Type::Error);
        }
        Self { ty: Type::List(Rc::new(item)), value: Value::List(Rc::new(items)) }
    }

    /// A record of values.
    pub(crate) fn record(fields: BTreeMap<Rc<str>, Self>) -> Self {
        let types =
            fields.iter().map(|(name, value)| (Rc::clone(name), value.ty.clone())).collect();
        Self { ty: Type::record(types), value: Value::Record(Rc::new(fields)) }
    }

    /// The scalar constant, if it is one.
    pub(crate) fn as_const(&self) -> Option<&Const> {
        match &self.value {
            Value::Const(value) => Some(value),
            _ => None,
        }
    }

    /// The whole value when all of it is constant.
    pub(crate) fn to_const(&self) -> Option<Const> {
        match &self.value {
            Value::Const(value) => Some(value.clone()),
            Value::List(items) => {
                items.iter().map(Self::to_const).collect::<Option<_>>().map(Const::List)
            }
            Value::Record(fields) => {
                let fields =
                    fields.iter().map(|(name, value)| Some((name.to_string(), value.to_const()?)));
                fields.collect::<Option<_>>().map(Const::Record)
            }
            _ => None,
        }
    }

    /// The text of a constant text or path.
    pub(crate) fn text(&self) -> Option<&str> {
        match self.as_const() {
            Some(Const::Str(text) | Const::Path(text)) => Some(text),
            _ => None,
        }
    }

    /// The texts of a constant list of texts.
    pub(crate) fn texts(&self) -> Option<Vec<String>> {
        match &self.value {
            Value::List(items) => items.iter().map(|item| item.text().map(str::to_owned)).collect(),
            Value::Const(Const::None) => None,
            _ => None,
        }
    }

    /// Whether it comes from a mistake, or only its type is known.
    pub(crate) fn is_unknown(&self) -> bool {
        match &self.value {
            Value::Unknown => true,
            Value::List(items) => items.iter().any(Self::is_unknown),
            Value::Record(fields) => fields.values().any(Self::is_unknown),
            _ => self.ty.is_error(),
        }
    }
}
