//! Any program is checked: an answer in a second, known codes, places inside the files.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipe_compiler::{FileInfo, Host, HostError, HostErrorKind, Inputs, Machine, check, codes};
use pipe_grammar::Span;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The program, and one table.
struct Files<'a>(&'a str);

const TABLE: &str = "time,cpu,mem,host\n2024-01-01T00:00:00Z,0.5,10.5,a\n2024-01-01T00:00:01Z,0.6,,b\n";

impl Files<'_> {
    fn text(&self, path: &str) -> Result<&str, HostError> {
        match path {
            "fuzz.pipe" => Ok(self.0),
            "metrics.csv" => Ok(TABLE),
            "other.pipe" => Ok("use back = \"fuzz.pipe\"\nlet x = 1\nfn twice(x: int) -> int = 2 * x\n"),
            _ => Err(HostError::new(HostErrorKind::Missing, format!("there is no file `{path}`"))),
        }
    }
}

impl Host for Files<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        self.text(path).map(|text| text.as_bytes().to_vec())
    }
    fn stat(&self, path: &str) -> Result<FileInfo, HostError> {
        let bytes = self.text(path)?.len() as u64;
        Ok(FileInfo { bytes, is_dir: false })
    }
    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, HostError> {
        let mut text = self.read(path)?;
        text.truncate(bytes);
        Ok(text)
    }
    fn digest(&self, path: &str) -> Result<String, HostError> {
        self.text(path).map(|text| format!("{:064x}", text.len()))
    }
    fn glob(&self, _: &str) -> Result<Vec<String>, HostError> {
        Ok(vec!["metrics.csv".to_owned()])
    }
}

fuzz_target!(|text: &str| {
    let start = Instant::now();
    let checked = check(&Inputs {
        file: "fuzz.pipe",
        host: &Files(text),
        library: &pipe_stdlib::FILES,
        params: &BTreeMap::new(),
        tools: &BTreeMap::new(),
        machine: Machine { threads: 2, memory: 8 << 30, gpus: 0 },
    });
    let files = checked.sources.files();
    let fits = |span: Span| {
        let file = files.iter().find(|file| file.id == span.file);
        file.is_some_and(|file| file.text.get(span.start as usize..span.end as usize).is_some())
    };
    let known: Vec<&str> = codes::all().iter().map(|code| code.code).collect();
    for problem in &checked.problems {
        assert!(problem.code != "plan::bug", "{problem:?}");
        assert!(known.contains(&problem.code), "{} has no page", problem.code);
        assert!(fits(problem.span), "{problem:?}");
        assert!(problem.labels.iter().all(|label| fits(label.span)), "{problem:?}");
        assert!(problem.edits.iter().all(|edit| fits(edit.span)), "{problem:?}");
    }
    // Instrumented code is slower, and a busy machine slower still.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
});
