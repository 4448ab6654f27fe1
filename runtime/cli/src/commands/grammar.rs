//! `pipe grammar`, and programs as JSON: the language for machines that write it.

use super::fmt::unreadable;
use super::{Failure, Outcome, exit};
use crate::args::GrammarForm;
use crate::render::problem;
use crate::render::style::Look;
use pipe_grammar::{FileId, Problem, SourceFile, export, json};
use std::path::PathBuf;

/// Print the language in one of its forms.
pub(crate) fn grammar(form: &GrammarForm) -> Outcome {
    if form.gbnf {
        print!("{}", export::gbnf());
    } else if form.lark {
        print!("{}", export::lark());
    } else {
        println!("{:#}", json::schema());
    }
    Ok(exit::OK)
}

/// Print the program that a file holds as JSON.
pub(crate) fn from_json(files: &[PathBuf], look: &Look) -> Outcome {
    let (name, text) = only(files)?;
    let not_json =
        |error: serde_json::Error| Failure::usage(format!("{name} is not JSON: {error}"));
    let tree: serde_json::Value = serde_json::from_str(&text).map_err(not_json)?;
    let written = json::text(&tree).map_err(|misfit| Failure {
        code: exit::PROBLEMS,
        message: format!("{name}: {misfit}"),
        help: Some("`pipe grammar --json-schema` prints what a program looks like as JSON".into()),
    })?;
    let file = SourceFile::new(FileId(0), name, written);
    let formatted = pipe_grammar::format(&file);
    if formatted.problems.iter().any(Problem::is_error) {
        eprintln!("{}", problem::text(&formatted.problems, std::slice::from_ref(&file), look));
        return Ok(exit::PROBLEMS);
    }
    print!("{}", formatted.text);
    Ok(exit::OK)
}

/// Print a program as JSON.
pub(crate) fn to_json(files: &[PathBuf], look: &Look) -> Outcome {
    let (name, text) = only(files)?;
    let file = SourceFile::new(FileId(0), name.as_str(), text);
    let parsed = pipe_grammar::parse(&file);
    if parsed.problems.iter().any(Problem::is_error) {
        eprintln!("{}", problem::text(&parsed.problems, std::slice::from_ref(&file), look));
        return Ok(exit::PROBLEMS);
    }
    let tree = json::tree(&parsed.module).ok_or_else(|| {
        Failure::usage(format!("{name} declares natives, which no program does; JSON has none"))
    })?;
    println!("{tree:#}");
    Ok(exit::OK)
}

/// The one file that is named (`-` is stdin), with its text.
fn only(files: &[PathBuf]) -> Result<(String, String), Failure> {
    let [path] = files else {
        return Err(Failure::usage("one file at a time is read from JSON, or written as JSON"));
    };
    let text = if path.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    let text = text.map_err(|error| unreadable(path, &error))?;
    Ok((path.display().to_string(), text))
}
