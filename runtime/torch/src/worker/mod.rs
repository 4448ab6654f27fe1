//! The worker: serves requests of the core until its input ends.
//!
//! One thread reads frames. What members should stop doing takes effect at once, through [`wish`]; the rest waits in a
//! queue for the main thread, which is the only one that computes. Everything the worker knows of the core is a pipe:
//! when that ends, running members save their checkpoints and the worker exits.

pub mod cache;
pub mod context;
pub mod ops;
pub mod sink;
pub mod task;
pub mod wish;

use crate::place::parse_device;
use cache::Cache;
use context::Shared;
use ops::Ops;
use pipe_runtime::op::OpError;
use pipe_runtime::protocol::{Member, PROTOCOL, Reply, Request, TaskId, read_frame};
use sink::Sink;
use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use task::Task;
use wish::{Wish, Wishes};

/// Serves requests from `input` with replies to `output`.
///
/// # Errors
/// When the first frame is not a hello that can be met.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    ops: &Ops,
    wishes: &Arc<Wishes>,
) -> Result<(), OpError> {
    let requests = listen(input, Arc::clone(wishes));
    let sink = Sink::new(Box::new(output), Arc::clone(&wishes.all));
    let Ok(hello) = requests.recv() else { return Ok(()) };
    let shared = Arc::new(greet(hello, sink)?);
    let mut queue = Queue { requests, waiting: VecDeque::new() };
    while let Some((number, members)) = queue.next_task(wishes, &shared.sink) {
        let task = Task { number, ops, wishes, shared: &shared };
        task.run(members, &mut || queue.joining(number));
        queue.refuse_late(number, &shared.sink);
        let holds = shared.cache.lock().map(|cache| cache.digests()).unwrap_or_default();
        shared.sink.send(&Reply::Done { task: number, holds, peak_bytes: peak_bytes() });
    }
    Ok(())
}

/// Reads frames on a thread of its own until the input ends.
fn listen(mut input: impl Read + Send + 'static, wishes: Arc<Wishes>) -> Receiver<Request> {
    let (send, requests) = channel();
    std::thread::spawn(move || {
        loop {
            let sent = match read_frame::<Request>(&mut input) {
                Ok(Some(Request::Cancel { task, node })) => {
                    wishes.tell(task, &node, Wish::Cancel);
                    Ok(())
                }
                Ok(Some(Request::Drop { task, node })) => {
                    wishes.tell(task, &node, Wish::Drop);
                    Ok(())
                }
                Ok(Some(request)) => send.send(request),
                Ok(None) => break,
                Err(error) => {
                    eprintln!("pipe-torch: the input is not in frames: {error}");
                    break;
                }
            };
            if sent.is_err() {
                break;
            }
        }
        wishes.all.store(true, Ordering::Release);
    });
    requests
}

/// Answers the hello: pins the device and sets threads.
fn greet(request: Request, sink: Sink) -> Result<Shared, OpError> {
    let Request::Hello { protocol, device, threads, deterministic, cache_bytes } = request else {
        return Err(OpError::new("run::protocol", "The first frame must be a hello."));
    };
    if protocol != PROTOCOL {
        let message =
            format!("`pipe` speaks protocol {protocol} and `pipe-torch` protocol {PROTOCOL}.");
        return Err(
            OpError::new("run::protocol", message).help("build both again from one source.")
        );
    }
    parse_device(&device)?;
    let count = i32::try_from(threads.max(1)).unwrap_or(i32::MAX);
    tch::set_num_threads(count);
    tch::set_num_interop_threads(1);
    tch::Cuda::cudnn_set_benchmark(!deterministic);
    let ready = Reply::Ready {
        protocol: PROTOCOL,
        torch: crate::TORCH.to_owned(),
        device: device.clone(),
        threads: threads.max(1),
        context: circumstances(&device, threads.max(1), deterministic),
    };
    sink.send(&ready);
    Ok(Shared { sink, cache: Mutex::new(Cache::new(cache_bytes)), device, threads: threads.max(1) })
}

/// What moves the last bits of a result without being in its key.
fn circumstances(device: &str, threads: u32, deterministic: bool) -> BTreeMap<String, String> {
    let class = device.split(':').next().unwrap_or(device);
    BTreeMap::from([
        ("arch".to_owned(), std::env::consts::ARCH.to_owned()),
        ("instructions".to_owned(), instructions().to_owned()),
        ("device".to_owned(), class.to_owned()),
        ("deterministic".to_owned(), deterministic.to_string()),
        ("threads".to_owned(), threads.to_string()),
        ("torch".to_owned(), crate::TORCH.to_owned()),
    ])
}

#[cfg(target_arch = "x86_64")]
fn instructions() -> &'static str {
    if std::arch::is_x86_feature_detected!("avx512f") {
        "avx512"
    } else if std::arch::is_x86_feature_detected!("avx2") {
        "avx2"
    } else {
        "sse2"
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn instructions() -> &'static str {
    "default"
}

/// Requests that have not been served.
struct Queue {
    requests: Receiver<Request>,
    waiting: VecDeque<Request>,
}

impl Queue {
    /// The next task; nothing when there will be none.
    fn next_task(&mut self, wishes: &Wishes, sink: &Sink) -> Option<(TaskId, Vec<Member>)> {
        loop {
            let request = match self.waiting.pop_front() {
                Some(request) => request,
                None => match self.requests.recv_timeout(Duration::from_millis(250)) {
                    Ok(request) => request,
                    Err(RecvTimeoutError::Timeout) if !wishes.all.load(Ordering::Acquire) => {
                        continue;
                    }
                    Err(_) => return None,
                },
            };
            match request {
                Request::Run { task, members } => return Some((task, members)),
                Request::Add { task, member } => refuse_late(task, &member, sink),
                Request::Shutdown => return None,
                _ => {}
            }
        }
    }

    /// Members that have been added to the running task.
    fn joining(&mut self, number: TaskId) -> Vec<Member> {
        self.waiting.extend(self.requests.try_iter());
        let mut joined = Vec::new();
        self.waiting = std::mem::take(&mut self.waiting)
            .into_iter()
            .filter_map(|request| match request {
                Request::Add { task, member } if task == number => {
                    joined.push(*member);
                    None
                }
                other => Some(other),
            })
            .collect();
        joined
    }

    /// Answers members that came after their task's last step.
    fn refuse_late(&mut self, number: TaskId, sink: &Sink) {
        self.joining(number).iter().for_each(|member| refuse_late(number, member, sink));
    }
}

fn refuse_late(task: TaskId, member: &Member, sink: &Sink) {
    let mut error = OpError::new("run::late", "The task ended before this member could join.");
    error.transient = true;
    sink.send(&Reply::Finished {
        task,
        node: member.node.clone(),
        result: Err(error),
        produced: BTreeMap::new(),
        peak_bytes: peak_bytes(),
    });
}

/// Largest resident size so far, where the system tells.
pub(crate) fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
