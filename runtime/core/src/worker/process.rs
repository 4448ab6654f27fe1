//! One worker process: its pipes, its last words, and how it ended.

use super::Description;
use crate::op::OpError;
use crate::protocol::{PROTOCOL, Reply, Request, read_frame, write_frame};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Lines of its error output that are kept.
const LAST_WORDS: usize = 12;

/// How a worker is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setup {
    pub(crate) device: String,
    pub(crate) threads: u32,
    pub(crate) deterministic: bool,
    pub(crate) cache_bytes: u64,
}

/// Sends requests to a worker; clones share its pipe. Sending to one that has died does nothing.
#[derive(Clone, Debug)]
pub(crate) struct Line(Arc<Mutex<Option<ChildStdin>>>);

impl Line {
    pub(crate) fn send(&self, request: &Request) -> bool {
        let mut pipe = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pipe.as_mut().is_some_and(|pipe| write_frame(pipe, request).is_ok())
    }

    fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Ends a worker from another thread.
#[derive(Clone, Debug)]
pub(crate) struct Killer(Arc<Mutex<Child>>);

impl Killer {
    pub(crate) fn kill(&self) {
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).kill();
    }
}

/// A worker.
pub(crate) struct Process {
    child: Arc<Mutex<Child>>,
    line: Line,
    replies: BufReader<ChildStdout>,
    words: Arc<Mutex<VecDeque<String>>>,
    listener: Option<JoinHandle<()>>,
    description: Description,
    pub(crate) setup: Setup,
    /// Digests of artifacts that it holds in memory.
    pub(crate) holds: Vec<String>,
}

/// How long threads of libtorch spin for each other before they sleep: about 0.1 ms instead of the default of many, which
/// makes a training five times slower as soon as another program wants a core.
const SPIN: &str = "2000";

impl Process {
    /// Start a worker and greet it.
    pub(crate) fn start(program: &Path, setup: &Setup) -> Result<Self, OpError> {
        let spin = std::env::var("GOMP_SPINCOUNT").unwrap_or_else(|_| SPIN.to_owned());
        let spawned = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env("OMP_NUM_THREADS", setup.threads.to_string())
            .env("GOMP_SPINCOUNT", spin)
            .spawn();
        let mut child = spawned.map_err(|error| {
            OpError::new(
                "worker::start",
                format!("The worker {} cannot be started: {error}.", program.display()),
            )
            .help("Run `make setup` and build again, or set PIPE_TORCH to the program.")
        })?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(OpError::new("worker::start", "The worker has no pipes."));
        };
        let words = Arc::new(Mutex::new(VecDeque::new()));
        let listener = listen(stderr, words.clone());
        let mut process = Self {
            child: Arc::new(Mutex::new(child)),
            line: Line(Arc::new(Mutex::new(Some(stdin)))),
            replies: BufReader::new(stdout),
            words,
            listener: Some(listener),
            description: Description {
                torch: String::new(),
                device: setup.device.clone(),
                threads: setup.threads,
                context: std::collections::BTreeMap::new(),
            },
            setup: setup.clone(),
            holds: Vec::new(),
        };
        process.greet()?;
        Ok(process)
    }

    fn greet(&mut self) -> Result<(), OpError> {
        let setup = self.setup.clone();
        self.line.send(&Request::Hello {
            protocol: PROTOCOL,
            device: setup.device,
            threads: setup.threads,
            deterministic: setup.deterministic,
            cache_bytes: setup.cache_bytes,
        });
        match self.read()? {
            Reply::Ready { protocol, torch, device, threads, context } if protocol == PROTOCOL => {
                self.description = Description { torch, device, threads, context };
                Ok(())
            }
            Reply::Ready { protocol, .. } => Err(OpError::new(
                "worker::protocol",
                format!("pipe speaks protocol {PROTOCOL} and pipe-torch protocol {protocol}."),
            )
            .help("Build both again from one source.")),
            _ => Err(OpError::new(
                "worker::protocol",
                "The worker does not answer as pipe-torch does.",
            )
            .help("Set PIPE_TORCH to the program pipe-torch.")),
        }
    }

    pub(crate) fn description(&self) -> &Description {
        &self.description
    }

    pub(crate) fn line(&self) -> Line {
        self.line.clone()
    }

    pub(crate) fn killer(&self) -> Killer {
        Killer(self.child.clone())
    }

    /// The next reply; an error says that the worker has died, and how.
    pub(crate) fn read(&mut self) -> Result<Reply, OpError> {
        match read_frame(&mut self.replies) {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(self.obituary(None)),
            Err(error) => Err(self.obituary(Some(&error))),
        }
    }

    /// Why there are no more replies: exit status, what it usually means, and the worker's last words.
    fn obituary(&mut self, error: Option<&io::Error>) -> OpError {
        let garbled = error.filter(|error| error.kind() != io::ErrorKind::UnexpectedEof);
        self.line.close();
        let status = {
            let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
            if garbled.is_some() {
                let _ = child.kill();
            }
            wait_a_while(&mut child)
        };
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (code, cause, help) = match (garbled, &status) {
            (Some(error), _) => {
                ("worker::protocol", format!("sent what is not a reply ({error})"), None)
            }
            (None, Ok(status)) => cause(*status),
            (None, Err(error)) => ("worker::died", format!("is gone ({error})"), None),
        };
        let tail = if words.is_empty() {
            String::new()
        } else {
            format!(" Its last words:\n{}", words.join("\n"))
        };
        let mut told = OpError::new(code, format!("The worker {cause}.{tail}"));
        told.help = help.map(str::to_owned);
        told.transient = true;
        told
    }
}

/// A worker that has closed its pipe ends soon; one that hangs on its way out is ended.
fn wait_a_while(child: &mut Child) -> io::Result<ExitStatus> {
    for _ in 0..250 {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    child.wait()
}

impl Drop for Process {
    fn drop(&mut self) {
        self.line.send(&Request::Shutdown);
        self.line.close();
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(child.try_wait(), Ok(Some(_))) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(unix)]
fn cause(status: ExitStatus) -> (&'static str, String, Option<&'static str>) {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(9) => (
            "worker::killed",
            "was killed (signal 9), as the system does when memory runs out".to_owned(),
            Some(
                "Give the step less to do at once (a smaller batch), or state its need with @memory.",
            ),
        ),
        Some(signal @ (4 | 6 | 7 | 8 | 11)) => {
            ("worker::crashed", format!("crashed (signal {signal})"), None)
        }
        Some(signal) => ("worker::died", format!("was ended by signal {signal}"), None),
        None => ended(status),
    }
}

#[cfg(not(unix))]
fn cause(status: ExitStatus) -> (&'static str, String, Option<&'static str>) {
    ended(status)
}

fn ended(status: ExitStatus) -> (&'static str, String, Option<&'static str>) {
    let code = status.code().map_or_else(|| "no code".to_owned(), |code| format!("code {code}"));
    ("worker::died", format!("ended by itself with {code}"), None)
}

/// Keep the last lines that a worker writes to its error output.
fn listen(from: impl Read + Send + 'static, words: Arc<Mutex<VecDeque<String>>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut lines = BufReader::new(from.take(u64::MAX));
        let mut line = Vec::new();
        while lines.by_ref().take(4096).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
            if words.len() == LAST_WORDS {
                words.pop_front();
            }
            words.push_back(text);
        }
    })
}
