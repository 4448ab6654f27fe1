//! The thread that runs one plan after the other, so that the program can be planned anew meanwhile.

use crate::project::Project;
use crate::{about, git, ops};
use crossbeam_channel::{Receiver, Sender, unbounded};
use pipe_compiler::plan::Plan;
use pipe_runtime::events::Event;
use pipe_runtime::op::OpError;
use pipe_runtime::store::About;
use pipe_runtime::{RunOptions, RunSummary, Runs, Store};
use std::time::Duration;

/// News of the run.
#[derive(Debug)]
pub(crate) enum Update {
    /// Something happened.
    Event(Box<Event>),
    /// The run has ended.
    Ended(Box<Result<RunSummary, OpError>>),
}

/// A hold on the thread; letting go of it lets the thread end after its run.
pub(crate) struct Runner {
    plans: Sender<(Plan, About)>,
    /// What the runs tell.
    pub(crate) updates: Receiver<Update>,
}

impl Runner {
    /// Start the thread, with the project's store.
    pub(crate) fn start(project: &Project, options: RunOptions) -> Result<Self, OpError> {
        // What is wrong with the store is said at once; then it is open only while something runs, so that it can be cleaned.
        drop(Store::open(&project.store)?);
        let place = project.store.clone();
        let registry = ops::registry(project.programs);
        let root = project.root.clone();
        let (plans, wanted) = unbounded::<(Plan, About)>();
        let (tell, updates) = unbounded();
        std::thread::spawn(move || {
            let mut runs = Runs::new();
            let mut kept: Option<Store> = None;
            for (plan, about) in wanted {
                let mut store = match kept.take().map_or_else(|| Store::open(&place), Ok) {
                    Ok(store) => store,
                    Err(error) => {
                        if tell.send(Update::Ended(Box::new(Err(error)))).is_err() {
                            return;
                        }
                        continue;
                    }
                };
                let repository = git::ask(&root);
                let options = RunOptions { about, ..options.clone() };
                let events = tell.clone();
                let mut show = move |event| drop(events.send(Update::Event(Box::new(event))));
                let summary = runs.run(&plan, &registry, &mut store, &options, &mut show);
                let summary = summary.and_then(|summary| {
                    // What takes its place is not kept waiting.
                    let patience = if summary.superseded { Duration::ZERO } else { git::PATIENCE };
                    let (git, peak) = (repository.answer(patience), about::peak_memory());
                    store.complete_run(summary.run, git.as_ref(), peak).map(|()| summary)
                });
                kept = runs.go_on().then_some(store);
                if tell.send(Update::Ended(Box::new(summary))).is_err() {
                    return;
                }
            }
        });
        Ok(Self { plans, updates })
    }

    /// Run a plan that comes from there, after the one that runs now.
    pub(crate) fn run(&self, plan: Plan, about: About) {
        let _ = self.plans.send((plan, about));
    }
}
