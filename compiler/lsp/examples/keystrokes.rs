//! How long an editor waits for the problems of a large program after each key: prints the median and the 99th
//! percentile in milliseconds. The program has 2,000 lines and reads a table; the server is spoken to as an editor does.

#![expect(clippy::unwrap_used, reason = "what fails here stops the measurement")]

use pipe_compiler::host::{FileInfo, Host, HostError, HostErrorKind};
use pipe_lsp::{Disk, NoCache, Outside, serve};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const LINES: usize = 2_000;
const KEYS: usize = 300;
const TABLE: &str =
    "time,host,cpu,memory,requests,errors,latency\n2026-01-01T00:00:00Z,a,0.5,1.5,10,0,20.5\n";

/// A folder with one table.
struct OneTable;

impl Disk for OneTable {
    fn host(&self, _program: &Path) -> Box<dyn Host + '_> {
        Box::new(Self)
    }

    fn library_file(&self, _module: &str) -> Option<PathBuf> {
        None
    }
}

impl Host for OneTable {
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        if path.ends_with("metrics.csv") {
            return Ok(TABLE.as_bytes().to_vec());
        }
        Err(HostError::new(HostErrorKind::Missing, format!("there is no file `{path}`")))
    }

    fn stat(&self, path: &str) -> Result<FileInfo, HostError> {
        Ok(FileInfo { bytes: self.read(path)?.len() as u64, is_dir: false })
    }

    fn head(&self, path: &str, _bytes: usize) -> Result<Vec<u8>, HostError> {
        self.read(path)
    }

    fn digest(&self, _path: &str) -> Result<String, HostError> {
        Ok(String::new())
    }

    fn glob(&self, _pattern: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }
}

/// A program as people write them: tables shaped in steps, functions, thresholds, checks.
fn program() -> String {
    let mut text = String::from(
        "## A large program.\n\nlet table0 = data.read(\"metrics.csv\", time: \"time\")\n\n",
    );
    let mut at = 0;
    while text.lines().count() < LINES {
        at += 1;
        let before = at - 1;
        let _ = write!(
            text,
            "## Limit number {at}.\nparam limit{at}: float = {at}.0 where limit{at} > 0.0\n\n\
             fn share{at}(part: float, whole: float) -> float = part / math.max(whole, 1.0)\n\n\
             ## Step {at}.\nlet table{at} = table{before}\n  \
             |> data.filter(row => row.cpu > limit{at} * 0.01 and row.host != \"none\")\n  \
             |> data.derive(\n    cpu: row => row.cpu * 1.01 + {at}.0,\n    \
             load: row => share{at}(row.errors, whole: row.requests) + math.log1p(row.latency),\n    \
             memory: row => if row.memory > 4.0 {{ row.memory }} else {{ row.memory * 2.0 }},\n  )\n\n\
             check some{at} = table{at}.rows >= 0\n\n"
        );
    }
    text + "output last = table0\n"
}

struct Editor<R, W> {
    input: BufReader<R>,
    output: W,
}

impl<R: Read, W: Write> Editor<R, W> {
    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        write!(self.output, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.output.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.input.read_line(&mut line).unwrap();
            match line.trim_end().split_once(": ") {
                Some((_, value)) => length = value.parse().unwrap(),
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.input.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Wait for the problems of this version.
    fn problems(&mut self, version: usize) -> Vec<Value> {
        loop {
            let message = self.receive();
            if message["params"]["version"] == json!(version) {
                return message["params"]["diagnostics"].as_array().unwrap().clone();
            }
        }
    }
}

fn main() {
    let (to_server, from_server) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
    let (input, output) = (BufReader::new(to_server.0), from_server.1);
    let server =
        std::thread::spawn(move || serve(input, output, &Outside::new(&OneTable, &NoCache)));
    let mut editor = Editor { input: BufReader::new(from_server.0), output: to_server.1 };
    editor.send(json!({ "id": 1, "method": "initialize", "params": { "capabilities": {} } }));
    editor.receive();
    editor.send(json!({ "method": "initialized", "params": {} }));
    let text = program();
    let uri = "file:///project/main.pipe";
    let document = json!({ "uri": uri, "languageId": "pipe", "version": 0, "text": text });
    editor
        .send(json!({ "method": "textDocument/didOpen", "params": { "textDocument": document } }));
    let problems = editor.problems(0);
    assert!(problems.is_empty(), "the program is right as it stands: {:#?}", problems.first());
    // A value grows letter by letter in the middle of the program, so that most states are broken.
    let line = text.lines().position(|line| line.starts_with("let table70")).unwrap();
    let typed: Vec<char> =
        "let extra = table69 |> data.filter(row => row.cpu > 3.5) |> data.sort([\"cpu\"])\n"
            .chars()
            .collect();
    let (mut row, mut column) = (line - 1, 0);
    let mut times = Vec::new();
    for key in 0..KEYS {
        let letter = typed[key % typed.len()];
        let place = json!({ "line": row, "character": column });
        let change =
            json!({ "range": { "start": place, "end": place }, "text": letter.to_string() });
        let document = json!({ "uri": uri, "version": key + 1 });
        let start = Instant::now();
        editor.send(json!({
            "method": "textDocument/didChange",
            "params": { "textDocument": document, "contentChanges": [change] },
        }));
        editor.problems(key + 1);
        times.push(start.elapsed().as_secs_f64() * 1e3);
        (row, column) = if letter == '\n' { (row + 1, 0) } else { (row, column + 1) };
    }
    times.sort_by(f64::total_cmp);
    println!("{:.2} {:.2}", times[KEYS / 2], times[KEYS * 99 / 100]);
    editor.send(json!({ "id": 2, "method": "shutdown" }));
    editor.send(json!({ "method": "exit" }));
    server.join().unwrap();
}
