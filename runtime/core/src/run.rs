//! A run: the public way to execute a plan.

use crate::cancel::Cancel;
use crate::events::{Event, NodeState};
use crate::growing;
use crate::keys;
use crate::op::OpError;
use crate::outputs::{Check, Written};
use crate::registry::Registry;
use crate::roots::finish_roots;
use crate::schedule::{Carried, Driven, Engine, Machine, Slot, index};
use crate::store::locks::{self, Attempt, Lock};
use crate::store::{About, NodeRow, Roots, RunEnd, Store, disk, remove_all};
use pipe_compiler::plan::{Arg, FileArg, GIVEN, Node, Plan, Root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Folder of the outputs, `out/<stem>`.
    pub out: PathBuf,
    /// What nodes may use together.
    pub machine: Machine,
    /// Look nothing up: compute everything again.
    pub fresh: bool,
    /// Nodes to compute again, by name, although their results are stored.
    pub force: BTreeSet<String>,
    /// How many nodes with stored results to compute again and compare with what is stored.
    pub verify: usize,
    /// Stops the run from outside.
    pub cancel: Cancel,
    /// The worker program `pipe-torch`, when it was found.
    pub worker: Option<PathBuf>,
    /// Deterministic kernels only.
    pub deterministic: bool,
    /// Bytes of decoded artifacts kept in memory.
    pub decoded_bytes: u64,
    /// Where the run comes from, for the record.
    pub about: About,
}

impl RunOptions {
    /// The usual way to run, with outputs below `out`.
    #[must_use]
    pub fn new(out: impl Into<PathBuf>) -> Self {
        Self {
            out: out.into(),
            machine: Machine::default(),
            fresh: false,
            force: BTreeSet::new(),
            verify: 0,
            cancel: Cancel::new(),
            worker: None,
            deterministic: false,
            decoded_bytes: 512 << 20,
            about: About::default(),
        }
    }
}

/// A node that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its name, or `output NAME`.
    pub node: String,
    /// Why.
    pub error: OpError,
}

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSummary {
    /// Its number in the store.
    pub run: i64,
    /// Nodes that ran.
    pub ran: usize,
    /// Nodes whose results were in the store.
    pub cached: usize,
    /// Nodes that failed.
    pub failed: usize,
    /// Nodes that were skipped.
    pub skipped: usize,
    /// Checks that are false or could not be decided.
    pub checks_failed: usize,
    /// Wall time.
    pub seconds: f64,
    /// Stopped from outside with its state saved.
    pub stopped: bool,
    /// Another plan has taken its place.
    pub superseded: bool,
    /// What failed: nodes, then outputs that could not be written.
    pub failures: Vec<Failure>,
    /// Those of the failures that are outputs.
    pub unwritten: Vec<Failure>,
    /// Outputs.
    pub outputs: Vec<Written>,
    /// Checks.
    pub checks: Vec<Check>,
}

impl RunSummary {
    /// The exit code of `pipe run`: 0 fine, 3 something failed or a check is false, 75 stopped.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if self.stopped {
            75
        } else if self.failures.is_empty() && self.failed == 0 && self.checks_failed == 0 {
            0
        } else {
            3
        }
    }
}

/// Run a plan: compute what its outputs and checks need and the store lacks, decide the checks, write
/// the outputs.
///
/// # Errors
/// When the store fails. Failures of nodes are in the summary.
pub fn run(
    plan: &Plan,
    registry: &Registry,
    store: &mut Store,
    options: &RunOptions,
    events: &mut dyn FnMut(Event),
) -> Result<RunSummary, OpError> {
    Runs::new().run(plan, registry, store, options, events)
}

/// Runs of one program that changes meanwhile, one after the other.
///
/// A run that [`Cancel::supersede`] ends leaves what it has begun to the next one: what that wants under the same key
/// goes on, the rest saves its checkpoint and stops. All runs have one store, registry and machine.
#[derive(Default)]
pub struct Runs {
    carried: Option<Carried>,
    /// Of runs whose attempts go on: their scratch folders are in use.
    places: Vec<Place>,
}

impl Runs {
    /// Before the first run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether attempts of earlier runs go on; they hold on to the store.
    #[must_use]
    pub fn go_on(&self) -> bool {
        self.carried.as_ref().is_some_and(Carried::is_busy)
    }

    /// The next run; see [`run`].
    ///
    /// # Errors
    /// When the store fails. Failures of nodes are in the summary.
    pub fn run(
        &mut self,
        plan: &Plan,
        registry: &Registry,
        store: &mut Store,
        options: &RunOptions,
        events: &mut dyn FnMut(Event),
    ) -> Result<RunSummary, OpError> {
        let start = Instant::now();
        sound(plan)?;
        let settings = serde_json::to_string(&plan.params).unwrap_or_default();
        let number = store.begin_run(&plan.file, &settings, &options.about)?;
        let place = Place::claim(store, number)?;
        store.mark_interrupted(&place.alive)?;
        let carried = self.carried.take().unwrap_or_else(|| Carried::new(store, options));
        let mut engine = Engine::new(plan, registry, store, options, events, &place, carried);
        let driven = engine.drive();
        let superseded = matches!(driven, Ok(Driven::Superseded));
        if !superseded {
            engine.close();
        }
        let mut summary = count(&engine, superseded);
        summary.run = number;
        let rows = node_rows(&engine, superseded);
        let mut roots = Roots::default();
        if matches!(driven, Ok(Driven::Ended)) {
            roots = finish_roots(&mut engine, options, &place.alive, &mut summary)?;
            settle_program(&mut engine)?;
        }
        summary.seconds = start.elapsed().as_secs_f64();
        let used = std::mem::take(&mut engine.used);
        let end = RunEnd {
            state: match summary.exit_code() {
                _ if driven.is_err() => "failed",
                _ if superseded => "superseded",
                0 => "done",
                75 => "stopped",
                _ => "failed",
            },
            seconds: summary.seconds,
            ran: summary.ran,
            cached: summary.cached,
            failed: summary.failed,
            skipped: summary.skipped,
            checks_failed: summary.checks_failed,
            exit_code: match &driven {
                Ok(Driven::Superseded) => None,
                Ok(Driven::Ended) => Some(summary.exit_code()),
                Err(_) => Some(3),
            },
        };
        let finished = engine.store.finish_run(number, &end, &rows, &roots, &used);
        engine.tell(Event::RunFinished {
            ran: summary.ran,
            cached: summary.cached,
            failed: summary.failed,
            skipped: summary.skipped,
            checks_failed: summary.checks_failed,
            seconds: summary.seconds,
            stopped: summary.stopped,
            superseded,
        });
        let carried = engine.carry();
        self.places.push(place);
        if !carried.is_busy() {
            self.places.clear();
        }
        self.carried = Some(carried);
        driven.and(finished).map(|()| summary)
    }
}

/// Tell the store what the outputs and checks come from, when all of them could be computed: those results stay.
fn settle_program(engine: &mut Engine<'_>) -> Result<(), OpError> {
    let plan = engine.nodes.plan;
    let roots: BTreeSet<usize> = keys::root_inputs(plan).into_iter().map(index).collect();
    let there = |at: &usize| engine.slots.get(*at).is_some_and(|slot| slot.value.is_some());
    if !roots.iter().all(there) {
        return Ok(());
    }
    let slots = roots.iter().filter_map(|at| engine.slots.get(*at));
    let results = slots.filter_map(|slot| slot.action_key.clone()).collect();
    let file = std::path::absolute(&plan.file).unwrap_or_else(|_| plan.file.clone().into());
    engine.store.settle_program(&file.to_string_lossy(), engine.run, &results)
}

/// Inputs come before their readers, and node numbers are positions.
fn sound(plan: &Plan) -> Result<(), OpError> {
    let node = |(at, node): (usize, &pipe_compiler::plan::Node)| {
        node.id.0 as usize == at && growing::is_sound_node(node, at, 0)
    };
    let nodes = plan.nodes.iter().enumerate().all(node);
    let root = |root: &Root| growing::is_sound(&root.value, plan.nodes.len(), 0);
    if nodes && plan.roots.iter().all(root) {
        return Ok(());
    }
    Err(OpError::new("run::plan", "The plan is not in order.")
        .help("Please report this together with the program."))
}

/// A run's place in the store: its scratch folder, and a lock that shows that it is alive.
pub(crate) struct Place {
    pub(crate) run: i64,
    pub(crate) scratch: PathBuf,
    alive: BTreeSet<i64>,
    _lock: Lock,
}

impl Place {
    fn claim(store: &Store, run: i64) -> Result<Self, OpError> {
        let tmp = store.folder().join("tmp");
        let lock = locks::wait(&tmp.join(format!("run-{run}.lock")))?;
        let alive = sweep(&tmp, run)?;
        let scratch = tmp.join(format!("run-{run}"));
        Ok(Self { run, scratch, alive, _lock: lock })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = remove_all(&self.scratch);
    }
}

/// Remove the scratch folders of runs whose processes are gone. Gives those that are alive.
fn sweep(tmp: &Path, own: i64) -> Result<BTreeSet<i64>, OpError> {
    let mut alive = BTreeSet::from([own]);
    let entries = tmp.read_dir().map_err(|error| disk(tmp, &error))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let number =
            name.strip_prefix("run-").and_then(|rest| rest.strip_suffix(".lock")?.parse().ok());
        let Some(run) = number.filter(|run| *run != own) else { continue };
        match locks::attempt(&entry.path())? {
            Attempt::Busy => drop(alive.insert(run)),
            Attempt::Held(_lock) => {
                let _ = remove_all(&tmp.join(format!("run-{run}")));
            }
        }
    }
    Ok(alive)
}

fn count(engine: &Engine<'_>, superseded: bool) -> RunSummary {
    let stopped = engine.stopped;
    let mut summary = RunSummary { stopped, superseded, ..RunSummary::default() };
    for (node, slot) in ended(engine, superseded) {
        match slot.how {
            Some(NodeState::Ran) => summary.ran += 1,
            Some(NodeState::Failed) => summary.failed += 1,
            Some(NodeState::Skipped) => summary.skipped += 1,
            Some(NodeState::Cached) | None => summary.cached += 1,
        }
        if let Some(error) = &slot.error {
            summary.failures.push(Failure { node: node.name.clone(), error: error.clone() });
        }
    }
    summary
}

fn node_rows(engine: &Engine<'_>, superseded: bool) -> Vec<NodeRow> {
    let row = |(node, slot): (&pipe_compiler::plan::Node, &Slot)| NodeRow {
        name: node.name.clone(),
        op: node.op.clone(),
        plan_key: node.key.to_string(),
        fields: if slot.by_plan { None } else { keys::fields_of(&engine.nodes, node) },
        action_key: slot.action_key.clone(),
        state: match slot.how {
            Some(NodeState::Ran) => "ran",
            Some(NodeState::Failed) => "failed",
            Some(NodeState::Skipped) => "skipped",
            Some(NodeState::Cached) | None => "cached",
        },
        seconds: slot.seconds,
        digest: slot.digest.clone(),
        error: slot.error.clone(),
        context: slot.context.clone(),
        peak_bytes: slot.peak_bytes,
        files: if slot.by_plan { Vec::new() } else { files(node) },
    };
    ended(engine, superseded).map(row).collect()
}

/// Files that a node reads, and those of the steps that run as one with it.
fn files(node: &Node) -> Vec<FileArg> {
    let own = |node: &Node| {
        let lists = node.args.values().filter_map(|arg| match arg {
            Arg::Files(files) => Some(files.clone()),
            _ => None,
        });
        lists.flatten().collect::<Vec<_>>()
    };
    node.fused.iter().flat_map(own).chain(own(node)).collect()
}

/// Nodes that have ended, or that nobody needed in a run that was not superseded. Those that stand for given values are no
/// work, so nobody is told of them.
fn ended<'e>(
    engine: &'e Engine<'_>,
    superseded: bool,
) -> impl Iterator<Item = (&'e pipe_compiler::plan::Node, &'e Slot)> {
    let all = engine.nodes.iter().zip(&engine.slots);
    all.filter(move |(node, slot)| node.op != GIVEN && (slot.how.is_some() || !superseded))
}
