//! `pipe plan`: what a run would do with each node, and why.

use super::run::{failed, told};
use super::{Outcome, exit};
use crate::args::ProgramArgs;
use crate::render;
use crate::render::style::Look;
use crate::session::Session;
use pipe_compiler::explain;
use pipe_runtime::Store;
use pipe_runtime::states::{NodeStatus, states};

/// Forms of the answer.
pub(crate) enum Form {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// For Graphviz.
    Dot,
}

/// Show the plan on stdout.
pub(crate) fn plan(program: &ProgramArgs, form: &Form, look: &Look) -> Outcome {
    let session = Session::new(program, None)?;
    let compiled = session.compile(false);
    told(&compiled, look);
    let Some(plan) = compiled.plan else { return Ok(exit::PROBLEMS) };
    let store = match Store::find(&session.project.store).map_err(failed)? {
        Some(store) => store,
        None => Store::empty().map_err(failed)?,
    };
    let states = states(&plan, &store).map_err(failed)?;
    let shown: Vec<explain::State> = states.iter().map(state).collect();
    match form {
        Form::Json => println!("{:#}", explain::json(&plan, &shown)),
        Form::Dot => print!("{}", explain::dot(&plan, &shown)),
        Form::Table => {
            print!("{}", render::plan::text(&plan, &states, &store, look).map_err(failed)?)
        }
    }
    Ok(exit::OK)
}

fn state(status: &NodeStatus) -> explain::State {
    explain::State { state: render::plan::word(status.state).to_owned(), why: status.why.clone() }
}
