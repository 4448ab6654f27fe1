//! A `pipe watch` that runs beside a test, and what it tells.

use pipe_tests::pipe::Project;
use serde_json::Value;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for something that must come.
const LONG: Duration = Duration::from_secs(60);
/// How long nothing must come for to be sure that nothing does: several quiet periods.
const CALM: Duration = Duration::from_millis(700);

/// A watched project; dropped, it ends the process.
pub(crate) struct Watched {
    pub(crate) project: Project,
    child: Child,
}

/// One run of the watched program.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) events: Vec<Value>,
}

impl Watched {
    /// Watch `p.pipe` of the project, and wait until its first run has ended.
    pub(crate) fn start(project: Project, flags: &[&str]) -> Self {
        let watched = Self::begin(project, flags);
        watched.run(0);
        watched
    }

    /// Watch it without waiting.
    pub(crate) fn begin(project: Project, flags: &[&str]) -> Self {
        let line = [&["watch", "p.pipe", "--events", "events.jsonl"], flags].concat();
        let said = std::fs::File::create(project.path().join("said.txt")).unwrap();
        let mut command = project.command(&line);
        let child = command.stdout(Stdio::null()).stderr(said).spawn().unwrap();
        Self { project, child }
    }

    /// The run with this number, once it has ended.
    pub(crate) fn run(&self, number: usize) -> Run {
        let until = Instant::now() + LONG;
        loop {
            let mut runs = self.runs();
            if runs.len() > number {
                return runs.swap_remove(number);
            }
            assert!(Instant::now() < until, "run {number} does not come:\n{}", self.said());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Wait until it has said this.
    pub(crate) fn says(&self, text: &str) {
        self.until(text, || self.said().contains(text));
    }

    /// Wait for something.
    pub(crate) fn until(&self, what: &str, is: impl Fn() -> bool) {
        let until = Instant::now() + LONG;
        while !is() {
            assert!(Instant::now() < until, "it does not come to this: {what}\n{}", self.said());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Wait for an event of a node.
    pub(crate) fn node(&self, event: &str, node: &str) {
        let is = |line: &Value| line["event"] == event && line["node"] == node;
        self.until(&format!("{event} of {node}"), || self.events().iter().any(is));
    }

    /// Make sure that no other run comes after this many.
    pub(crate) fn rests_after(&self, runs: usize) {
        std::thread::sleep(CALM);
        assert_eq!(self.runs().len(), runs, "{}", self.said());
    }

    /// Runs that have ended.
    pub(crate) fn runs(&self) -> Vec<Run> {
        let events = self.events();
        let ended = |event: &Value| event["event"] == "run_finished";
        let parts = events.split_inclusive(ended).filter(|part| part.last().is_some_and(ended));
        parts.map(|part| Run { events: part.to_vec() }).collect()
    }

    /// What it says on stderr.
    pub(crate) fn said(&self) -> String {
        self.project.read("said.txt")
    }

    /// Send a signal, and give the exit code.
    pub(crate) fn end(mut self, signal: &str) -> Option<i32> {
        let id = self.child.id().to_string();
        std::process::Command::new("kill").args([signal, &id]).status().unwrap();
        self.child.wait().unwrap().code()
    }

    /// The exit code of a watch that ends by itself.
    pub(crate) fn code(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    fn events(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.project.path().join("events.jsonl"));
        let text = text.unwrap_or_default();
        // The last line may be half written.
        text.lines().map_while(|line| serde_json::from_str(line).ok()).collect()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Run {
    /// Names of the nodes that ended so.
    pub(crate) fn nodes(&self, state: &str) -> Vec<String> {
        pipe_tests::pipe::nodes(&self.events, state)
    }

    /// A field of the last event.
    pub(crate) fn end(&self, field: &str) -> Value {
        self.events.last().unwrap()[field].clone()
    }
}
