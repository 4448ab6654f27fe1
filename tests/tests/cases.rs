//! Every case file: what `pipe check` reports is what the comments say, and the formatter keeps the program.

use pipe_compiler::host::{FileInfo, Host, HostError, HostErrorKind, Inputs, Machine};
use pipe_grammar::{FileId, Problem, SourceFile};
use pipe_tests::case::{self, Case};
use pipe_tests::host::FolderHost;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

fn cases() -> Vec<Case> {
    let files = case::files(&folder());
    let cases: Vec<Case> = files.iter().flat_map(|path| case::read(path)).collect();
    assert!(cases.len() >= 100, "only {} cases were found", cases.len());
    cases
}

/// Codes whose cause does not fit a case file, and where their tests are.
const ELSEWHERE: [(&str, &str); 5] = [
    ("plan::bug", "nothing is known to cause it"),
    ("plan::unknown_param", "tests/tests/cli.rs"),
    ("types::param_text", "tests/tests/cli.rs"),
    ("syntax::too_deep", "tests/tests/bad_input.rs"),
    ("syntax::too_large", "tests/tests/bad_input.rs"),
];

/// A host with a file that may not be read.
struct CaseHost {
    files: FolderHost,
}

impl Host for CaseHost {
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        self.files.read(path)
    }
    fn stat(&self, path: &str) -> Result<FileInfo, HostError> {
        if path == "locked.log" {
            return Ok(FileInfo { bytes: 1, is_dir: false });
        }
        self.files.stat(path)
    }
    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, HostError> {
        self.files.head(path, bytes)
    }
    fn digest(&self, path: &str) -> Result<String, HostError> {
        if path == "locked.log" {
            return Err(HostError::new(HostErrorKind::Unreadable, "it may not be read"));
        }
        self.files.digest(path)
    }
    fn glob(&self, pattern: &str) -> Result<Vec<String>, HostError> {
        self.files.glob(pattern)
    }
}

fn problems(case: &Case) -> Vec<Problem> {
    let files = FolderHost::new(folder().join("files"));
    let host = CaseHost { files: files.with_program("case.pipe", &case.text) };
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
fn every_code_has_a_case() {
    let told: BTreeSet<String> = cases()
        .iter()
        .flat_map(|case| &case.expected)
        .filter_map(|expected| {
            Some(expected.tag.split_once('[')?.1.trim_end_matches(']').to_owned())
        })
        .collect();
    let codes: BTreeSet<&str> = pipe_compiler::codes::all().iter().map(|code| code.code).collect();
    let elsewhere = |code: &&&str| !ELSEWHERE.iter().any(|(other, _)| other == *code);
    let untold: Vec<_> =
        codes.iter().filter(elsewhere).filter(|code| !told.contains(**code)).collect();
    let unknown: Vec<_> = told.iter().filter(|code| !codes.contains(code.as_str())).collect();
    assert!(untold.is_empty(), "no case for {untold:?}");
    assert!(unknown.is_empty(), "no page for {unknown:?}");
}

#[test]
fn eight_mistakes_give_eight_problems() {
    for folder in ["syntax", "plan"] {
        let files = case::files(&self::folder().join(folder));
        let cases: Vec<Case> = files.iter().flat_map(|path| case::read(path)).collect();
        let case = cases.iter().find(|case| case.title.contains("eight mistakes")).unwrap();
        let found = problems(case);
        assert!(found.len() >= 8, "{found:#?}");
        for problem in found {
            let told =
                problem.help.is_some() || !problem.edits.is_empty() || !problem.labels.is_empty();
            assert!(told, "no way out of {}: {}", problem.code, problem.message);
        }
    }
}

#[test]
fn fixes_compile() {
    let mut wrong = String::new();
    for case in cases() {
        let before = problems(&case);
        for problem in before.iter().filter(|problem| !problem.edits.is_empty()) {
            let mut text = case.text.clone();
            let mut edits = problem.edits.clone();
            edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
            for edit in &edits {
                text.replace_range(
                    edit.span.start as usize..edit.span.end as usize,
                    &edit.replacement,
                );
            }
            let fixed = Case { title: case.title.clone(), text, expected: Vec::new() };
            let same = |problems: &[Problem]| {
                let like = |other: &&Problem| {
                    other.code == problem.code && other.message == problem.message
                };
                problems.iter().filter(like).count()
            };
            if same(&self::problems(&fixed)) >= same(&before) {
                wrong += &format!(
                    "{}: the fix of {} leaves it:\n{}\n",
                    case.title, problem.code, fixed.text
                );
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn formatting_twice_changes_nothing_more() {
    for case in cases() {
        let once =
            pipe_grammar::format(&SourceFile::new(FileId(0), "case.pipe", case.text.as_str())).text;
        let twice =
            pipe_grammar::format(&SourceFile::new(FileId(0), "case.pipe", once.as_str())).text;
        assert_eq!(once, twice, "{}", case.title);
    }
}
