//! Programs in memory: a host with a few files, and problems rendered as plain lines.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test file uses a part")]

use pipe_compiler::{
    Compiled, FileInfo, Host, HostError, HostErrorKind, Inputs, Machine, ParamText, Sources,
    compile,
};
use pipe_grammar::{Problem, Severity, Span};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Files by path.
#[derive(Clone, Debug, Default)]
pub struct Files(pub BTreeMap<String, Vec<u8>>);

impl Files {
    /// The tables that most tests read, and a program.
    pub fn with(program: &str) -> Self {
        let mut files = Self::default();
        files.put("main.pipe", program);
        files.put(
            "metrics.csv",
            "time,cpu,mem,requests,errors,host\n2024-01-01T00:00:00Z,0.5,10.5,100,1,a\n2024-01-01T00:00:01Z,0.6,11.0,,0,b\n",
        );
        files.put(
            "labels.csv",
            "start,end,kind,anomalous\n2024-01-01T00:00:00Z,2024-01-01T00:01:00Z,cpu,true\n",
        );
        files.put(
            "docs.jsonl",
            "{\"path\": \"a\", \"text\": \"hello\"}\n{\"path\": \"b\", \"text\": \"world\"}\n",
        );
        files.put("points.csv", "CPU (%),errors,type,\"say \"\"hi\"\"\",größe\n91.5,,a,b,1\n");
        files.put("samples.csv", "time,host,level,cpu,mem\n2024-01-01T00:00:00Z,a,low,0.5,10.5\n");
        files.put(
            "jobs.csv",
            "state,took,bytes,started\ndone,5m,1KiB,2024-01-01T00:00:00Z\nfailed,1s,,2024-01-01T00:00:00Z\n",
        );
        files.put("preise.csv", "ware;preis\na;1,5\nb;2\n");
        files.put("service.log", "2024-01-01T00:00:00Z INFO start\n");
        files
    }

    pub fn put(&mut self, path: &str, text: &str) {
        self.0.insert(path.to_owned(), text.as_bytes().to_vec());
    }
}

fn missing<T>(path: &str) -> Result<T, HostError> {
    Err(HostError::new(HostErrorKind::Missing, format!("there is no file `{path}`")))
}

impl Host for Files {
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        self.0.get(path).cloned().map_or_else(|| missing(path), Ok)
    }

    fn stat(&self, path: &str) -> Result<FileInfo, HostError> {
        if path.starts_with("../") {
            return Err(HostError::new(
                HostErrorKind::Outside,
                "it is not below the project's folder",
            ));
        }
        if let Some(bytes) = self.0.get(path) {
            return Ok(FileInfo { bytes: bytes.len() as u64, is_dir: false });
        }
        let folder = format!("{path}/");
        if self.0.keys().any(|known| known.starts_with(&folder)) {
            return Ok(FileInfo { bytes: 0, is_dir: true });
        }
        missing(path)
    }

    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, HostError> {
        let mut content = self.read(path)?;
        content.truncate(bytes);
        Ok(content)
    }

    fn digest(&self, path: &str) -> Result<String, HostError> {
        if path == "locked.log" {
            return Err(HostError::new(HostErrorKind::Unreadable, "it may not be read"));
        }
        Ok(blake3::hash(&self.read(path)?).to_string())
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, HostError> {
        let (before, after) = pattern.split_once('*').unwrap_or((pattern, ""));
        let fits = |path: &&String| path.starts_with(before) && path.ends_with(after);
        Ok(self.0.keys().filter(fits).cloned().collect())
    }
}

/// The machine of the tests.
pub const MACHINE: Machine = Machine { threads: 2, memory: 8 << 30, gpus: 0 };

/// Compile the file `main.pipe`.
pub fn compiled(files: &Files, params: &[(&str, &str)]) -> Compiled {
    compiled_on(files, params, MACHINE)
}

/// Compile on a certain machine.
pub fn compiled_on(files: &Files, params: &[(&str, &str)], machine: Machine) -> Compiled {
    let params: BTreeMap<String, ParamText> = params
        .iter()
        .map(|(name, text)| {
            (
                (*name).to_owned(),
                ParamText {
                    text: (*text).to_owned(),
                    origin: format!("--set {name}"),
                    folder: None,
                },
            )
        })
        .collect();
    let tools = BTreeMap::from([("torch".to_owned(), "2.11.0".to_owned())]);
    compile(&Inputs {
        file: "main.pipe",
        host: files,
        library: &pipe_stdlib::FILES,
        params: &params,
        tools: &tools,
        machine,
    })
}

/// The problems of a program as text.
pub fn check(program: &str) -> String {
    let compiled = compiled(&Files::with(program), &[]);
    rendered(&compiled.problems, &compiled.sources)
}

/// The plan of a program that has no error.
pub fn plan(program: &str) -> pipe_compiler::plan::Plan {
    let compiled = compiled(&Files::with(program), &[]);
    let text = rendered(&compiled.problems, &compiled.sources);
    compiled.plan.unwrap_or_else(|| panic!("no plan:\n{text}"))
}

/// Problems as plain lines: `3:5 error[code] message | label | also | help | fix`.
pub fn rendered(problems: &[Problem], sources: &Sources) -> String {
    let mut text = String::new();
    for problem in problems {
        let severity = if problem.severity == Severity::Error { "error" } else { "warning" };
        writeln!(
            text,
            "{} {severity}[{}] {}",
            place(problem.span, sources),
            problem.code,
            problem.message
        )
        .unwrap();
        if !problem.label.is_empty() {
            writeln!(text, "    label: {}", problem.label).unwrap();
        }
        for label in &problem.labels {
            writeln!(text, "    {}: {}", place(label.span, sources), label.text).unwrap();
        }
        if let Some(help) = &problem.help {
            writeln!(text, "    help: {help}").unwrap();
        }
        for edit in &problem.edits {
            writeln!(text, "    fix: {} -> {}", sources.slice(edit.span), edit.replacement)
                .unwrap();
        }
    }
    text
}

fn place(span: Span, sources: &Sources) -> String {
    let Some(file) = sources.get(span.file) else { return "?".into() };
    let place = file.place(span.start);
    let name = if file.name == "main.pipe" { String::new() } else { format!("{}:", file.name) };
    format!(
        "{name}{}:{} `{}`",
        place.line,
        place.column,
        sources.slice(span).chars().take(30).collect::<String>()
    )
}

/// A plan in few lines: name, op and arguments.
pub fn outline(plan: &pipe_compiler::plan::Plan) -> String {
    let mut text = String::new();
    for node in &plan.nodes {
        writeln!(text, "{} = {} [{}] {}", node.name, node.op, node.runs.level, node.ty).unwrap();
    }
    for root in &plan.roots {
        writeln!(text, "{:?} {}", root.kind, root.name).unwrap();
    }
    text
}
