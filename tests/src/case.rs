//! Reading case files and comparing what they expect with what a stage reports.

use pipe_grammar::{Problem, SourceFile};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// One program of a case file.
#[derive(Debug)]
pub struct Case {
    /// `file.pipe: name`.
    pub title: String,
    /// The program, annotations included (they are comments).
    pub text: String,
    /// What it expects, in line order.
    pub expected: Vec<Expected>,
}

/// One expected problem.
#[derive(Clone, Debug)]
pub struct Expected {
    /// `error[types::mismatch]` or `warning[...]`.
    pub tag: String,
    /// Line of the program, from 1.
    pub line: u32,
    /// Columns `first-last`, from 1, both included.
    pub columns: Option<(u32, u32)>,
    /// Part of the message.
    pub message: String,
}

/// Case files below `folder`, sorted; whole programs in `real/` are not cases.
#[must_use]
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && path.file_name().is_none_or(|name| name != "real") {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "pipe") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The cases of one file.
#[must_use]
pub fn read(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        let name = line.strip_prefix("--- ").and_then(|rest| rest.strip_suffix(" ---"));
        match (name, cases.last_mut()) {
            (Some(name), _) => {
                cases.push(Case {
                    title: format!("{file}: {name}"),
                    text: String::new(),
                    expected: Vec::new(),
                });
            }
            (None, Some(case)) => {
                case.text += line;
                case.text.push('\n');
            }
            (None, None) => {}
        }
    }
    for case in &mut cases {
        case.expected = annotations(&case.text);
    }
    cases
}

fn annotations(text: &str) -> Vec<Expected> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(mut expected) = annotation(line) else { continue };
        let below = lines.iter().skip(at).position(|line| annotation(line).is_none());
        expected.line = (at + below.unwrap_or(0)) as u32 + 1;
        found.push(expected);
    }
    found
}

fn annotation(line: &str) -> Option<Expected> {
    let rest = line.trim_start().strip_prefix("# ")?;
    if !rest.starts_with("error[") && !rest.starts_with("warning[") {
        return None;
    }
    let (tag, rest) = rest.split_once(']')?;
    let (columns, message) = rest.split_once(':').unwrap_or((rest, ""));
    let columns =
        columns.trim().split_once('-').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    Some(Expected { tag: format!("{tag}]"), line: 0, columns, message: message.trim().to_owned() })
}

/// What differs between `problems` and what the case expects; empty when nothing does.
#[must_use]
pub fn differences(case: &Case, problems: &[Problem], file: &SourceFile) -> String {
    let mut out = String::new();
    let mut used = BTreeSet::new();
    for expected in &case.expected {
        let hit = problems
            .iter()
            .enumerate()
            .find(|(at, problem)| !used.contains(at) && matches(expected, problem, file));
        match hit {
            Some((at, _)) => drop(used.insert(at)),
            None => {
                let Expected { tag, line, columns, message } = expected;
                let _ = writeln!(out, "  missing  line {line} {tag} {columns:?} {message}");
            }
        }
    }
    for (at, problem) in problems.iter().enumerate() {
        if !used.contains(&at) {
            let (start, end) = (file.place(problem.span.start), file.place(problem.span.end));
            let Problem { message, .. } = problem;
            let _ = writeln!(
                out,
                "  extra    line {} {} {}-{}: {message}",
                start.line,
                tag(problem),
                start.column,
                end.column.saturating_sub(1)
            );
        }
    }
    out
}

fn tag(problem: &Problem) -> String {
    format!("{}[{}]", if problem.is_error() { "error" } else { "warning" }, problem.code)
}

/// Places are compared in the program itself; in a file that it uses, tag and message are enough.
fn matches(expected: &Expected, problem: &Problem, file: &SourceFile) -> bool {
    let elsewhere = problem.span.file != file.id;
    let (start, end) = (file.place(problem.span.start), file.place(problem.span.end));
    expected.tag == tag(problem)
        && (elsewhere || expected.line == start.line)
        && (elsewhere
            || expected
                .columns
                .is_none_or(|columns| columns == (start.column, end.column.saturating_sub(1))))
        && problem.message.contains(&expected.message)
}
