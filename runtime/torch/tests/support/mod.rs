//! A worker process to talk to, and a small training for it.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test file uses a part, and a test may unwrap"
)]

use pipe_runtime::content;
use pipe_runtime::op::{Args, OpError};
use pipe_runtime::protocol::{Member, PROTOCOL, Reply, Request, read_frame, write_frame};
use pipe_runtime::value::{Artifact, Value};
use pipe_torch::tensors;
use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tch::Tensor;

pub struct Worker {
    pub child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Worker {
    pub fn start() -> Self {
        let mut worker = Self::bare();
        worker.send(&hello(PROTOCOL));
        assert!(matches!(worker.next(), Some(Reply::Ready { threads: 1, .. })));
        worker
    }

    pub fn bare() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pipe-torch"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().unwrap());
        Self { child, to, from }
    }

    pub fn send(&mut self, request: &Request) {
        write_frame(self.to.as_mut().unwrap(), request).unwrap();
    }

    pub fn next(&mut self) -> Option<Reply> {
        read_frame(&mut self.from).ok().flatten()
    }

    /// Replies up to and with the first that `wanted` picks.
    pub fn until(&mut self, wanted: impl Fn(&Reply) -> bool) -> Vec<Reply> {
        let mut seen = Vec::new();
        while let Some(reply) = self.next() {
            let last = wanted(&reply);
            seen.push(reply);
            if last {
                return seen;
            }
        }
        panic!("the worker ended after {seen:?}");
    }

    pub fn run(&mut self, task: u64, members: Vec<Member>) {
        self.send(&Request::Run { task, members });
    }

    /// The results of a task's members.
    pub fn results(&mut self, task: u64) -> BTreeMap<String, End> {
        let seen =
            self.until(|reply| matches!(reply, Reply::Done { task: done, .. } if *done == task));
        ends(&seen)
    }

    pub fn hang_up(&mut self) {
        self.to = None;
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.child.id().to_string())
            .status()
            .unwrap();
        assert!(sent.success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Result and places of what was made.
pub type End = (Result<Value, OpError>, BTreeMap<String, PathBuf>);

pub fn ends(replies: &[Reply]) -> BTreeMap<String, End> {
    let end = |reply: &Reply| match reply {
        Reply::Finished { node, result, produced, .. } => {
            Some((node.clone(), (result.clone(), produced.clone())))
        }
        _ => None,
    };
    replies.iter().filter_map(end).collect()
}

pub fn hello(protocol: u32) -> Request {
    Request::Hello {
        protocol,
        device: "cpu".to_owned(),
        threads: 1,
        deterministic: true,
        cache_bytes: 1 << 28,
    }
}

/// A model and rows on disk, and members that train it.
pub struct Lab {
    pub folder: tempfile::TempDir,
    pub model: Artifact,
    pub rows: Artifact,
    places: BTreeMap<String, PathBuf>,
}

impl Lab {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tokens: Vec<i32> = (0..40i32 * 17).map(|i| (i / 3 * 5 + i % 3 * 11) % 48).collect();
        let rows_path = folder.path().join("rows.safetensors");
        tensors::write(
            &rows_path,
            &[("tokens".to_owned(), Tensor::from_slice(&tokens).view([40, 17]))],
        )
        .unwrap();
        let rows = content::describe(&rows_path, "tokens", "safetensors", BTreeMap::new()).unwrap();

        let model_path = folder.path().join("model");
        let context = pipe_runtime::standalone::Standalone::new(folder.path().join("made"));
        let made =
            pipe_runtime::op::Op::run(&pipe_torch::model::make::Make, &decoder_args(), &context)
                .unwrap();
        let Value::Artifact(model) = made else { panic!("no model") };
        let at = pipe_runtime::op::Context::path(&context, &model).unwrap();
        std::fs::rename(at, &model_path).unwrap();
        let places =
            BTreeMap::from([(model.digest.clone(), model_path), (rows.digest.clone(), rows_path)]);
        Self { folder, model, rows, places }
    }

    pub fn fit(&self, node: &str, change: &[(&str, Value)]) -> Member {
        let mut args = fit_args(&self.model, &self.rows);
        args.extend(change.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        self.member(node, "train.fit", Args::of(args))
    }

    pub fn member(&self, node: &str, op: &str, args: Args) -> Member {
        Member {
            node: node.to_owned(),
            op: op.to_owned(),
            args,
            inputs: self.places.clone(),
            scratch: self.folder.path().join("scratch").join(node),
            checkpoint: Some(self.checkpoint(node)),
        }
    }

    pub fn checkpoint(&self, node: &str) -> PathBuf {
        self.folder.path().join("checkpoints").join(node)
    }
}

pub fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

pub fn record<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Record(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

pub fn decoder_args() -> Args {
    let shape = record([
        ("layers", Value::Int(2)),
        ("width", Value::Int(32)),
        ("heads", Value::Int(4)),
        ("context", Value::Int(16)),
    ]);
    Args::of([
        ("shape", shape),
        ("vocab", Value::Int(48)),
        ("seed", Value::Int(17)),
        ("kv_heads", Value::Int(2)),
    ])
}

pub fn adamw(lr: f64) -> Value {
    record([
        ("kind", text("adamw")),
        ("lr", Value::Float(lr)),
        ("betas", Value::List(vec![Value::Float(0.9), Value::Float(0.95)])),
        ("eps", Value::Float(1e-8)),
        ("weight_decay", Value::Float(0.1)),
    ])
}

pub fn fit_args(model: &Artifact, rows: &Artifact) -> BTreeMap<String, Value> {
    let given = [
        ("model", Value::Artifact(model.clone())),
        ("data", Value::Artifact(rows.clone())),
        ("valid", Value::Artifact(rows.clone())),
        ("steps", Value::Int(60)),
        ("batch", Value::Int(4)),
        ("accumulate", Value::Int(2)),
        ("optimizer", adamw(1e-2)),
        (
            "schedule",
            record([
                ("kind", text("cosine")),
                ("warmup", Value::Int(5)),
                ("floor", Value::Float(0.1)),
            ]),
        ),
        ("clip", Value::Float(1.0)),
        ("strategy", record([("kind", text("none"))])),
        ("dtype", text("auto")),
        ("seed", Value::Int(3)),
        ("log_every", Value::Int(10)),
        ("checkpoint_every", Value::Int(3)),
        ("recompute", Value::Bool(false)),
    ];
    given.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub fn digest(end: &End) -> String {
    match &end.0 {
        Ok(Value::Artifact(artifact)) => artifact.digest.clone(),
        other => panic!("no artifact but {other:?}"),
    }
}

pub fn code(end: &End) -> String {
    end.0.as_ref().unwrap_err().code.clone()
}

pub fn exists(path: &Path) -> bool {
    path.exists()
}
