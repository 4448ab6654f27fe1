//! `pipe watch`: run a program, and again what a change concerns as soon as it is saved.
//!
//! One thread decides: it hears of files, of the run and of keys, plans anew when a burst of changes is over, and hands
//! plans to the [`Runner`]. A change that comes while nodes run does not wait for them: the new plan takes over, with
//! what it still wants.

use super::run::failed;
use super::{Failure, Outcome, exit};
use crate::args::{OnBusy, ProgramArgs};
use crate::events_file::EventsFile;
use crate::render::style::Look;
use crate::render::watch::Screen;
use crate::session::{Session, worker_program};
use crate::watch::{Key, Runner, Update, differences, keys};
use crate::{about, signals};
use crossbeam_channel::{Receiver, never, select, unbounded};
use pipe_compiler::Compiled;
use pipe_compiler::plan::Plan;
use pipe_grammar::Severity;
use pipe_runtime::cancel::Urgency;
use pipe_runtime::events::Event;
use pipe_runtime::op::OpError;
use pipe_runtime::store::About;
use pipe_runtime::watch::{Guard, Notice, Seen, Settling, Suspects, Watcher};
use pipe_runtime::{Cancel, RunOptions, RunSummary};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Flags of `watch`.
pub(crate) struct Flags<'a> {
    /// `--events`.
    pub(crate) events: Option<&'a Path>,
    /// `--out`.
    pub(crate) out: Option<&'a Path>,
    /// `--on-busy`.
    pub(crate) on_busy: OnBusy,
    /// `--poll`.
    pub(crate) poll: Option<Duration>,
    /// `--exit-on-error`.
    pub(crate) exit_on_error: bool,
}

/// Watch the program until somebody ends it.
pub(crate) fn watch(program: &ProgramArgs, flags: &Flags<'_>, look: &Look) -> Outcome {
    let session = Session::new(program, flags.out)?;
    let cancel = Cancel::new();
    let options = RunOptions {
        worker: worker_program(),
        cancel: cancel.clone(),
        ..RunOptions::new(&session.project.out)
    };
    let runner = Runner::start(&session.project, options).map_err(failed)?;
    let events = flags.events.map(EventsFile::create).transpose()?;
    let (send, notices) = unbounded();
    let (watcher, warning) = Watcher::new(flags.poll, send);
    signals::stop_on_signals(&cancel)?;
    let mut watch = Watch {
        program,
        flags,
        session,
        cancel,
        runner,
        events,
        watcher,
        screen: Screen::new(look.clone(), &program.file),
        seen: Seen::default(),
        suspects: Suspects::default(),
        settling: Settling::default(),
        guard: Guard::default(),
        texts: BTreeMap::new(),
        run: Run::None,
        changed: BTreeSet::new(),
        programs: false,
        meanwhile: false,
    };
    warning.into_iter().for_each(|text| watch.screen.warn(&text));
    let ended = watch.start().and_then(|()| watch.follow(&notices, &keys(look.live)));
    let closed = watch.events.take().map_or(Ok(()), EventsFile::close);
    ended.and_then(|code| closed.map(|()| code))
}

/// The run of the plan that is wanted.
enum Run {
    /// Nothing runs.
    None,
    /// It runs.
    Running,
    /// One runs that is not wanted any more; this one is next.
    Turning(Box<(Plan, About)>),
}

struct Watch<'a> {
    program: &'a ProgramArgs,
    flags: &'a Flags<'a>,
    session: Session,
    cancel: Cancel,
    runner: Runner,
    events: Option<EventsFile>,
    watcher: Watcher,
    screen: Screen,
    /// What the plan was made from.
    seen: Seen,
    suspects: Suspects,
    settling: Settling,
    guard: Guard,
    /// Texts of the program's files, as they were planned last.
    texts: BTreeMap<String, String>,
    run: Run,
    /// Changes that wait until the run has ended.
    changed: BTreeSet<PathBuf>,
    /// An external program is at work, or was in this run.
    programs: bool,
    /// The changes came while one was.
    meanwhile: bool,
}

impl Watch<'_> {
    fn start(&mut self) -> Result<(), Failure> {
        self.screen.begin();
        self.replan(&BTreeSet::new())
    }

    /// Hear and decide until the end. Gives the exit code.
    fn follow(&mut self, notices: &Receiver<Notice>, keys: &Receiver<Key>) -> Outcome {
        loop {
            let idle = matches!(self.run, Run::None);
            if idle && self.cancel.urgency() != Urgency::None {
                return Ok(exit::OK);
            }
            if idle && self.flags.exit_on_error && self.screen.code() != exit::OK {
                return Ok(self.screen.code());
            }
            let due = self.settling.due().map_or_else(never, crossbeam_channel::at);
            let (updates, nothing) = (self.runner.updates.clone(), never());
            // A run hears of a wish to stop by itself.
            let wishes = if idle { self.cancel.wishes().clone() } else { nothing };
            select! {
                recv(notices) -> notice => notice.into_iter().for_each(|it| self.hear(&it)),
                recv(updates) -> update => match update {
                    Ok(Update::Event(event)) => self.tell(&event),
                    Ok(Update::Ended(summary)) => {
                        if let Some(code) = self.ended(*summary)? {
                            return Ok(code);
                        }
                    }
                    Err(_) => return Err(Failure::failed("the thread that runs plans has ended")),
                },
                recv(keys) -> key => match key {
                    Ok(Key::Quit) if idle => return Ok(exit::OK),
                    Ok(Key::Quit) => self.cancel.stop(),
                    Ok(Key::Run) => {
                        self.screen.asked();
                        self.replan(&BTreeSet::new())?;
                    }
                    Err(_) => {}
                },
                recv(due) -> _ => {}
                recv(wishes) -> _ => {}
            }
            if self.settling.take(Instant::now()) {
                self.look()?;
            }
        }
    }

    fn hear(&mut self, notice: &Notice) {
        match notice {
            Notice::Paths(paths) => {
                for path in paths {
                    self.watcher.refresh(path);
                    self.seen.suspects(path, &mut self.suspects);
                }
            }
            Notice::Rescan => self.seen.all(&mut self.suspects),
            // While a burst settles, looking again is no more of it.
            Notice::Look if self.settling.due().is_some() => return,
            Notice::Look => self.look_at_all(),
        }
        if !self.suspects.is_empty() {
            self.meanwhile |= self.programs && !matches!(self.run, Run::None);
            self.settling.touch(Instant::now());
        }
    }

    /// Without events: suspect what is not as it was.
    fn look_at_all(&mut self) {
        let mut all = Suspects::default();
        self.seen.all(&mut all);
        if !self.seen.changed(&all, &|pattern| self.session.glob(pattern)).is_empty() {
            self.suspects = all;
        }
    }

    fn tell(&mut self, event: &Event) {
        if matches!(event, Event::NodeStarted { op, .. } if op == "process.exec") {
            self.programs = true;
        }
        if let Some(file) = &mut self.events {
            file.write(event);
        }
        self.screen.show(event);
    }

    /// A burst is over: plan anew if something is not as it was.
    fn look(&mut self) -> Result<(), Failure> {
        let suspects = std::mem::take(&mut self.suspects);
        let meanwhile = std::mem::take(&mut self.meanwhile);
        let changed = self.seen.changed(&suspects, &|pattern| self.session.glob(pattern));
        if changed.is_empty() {
            return Ok(());
        }
        let blamed = self.guard.blamed(&changed, meanwhile);
        if !blamed.is_empty() {
            self.screen.blame(&blamed);
            return Ok(());
        }
        if self.flags.on_busy == OnBusy::Finish && !matches!(self.run, Run::None) {
            self.screen.later(&changed);
            self.changed.extend(changed);
            return Ok(());
        }
        self.replan(&changed)
    }

    /// Plan the program as it is now, and run the plan; on problems what runs goes on.
    fn replan(&mut self, changed: &BTreeSet<PathBuf>) -> Result<(), Failure> {
        match Session::new(self.program, self.flags.out) {
            Ok(session) => self.session = session,
            // The program itself may be away for a moment.
            Err(failure) if changed.is_empty() => return Err(failure),
            Err(failure) => {
                self.screen.failure(&failure);
                return Ok(());
            }
        }
        let (compiled, mut seen) = self.session.compile_to_watch(self.program.params.as_deref());
        let broken = compiled.plan.is_none();
        if broken {
            seen.and_before(&self.seen, changed);
        }
        self.seen = seen;
        let words = self.words(&compiled, changed);
        self.follow_folders();
        self.screen.problems(&compiled, &words, broken);
        let about = about::gather(&compiled.sources);
        let Some(plan) = compiled.plan else { return Ok(()) };
        self.refuse_own_outputs();
        match std::mem::replace(&mut self.run, Run::Running) {
            Run::None => self.begin(plan, about),
            Run::Running | Run::Turning(_) => {
                self.run = Run::Turning(Box::new((plan, about)));
                self.cancel.supersede();
            }
        }
        Ok(())
    }

    fn begin(&mut self, plan: Plan, about: About) {
        self.cancel.begin();
        self.programs = false;
        self.screen.plan(&plan);
        self.run = Run::Running;
        self.runner.run(plan, about);
    }

    /// A run has ended: the next one begins, or the exit code is known.
    fn ended(&mut self, summary: Result<RunSummary, OpError>) -> Result<Option<u8>, Failure> {
        let stopped = summary.as_ref().is_ok_and(|summary| summary.stopped);
        let summary = summary.map_err(failed)?;
        if let Run::Turning(next) = std::mem::replace(&mut self.run, Run::None) {
            if self.cancel.urgency() == Urgency::None {
                self.screen.turn();
                let (plan, about) = *next;
                self.begin(plan, about);
                return Ok(None);
            }
            return Ok(Some(exit::STOPPED));
        }
        self.screen.ended(&summary);
        if stopped || self.cancel.urgency() != Urgency::None {
            return Ok(Some(if stopped { exit::STOPPED } else { exit::OK }));
        }
        let changed = std::mem::take(&mut self.changed);
        if changed.is_empty() {
            self.screen.idle(self.seen.len(), self.watcher.polls());
        } else {
            self.replan(&changed)?;
        }
        Ok(None)
    }

    fn follow_folders(&mut self) {
        let folders = self.seen.folders(&self.session.project.root);
        if let Some(text) = self.watcher.follow(&folders) {
            self.screen.warn(&text);
        }
    }

    /// A program that reads what it writes would start itself.
    fn refuse_own_outputs(&mut self) {
        let out = &self.session.project.out;
        let own: BTreeSet<PathBuf> = self.seen.below(out).map(Path::to_owned).collect();
        if !own.is_empty() {
            self.screen.own_outputs(&own);
            self.seen.forget(&own);
        }
    }

    /// What changed: declarations of the program's files, and names of others.
    fn words(&mut self, compiled: &Compiled, changed: &BTreeSet<PathBuf>) -> Vec<String> {
        let library = |name: &str| name.starts_with('<');
        let files = compiled.sources.files().iter().filter(|file| !library(&file.name));
        let texts: BTreeMap<String, String> =
            files.map(|file| (file.name.clone(), file.text.to_string())).collect();
        let here = std::env::current_dir().unwrap_or_default();
        let mut words = Vec::new();
        for path in changed {
            let short = path.strip_prefix(&here).unwrap_or(path).display().to_string();
            let text = texts.iter().find(|(name, _)| here.join(name) == *path);
            let parts = text.and_then(|(name, now)| {
                let before = self.texts.get(name)?;
                Some(differences(before, now))
            });
            words.push(match parts {
                Some(parts) if parts.is_empty() => format!("{short}: no declaration differs"),
                Some(parts) => format!("{short}: {}", parts.join(", ")),
                None if !path.exists() => format!("{short} is gone"),
                None => short,
            });
        }
        let broken = compiled.problems.iter().any(|problem| problem.severity == Severity::Error);
        if !broken {
            self.texts = texts;
        }
        words
    }
}
