//! `pipe`: the command line of Pipewright. Arguments, rendering and wiring; what it shows is decided elsewhere.
//!
//! Data goes to stdout, everything else to stderr. It never links libtorch: ops that need it run in the
//! worker program `pipe-torch`, which is started when the first of them runs.
//!
//! ```text
//! pipe init detect
//! pipe check detect.pipe
//! pipe plan detect.pipe
//! pipe run detect.pipe --window 60s
//! pipe watch detect.pipe
//! pipe why detect.pipe scored
//! ```

mod about;
mod args;
mod commands;
mod events_file;
mod git;
mod host;
mod machine;
mod ops;
mod params;
mod project;
mod render;
mod session;
mod signals;
mod watch;

use args::{Cli, Command, RunsAction};
use clap::Parser;
use commands::{Failure, Outcome};
use render::style::Look;
use std::process::ExitCode;

/// A compilation is many small allocations: they cost about a third of the time with the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Whoever reads the output may leave before its end (`pipe doc | head`): that ends the command without a word, with the
/// code that shells give for it.
fn end_with_the_reader() {
    const NOBODY_READS: i32 = 141;
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let said = info.payload_as_str().unwrap_or_default();
        if said.starts_with("failed printing to std") && said.contains("Broken pipe") {
            std::process::exit(NOBODY_READS);
        }
        usual(info);
    }));
}

fn main() -> ExitCode {
    end_with_the_reader();
    let line = args::params_as_flags(std::env::args_os().collect());
    if let Some(program) = args::program_help(&line) {
        return finish(commands::help::help(&program));
    }
    let cli = match Cli::try_parse_from(line) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() {
                commands::exit::USAGE
            } else {
                commands::exit::OK
            });
        }
    };
    finish(dispatch(&cli))
}

fn dispatch(cli: &Cli) -> Outcome {
    let (out, err) = (Look::of_stdout(cli.color), Look::of_stderr(cli.color));
    match &cli.command {
        Command::Init { template, dir } => commands::init::init(template, dir),
        Command::Check { program, json, fix, diff } => {
            if *diff {
                return commands::check::diff(program);
            }
            if *fix {
                commands::check::fix(program)?;
            }
            commands::check::check(program, *json, &err)
        }
        Command::Fmt { files, from_json: true, .. } => commands::grammar::from_json(files, &err),
        Command::Fmt { files, to_json: true, .. } => commands::grammar::to_json(files, &err),
        Command::Fmt { files, check, .. } => commands::fmt::fmt(files, *check, &err),
        Command::Plan { program, json, dot } => {
            use commands::plan::Form;
            let form = match (json, dot) {
                (true, _) => Form::Json,
                (_, true) => Form::Dot,
                _ => Form::Table,
            };
            commands::plan::plan(program, &form, &out)
        }
        Command::Graph { program, svg, dot } => {
            commands::graph::graph(program, svg.as_deref(), *dot, &err)
        }
        Command::Run { program, events, out: folder, fresh, force, verify } => {
            let flags = commands::run::Flags {
                events: events.as_deref(),
                out: folder.as_ref(),
                fresh: *fresh,
                force,
                verify: *verify,
            };
            commands::run::run(program, &flags, &err)
        }
        Command::Watch { program, events, out: folder, on_busy, poll, exit_on_error } => {
            let flags = commands::watch::Flags {
                events: events.as_deref(),
                out: folder.as_deref(),
                on_busy: *on_busy,
                poll: *poll,
                exit_on_error: *exit_on_error,
            };
            commands::watch::watch(program, &flags, &err)
        }
        Command::Why { program, node } => commands::why::why(program, node, &out),
        Command::Runs { action: Some(RunsAction::Show { run, json, place }), .. } => {
            commands::runs::show(run, place, *json, &out)
        }
        Command::Runs { action: None, file, last, json, store } => {
            commands::runs::list(file.as_deref(), store.as_deref(), *last, *json, &out)
        }
        Command::Diff { old, new, json, place } => {
            commands::diff::diff(old, new, place, *json, &out)
        }
        Command::Metrics { run, last, json, csv, place } => {
            use commands::metrics::Form;
            let form = match (json, csv) {
                (true, _) => Form::Json,
                (_, true) => Form::Csv,
                _ => Form::Table,
            };
            commands::metrics::metrics(run.as_deref(), *last, place, &form, &out)
        }
        Command::Lineage { what, run, json, place } => {
            commands::lineage::lineage(what, run.as_deref(), place, *json, &out)
        }
        Command::Explain { code } => commands::explain::explain(code),
        Command::Schema { file, name, decimal_comma, numbered } => {
            let how = pipe_compiler::schema::Reading {
                decimal_comma: *decimal_comma,
                numbered: *numbered,
            };
            commands::schema::schema(file, name.as_deref(), how)
        }
        Command::Doc { op, json } => commands::doc::doc(op.as_deref(), *json, &out),
        Command::Lsp => commands::lsp::lsp(),
        Command::Completions { shell } => commands::completions::completions(*shell),
        Command::Grammar { form } => commands::grammar::grammar(form),
        Command::Doctor => commands::doctor::doctor(&out),
        Command::Store { action, store } => commands::store::store(action, store.as_deref(), &out),
    }
}

fn finish(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(Failure { code, message, help }) => {
            if !message.is_empty() {
                eprintln!("error: {message}");
            }
            if let Some(help) = help {
                eprintln!("  help: {help}");
            }
            ExitCode::from(code)
        }
    }
}
