//! Plans and ops for tests: a builder, and ops made of closures.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "each test uses some of it"
)]

use pipe_compiler::key::Key;
use pipe_compiler::plan::{
    Annotations, Arg, Body, Bound, FileArg, Input, Node, NodeId, Plan, Root, RootKind,
};
use pipe_compiler::value::Const;
use pipe_runtime::events::{Event, NodeState};
use pipe_runtime::op::{Args, Context, Op, OpError};
use pipe_runtime::value::{Artifact, Value};
use pipe_runtime::{Machine, Registry, RunOptions, RunSummary, Store, keys};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub type Function = dyn Fn(&Args, &dyn Context) -> Result<Value, OpError> + Send + Sync;

pub struct TestOp {
    name: &'static str,
    function: Box<Function>,
}

impl Op for TestOp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> u32 {
        1
    }

    fn run(&self, args: &Args, context: &dyn Context) -> Result<Value, OpError> {
        (self.function)(args, context)
    }
}

pub fn op(
    name: &'static str,
    function: impl Fn(&Args, &dyn Context) -> Result<Value, OpError> + Send + Sync + 'static,
) -> Box<dyn Op> {
    Box::new(TestOp { name, function: Box::new(function) })
}

/// How often ops ran.
#[derive(Clone, Default)]
pub struct Counter(Arc<AtomicUsize>);

impl Counter {
    pub fn add(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    pub fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Builds a plan node by node, with keys.
pub struct PlanBuilder(pub Plan);

impl PlanBuilder {
    pub fn new() -> Self {
        Self(Plan {
            file: "test.pipe".to_owned(),
            nodes: Vec::new(),
            roots: Vec::new(),
            params: BTreeMap::new(),
            widest: 1,
        })
    }

    pub fn node(&mut self, name: &str, op: &str, args: &[(&str, Arg)]) -> Arg {
        self.node_with(name, op, args, Annotations::light())
    }

    pub fn node_with(
        &mut self,
        name: &str,
        op: &str,
        args: &[(&str, Arg)],
        runs: Annotations,
    ) -> Arg {
        let id = NodeId(u32::try_from(self.0.nodes.len()).unwrap());
        let args = args.iter().map(|(name, arg)| ((*name).to_owned(), arg.clone())).collect();
        let mut node = Node {
            id,
            name: name.to_owned(),
            op: op.to_owned(),
            version: 1,
            tool: None,
            args,
            nokey: Vec::new().into(),
            key: Key([0; 32]),
            ty: "any".into(),
            columns: None,
            span: Default::default(),
            call: format!("{op}(...)").into(),
            doc: None,
            fused: Vec::new(),
            runs,
        };
        node.key = keys::plan_fields(&self.0, &node).unwrap().key();
        self.0.nodes.push(node);
        Arg::Input(Input { node: id, path: Vec::new() })
    }

    pub fn output(&mut self, name: &str, value: Arg) {
        self.root(name, RootKind::Output, value);
    }

    pub fn check(&mut self, name: &str, value: Arg) {
        self.root(name, RootKind::Check, value);
    }

    fn root(&mut self, name: &str, kind: RootKind, value: Arg) {
        let span = Default::default();
        self.0.roots.push(Root {
            name: name.to_owned(),
            kind,
            value,
            doc: None,
            span,
            shows: None,
        });
    }
}

pub fn int(value: i64) -> Arg {
    Arg::Const(Const::Int(value))
}

pub fn text(value: &str) -> Arg {
    Arg::Const(Const::Str(value.to_owned()))
}

/// A list of these arguments.
pub fn list(items: impl IntoIterator<Item = Arg>) -> Arg {
    Arg::List(items.into_iter().collect())
}

/// What stands in a slot of a body.
pub fn slot(slot: u32) -> Arg {
    Arg::Bound(Bound { slot, path: Vec::new() })
}

/// A body over these variables; `build` makes its nodes and gives its result.
pub fn body(bound: &[&str], build: impl FnOnce(&mut PlanBuilder) -> Arg) -> Arg {
    let mut inside = PlanBuilder::new();
    let result = build(&mut inside);
    let bound = bound.iter().map(|name| (*name).to_owned()).collect();
    Arg::Body(Box::new(Body { bound, nodes: inside.0.nodes, result }))
}

pub fn file(path: &Path) -> Arg {
    let digest = pipe_runtime::content::file_digest(path).unwrap().0;
    Arg::Files(vec![FileArg { path: path.to_string_lossy().into_owned(), digest }])
}

pub fn field(of: &Arg, name: &str) -> Arg {
    match of {
        Arg::Input(input) => {
            let mut input = input.clone();
            input.path.push(name.to_owned());
            Arg::Input(input)
        }
        other => other.clone(),
    }
}

/// A folder with a store and outputs.
pub struct Place {
    pub folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn store_path(&self) -> PathBuf {
        self.folder.path().join(".pipe")
    }

    pub fn store(&self) -> Store {
        Store::open(&self.store_path()).unwrap()
    }

    pub fn out(&self) -> PathBuf {
        self.folder.path().join("out/test")
    }

    pub fn options(&self) -> RunOptions {
        let machine = Machine { threads: 4, memory: None, gpus: Vec::new() };
        RunOptions { machine, ..RunOptions::new(self.out()) }
    }

    pub fn run(&self, plan: &Plan, registry: &Registry) -> Ran {
        self.run_with(plan, registry, &self.options())
    }

    pub fn run_with(&self, plan: &Plan, registry: &Registry, options: &RunOptions) -> Ran {
        let mut events = Vec::new();
        let mut store = self.store();
        let summary =
            pipe_runtime::run(plan, registry, &mut store, options, &mut |event| events.push(event));
        Ran { summary: summary.unwrap(), events }
    }
}

/// A finished run.
pub struct Ran {
    pub summary: RunSummary,
    pub events: Vec<Event>,
}

impl Ran {
    /// How each node ended, by name; the last word counts.
    pub fn states(&self) -> BTreeMap<String, NodeState> {
        let finished = |event: &Event| match event {
            Event::NodeFinished { node, state, .. } => Some((node.clone(), *state)),
            _ => None,
        };
        self.events.iter().filter_map(finished).collect()
    }

    pub fn why(&self, name: &str) -> String {
        let started = |event: &Event| match event {
            Event::NodeStarted { node, why, .. } if node == name => Some(why.clone()),
            _ => None,
        };
        self.events.iter().find_map(started).unwrap_or_default()
    }

    pub fn error(&self, name: &str) -> OpError {
        let failure = self.summary.failures.iter().find(|failure| failure.node == name);
        failure.unwrap_or_else(|| panic!("{name} did not fail: {:?}", self.summary)).error.clone()
    }
}

/// Ops that most tests use: `number`, `add`, `even` (a number's halves are equal), `text` (an artifact).
pub fn registry(counter: &Counter) -> Registry {
    let mut registry = Registry::new();
    let ran = counter.clone();
    registry.register(op("number", move |args, _| {
        ran.add();
        Ok(Value::Int(args.int("value")?))
    }));
    let ran = counter.clone();
    registry.register(op("add", move |args, _| {
        ran.add();
        Ok(Value::Int(args.int("a")? + args.int("b")?))
    }));
    registry.register(op("list", |args, _| Ok(args.value("of")?.clone())));
    let ran = counter.clone();
    registry.register(op("half", move |args, _| {
        ran.add();
        Ok(Value::Int(args.int("of")? / 2))
    }));
    let ran = counter.clone();
    registry.register(op("text", move |args, context| {
        ran.add();
        let path = context.scratch("text")?;
        std::fs::write(&path, args.str("content")?).unwrap();
        let artifact = context.adopt(&path, "text", "txt", BTreeMap::new())?;
        Ok(Value::Artifact(artifact))
    }));
    let ran = counter.clone();
    registry.register(op("length", move |args, context| {
        ran.add();
        let path = context.path(args.artifact("of")?)?;
        Ok(Value::Int(i64::try_from(std::fs::read(path).unwrap().len()).unwrap()))
    }));
    registry
}

/// `total = [value + 100 for value in list(values)]`, output `total`. `list` is an op of [`registry`].
pub fn hundreds(values: &[i64]) -> PlanBuilder {
    let mut plan = PlanBuilder::new();
    let values = plan.node("values", "list", &[("of", list(values.iter().map(|at| int(*at))))]);
    let add = body(&["value"], |inside| inside.node("", "add", &[("a", slot(0)), ("b", int(100))]));
    let total =
        plan.node("total", "flow.each", &[("list", values), ("body", add), ("captures", list([]))]);
    plan.output("total", total);
    plan
}

/// Four chains of text artifacts that meet in one: 13 nodes.
pub fn branches() -> Plan {
    let mut plan = PlanBuilder::new();
    let mut ends = Vec::new();
    for branch in 0..4 {
        let mut last = plan.node(&format!("start{branch}"), "write", &[("seed", int(branch))]);
        for step in 0..2 {
            last = plan.node(
                &format!("step{branch}{step}"),
                "append",
                &[("to", last), ("n", int(step))],
            );
        }
        ends.push(last);
    }
    let all = plan.node("all", "join", &[("parts", Arg::List(ends))]);
    plan.output("all", all);
    plan.0
}

/// The ops of [`branches`]; each waits a while in the middle of its writing.
pub fn branch_ops(pause: std::time::Duration) -> Registry {
    let mut registry = Registry::new();
    let write = move |context: &dyn Context, text: String| {
        let path = context.scratch("text")?;
        let (first, rest) = text.split_at(text.len() / 2);
        std::fs::write(&path, first).unwrap();
        std::thread::sleep(pause);
        std::fs::write(&path, format!("{first}{rest}")).unwrap();
        let artifact = context.adopt(&path, "text", "txt", BTreeMap::new())?;
        Ok(Value::Artifact(artifact))
    };
    let read = |context: &dyn Context, artifact: &Artifact| -> Result<String, OpError> {
        Ok(std::fs::read_to_string(context.path(artifact)?).unwrap())
    };
    registry.register(op("write", move |args, context| {
        write(context, format!("seed {}\n", args.int("seed")?).repeat(200))
    }));
    registry.register(op("append", move |args, context| {
        let before = read(context, args.artifact("to")?)?;
        write(context, format!("{before}step {}\n", args.int("n")?))
    }));
    registry.register(op("join", move |args, context| {
        let parts = args.artifacts("parts")?;
        let texts: Result<Vec<String>, _> =
            parts.into_iter().map(|part| read(context, part)).collect();
        write(context, texts?.concat())
    }));
    registry
}
