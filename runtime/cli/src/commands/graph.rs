//! `pipe graph FILE`: the plan as a picture.

use super::fmt::replace;
use super::plan::{Planned, planned};
use super::{Failure, Outcome, exit};
use crate::args::ProgramArgs;
use crate::render::style::Look;
use pipe_compiler::drawing::{Drawing, svg};
use pipe_compiler::explain;
use std::path::Path;

/// Draw the plan as SVG to a file (`-`: to stdout), or print it for Graphviz.
pub(crate) fn graph(program: &ProgramArgs, to: Option<&Path>, dot: bool, look: &Look) -> Outcome {
    let Some(Planned { plan, shown, .. }) = planned(program, look)? else {
        return Ok(exit::PROBLEMS);
    };
    if dot {
        print!("{}", explain::dot(&plan, &shown));
        return Ok(exit::OK);
    }
    let picture = svg(&Drawing::of(&plan, &shown).grouped(), &plan.file);
    match to.filter(|path| *path != Path::new("-")) {
        None => print!("{picture}"),
        Some(path) if path.exists() => replace(path, &picture)?,
        Some(path) => std::fs::write(path, &picture)
            .map_err(|error| Failure::usage(format!("cannot write {}: {error}", path.display())))?,
    }
    Ok(exit::OK)
}
