//! `pipe run`: run what is missing, show it, write outputs.

use super::{Failure, Outcome, exit};
use crate::args::ProgramArgs;
use crate::events_file::EventsFile;
use crate::render::problem;
use crate::render::run::Terminal;
use crate::render::style::Look;
use crate::session::{Session, worker_program};
use crate::{about, git, ops, signals};
use pipe_compiler::Compiled;
use pipe_compiler::explain::bodies;
use pipe_compiler::plan::{Node, Plan};
use pipe_runtime::op::OpError;
use pipe_runtime::{RunOptions, Store};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Columns that the label of an element may take: `[host=web-1]`.
const LABEL: usize = 14;

/// Flags of `run`.
pub(crate) struct Flags<'a> {
    /// `--events`.
    pub(crate) events: Option<&'a Path>,
    /// `--out`.
    pub(crate) out: Option<&'a PathBuf>,
    /// `--fresh`.
    pub(crate) fresh: bool,
    /// `--force`.
    pub(crate) force: &'a [String],
    /// `--verify`.
    pub(crate) verify: usize,
}

/// Run the program.
pub(crate) fn run(program: &ProgramArgs, flags: &Flags<'_>, look: &Look) -> Outcome {
    let session = Session::new(program, flags.out.map(PathBuf::as_path))?;
    let mut store = Store::open(&session.project.store).map_err(failed)?;
    let repository = git::ask(&session.project.root);
    let compiled = session.compile(true);
    told(&compiled, look);
    let Some(plan) = compiled.plan else { return Ok(exit::PROBLEMS) };
    if plan.roots.is_empty() {
        return Err(Failure::usage(format!(
            "{} has no `output` and no `check`, so nothing would run",
            session.file
        ))
        .help("add `output NAME = ...`"));
    }
    let mut events = flags.events.map(EventsFile::create).transpose()?;
    let options = RunOptions {
        fresh: flags.fresh,
        force: forced(&plan, flags.force)?,
        verify: flags.verify,
        worker: worker_program(),
        about: about::gather(&compiled.sources),
        ..RunOptions::new(&session.project.out)
    };
    signals::stop_on_signals(&options.cancel)?;
    // Elements of a driver have its name and a label.
    let width = |node: &Node| {
        let label = if bodies(node).next().is_some() { LABEL } else { 0 };
        node.name.chars().count() + label
    };
    let names = plan.nodes.iter().map(width).max().unwrap_or(0);
    let mut terminal = Terminal::new(look.clone(), names);
    let mut tell = |event| {
        terminal.show(&event);
        if let Some(file) = &mut events {
            file.write(&event);
        }
    };
    let summary = pipe_runtime::run(
        &plan,
        &ops::registry(session.project.programs),
        &mut store,
        &options,
        &mut tell,
    )
    .map_err(failed)?;
    store
        .complete_run(summary.run, repository.answer(git::PATIENCE).as_ref(), about::peak_memory())
        .map_err(failed)?;
    summary.unwritten.iter().for_each(|failure| terminal.failure(&failure.node, &failure.error));
    if flags.events != Some(Path::new("-")) {
        terminal.outputs().for_each(|line| println!("{line}"));
    }
    events.map_or(Ok(()), EventsFile::close)?;
    Ok(summary.exit_code())
}

/// The nodes that `--force` names.
fn forced(plan: &Plan, names: &[String]) -> Result<BTreeSet<String>, Failure> {
    for name in names {
        // An element of a driver is known when the driver has made it.
        let known =
            |node: &Node| node.name == *name || name.starts_with(&format!("{}[", node.name));
        if !plan.nodes.iter().any(known) {
            return Err(super::why::no_node(plan, name));
        }
    }
    Ok(names.iter().cloned().collect())
}

/// Show the problems of a compilation on stderr.
pub(crate) fn told(compiled: &Compiled, look: &Look) {
    if !compiled.problems.is_empty() {
        eprintln!("{}", problem::text(&compiled.problems, compiled.sources.files(), look));
    }
}

/// A failure of the store, for the command line.
pub(crate) fn failed(error: OpError) -> Failure {
    Failure { code: exit::FAILED, message: error.message, help: error.help }
}
