//! `pipe completions SHELL`: what a shell needs to complete subcommands, flags and programs.

use super::{Failure, Outcome, exit};
use crate::args::Cli;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;

/// Print the script on stdout.
pub(crate) fn completions(shell: Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "pipe", &mut script);
    std::io::stdout()
        .write_all(&script)
        .map_err(|error| Failure::failed(format!("cannot write the completions: {error}")))?;
    Ok(exit::OK)
}
