//! Every case file: what `pipe check` reports is what the comments say, and the formatter keeps the program.

use pipe_compiler::host::{Inputs, Machine};
use pipe_grammar::{FileId, Problem, SourceFile};
use pipe_tests::case::{self, Case};
use pipe_tests::host::FolderHost;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

fn cases() -> Vec<Case> {
    let cases: Vec<Case> = case::files(&folder()).iter().flat_map(|path| case::read(path)).collect();
    assert!(cases.len() >= 20, "only {} cases were found", cases.len());
    cases
}

/// A host in which the program is `case.pipe` and files are those of `cases/files`.
struct CaseHost<'a> {
    text: &'a str,
    files: FolderHost,
}

impl pipe_compiler::host::Host for CaseHost<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, pipe_compiler::host::HostError> {
        if path == "case.pipe" { Ok(self.text.as_bytes().to_vec()) } else { self.files.read(path) }
    }
    fn stat(&self, path: &str) -> Result<pipe_compiler::host::FileInfo, pipe_compiler::host::HostError> {
        self.files.stat(path)
    }
    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, pipe_compiler::host::HostError> {
        self.files.head(path, bytes)
    }
    fn digest(&self, path: &str) -> Result<String, pipe_compiler::host::HostError> {
        self.files.digest(path)
    }
    fn glob(&self, pattern: &str) -> Result<Vec<String>, pipe_compiler::host::HostError> {
        self.files.glob(pattern)
    }
}

fn problems(case: &Case) -> Vec<Problem> {
    let host = CaseHost { text: &case.text, files: FolderHost::new(folder().join("files")) };
    let inputs = Inputs {
        file: "case.pipe",
        host: &host,
        library: &pipe_stdlib::FILES,
        params: &BTreeMap::new(),
        tools: &BTreeMap::from([("torch".into(), "2.11.0".into())]),
        machine: Machine { threads: 2, memory: 8 << 30, gpus: 0 },
    };
    pipe_compiler::compile(&inputs).problems
}

#[test]
fn problems_are_the_ones_in_the_comments() {
    let mut wrong = String::new();
    for case in cases() {
        let file = SourceFile::new(FileId(0), "case.pipe", case.text.as_str());
        let differences = case::differences(&case, &problems(&case), &file);
        if !differences.is_empty() {
            wrong += &format!("{}\n{differences}", case.title);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn fixes_compile() {
    let mut wrong = String::new();
    for case in cases() {
        for problem in problems(&case).iter().filter(|problem| !problem.edits.is_empty()) {
            let mut text = case.text.clone();
            let mut edits = problem.edits.clone();
            edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
            for edit in &edits {
                text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.replacement);
            }
            let fixed = Case { title: case.title.clone(), text, expected: Vec::new() };
            let still = self::problems(&fixed);
            if still.iter().any(|other| other.code == problem.code && other.message == problem.message) {
                wrong += &format!("{}: the fix of {} leaves it:\n{}\n", case.title, problem.code, fixed.text);
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn formatting_twice_changes_nothing_more() {
    for case in cases() {
        let once = pipe_grammar::format(&SourceFile::new(FileId(0), "case.pipe", case.text.as_str())).text;
        let twice = pipe_grammar::format(&SourceFile::new(FileId(0), "case.pipe", once.as_str())).text;
        assert_eq!(once, twice, "{}", case.title);
    }
}
