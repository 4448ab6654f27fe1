//! Drafts of nodes: op calls with their arguments and keys, in an order where inputs come first.
//!
//! Common nodes are merged here: a call with the key of an earlier one, under the same cache policy, is that one.

use super::arguments::Given;
use super::{
    Attributes, Evaluator, MAX_NODES, Native, NativeCall, NodeValue, Origin, Purpose, Typed, Value,
    run_scalar,
};
use crate::key::{Key, Written};
use crate::plan::{Arg, Args, Batch, Column, FileArg, Input, NodeId, Promise, Shared, Worker};
use crate::types::Type;
use crate::value::Const;
use pipe_grammar::{Problem, Span};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A node before passes number and annotate it.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) op: Shared<String>,
    pub(crate) version: u32,
    pub(crate) tool: Option<Shared<String>>,
    pub(crate) args: Args,
    pub(crate) nokey: Shared<Vec<String>>,
    pub(crate) key: Key,
    pub(crate) ty: Type,
    pub(crate) columns: Option<Shared<Vec<Column>>>,
    pub(crate) span: Span,
    pub(crate) call: Shared<String>,
    /// The declarations that create it: more than one when common nodes were merged.
    pub(crate) places: Vec<DraftPlace>,
    pub(crate) attributes: Rc<Attributes>,
    pub(crate) worker: Worker,
    pub(crate) promise: Promise,
    pub(crate) all_threads: bool,
    pub(crate) heavy: bool,
    pub(crate) streamable: bool,
    pub(crate) effect: bool,
    pub(crate) batch: Option<Shared<Batch>>,
    /// Bytes of memory that it needs at the least, where a bound is known.
    pub(crate) estimate: Option<u64>,
    /// The frame that it belongs to: 0 is the program itself, others are bodies of drivers.
    pub(crate) frame: u32,
}

/// Drafts in an order where inputs come first. A plan may have many, and a vector that grows copies what it holds, so
/// they are boxed.
pub(crate) type Drafts = Vec<Box<Draft>>;

/// A declaration that creates a node.
#[derive(Clone, Debug)]
pub(crate) struct DraftPlace {
    pub(crate) name: Shared<String>,
    pub(crate) doc: Option<Shared<String>>,
    /// Whether the node is the declaration's result and takes its name.
    pub(crate) result: bool,
}

impl<'a> Evaluator<'a> {
    /// Draft the node of a call and give its result.
    pub(super) fn draft(
        &mut self,
        mut call: NativeCall<'a>,
        ty: Type,
        origin: Rc<Origin>,
        estimate: Option<u64>,
    ) -> Typed<'a> {
        let native = Rc::clone(&call.native);
        let mut args = BTreeMap::new();
        let typed = |given: &Given<'_>| matches!(given.value.value, Value::Type(_));
        self.born_later =
            native.types.as_deref() == Some("read") && call.values.get("row").is_some_and(typed);
        for param in &native.params {
            let at_default = |added: &Const| {
                call.values
                    .get(&param.name)
                    .is_some_and(|given| given.value.as_const() == Some(added))
            };
            if param.added.as_ref().is_some_and(at_default) {
                continue;
            }
            let arg = if let Some(columns) = call.columns.get(&param.name) {
                Some(Arg::Columns(columns.clone()))
            } else if param.rest {
                self.rest_arg(&call)
            } else if let Some(row) = call.rows.get(&param.name) {
                row.function.clone()
            } else {
                let given = call.values.get(&param.name);
                given.cloned().and_then(|given| self.arg(&given))
            };
            if let Some(Arg::Files(files)) = &arg {
                self.check_files_fit(&call, files);
            }
            let Some(arg) = arg else { return Typed::unknown(ty) };
            args.insert(param.name.clone(), arg);
        }
        for (name, arg) in &call.more {
            args.insert(name.clone(), arg.clone());
        }
        for (name, columns) in &call.columns {
            args.entry(name.clone()).or_insert_with(|| Arg::Columns(columns.clone()));
        }
        self.resolve_dtype(&native, &mut args);
        let tool = native.tool.as_ref().map(|tool| match self.inputs.tools.get(tool) {
            Some(version) => format!("{tool} {version}").into(),
            None => tool.as_str().into(),
        });
        let draft = Draft {
            op: native.op.as_str().into(),
            version: native.version,
            tool,
            args: super::repeat::shared_names(&native, args.into()),
            nokey: native.nokey.clone(),
            key: Key([0; 32]),
            columns: table_columns(&ty).map(Shared::from),
            ty: ty.clone(),
            span: call.site.span,
            call: self.shorten(call.site.span),
            places: self.here(),
            attributes: Rc::clone(&self.place.attributes),
            worker: native.worker,
            promise: native.promise,
            all_threads: native.all_threads,
            heavy: native.heavy,
            streamable: native.streamable,
            effect: native.effect || writes_nothing(&native, &call),
            batch: batch_of(&native).map(Shared::from),
            estimate,
            frame: self.frame.number,
        };
        let kept = call.raw.take().map(|raw| (raw, draft.clone()));
        let Some(node) = self.add(draft) else { return Typed::unknown(ty) };
        if let Some((raw, draft)) = kept.filter(|_| !makes_parts(&native)) {
            self.remember_node(raw, &native, draft, Rc::clone(&origin));
        }
        let origin = self.own_origin(node, origin, &native);
        self.result_of(node, ty, origin, native.types.as_deref())
    }

    /// `dtype: "auto"` of a torch op is `bf16` on a GPU and `fp32` on a CPU; the key says which.
    fn resolve_dtype(&self, native: &Native, args: &mut BTreeMap<String, Arg>) {
        let auto = Arg::Const(Const::Str("auto".into()));
        if native.worker == Worker::Torch
            && let Some(dtype) = args.get_mut("dtype").filter(|dtype| **dtype == auto)
        {
            let gpus = self.inputs.machine.gpus;
            let on_gpu =
                self.place.attributes.gpu.is_some_and(|gpu| gpu.count > 0 && gpu.count <= gpus);
            *dtype = Arg::Const(Const::Str(if on_gpu { "bf16" } else { "fp32" }.into()));
        }
    }

    fn result_of(
        &mut self,
        node: usize,
        ty: Type,
        origin: Rc<Origin>,
        types: Option<&str>,
    ) -> Typed<'a> {
        match (&ty, types) {
            (Type::Record(record), Some("split")) => {
                parts_of(node, Rc::clone(record), &origin, None)
            }
            (Type::List(fold), Some("folds")) => {
                let Type::Record(record) = &**fold else { return Typed::unknown(ty) };
                let folds = self.fold_count(node);
                let folds =
                    (1..=folds).map(|fold| parts_of(node, Rc::clone(record), &origin, Some(fold)));
                Typed { value: Value::List(Rc::new(folds.collect())), ty }
            }
            _ => whole(node, ty, origin),
        }
    }

    fn fold_count(&self, node: usize) -> u32 {
        match self.drafts.get(node).and_then(|draft| draft.args.get("k")) {
            Some(Arg::Const(Const::Int(k))) => u32::try_from(*k).unwrap_or(0),
            _ => 0,
        }
    }

    /// Key a draft and add it, or find the one that is the same.
    pub(super) fn add(&mut self, mut draft: Draft) -> Option<usize> {
        if self.drafts.len() >= MAX_NODES {
            self.too_large(super::expr::TooLarge::Nodes, draft.span);
            return None;
        }
        let mut written = Written::default();
        for (name, arg) in draft.args.iter() {
            if !draft.nokey.contains(name) {
                written.arg(name, arg)?;
            }
        }
        draft.key = self.written_key(&draft, std::iter::once(&written))?;
        Some(self.add_keyed(draft))
    }

    /// Add a draft that has its key, or find the one that is the same.
    pub(super) fn add_keyed(&mut self, draft: Draft) -> usize {
        let same = (draft.frame, draft.key, draft.attributes.cache_off);
        if let Some(known) = self.keyed.get(&same) {
            if let Some(first) = self.drafts.get_mut(known) {
                first.also(draft);
            }
            return known;
        }
        self.keyed.insert(same, self.drafts.len());
        self.drafts.push(Box::new(draft));
        self.drafts.len() - 1
    }

    fn rest_arg(&mut self, call: &NativeCall<'a>) -> Option<Arg> {
        let mut fields = BTreeMap::new();
        for (name, given) in &call.rest {
            let arg = match (call.grouped.get(*name), call.rows.get(*name)) {
                (Some(group), _) => group.clone(),
                (None, Some(row)) => row.function.clone()?,
                (None, None) => self.arg(given)?,
            };
            fields.insert((*name).to_owned(), arg);
        }
        Some(Arg::Record(fields))
    }

    /// A value as an argument of a node.
    pub(super) fn arg(&mut self, given: &Given<'a>) -> Option<Arg> {
        if super::scalar::is_huge(&given.value) {
            self.too_large(super::expr::TooLarge::Constant, given.span);
            return None;
        }
        if let Some(constant) = given.value.to_const() {
            return if has_path(&constant) {
                self.file_arg(&constant, given.span)
            } else {
                Some(Arg::Const(constant))
            };
        }
        let each = |value: &Typed<'a>| Given { value: value.clone(), span: given.span };
        match &given.value.value {
            Value::Const(_) => None,
            Value::List(items) => {
                let items = items.iter().map(|item| self.arg(&each(item)));
                items.collect::<Option<_>>().map(Arg::List)
            }
            Value::Record(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, value)| Some((name.to_string(), self.arg(&each(value))?)));
                fields.collect::<Option<_>>().map(Arg::Record)
            }
            Value::Node(node) => Some(Arg::Input(input(node))),
            Value::Scalar(_) => {
                let value = self.materialised(given.value.clone(), given.span);
                match &value.value {
                    Value::Node(node) => Some(Arg::Input(input(node))),
                    _ => None,
                }
            }
            Value::Type(ty) => Some(Arg::Const(Const::Str(ty.to_string()))),
            Value::Row(_) | Value::Function(_) | Value::Unknown => {
                if !given.value.is_unknown() {
                    let message = "a function cannot be handed to an op here";
                    self.report(Problem::error("types::op_as_value", given.span, message));
                }
                None
            }
        }
    }

    /// A constant with paths in it: the files are digested now.
    fn file_arg(&mut self, constant: &Const, span: Span) -> Option<Arg> {
        match constant {
            Const::Path(path) => self.file(path, span).map(Arg::Files),
            Const::List(items) if items.iter().all(|item| matches!(item, Const::Path(_))) => {
                let mut files = Vec::new();
                for item in items {
                    if let Const::Path(path) = item {
                        files.extend(self.file(path, span)?);
                    }
                }
                Some(Arg::Files(files))
            }
            Const::List(items) => items
                .iter()
                .map(|item| self.file_arg(item, span))
                .collect::<Option<_>>()
                .map(Arg::List),
            Const::Record(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, value)| Some((name.clone(), self.file_arg(value, span)?)));
                fields.collect::<Option<_>>().map(Arg::Record)
            }
            other => Some(Arg::Const(other.clone())),
        }
    }

    /// The files that a path or a pattern names, with digests when a plan is wanted.
    fn file(&mut self, path: &str, span: Span) -> Option<Vec<FileArg>> {
        let later = self.born_later && self.purpose == Purpose::Check;
        let paths = match later {
            true if self.matching_now(path).is_empty() => vec![path.to_owned()],
            _ => self.matching(path, span),
        };
        let files: Option<Vec<FileArg>> =
            paths.into_iter().map(|path| self.digested(path, span)).collect();
        files.filter(|files| !files.is_empty())
    }

    /// One file, looked at once.
    fn digested(&mut self, path: String, span: Span) -> Option<FileArg> {
        if let Some(known) = self.digests.get(&path) {
            return Some(FileArg { digest: known.clone(), path });
        }
        let later = self.born_later && self.purpose == Purpose::Check;
        if later && self.present(vec![path.clone()]).is_empty() && !self.is_misspelt(&path) {
            return Some(FileArg { digest: path.clone(), path });
        }
        if !self.exists(&path, span) || self.is_folder(&path, span) {
            return None;
        }
        let digest = match self.purpose {
            Purpose::Check => path.clone(),
            Purpose::Plan => match self.inputs.host.digest(&path) {
                Ok(digest) => digest,
                Err(error) => {
                    let message = format!("`{path}` cannot be read: {error}");
                    self.report(Problem::error("plan::file", span, message));
                    return None;
                }
            },
        };
        self.digests.insert(path.clone(), digest.clone());
        Some(FileArg { path, digest })
    }

    /// A computed scalar as the result of a node of its own.
    pub(super) fn materialised(&mut self, value: Typed<'a>, span: Span) -> Typed<'a> {
        let Value::Scalar(scalar) = &value.value else { return value };
        if !self.drafting() || self.in_row > 0 {
            return value;
        }
        let Some(ty) = value.ty.scalar() else { return value };
        let Some((function, reads)) = run_scalar(self, scalar, ty) else { return value };
        let mut origin = Origin::default();
        let mut args = BTreeMap::new();
        for (name, node) in reads {
            origin.add(&node.origin);
            args.insert(name, Arg::Input(input(&node)));
        }
        if let ([only], pipe_row::ir::Expr::Column(_)) =
            (function.columns.as_slice(), &function.body)
            && let Some(Arg::Input(only)) = args.get(&only.name)
        {
            let node = NodeValue {
                node: only.node.0 as usize,
                path: only.path.clone(),
                origin: Rc::new(origin),
            };
            return Typed { ty: value.ty, value: Value::Node(Rc::new(node)) };
        }
        args.insert("expr".into(), Arg::Row(function));
        self.own_call("value.compute", args, value.ty, origin, span)
    }

    /// The current declaration, as the place of a draft.
    pub(super) fn here(&self) -> Vec<DraftPlace> {
        let (name, doc) = (self.place.name.clone(), self.place.doc.clone());
        vec![DraftPlace { name, doc, result: false }]
    }

    /// Source text in one line of at most 80 letters.
    pub(super) fn shorten(&self, span: Span) -> Shared<String> {
        const LONGEST: usize = 80;
        let text = self.sources.slice(span).split_whitespace().collect::<Vec<_>>().join(" ");
        if text.chars().count() <= LONGEST {
            return text.into();
        }
        let cut: String = text.chars().take(LONGEST - 1).collect();
        format!("{cut}…").into()
    }
}

impl Draft {
    /// Another declaration creates the same node.
    fn also(&mut self, other: Self) {
        if self.attributes != other.attributes {
            self.attributes = Rc::new(self.attributes.merged(&other.attributes));
        }
        // A declaration that creates it twice does so in a row: looking further back would cost a loop its square.
        for place in other.places {
            if self.places.last().is_none_or(|known| known.name != place.name) {
                self.places.push(place);
            }
        }
    }
}

impl Attributes {
    /// The attributes of a node that two declarations ask for: the more generous of each.
    fn merged(&self, other: &Self) -> Self {
        Self {
            gpu: self.gpu.or(other.gpu),
            memory: self.memory.max(other.memory),
            retry: self.retry.max(other.retry),
            timeout: match (self.timeout, other.timeout) {
                (Some(a), Some(b)) => Some(a.max(b)),
                _ => None,
            },
            cache_off: self.cache_off,
        }
    }
}

/// `group: "base, tokenizer"` names arguments of one op; any other word joins ops that share their subject.
fn batch_of(native: &Native) -> Option<Batch> {
    let is_param = |name: &String| native.params.iter().any(|param| param.name == *name);
    let first = native.group.first()?;
    Some(if native.group.iter().all(is_param) {
        Batch { label: native.op.clone(), args: native.group.clone() }
    } else {
        let subject = native.params.first().map(|param| param.name.clone());
        Batch { label: first.clone(), args: subject.into_iter().collect() }
    })
}

/// The record of the parts that a split makes, or one of its folds.
fn parts_of<'a>(
    node: usize,
    record: Rc<crate::types::Record>,
    origin: &Origin,
    fold: Option<u32>,
) -> Typed<'a> {
    let fields = record.fields.iter().map(|(name, ty)| {
        let origin = Rc::new(super::parts::part_origin(origin, node, name, fold));
        let path = fold.map(|fold| fold.to_string()).into_iter().chain([name.to_string()]);
        let value = Value::Node(Rc::new(NodeValue { node, path: path.collect(), origin }));
        (Rc::clone(name), Typed { ty: ty.clone(), value })
    });
    let fields = Rc::new(fields.collect());
    Typed { ty: Type::Record(record), value: Value::Record(fields) }
}

/// Whether the result is taken apart where it is made.
fn makes_parts(native: &Native) -> bool {
    matches!(native.types.as_deref(), Some("split" | "folds"))
}

/// The whole result of a node.
pub(super) fn whole<'a>(node: usize, ty: Type, origin: Rc<Origin>) -> Typed<'a> {
    let value = NodeValue { node, path: Vec::new(), origin };
    Typed { ty, value: Value::Node(Rc::new(value)) }
}

/// What a value reads, as an input of a draft: nodes are numbered by their drafts.
pub(super) fn input(node: &NodeValue) -> Input {
    Input { node: NodeId(u32::try_from(node.node).unwrap_or(u32::MAX)), path: node.path.clone() }
}

fn has_path(constant: &Const) -> bool {
    match constant {
        Const::Path(_) => true,
        Const::List(items) => items.iter().any(has_path),
        Const::Record(fields) => fields.values().any(has_path),
        _ => false,
    }
}

/// The columns of a table type.
pub(crate) fn table_columns(ty: &Type) -> Option<Vec<Column>> {
    let row = ty.row()?;
    if row.open {
        return None;
    }
    let columns = row.fields.iter().map(|(name, ty)| {
        let (ty, optional) = ty.scalar()?;
        Some(Column { name: name.to_string(), ty, optional })
    });
    columns.collect()
}

/// An external program without outputs is run for what it does, so it runs each time.
fn writes_nothing(native: &Native, call: &NativeCall<'_>) -> bool {
    let nothing = |given: &Given<'_>| match &given.value.ty {
        Type::Record(record) => record.fields.is_empty(),
        _ => false,
    };
    native.types.as_deref() == Some("exec") && call.values.get("outputs").is_some_and(nothing)
}
