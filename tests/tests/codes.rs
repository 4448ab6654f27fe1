//! Codes in the sources of the runtime and the pages that explain them are the same, crate by crate and both ways.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

use pipe_runtime::codes::{COMMANDS, Code, TORCH};
use std::collections::BTreeSet;
use std::path::Path;

type Codes = BTreeSet<String>;

fn codes<'a>(lists: impl IntoIterator<Item = &'a Code>) -> Codes {
    lists.into_iter().map(|code| code.code.to_owned()).collect()
}

/// Codes that the sources below `folder` write as literals, outside their tests and their pages.
fn written(folder: &str) -> Codes {
    let mut found = Codes::new();
    let mut open = vec![pipe_tests::pipe::repository().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let pages = path.file_stem().is_some_and(|stem| stem == "codes");
            if path.is_dir() && !pages {
                open.push(path);
            } else if !pages && path.extension().is_some_and(|extension| extension == "rs") {
                found.extend(literals(&path));
            }
        }
    }
    found
}

fn literals(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    code.split('"').filter(|literal| is_code(literal)).map(str::to_owned).collect()
}

fn is_code(text: &str) -> bool {
    let letter = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    let word = |word: &str| !word.is_empty() && word.bytes().all(letter);
    text.split_once("::").is_some_and(|(stage, slug)| word(stage) && word(slug))
}

/// What is written has a page here or in a crate below, and what has a page here is written.
fn compare(written: &Codes, own: &Codes, below: &Codes) {
    let explained = |code: &&String| own.contains(*code) || below.contains(*code);
    let unexplained: Vec<_> = written.iter().filter(|code| !explained(code)).collect();
    let unused: Vec<_> = own.difference(written).collect();
    assert!(unexplained.is_empty(), "without a page: {unexplained:?}");
    assert!(unused.is_empty(), "a page, and nothing gives the code: {unused:?}");
}

#[test]
fn codes_of_the_core() {
    let own = codes(&pipe_runtime::codes::own());
    compare(&written("runtime/core/src"), &own, &Codes::new());
}

#[test]
fn codes_of_the_worker() {
    compare(&written("runtime/torch/src"), &codes(TORCH), &codes(&pipe_runtime::codes::own()));
}

#[test]
fn codes_of_the_commands() {
    compare(&written("runtime/cli/src"), &codes(COMMANDS), &codes(&pipe_detect::codes::all()));
}

#[test]
fn codes_of_tables_and_texts() {
    let below = codes(&pipe_runtime::codes::all());
    compare(&written("runtime/data/src"), &codes(pipe_data::codes::CODES), &below);
}

#[test]
fn codes_of_detectors() {
    let below = codes(&pipe_data::codes::all());
    compare(&written("runtime/detect/src"), &codes(pipe_detect::codes::CODES), &below);
}

#[test]
fn pages_are_complete_and_each_code_has_one() {
    let all = pipe_detect::codes::all();
    let twice: Vec<_> = all
        .windows(2)
        .filter(|pair| pair[0].code >= pair[1].code)
        .map(|pair| pair[0].code)
        .collect();
    assert!(twice.is_empty(), "{twice:?}");
    let poor = |page: &&Code| {
        let example = page.explanation.lines().any(|line| line.starts_with("  "));
        let long = page.explanation.lines().any(|line| line.chars().count() > 120);
        page.title.is_empty() || page.explanation.len() < 60 || !example || long
    };
    let runtime = [pipe_runtime::codes::own().as_slice(), TORCH, COMMANDS].concat();
    let runtime = [runtime.as_slice(), pipe_data::codes::CODES, pipe_detect::codes::CODES].concat();
    let poor: Vec<_> = runtime.iter().filter(poor).map(|page| page.code).collect();
    assert!(poor.is_empty(), "without an example, or with long lines: {poor:?}");
}
