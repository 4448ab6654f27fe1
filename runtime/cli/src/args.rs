//! The command line: subcommands, flags, and params as flags.
//!
//! `--set NAME=VALUE` always works. `--NAME VALUE` works where no flag of ours has that name:
//! [`params_as_flags`] rewrites it before clap sees the line.

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Typed pipelines that are checked before they run, cached, and resumed.
#[derive(Debug, Parser)]
#[command(name = "pipe", version, propagate_version = true, subcommand_required = true)]
#[command(
    after_help = "Exit codes: 0 ok · 1 the program has problems · 2 usage · 3 a node failed or a check is false · 75 stopped by a signal, state saved"
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// When to use colour.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start a project from a template.
    Init {
        /// hello, detect or train.
        #[arg(default_value = "hello")]
        template: String,
        /// Folder to write to; it may exist, files in it are never overwritten.
        #[arg(long, default_value = ".")]
        dir: PathBuf,
    },
    /// Find the mistakes in a program without running it.
    Check {
        #[command(flatten)]
        program: ProgramArgs,
        /// Print an array of problems as JSON.
        #[arg(long)]
        json: bool,
        /// Apply the fixes that only change how a thing is spelled, then check.
        #[arg(long)]
        fix: bool,
        /// Change nothing; show what `--fix` would change.
        #[arg(long, requires = "fix", conflicts_with = "json")]
        diff: bool,
    },
    /// Format programs in place.
    Fmt {
        /// Programs, or folders to search for them.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Change nothing; exit with 1 when something would change.
        #[arg(long)]
        check: bool,
        /// Read a program that is written as JSON (`-`: from stdin) and print it.
        #[arg(long, conflicts_with = "check")]
        from_json: bool,
        /// Print a program as JSON; comments are left out.
        #[arg(long, conflicts_with_all = ["check", "from_json"])]
        to_json: bool,
    },
    /// Show what a run would do, and why.
    Plan {
        #[command(flatten)]
        program: ProgramArgs,
        /// Print nodes and edges as JSON.
        #[arg(long, conflicts_with = "dot")]
        json: bool,
        /// Print a Graphviz graph.
        #[arg(long)]
        dot: bool,
    },
    /// Draw the plan: boxes and arrows, with what is cached and what will run.
    Graph {
        #[command(flatten)]
        program: ProgramArgs,
        /// Write an SVG picture to this file; else it is printed.
        #[arg(long, value_name = "OUT.svg", conflicts_with = "dot")]
        svg: Option<PathBuf>,
        /// Print a Graphviz graph of all nodes.
        #[arg(long)]
        dot: bool,
    },
    /// Run a program; only what changed runs again.
    Run {
        #[command(flatten)]
        program: ProgramArgs,
        /// Write events as JSON Lines to this file (`-` for stdout).
        #[arg(long, value_name = "FILE")]
        events: Option<PathBuf>,
        /// Write outputs below this folder.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Run every node, also those whose results are in the store.
        #[arg(long)]
        fresh: bool,
        /// Run this node although its result is in the store; may be given several times.
        #[arg(long, value_name = "NODE")]
        force: Vec<String>,
        /// Run so many nodes again whose results are in the store, and compare; other ones each time.
        #[arg(long, value_name = "N", default_value_t = 0)]
        verify: usize,
    },
    /// Run a program, and again what a change concerns as soon as it is saved.
    Watch {
        #[command(flatten)]
        program: ProgramArgs,
        /// Write events as JSON Lines to this file (`-` for stdout).
        #[arg(long, value_name = "FILE")]
        events: Option<PathBuf>,
        /// Write outputs below this folder.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// What a change means for steps that run: `restart` those that it concerns, or let all `finish` first.
        #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnBusy::Restart)]
        on_busy: OnBusy,
        /// Look at the files every so many seconds, where the system tells of no changes (0.5 when not given).
        #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "0.5", value_parser = seconds)]
        poll: Option<Duration>,
        /// End at the first problem or failure, with its exit code.
        #[arg(long)]
        exit_on_error: bool,
    },
    /// Say which field of a node's key changed since it last ran.
    Why {
        #[command(flatten)]
        program: ProgramArgs,
        /// The node, as `plan` and `run` name it.
        node: String,
    },
    /// List runs, or show one in full.
    #[command(args_conflicts_with_subcommands = true)]
    Runs {
        /// Show one run in full.
        #[command(subcommand)]
        action: Option<RunsAction>,
        /// Only runs of this program.
        file: Option<PathBuf>,
        /// How many, the newest first.
        #[arg(long, value_name = "N", default_value_t = 20)]
        last: usize,
        /// Print an array of runs as JSON.
        #[arg(long)]
        json: bool,
        /// The store; else that of the program, or of this folder.
        #[arg(long, value_name = "DIR")]
        store: Option<PathBuf>,
    },
    /// Show what two runs differ by: program, params, keys, checks, numbers, times.
    Diff {
        /// The run before: its number, `last`, `last~1`, or the beginning of a number.
        old: String,
        /// The run after.
        #[arg(default_value = "last")]
        new: String,
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: RecordArgs,
    },
    /// Show the numbers that outputs and checks hold, a run a row.
    Metrics {
        /// One run: its number, `last`, `last~1`, or the beginning of a number; else the last ones.
        run: Option<String>,
        /// How many runs, the newest first.
        #[arg(long, value_name = "N", default_value_t = 20)]
        last: usize,
        /// Print an array of runs as JSON.
        #[arg(long, conflicts_with = "csv")]
        json: bool,
        /// Print all numbers as CSV.
        #[arg(long)]
        csv: bool,
        #[command(flatten)]
        place: RecordArgs,
    },
    /// Show what an output or a node was made from, back to the files, and which of them have changed since.
    Lineage {
        /// The file of an output, or the name of an output, check or node.
        what: String,
        /// The run that is meant; else the one that wrote the file, or the last one with that name.
        #[arg(long, value_name = "RUN")]
        run: Option<String>,
        /// Print nodes, files and what they read as JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: RecordArgs,
    },
    /// Explain an error code.
    Explain {
        /// For example types::unknown_column.
        code: String,
    },
    /// Print the type of the rows of a file, ready to be pasted into a program.
    Schema {
        /// A file that `data.read` reads: CSV, or JSON Lines (.jsonl, .ndjson).
        file: PathBuf,
        /// What the type is called; else the name of the file.
        #[arg(long, value_name = "TYPE")]
        name: Option<String>,
        /// Numbers have a comma where others have a point.
        #[arg(long)]
        decimal_comma: bool,
        /// Tell columns without a name, and names that stand twice, apart by numbers.
        #[arg(long)]
        numbered: bool,
    },
    /// Show an operation, or list them all.
    Doc {
        /// An op such as data.join, or a module such as data.
        op: Option<String>,
        /// Print signatures and docs as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Answer an editor: the language server, over stdin and stdout.
    Lsp,
    /// Print the completions of a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the language for machines that write it.
    Grammar {
        #[command(flatten)]
        form: GrammarForm,
    },
    /// Say what this machine has, and what to do about what it lacks.
    Doctor,
    /// Look into the store.
    Store {
        /// What to do with it.
        #[command(subcommand)]
        action: StoreAction,
        /// The store; else PIPE_STORE, else `.pipe` beside the nearest pipe.toml, else `.pipe` here.
        #[arg(long, global = true, value_name = "DIR")]
        store: Option<PathBuf>,
    },
}

/// What a change means for steps that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnBusy {
    /// Those that the new program does not want save their state and stop; the others go on.
    Restart,
    /// All end before the program runs again.
    Finish,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let given = text.parse().ok().filter(|seconds| (0.01..=3600.0).contains(seconds));
    given.map(Duration::from_secs_f64).ok_or_else(|| "seconds, from 0.01 to 3600".to_owned())
}

/// What to do with runs.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsAction {
    /// All that is on record of a run: command, repository, machine, params, checks, nodes.
    Show {
        /// Its number, `last`, `last~1`, or the beginning of a number.
        #[arg(default_value = "last")]
        run: String,
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: RecordArgs,
    },
}

/// Where records of runs are.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The program that is meant: its store is asked, and `last` is its last run.
    #[arg(long, value_name = "FILE")]
    pub(crate) of: Option<PathBuf>,
    /// The store; else that of the program, or of this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
}

/// The form of the language.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct GrammarForm {
    /// As GBNF, for llama.cpp and servers around it.
    #[arg(long)]
    pub(crate) gbnf: bool,
    /// As Lark, for llguidance.
    #[arg(long)]
    pub(crate) lark: bool,
    /// As a JSON Schema of programs written as JSON, which `pipe fmt --from-json` turns into text.
    #[arg(long)]
    pub(crate) json_schema: bool,
}

/// What to do with the store.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreAction {
    /// List results: size, time to compute them again, hits, and whether they stay.
    Ls {
        /// Print an array of results as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Read every blob back and compare it with its digest.
    Verify,
    /// Remove what is worth least per byte: little time to compute again, rarely found, large.
    Gc {
        /// Keep at most this much, such as 20GiB.
        #[arg(long, value_name = "SIZE", default_value = "20GiB")]
        budget: String,
        /// Only list what would be removed, and why.
        #[arg(long)]
        dry_run: bool,
    },
    /// Never remove a result.
    Pin {
        /// Its key as `ls` shows it, or the name of its node.
        #[arg(value_name = "KEY|NODE")]
        result: String,
    },
    /// Remove a result that turned out to be bad: the next run computes it anew.
    Forget {
        /// Its key as `ls` shows it, or the name of its node.
        #[arg(value_name = "KEY|NODE")]
        result: String,
    },
    /// Let a pinned result be removed again.
    Unpin {
        /// Its key as `ls` shows it, or the name of its node.
        #[arg(value_name = "KEY|NODE")]
        result: String,
    },
}

/// A program with values for its params.
#[derive(Debug, Args)]
pub(crate) struct ProgramArgs {
    /// The program, a .pipe file.
    pub(crate) file: PathBuf,
    /// Give a param a value. `--NAME VALUE` does the same where no flag has that name.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Read values of params from a TOML or JSON file.
    #[arg(long, value_name = "FILE")]
    pub(crate) params: Option<PathBuf>,
    /// Allow more than reading below the project's folder, e.g. `path=/data`, or `exec` to run external programs.
    #[arg(long, value_name = "WHAT")]
    pub(crate) allow: Vec<String>,
}

/// Subcommands that take a program, and with it params as flags.
const TAKES_PARAMS: [&str; 6] = ["check", "plan", "graph", "run", "watch", "why"];

/// Rewrite `--rate 1e-3` and `--rate=1e-3` to `--set rate=1e-3` where `rate` is no flag of the subcommand.
/// A flag without a value (`--merge`) means `true`.
pub(crate) fn params_as_flags(line: Vec<OsString>) -> Vec<OsString> {
    let command = Cli::command();
    let Some(at) = takes_params(&line) else { return line };
    let Some(sub) = line.get(at).and_then(|word| command.find_subcommand(word)) else {
        return line;
    };
    let known: BTreeSet<&str> = sub
        .get_arguments()
        .chain(command.get_arguments())
        .filter_map(clap::Arg::get_long)
        .chain(["help", "version", "color"])
        .collect();
    let (head, rest) = line.split_at(at + 1);
    let mut words = rest.iter().peekable();
    let mut out = head.to_vec();
    while let Some(word) = words.next() {
        match word.to_str().and_then(|text| text.strip_prefix("--")) {
            Some("") => {
                out.push(word.clone());
                out.extend(words.by_ref().cloned());
            }
            Some(flag) if !known.contains(flag.split('=').next().unwrap_or(flag)) => {
                let value = match flag.split_once('=') {
                    Some((name, value)) => format!("{}={value}", name.replace('-', "_")),
                    None => {
                        let value = words.next_if(|next| !is_flag(next) || is_number(next));
                        let value = value.map_or("true".into(), |value| value.to_string_lossy());
                        format!("{}={value}", flag.replace('-', "_"))
                    }
                };
                out.extend(["--set".into(), value.into()]);
            }
            _ => out.push(word.clone()),
        }
    }
    out
}

/// Where the subcommand stands, if it takes params.
fn takes_params(line: &[OsString]) -> Option<usize> {
    let mut words = line.iter().enumerate().skip(1);
    while let Some((at, word)) = words.next() {
        if word == "--color" {
            words.next();
        } else if !is_flag(word) {
            return TAKES_PARAMS.iter().any(|name| word == *name).then_some(at);
        }
    }
    None
}

/// The program of `pipe run FILE --help`, whose params are to be listed as flags.
pub(crate) fn program_help(line: &[OsString]) -> Option<PathBuf> {
    let at = takes_params(line)?;
    let rest = line.get(at + 1..)?;
    let asked = rest.iter().any(|word| word == "--help" || word == "-h");
    let file = rest
        .iter()
        .map(PathBuf::from)
        .find(|path| path.extension().is_some_and(|end| end == "pipe"))?;
    (asked && file.is_file()).then_some(file)
}

fn is_flag(word: &OsString) -> bool {
    word.to_str().is_some_and(|text| text.starts_with('-') && text.len() > 1)
}

fn is_number(word: &OsString) -> bool {
    word.to_str().is_some_and(|text| text.parse::<f64>().is_ok())
}

/// Names of our own flags that a param of the same name cannot use.
pub(crate) fn own_flags() -> BTreeSet<String> {
    let command = Cli::command();
    TAKES_PARAMS
        .iter()
        .filter_map(|name| command.find_subcommand(name))
        .flat_map(clap::Command::get_arguments)
        .filter_map(clap::Arg::get_long)
        .chain(["help", "version", "color"])
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::params_as_flags;

    fn rewrite(line: &str) -> String {
        let words = line.split(' ').map(Into::into).collect();
        let words: Vec<_> = params_as_flags(words).into_iter().map(|w| w.into_string()).collect();
        words.into_iter().map(Result::unwrap).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn params_become_sets() {
        assert_eq!(rewrite("pipe run f --rate 1e-3 --fresh"), "pipe run f --set rate=1e-3 --fresh");
        assert_eq!(rewrite("pipe run f --shift -3"), "pipe run f --set shift=-3");
        assert_eq!(
            rewrite("pipe run f --warm-up=2 --merge"),
            "pipe run f --set warm_up=2 --set merge=true"
        );
    }

    #[test]
    fn own_flags_and_other_commands_stay() {
        assert_eq!(rewrite("pipe run f --out d --set a=1"), "pipe run f --out d --set a=1");
        assert_eq!(rewrite("pipe --color never plan f --json"), "pipe --color never plan f --json");
        assert_eq!(rewrite("pipe doc --jsn"), "pipe doc --jsn");
        assert_eq!(rewrite("pipe lineage plan --json"), "pipe lineage plan --json");
    }
}
