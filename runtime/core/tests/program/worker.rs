//! A program for tests: without arguments a worker with ops that echo, crash and count; with `run FOLDER`
//! a run of a branching plan, with `fan FOLDER` one of a driver; both may be killed at any moment.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../support/mod.rs"]
mod support;

use pipe_runtime::content;
use pipe_runtime::op::OpError;
use pipe_runtime::protocol::{Member, PROTOCOL, Reply, Request, read_frame, write_frame};
use pipe_runtime::value::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => serve(),
        [verb, folder] if verb == "run" => run(Path::new(folder)),
        [verb, folder] if verb == "fan" => fan(Path::new(folder)),
        other => panic!("unknown arguments {other:?}"),
    }
}

/// A run of `support::branches`; each of its ops takes a few milliseconds.
fn run(folder: &Path) {
    let mut store = pipe_runtime::Store::open(&folder.join(".pipe")).unwrap();
    let options = pipe_runtime::RunOptions::new(folder.join("out"));
    let plan = support::branches();
    let registry = support::branch_ops(Duration::from_millis(3));
    let summary = pipe_runtime::run(&plan, &registry, &mut store, &options, &mut |_| {}).unwrap();
    std::process::exit(i32::from(summary.exit_code()));
}

/// A driver over thirty items, on one thread; each addition leaves a mark and takes some milliseconds.
fn fan(folder: &Path) {
    let mut store = pipe_runtime::Store::open(&folder.join(".pipe")).unwrap();
    let machine = pipe_runtime::Machine { threads: 1, memory: None, gpus: Vec::new() };
    let options =
        pipe_runtime::RunOptions { machine, ..pipe_runtime::RunOptions::new(folder.join("out")) };
    let marks = folder.join("marks");
    let mut registry = pipe_runtime::Registry::new();
    registry.register(support::op("list", |args, _| Ok(args.value("of")?.clone())));
    registry.register(support::op("add", move |args, _| {
        let mut file = std::fs::File::options().append(true).create(true).open(&marks).unwrap();
        std::io::Write::write_all(&mut file, b"x").unwrap();
        std::thread::sleep(Duration::from_millis(5));
        Ok(Value::Int(args.int("a")? + args.int("b")?))
    }));
    let plan = support::hundreds(&(0..30).collect::<Vec<_>>());
    let summary = pipe_runtime::run(&plan.0, &registry, &mut store, &options, &mut |_| {}).unwrap();
    std::process::exit(i32::from(summary.exit_code()));
}

fn serve() {
    let requests = listen();
    let mut output = std::io::stdout();
    let mut send = |reply: Reply| write_frame(&mut output, &reply).unwrap();
    match requests.recv() {
        Ok(Request::Hello { device, threads, .. }) => send(Reply::Ready {
            protocol: PROTOCOL,
            torch: "0.0.0".to_owned(),
            device,
            threads,
            context: BTreeMap::from([("process".to_owned(), std::process::id().to_string())]),
        }),
        other => panic!("no hello: {other:?}"),
    }
    let mut holds = VecDeque::new();
    while let Ok(request) = requests.recv() {
        match request {
            Request::Run { task, members } => {
                work(task, members, &requests, &mut send, &mut holds);
                let holds = holds.iter().cloned().collect();
                send(Reply::Done { task, holds, peak_bytes: 1 });
            }
            Request::Shutdown => return,
            _ => {}
        }
    }
}

fn listen() -> Receiver<Request> {
    let (send, requests) = channel();
    std::thread::spawn(move || {
        let mut input = std::io::stdin();
        while let Ok(Some(request)) = read_frame::<Request>(&mut input) {
            if send.send(request).is_err() {
                break;
            }
        }
    });
    requests
}

/// Members take turns: one step each, until all have ended.
fn work(
    task: u64,
    members: Vec<Member>,
    requests: &Receiver<Request>,
    send: &mut dyn FnMut(Reply),
    holds: &mut VecDeque<String>,
) {
    let mut running: VecDeque<(Member, u64)> = VecDeque::new();
    let mut joining: VecDeque<Member> = members.into();
    let mut cancelled = BTreeSet::new();
    while !running.is_empty() || !joining.is_empty() {
        for request in requests.try_iter() {
            match request {
                Request::Add { member, .. } => joining.push_back(*member),
                Request::Cancel { node, .. } => drop(cancelled.insert(node)),
                _ => {}
            }
        }
        if let Some(member) = joining.pop_front() {
            let at = place(&member).and_then(|path| std::fs::read_to_string(path).ok());
            let at = at.and_then(|text| text.parse().ok()).unwrap_or(0);
            send(Reply::Started { task, node: member.node.clone(), resumed_at: at });
            running.push_back((member, at));
            continue;
        }
        let Some((member, step)) = running.pop_front() else { break };
        holds.extend(member.inputs.keys().cloned());
        let node = member.node.clone();
        let end = |result, produced| {
            let node = node.clone();
            Reply::Finished { task, node, result, produced, peak_bytes: 7 << 20 }
        };
        if cancelled.contains(&member.node) {
            if let Some(path) = place(&member) {
                std::fs::write(path, step.to_string()).unwrap();
            }
            send(end(Err(OpError::cancelled()), BTreeMap::new()));
            continue;
        }
        match take_step(&member, step) {
            None => {
                send(Reply::Progress {
                    node: node.clone(),
                    done: step + 1,
                    total: 0,
                    note: String::new(),
                });
                running.push_back((member, step + 1));
            }
            Some((result, produced)) => send(end(result, produced)),
        }
    }
}

fn place(member: &Member) -> Option<std::path::PathBuf> {
    member.checkpoint.as_ref().map(|folder| folder.join("step"))
}

type End = (Result<Value, OpError>, BTreeMap<String, std::path::PathBuf>);

fn take_step(member: &Member, step: u64) -> Option<End> {
    match member.op.as_str() {
        "w.echo" => Some((member.args.value("value").cloned(), BTreeMap::new())),
        "w.process" => Some((Ok(Value::Int(i64::from(std::process::id()))), BTreeMap::new())),
        "w.crash" => {
            eprintln!("tensor of the wrong shape");
            std::process::abort();
        }
        "w.write" => {
            let path = member.scratch.join("words.txt");
            std::fs::write(&path, member.args.str("value").unwrap()).unwrap();
            let artifact = content::describe(&path, "text", "txt", BTreeMap::new()).unwrap();
            let produced = BTreeMap::from([(artifact.digest.clone(), path)]);
            Some((Ok(Value::Artifact(artifact)), produced))
        }
        "w.steps" => {
            std::thread::sleep(Duration::from_millis(2));
            let until = member.args.int("until").unwrap().unsigned_abs();
            (step >= until)
                .then(|| (Ok(Value::Int(i64::from(std::process::id()))), BTreeMap::new()))
        }
        other => {
            Some((Err(OpError::new("run::unknown_op", format!("No op {other}."))), BTreeMap::new()))
        }
    }
}
