//! Files that are written by a program: the pages of the specification that list codes and ops, and editors' grammars.
//!
//! `cargo dev gen` writes them; a test of `pipe-tests` fails when they are stale.

pub mod fuzz;
mod week;

use pipe_compiler::{Code, Signature};
use std::fmt::Write;

const NOTE: &str = "<!-- Written by `cargo dev gen`. Change the sources, not this file. -->";

/// Stages in the order in which a program meets them, with what their codes have in common.
const STAGES: [(&str, &str); 11] = [
    ("syntax", "The text cannot be read as a program."),
    ("resolve", "Names, modules and program files."),
    ("types", "Values, arguments, columns and rows."),
    ("parts", "Parts of splits: what is learned from is not what is judged by."),
    ("shapes", "Models, rows of tokens, tokenizers and adapters that do not go together."),
    ("plan", "Files, params, attributes and limits: what has to be known before anything runs."),
    ("params", "Params as flags of the command line."),
    ("run", "A node failed: its arguments, its data, its limits."),
    ("worker", "The program `pipe-torch`, in which steps that need libtorch run."),
    ("store", "The folder of results, `.pipe`."),
    ("output", "The folder of outputs."),
];

/// Every generated file: its path from the repository's root, and its content.
#[must_use]
pub fn files() -> Vec<(&'static str, String)> {
    let mut files = vec![("spec/errors.md", errors()), ("spec/stdlib.md", library())];
    files.push(("tests/bench/traces/week.jsonl", week::week()));
    files.extend(pipe_grammar::editors::files());
    files
}

/// The pages of `pipe explain`, by stage.
fn errors() -> String {
    let codes = pipe_detect::codes::all();
    let mut out = format!(
        "# Errors\n\n{NOTE}\n\nEvery problem that `pipe check` reports and every failure of a run has one of these codes. `pipe explain CODE` prints its page.\n"
    );
    let mut told = 0;
    for (stage, about) in STAGES {
        let _ = write!(out, "\n## {stage}\n\n{about}\n");
        let prefix = format!("{stage}::");
        for code in codes.iter().filter(|code| code.code.starts_with(&prefix)) {
            told += 1;
            page(code, &mut out);
        }
    }
    debug_assert_eq!(told, codes.len(), "a stage is missing in STAGES");
    out
}

fn page(code: &Code, out: &mut String) {
    let _ = write!(out, "\n### `{}`\n\n{}.\n\n", code.code, capital(code.title));
    let mut inside = false;
    for line in code.explanation.trim().lines() {
        let program = line.starts_with("  ");
        match (inside, program || (inside && line.is_empty())) {
            (false, true) => out.push_str("```text\n"),
            (true, false) => out.push_str("```\n\n"),
            _ => {}
        }
        inside = program || (inside && line.is_empty());
        let _ = writeln!(out, "{}", line.strip_prefix("  ").unwrap_or(line));
    }
    if inside {
        out.push_str("```\n");
    }
    while let Some(at) = out.find("\n\n```\n") {
        out.replace_range(at..at + 1, "");
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Modules, their types and their functions, with signatures and documentation.
fn library() -> String {
    let (signatures, _, _) = pipe_compiler::signatures(&pipe_stdlib::FILES);
    let mut out = format!(
        "# Standard library\n\n{NOTE}\n\nThe first argument of a call is its subject and may come through `|>`; all others are named, except those \
         written `_name` here. `pipe doc OP` prints one entry.\n"
    );
    let mut modules: Vec<&(&str, &str)> = pipe_stdlib::FILES.iter().collect();
    modules.sort();
    for (module, text) in modules {
        let _ = write!(out, "\n## {module}\n\n{}\n", module_doc(text));
        for (doc, declaration) in types(text) {
            let name = declaration.split(['<', '=', ' ']).next().unwrap_or_default();
            let _ = write!(out, "\n### `{name}`\n\n```text\ntype {declaration}\n```\n\n{doc}\n");
        }
        let prefix = format!("{module}.");
        for signature in signatures.iter().filter(|signature| signature.name.starts_with(&prefix)) {
            entry(signature, &mut out);
        }
    }
    out
}

/// The `##` lines at the top of a file, which a blank line ends.
fn module_doc(text: &str) -> String {
    let top: Vec<&str> =
        text.lines().take_while(|line| line.starts_with("##")).map(undoc).collect();
    top.join("\n")
}

fn undoc(line: &str) -> &str {
    let text = line.trim_start_matches('#');
    text.strip_prefix(' ').unwrap_or(text)
}

/// Types that a module declares: documentation and what follows `type`.
fn types(text: &str) -> Vec<(String, String)> {
    let mut doc: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("##") {
            doc.push(undoc(line));
        } else if let Some(declaration) = line.strip_prefix("type ") {
            let mut whole = declaration.to_owned();
            while whole.matches('{').count() > whole.matches('}').count() {
                let Some(next) = lines.next() else { break };
                whole.push('\n');
                whole.push_str(next);
            }
            found.push((doc.join("\n"), whole));
        } else if line.is_empty() {
            doc.clear();
        }
    }
    found
}

fn entry(signature: &Signature, out: &mut String) {
    let _ = write!(out, "\n### `{}`\n\n```text\n{}(", signature.name, signature.name);
    let params: Vec<String> = signature
        .params
        .iter()
        .map(|param| {
            let mark = if param.rest { ".." } else { "" };
            let place = if param.positional && !param.name.starts_with('_') { "_" } else { "" };
            let default = param.default.as_ref().map_or(String::new(), |text| format!(" = {text}"));
            format!("{mark}{place}{}: {}{default}", param.name, param.ty)
        })
        .collect();
    let one_line = params.join(", ");
    if one_line.len() + signature.name.len() + signature.result.len() < 100 {
        out.push_str(&one_line);
    } else {
        for param in &params {
            let _ = write!(out, "\n  {param},");
        }
        out.push('\n');
    }
    let _ = write!(out, ") -> {}\n```\n", signature.result);
    if let Some(doc) = &signature.doc {
        let _ = write!(out, "\n{}\n", doc.trim());
    }
    let told: Vec<_> = signature.params.iter().filter(|param| param.doc.is_some()).collect();
    if !told.is_empty() {
        out.push('\n');
    }
    for param in told {
        let doc = param.doc.as_deref().unwrap_or_default().trim().replace('\n', " ");
        let nokey = if param.nokey { " It does not enter keys." } else { "" };
        let _ = writeln!(out, "* `{}`: {doc}{nokey}", param.name);
    }
}
