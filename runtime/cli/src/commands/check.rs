//! `pipe check`: the mistakes of a program, without running it.

use super::fmt::{replace, unreadable};
use super::{Failure, Outcome, exit};
use crate::args::{ProgramArgs, own_flags};
use crate::render::problem;
use crate::render::style::Look;
use crate::session::Session;
use pipe_compiler::ParamInfo;
use pipe_grammar::{FileId, Fixed, Problem, SourceFile};
use std::path::{Path, PathBuf};

/// Report problems on stderr, or as a JSON array on stdout.
pub(crate) fn check(program: &ProgramArgs, json: bool, look: &Look) -> Outcome {
    let mut checked = Session::new(program, None)?.check();
    checked.problems.extend(clashes(&checked.params));
    let files = checked.sources.files();
    if json {
        println!("{:#}", problem::json(&checked.problems, files));
    } else if checked.problems.is_empty() {
        eprintln!("{}: no problems", program.file.display());
    } else {
        eprintln!("{}", problem::text(&checked.problems, files, look));
    }
    let failed = checked.problems.iter().any(Problem::is_error);
    Ok(if failed { exit::PROBLEMS } else { exit::OK })
}

/// Apply the safe fixes to the program and to the files that it uses, each in one step.
pub(crate) fn fix(program: &ProgramArgs) -> Result<(), Failure> {
    for path in files(program)? {
        let (before, Fixed { text, fixed }) = fixed(&path)?;
        if text != before {
            replace(&path, &text)?;
            let each: Vec<String> =
                fixed.iter().map(|(code, count)| format!("{count} {code}")).collect();
            eprintln!("{}: fixed {}", path.display(), each.join(", "));
        }
    }
    Ok(())
}

/// Show what [`fix`] would change; 1 when that is anything.
pub(crate) fn diff(program: &ProgramArgs) -> Outcome {
    let mut outcome = exit::OK;
    for path in files(program)? {
        let (before, Fixed { text, .. }) = fixed(&path)?;
        if text == before {
            continue;
        }
        outcome = exit::PROBLEMS;
        println!("--- {0}\n+++ {0}", path.display());
        // A fix never adds or removes a line.
        for (number, (old, new)) in before.lines().zip(text.lines()).enumerate() {
            if old != new {
                println!("@@ -{0} +{0} @@\n-{old}\n+{new}", number + 1);
            }
        }
    }
    Ok(outcome)
}

/// The program and the files that it uses, without those of the library.
fn files(program: &ProgramArgs) -> Result<Vec<PathBuf>, Failure> {
    let checked = Session::new(program, None)?.check();
    let names = checked.sources.files().iter().map(|file| file.name.as_str());
    let used = names.skip(1).filter(|name| !name.starts_with('<')).map(PathBuf::from);
    Ok(std::iter::once(program.file.clone()).chain(used).collect())
}

fn fixed(path: &Path) -> Result<(String, Fixed), Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    let file = SourceFile::new(FileId(0), path.display().to_string(), text);
    let fixed = pipe_grammar::fix(&file);
    Ok((file.text, fixed))
}

/// Params whose names are flags of ours: `--NAME` does not reach them.
fn clashes(params: &[ParamInfo]) -> Vec<Problem> {
    let flags = own_flags();
    let clashing = params.iter().filter(|param| flags.contains(&param.name.replace('_', "-")));
    clashing
        .map(|param| {
            let name = &param.name;
            Problem::warning(
                "params::flag",
                param.span,
                format!("`--{name}` is a flag of `pipe` itself"),
            )
            .label("the flag cannot set this param")
            .help(format!("`--set {name}=VALUE` does"))
        })
        .collect()
}
