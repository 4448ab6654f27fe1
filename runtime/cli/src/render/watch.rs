//! The screen of `pipe watch`: what changed, what runs and why, checks beside what they were, and what is watched.
//!
//! On a terminal each change begins a new screen; elsewhere lines follow each other.

use super::problem;
use super::run::{Decided, Terminal};
use super::style::{Look, count, cut, seconds};
use crate::commands::{Failure, exit};
use chrono::Local;
use pipe_compiler::Compiled;
use pipe_compiler::plan::Plan;
use pipe_runtime::RunSummary;
use pipe_runtime::events::Event;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is on the screen.
pub(crate) struct Screen {
    look: Look,
    file: String,
    terminal: Option<Terminal>,
    /// Checks of the last run that decided them.
    checks: BTreeMap<String, Decided>,
    /// What the last run, or the last look at the program, came to.
    code: u8,
}

impl Screen {
    pub(crate) fn new(look: Look, file: &Path) -> Self {
        let file = file.display().to_string();
        Self { look, file, terminal: None, checks: BTreeMap::new(), code: exit::OK }
    }

    /// The exit code that the program has now.
    pub(crate) fn code(&self) -> u8 {
        self.code
    }

    /// The first screen.
    pub(crate) fn begin(&self) {
        self.clear();
        self.title(&[]);
    }

    /// Somebody wants the program to run again.
    pub(crate) fn asked(&mut self) {
        self.terminal = None;
        self.clear();
        self.title(&["asked to run again".to_owned()]);
    }

    /// What changed, and what the compiler says of the program now.
    pub(crate) fn problems(&mut self, compiled: &Compiled, changed: &[String], broken: bool) {
        if !changed.is_empty() {
            if self.terminal.is_none() {
                self.clear();
            }
            self.title(changed);
        }
        self.code = if broken { exit::PROBLEMS } else { exit::OK };
        if !compiled.problems.is_empty() {
            let files = compiled.sources.files();
            self.line(&problem::text(&compiled.problems, files, &self.look));
        }
        if broken {
            let still = match self.terminal {
                Some(_) => "what runs goes on; save the program to have it checked again",
                None => {
                    "the outputs are those of the last run; save the program to have it checked again"
                }
            };
            self.line(&format!("  {}", self.look.careful(still)));
        }
    }

    /// A plan is about to run.
    pub(crate) fn plan(&mut self, plan: &Plan) {
        let names = plan.nodes.iter().map(|node| node.name.chars().count()).max().unwrap_or(0);
        let terminal = Terminal::new(self.look.clone(), names).after(self.checks.clone());
        self.terminal = Some(terminal);
    }

    /// Something happened.
    pub(crate) fn show(&mut self, event: &Event) {
        match event {
            Event::RunStarted { nodes, to_run, .. } => {
                let all = count(*nodes, "node");
                let text = if *to_run == 0 {
                    format!("nothing to run: all of {all} are up to date")
                } else {
                    format!("{to_run} of {all} to run")
                };
                self.line(&format!("  {}", self.look.quiet(&text)));
            }
            Event::NodeStarted { node, why, .. } if !self.look.live => {
                self.line(&format!("  > {node}  {}", self.look.quiet(why)));
            }
            _ => {}
        }
        if let Some(terminal) = &mut self.terminal {
            terminal.show(event);
        }
    }

    /// The plan that runs is not wanted any more; the next one is about to run.
    pub(crate) fn turn(&mut self) {
        self.terminal = None;
    }

    /// The run has ended.
    pub(crate) fn ended(&mut self, summary: &RunSummary) {
        self.code = summary.exit_code();
        let Some(terminal) = self.terminal.take() else { return };
        summary.unwritten.iter().for_each(|one| terminal.failure(&one.node, &one.error));
        let decided = terminal.decided().iter();
        self.checks.extend(decided.map(|(name, check)| (name.clone(), check.clone())));
        for line in terminal.outputs() {
            println!("{line}");
        }
    }

    /// Nothing runs: what is watched, and what can be done.
    pub(crate) fn idle(&self, files: usize, polls: Option<Duration>) {
        let how = polls.map(|every| format!(" every {}", seconds(every.as_secs_f64())));
        let keys = if self.look.live { " · r run again · q quit" } else { "" };
        let text = format!("watching {}{}{keys}", count(files, "file"), how.unwrap_or_default());
        self.line(&format!("\n{}", self.look.quiet(&text)));
    }

    /// Changes that wait for the end of the run.
    pub(crate) fn later(&self, changed: &BTreeSet<PathBuf>) {
        let text = format!("{} changed; the program runs again after this run", names(changed));
        self.line(&format!("  {} {text}", self.look.careful("!")));
    }

    /// The program seems to change what it reads.
    pub(crate) fn blame(&self, files: &BTreeSet<PathBuf>) {
        let text = format!(
            "{} changed again while the program's own programs ran: it seems to write what it reads. It does not run again for that; write to another file, or declare it as an output.",
            names(files)
        );
        self.line(&format!("  {} {text}", self.look.careful("!")));
    }

    /// The program reads outputs of its own.
    pub(crate) fn own_outputs(&self, files: &BTreeSet<PathBuf>) {
        let text = format!(
            "{} is an output of this program, and it reads it: it does not run again when that changes. Use the value instead of the file.",
            names(files)
        );
        self.line(&format!("  {} {text}", self.look.careful("!")));
    }

    /// Something about watching that is worth knowing.
    pub(crate) fn warn(&self, text: &str) {
        self.line(&format!("  {} {text}", self.look.careful("!")));
    }

    /// The program cannot be read now.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        self.code = failure.code;
        self.line(&format!("  {} {}", self.look.bad("✗"), failure.message));
        failure.help.iter().for_each(|help| self.line(&format!("    help: {help}")));
    }

    fn clear(&self) {
        if self.look.live {
            let _ = console::Term::stderr().clear_screen();
        }
    }

    fn title(&self, changed: &[String]) {
        let time = Local::now().format("%H:%M:%S");
        match changed {
            [] => self.line(&format!("{time}  {}", self.look.strong(&self.file))),
            changed => {
                for (at, text) in changed.iter().take(MANY).enumerate() {
                    let time = if at == 0 { time.to_string() } else { " ".repeat(8) };
                    let room = self.look.width.saturating_sub(10);
                    self.line(&format!("{time}  {}", self.look.strong(&cut(text, room))));
                }
                if changed.len() > MANY {
                    self.line(&format!("{}  and {} more", " ".repeat(8), changed.len() - MANY));
                }
            }
        }
    }

    fn line(&self, text: &str) {
        match &self.terminal {
            Some(terminal) => terminal.line(text),
            None => eprintln!("{text}"),
        }
    }
}

/// Changes that are listed; the others are counted.
const MANY: usize = 5;

fn names(files: &BTreeSet<PathBuf>) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let short = |path: &PathBuf| path.strip_prefix(&here).unwrap_or(path).display().to_string();
    let shown: Vec<String> = files.iter().take(3).map(short).collect();
    let more = files.len().saturating_sub(3);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
