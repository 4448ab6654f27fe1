//! `pipe check`: the mistakes of a program, without running it.

use super::{Outcome, exit};
use crate::args::{ProgramArgs, own_flags};
use crate::render::problem;
use crate::render::style::Look;
use crate::session::Session;
use pipe_compiler::ParamInfo;
use pipe_grammar::Problem;

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
