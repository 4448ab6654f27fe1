//! The tables of `spec/rows.md` and the source agree.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use pipe_row::ir::{BinaryOp, Function, Ty};
use pipe_row::typing::{Gives, binary_result};
use std::collections::BTreeSet;
use std::path::Path;

fn spec() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/rows.md");
    std::fs::read_to_string(path).unwrap()
}

/// The cells of the table below a heading, without its two head lines.
fn table(heading: &str) -> Vec<Vec<String>> {
    let text = spec();
    let section = text.split("\n## ").find(|part| part.starts_with(heading)).unwrap();
    let lines = section.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = |line: &str| {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    };
    lines.map(cells).collect()
}

/// What stands between backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn functions() {
    let written: Vec<Vec<String>> =
        table("Functions").into_iter().map(|row| row[..4].to_vec()).collect();
    let defined = Function::ALL.map(|function| {
        let signature = function.signature();
        let gives = match signature.gives {
            Gives::Always(ty) => format!("`{ty}`"),
            Gives::Same => "same".to_owned(),
        };
        let path = format!("`{}`", function.path());
        vec![path, signature.count.to_string(), signature.accepts.words().to_owned(), gives]
    });
    assert_eq!(written, defined);
    for function in Function::ALL {
        assert_eq!(Function::from_path(function.path()), Some(function));
        let words = quoted(function.signature().accepts.words());
        for ty in Ty::ALL {
            assert_eq!(function.signature().accepts.contains(ty), words.contains(&ty.name()));
        }
    }
}

#[test]
fn operators() {
    let mut written = BTreeSet::new();
    for row in table("Operators") {
        for left in quoted(&row[0]) {
            for op in quoted(&row[1]) {
                for right in quoted(&row[2]) {
                    let form = [left, op, right, quoted(&row[3])[0]].map(str::to_owned);
                    assert!(written.insert(form.clone()), "{form:?} is written twice");
                }
            }
        }
    }
    let mut defined = BTreeSet::new();
    for op in BinaryOp::ALL {
        for left in Ty::ALL {
            for right in Ty::ALL {
                if let Some(gives) = binary_result(op, left, right) {
                    let form = [left.name(), op.symbol(), right.name(), gives.name()];
                    defined.insert(form.map(str::to_owned));
                }
            }
        }
    }
    assert_eq!(written, defined);
}

#[test]
fn types() {
    let written: BTreeSet<String> = table("Types").into_iter().map(|row| row[0].clone()).collect();
    let defined = Ty::ALL.iter().map(|ty| format!("`{ty}`")).collect();
    assert_eq!(written, defined);
}

#[test]
fn limits() {
    let text = spec();
    assert_eq!((pipe_row::MAX_NODES, pipe_row::MAX_DEPTH), (10_000, 1_000));
    assert!(text.contains("at most 10,000 nodes") && text.contains("at most 1,000 deep"));
}

/// Equal bits on every machine: the system's mathematical library is never asked.
#[test]
fn transcendental_functions_come_from_libm() {
    let banned = ["exp", "ln", "ln_1p", "log10", "log2", "sin", "cos", "tanh", "powf", "powi"];
    let banned = banned.map(|name| format!(".{name}("));
    let paths = banned.iter().map(|call| call.trim_matches(['.', '(']));
    let paths: Vec<String> = paths.map(|name| format!("f64::{name}")).collect();
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        for call in banned.iter().chain(&paths).map(String::as_str).chain(["mul_add"]) {
            assert!(!source.contains(call), "{} has `{call}`", path.display());
        }
    }
}
