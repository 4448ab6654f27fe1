//! The house rules that a machine can check: who depends on whom, file sizes, words that do not belong.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn tracked() -> Vec<PathBuf> {
    let listed = Command::new("git").args(["ls-files"]).current_dir(root()).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    listed.lines().map(|line| root().join(line)).filter(|path| path.is_file()).collect()
}

/// Rows of the crate table in spec/architecture.md: crate to crates it may use.
fn allowed() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(root().join("spec/architecture.md")).unwrap();
    let names = |cell: &str| -> Vec<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').collect())
        .collect();
    let all: BTreeSet<String> = rows.iter().flat_map(|row| names(row[1])).collect();
    rows.iter()
        .map(|row| {
            let uses = names(row[3]);
            let set = if row[3].contains("everything but") {
                all.iter().filter(|name| !uses.contains(name)).cloned().collect()
            } else {
                uses.into_iter().collect()
            };
            (names(row[1])[0].clone(), set)
        })
        .collect()
}

#[test]
fn crates_depend_as_the_architecture_says() {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let allowed = allowed();
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let Some(may) = allowed.get(name) else {
            wrong.push(format!("{name} is not in the table of spec/architecture.md"));
            continue;
        };
        for dependency in package["dependencies"].as_array().unwrap() {
            let other = dependency["name"].as_str().unwrap();
            let ours = allowed.contains_key(other) && dependency["kind"].is_null();
            if ours && !may.contains(other) {
                wrong.push(format!("{name} must not use {other}"));
            }
            let torch = matches!(other, "tch" | "torch-sys");
            if torch && name != "pipe-torch" {
                wrong.push(format!("{name} must not link libtorch ({other})"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn source_files_stay_short() {
    let long: Vec<String> = tracked()
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "rs" || e == "pipe" || e == "py"))
        .filter_map(|path| {
            let lines = std::fs::read_to_string(path).ok()?.lines().count();
            (lines > 800).then(|| format!("{} has {lines} lines", path.display()))
        })
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn nothing_large_is_committed() {
    let large: Vec<String> = tracked()
        .iter()
        .filter_map(|path| {
            let size = path.metadata().ok()?.len();
            (size > 1_000_000).then(|| format!("{} has {size} bytes", path.display()))
        })
        .collect();
    assert!(large.is_empty(), "{}", large.join("\n"));
}

#[test]
fn the_top_level_is_what_the_design_lists() {
    let expected: BTreeSet<&str> =
        "Cargo.toml Cargo.lock Makefile README.md LICENSE CHANGELOG.md grammar compiler \
         runtime stdlib examples tests spec"
            .split_whitespace()
            .collect();
    let found: BTreeSet<String> = tracked()
        .iter()
        .filter_map(|path| {
            let first = path.strip_prefix(root()).ok()?.components().next()?;
            Some(first.as_os_str().to_string_lossy().into_owned())
        })
        .filter(|name| !name.starts_with('.'))
        .collect();
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    assert_eq!(found, expected);
}

#[test]
fn words_that_do_not_belong() {
    let banned = ["todo!(", "unimplemented!(", "dbg!("];
    let vague = ["util.rs", "utils.rs", "helper.rs", "helpers.rs", "manager.rs", "common.rs"];
    let mut wrong = Vec::new();
    for path in tracked() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if vague.contains(&name.as_str()) {
            wrong.push(format!("{}: a name that says nothing", path.display()));
        }
        if name == "tidy.rs" || path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for word in banned {
            if text.contains(word) {
                wrong.push(format!("{}: `{word}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
