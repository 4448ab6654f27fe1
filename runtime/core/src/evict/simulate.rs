//! What a trace would have cost under a policy and a budget.
//!
//! A run asks for its outputs. What is stored is a hit and needs nothing else; what is not is computed once, after what it
//! is made from, and offered to the store. Within a run results are at hand for those that read them; the budget is on what
//! stays in the store, at every moment.

use super::Policy;
use super::shelf::{Item, Shelf, need};
use super::trace::{Step, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// What came of replaying a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The policy.
    pub policy: Policy,
    /// Bytes that may stay.
    pub budget: u64,
    /// Seconds of all that ran.
    pub paid: f64,
    /// Seconds that did not run, compared with storing nothing.
    pub saved: f64,
    /// Results that were found.
    pub hits: u64,
    /// Results that were asked for.
    pub asked: u64,
    /// The most bytes that were stored at any moment.
    pub peak: u64,
    /// Bytes that were stored after a run, on average.
    pub mean: f64,
    /// Results that were stored and left again.
    pub evicted: u64,
    /// Scores that were computed.
    pub judged: u64,
}

impl Outcome {
    /// Share of what was asked for that was found.
    #[must_use]
    pub fn hit_ratio(&self) -> f64 {
        self.hits as f64 / self.asked.max(1) as f64
    }

    /// Seconds saved for each byte that was kept.
    #[must_use]
    pub fn saved_per_byte(&self) -> f64 {
        if self.mean > 0.0 { self.saved / self.mean } else { 0.0 }
    }
}

/// Replay a trace.
#[must_use]
pub fn replay(trace: &Trace, policy: Policy, budget: u64) -> Outcome {
    let mut world = World::new(trace, policy, budget);
    for (number, run) in trace.runs.iter().enumerate() {
        world.run(i64::try_from(number).unwrap_or(i64::MAX), run);
    }
    let all: f64 = trace.runs.iter().flatten().map(|step| step.seconds).sum();
    let (hits, asked) = (world.hits, world.asked);
    Outcome {
        policy,
        budget,
        paid: world.paid,
        saved: all - world.paid,
        hits,
        asked,
        peak: world.peak,
        mean: world.after.iter().map(|bytes| *bytes as f64).sum::<f64>()
            / world.after.len().max(1) as f64,
        evicted: world.admitted - world.stored(),
        judged: world.shelf.judged(),
    }
}

/// The store of a simulation.
struct World {
    shelf: Shelf,
    budget: u64,
    by_key: BTreeMap<String, usize>,
    /// Uses that the last run of each program lets expect.
    needs: BTreeMap<(String, String), Vec<(usize, f64)>>,
    tick: i64,
    paid: f64,
    hits: u64,
    asked: u64,
    admitted: u64,
    peak: u64,
    after: Vec<u64>,
}

impl World {
    fn new(trace: &Trace, policy: Policy, budget: u64) -> Self {
        Self {
            shelf: Shelf::new(policy, 0.0),
            budget,
            by_key: BTreeMap::new(),
            needs: BTreeMap::new(),
            tick: 0,
            paid: 0.0,
            hits: 0,
            asked: 0,
            admitted: 0,
            peak: 0,
            after: Vec::with_capacity(trace.runs.len()),
        }
    }

    fn run(&mut self, number: i64, run: &[Step]) {
        let items: Vec<usize> = run.iter().map(|step| self.know(step)).collect();
        let readers = readers(run);
        self.expect(run, &items, &readers);
        self.shelf.begin(number);
        let mut compute = Vec::new();
        let mut wanted: BTreeSet<&str> = BTreeSet::new();
        for ((step, at), readers) in run.iter().zip(&items).zip(&readers).rev() {
            let root = step.output || *readers == 0;
            if !root && !wanted.contains(step.key.as_str()) {
                continue;
            }
            self.asked += 1;
            if self.shelf.has(*at) {
                self.hits += 1;
                self.tick += 1;
                self.shelf.touch(*at, self.tick);
            } else {
                compute.push((*at, step.seconds));
                wanted.extend(step.parents.iter().map(String::as_str));
            }
        }
        for (at, seconds) in compute.into_iter().rev() {
            self.paid += seconds;
            self.tick += 1;
            self.admitted += u64::from(self.shelf.admit(at, self.tick, self.budget));
            self.peak = self.peak.max(self.shelf.held());
        }
        self.after.push(self.shelf.held());
    }

    /// The item of a step, which may be new.
    fn know(&mut self, step: &Step) -> usize {
        if let Some(at) = self.by_key.get(&step.key) {
            return *at;
        }
        let part = self.shelf.add_part(step.bytes);
        let item = Item { key: step.key.as_str().into(), seconds: step.seconds, ..Item::default() };
        let at = self.shelf.add(item, vec![part]);
        for parent in step.parents.iter().filter_map(|key| self.by_key.get(key)) {
            self.shelf.link(*parent, at);
        }
        self.by_key.insert(step.key.clone(), at);
        at
    }

    /// What this run lets expect takes the place of what the last one of its program did.
    fn expect(&mut self, run: &[Step], items: &[usize], readers: &[usize]) {
        let Some(first) = run.first() else { return };
        let each = run.iter().zip(items).zip(readers);
        let needs =
            each.map(|((step, at), readers)| (*at, need(*readers, step.output || *readers == 0)));
        self.needs.insert((first.user.clone(), first.program.clone()), needs.collect());
        for at in 0..self.shelf.len() {
            if let Some(item) = self.shelf.facts(at) {
                item.needs = 0.0;
            }
        }
        for (at, need) in self.needs.values().flatten() {
            if let Some(item) = self.shelf.facts(*at) {
                item.needs += need;
            }
        }
    }

    fn stored(&self) -> u64 {
        (0..self.shelf.len()).filter(|at| self.shelf.has(*at)).count() as u64
    }
}

/// How many steps of the run read each.
fn readers(run: &[Step]) -> Vec<usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for step in run {
        for parent in &step.parents {
            *counts.entry(parent.as_str()).or_default() += 1;
        }
    }
    run.iter().map(|step| counts.get(step.key.as_str()).copied().unwrap_or(0)).collect()
}
