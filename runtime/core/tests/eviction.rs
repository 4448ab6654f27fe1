//! Eviction: what is wrong with the formula of Couler's paper taken literally and right in ours, laws that hold for any
//! trace, and the comparison over the recorded traces.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

use pipe_runtime::evict::simulate::{Outcome, replay};
use pipe_runtime::evict::trace::{Step, Trace};
use pipe_runtime::evict::{Item, Policy, Shelf, importance};
use proptest::prelude::*;

const GIB: u64 = 1 << 30;

/// A shelf of stored and unstored items by hand.
struct Built(Shelf);

impl Built {
    fn new(policy: Policy) -> Self {
        Self(Shelf::new(policy, 0.0))
    }

    fn known(&mut self, key: &str, seconds: f64, bytes: u64, parents: &[usize]) -> usize {
        let part = self.0.add_part(bytes);
        let at = self.0.add(Item { key: key.into(), seconds, ..Item::default() }, vec![part]);
        parents.iter().for_each(|parent| self.0.link(*parent, at));
        at
    }

    fn stored(&mut self, key: &str, seconds: f64, bytes: u64, parents: &[usize]) -> usize {
        let at = self.known(key, seconds, bytes, parents);
        self.0.put(at, i64::try_from(at).unwrap());
        at
    }

    fn value(&self, at: usize) -> f64 {
        Policy::Value.score(&self.0, at)
    }

    fn first_to_leave(&mut self) -> usize {
        self.0.begin(0);
        self.0.victim().unwrap().0
    }
}

// The numbered defects of the paper's formula, in the order of the list in which they were found.

#[test]
fn defect_1_the_paper_prefers_larger_artifacts_and_then_ignores_size() {
    let mut shelf = Built::new(Policy::Paper);
    let sizes = [1 << 20, GIB, 6 * GIB, 600 * GIB];
    let at = sizes.map(|bytes| shelf.stored(&bytes.to_string(), 10.0, bytes, &[]));
    let paper = at.map(|at| importance(&shelf.0, at));
    assert!(paper[0] < paper[1] && paper[1] < paper[2], "larger is better: {paper:?}");
    assert!(paper[3] - paper[2] < 0.01, "from 5 GiB on size counts nothing: {paper:?}");
    let value = at.map(|at| shelf.value(at));
    assert!(value.windows(2).all(|pair| pair[0] > pair[1]), "{value:?}");
    let ratio = value[2] / value[3];
    assert!((ratio - 100.0).abs() < 1e-9, "a hundred times larger is worth a hundredth: {ratio}");
}

#[test]
fn defect_2_direct_readers_count_nothing_in_the_paper() {
    let mut shelf = Built::new(Policy::Paper);
    let plain = shelf.stored("plain", 10.0, GIB, &[]);
    let read = shelf.stored("read", 10.0, GIB, &[]);
    for at in 0..9 {
        shelf.known(&format!("reader{at}"), 1.0, 1, &[read]);
    }
    assert_eq!(importance(&shelf.0, plain), importance(&shelf.0, read), "nine readers, no value");
    let chained = shelf.stored("chained", 10.0, GIB, &[]);
    let middle = shelf.known("middle", 1.0, 1, &[chained]);
    shelf.known("far", 1.0, 1, &[middle]);
    assert!(importance(&shelf.0, chained) > importance(&shelf.0, read), "one that is far counts");
    // Ours: each reader may be what changes next. A trace says who reads what.
    let step = |run: i64, key: &str, parents: &[&str], output: bool| Step {
        run,
        key: key.to_owned(),
        op: "op".to_owned(),
        seconds: 10.0,
        bytes: if output { 0 } else { 100 },
        parents: parents.iter().map(|key| (*key).to_owned()).collect(),
        user: "one".to_owned(),
        program: String::new(),
        output,
    };
    let trace = Trace {
        runs: vec![
            vec![
                step(0, "a", &[], false),
                step(0, "b", &[], false),
                step(0, "one", &["a"], true),
                step(0, "two", &["b"], true),
                step(0, "three", &["b"], true),
            ],
            vec![step(1, "b", &[], false), step(1, "four", &["b"], true)],
        ],
    };
    let ours = replay(&trace, Policy::Value, 100);
    assert_eq!((ours.hits, ours.saved), (1, 10.0), "the one with two readers was kept: {ours:?}");
}

#[test]
fn defect_3_an_expensive_source_costs_nothing_in_the_paper() {
    let mut shelf = Built::new(Policy::Paper);
    let day = shelf.stored("day", 86_400.0, GIB, &[]);
    let blink = shelf.stored("blink", 0.001, GIB, &[]);
    assert_eq!(importance(&shelf.0, day), importance(&shelf.0, blink));
    assert_eq!(importance(&shelf.0, day), -(-1.0_f64).exp(), "L is 0, F is 0");
    assert!(shelf.value(day) > 1e7 * shelf.value(blink));
    assert_eq!(shelf.0.recompute(day), 86_400.0);
}

#[test]
fn defect_4_the_papers_order_depends_on_the_unit_of_time() {
    let order = |policy: Policy, unit: f64| {
        let mut shelf = Built::new(policy);
        let slow = shelf.known("slow", 40.0 * unit, 1, &[]);
        let behind_slow = shelf.stored("behind slow", unit, GIB, &[slow]);
        let quick: Vec<usize> =
            (0..5).map(|at| shelf.known(&format!("quick{at}"), 0.01 * unit, 1, &[])).collect();
        let behind_quick = shelf.stored("behind quick", unit, GIB, &quick);
        let first = shelf.first_to_leave();
        assert!(first == behind_slow || first == behind_quick);
        first == behind_quick
    };
    assert!(order(Policy::Paper, 1.0), "in seconds, the quick one leaves");
    assert!(!order(Policy::Paper, 1.0 / 3600.0), "the same in hours: the slow one leaves");
    assert!(order(Policy::Value, 1.0) && order(Policy::Value, 1.0 / 3600.0));
}

#[test]
fn defect_6_the_paper_admits_without_looking_at_the_size() {
    let step = |run: i64, key: &str, bytes: u64| Step {
        run,
        key: key.to_owned(),
        op: "op".to_owned(),
        seconds: 1.0,
        bytes,
        parents: Vec::new(),
        user: "one".to_owned(),
        program: String::new(),
        output: true,
    };
    let trace = Trace { runs: vec![vec![step(0, "small", 60)], vec![step(1, "giant", 1000)]] };
    let paper = replay(&trace, Policy::Paper, 100);
    assert_eq!(paper.peak, 1060, "ten times its budget");
    for policy in [Policy::Fifo, Policy::Lru, Policy::Gdsf, Policy::Value] {
        let other = replay(&trace, policy, 100);
        assert_eq!((other.peak, other.evicted), (60, 0), "{policy:?}");
    }
}

#[test]
fn defect_7_the_paper_scores_everything_again_for_each_that_leaves() {
    let judged = |policy: Policy, items: usize| {
        let mut shelf = Built::new(policy);
        for at in 0..items {
            shelf.stored(&format!("{at:04}"), at as f64, 1000 + at as u64, &[]);
        }
        shelf.0.begin(0);
        let before = shelf.0.judged();
        for _ in 0..items / 2 {
            let (at, score) = shelf.0.victim().unwrap();
            shelf.0.evict(at, score);
        }
        shelf.0.judged() - before
    };
    assert!(judged(Policy::Paper, 1000) > 300_000);
    assert!(judged(Policy::Value, 1000) <= 1500, "{}", judged(Policy::Value, 1000));
}

#[test]
fn ancestors_count_once_and_the_walk_stops_at_what_is_stored() {
    let mut shelf = Built::new(Policy::Value);
    let base = shelf.known("base", 16.0, 1, &[]);
    let left = shelf.known("left", 4.0, 1, &[base]);
    let right = shelf.known("right", 2.0, 1, &[base]);
    let end = shelf.stored("end", 1.0, 100, &[left, right]);
    assert_eq!(shelf.0.recompute(end), 23.0);
    shelf.0.put(left, 9);
    assert_eq!(shelf.0.recompute(end), 19.0, "the other way still needs the base");
    shelf.0.put(right, 9);
    assert_eq!(shelf.0.recompute(end), 1.0);
    shelf.0.take(left);
    assert_eq!(shelf.0.recompute(end), 21.0);
    shelf.0.put(base, 9);
    assert_eq!(shelf.0.recompute(end), 5.0);
}

#[test]
fn an_old_giant_leaves_in_the_end() {
    let mut shelf = Built::new(Policy::Value);
    // Worth ten times as much per byte as each of those that come after it, and never asked for.
    let giant = shelf.stored("giant", 5_000.0, 500, &[]);
    let mut came = 0;
    while shelf.0.has(giant) && came < 1000 {
        let at = shelf.known(&format!("new{came}"), 50.0, 50, &[]);
        shelf.0.admit(at, came, 600);
        came += 1;
    }
    assert!((10..200).contains(&came), "{came}");
}

#[test]
fn shared_content_counts_once_and_leaves_with_its_last_holder() {
    let mut shelf = Shelf::new(Policy::Value, 0.0);
    let shared = shelf.add_part(1000);
    let own = shelf.add_part(10);
    let mut make = |key: &str, parts: Vec<usize>| {
        shelf.add(Item { key: key.into(), seconds: 1.0, ..Item::default() }, parts)
    };
    let (one, list) = (make("one", vec![shared]), make("list", vec![shared, own]));
    shelf.put(one, 0);
    shelf.put(list, 0);
    assert_eq!((shelf.held(), shelf.weight(one), shelf.weight(list)), (1010, 500.0, 510.0));
    shelf.keep(list, true);
    assert!(!shelf.may_leave(one), "it would free nothing");
    shelf.keep(list, false);
    shelf.take(one);
    assert_eq!((shelf.held(), shelf.weight(list)), (1010, 1010.0));
    shelf.take(list);
    assert_eq!(shelf.held(), 0);
}

#[test]
fn a_trace_that_is_none_names_its_line() {
    let line = |run: i64, key: &str, parents: &str, seconds: &str| {
        format!(
            r#"{{"run":{run},"key":"{key}","op":"o","seconds":{seconds},"bytes":1,"parents":[{parents}],"user":"u"}}"#
        )
    };
    let reads = |lines: &[String]| Trace::read(&lines.join("\n"));
    assert_eq!(reads(&[line(1, "a", "", "1"), line(1, "b", "\"a\"", "1")]).unwrap().runs.len(), 1);
    for (lines, says) in [
        (vec![line(1, "a", "\"b\"", "1")], "line 1: `b` does not stand before it"),
        (vec![line(2, "a", "", "1"), line(1, "b", "", "1")], "line 2: run 1 after run 2"),
        (vec![line(1, "a", "", "1"), line(1, "a", "", "1")], "line 2: `a` stands twice"),
        (vec![line(1, "a", "", "-1")], "line 1: -1 is no time"),
        (vec!["{}".to_owned()], "line 1: missing field"),
    ] {
        let error = reads(&lines).unwrap_err();
        assert!(error.starts_with(says), "{error}");
    }
}

/// Traces of programs whose steps are edited: a few users, each with a chain of stages that read earlier ones.
fn traces() -> impl Strategy<Value = Trace> {
    let stage = (0_u64..5, 0_u64..6, prop::collection::vec(0_usize..8, 0..3));
    let program = prop::collection::vec(stage, 1..9);
    let edits = prop::collection::vec((0_usize..3, 0_usize..9, 0_u64..3), 1..40);
    (prop::collection::vec(program, 3), edits).prop_map(|(programs, edits)| {
        let mut versions = vec![vec![0_u64; 9]; 3];
        let runs = edits.iter().enumerate().map(|(run, (user, stage, version))| {
            versions[*user][*stage] = *version;
            steps(run, *user, &programs[*user], &versions[*user])
        });
        Trace { runs: runs.collect() }
    })
}

fn steps(
    run: usize,
    user: usize,
    stages: &[(u64, u64, Vec<usize>)],
    versions: &[u64],
) -> Vec<Step> {
    let mut keys: Vec<String> = Vec::new();
    let mut steps = Vec::new();
    for (at, (seconds, size, reads)) in stages.iter().enumerate() {
        let mut parents: Vec<String> =
            reads.iter().filter_map(|read| keys.get(*read).cloned()).collect();
        parents.sort();
        parents.dedup();
        let mut key = blake3::Hasher::new();
        key.update(format!("{user} {at} {}", versions[at]).as_bytes());
        for parent in &parents {
            key.update(parent.as_bytes());
        }
        let key: String = key.finalize().to_hex().chars().take(10).collect();
        keys.push(key.clone());
        steps.push(Step {
            run: i64::try_from(run).unwrap(),
            key,
            op: format!("stage{at}"),
            seconds: *seconds as f64 * 0.75,
            bytes: size * 100,
            parents,
            user: format!("user{user}"),
            program: String::new(),
            output: false,
        });
    }
    steps
}

fn scaled(trace: &Trace, time: f64, size: u64) -> Trace {
    let mut trace = trace.clone();
    for step in trace.runs.iter_mut().flatten() {
        step.seconds *= time;
        step.bytes *= size;
    }
    trace
}

const BOUNDED: [Policy; 4] = [Policy::Fifo, Policy::Lru, Policy::Gdsf, Policy::Value];

proptest! {
    #[test]
    fn scores_rise_with_recompute_and_reuse_and_fall_with_bytes(
        seconds in 0.001_f64..1e6, more in 1.01_f64..100.0, bytes in 1_u64..1_000_000_000,
        hits in 0.0_f64..50.0, needs in 0.0_f64..4.0, floor in 0.0_f64..10.0,
    ) {
        let score = |seconds: f64, bytes: u64, hits: f64, needs: f64| {
            let mut shelf = Shelf::new(Policy::Value, 0.0);
            let part = shelf.add_part(bytes);
            let item = Item { key: "k".into(), seconds, hits, needs, floor, ..Item::default() };
            let at = shelf.add(item, vec![part]);
            shelf.restore(at);
            Policy::Value.score(&shelf, at) - floor
        };
        let base = score(seconds, bytes, hits, needs);
        prop_assert!(score(seconds * more, bytes, hits, needs) >= base);
        prop_assert!(score(seconds, bytes, hits + more, needs) >= base);
        prop_assert!(score(seconds, bytes, hits, needs + more) >= base);
        prop_assert!(score(seconds, bytes * 2, hits, needs) <= base);
    }

    #[test]
    fn other_units_give_the_same_order(trace in traces(), share in 1_u64..10) {
        let budget = trace.bytes() * share / 10;
        for policy in BOUNDED {
            let ours = replay(&trace, policy, budget);
            // Powers of two, so that rounding is the same as well.
            let other = replay(&scaled(&trace, 1024.0, 64), policy, budget * 64);
            prop_assert_eq!((ours.hits, ours.evicted), (other.hits, other.evicted));
            prop_assert_eq!(ours.paid * 1024.0, other.paid);
        }
    }

    #[test]
    fn the_budget_holds_at_every_moment(trace in traces(), share in 0_u64..12) {
        let budget = trace.bytes() * share / 10;
        let none = replay(&trace, Policy::None, budget);
        let all = replay(&trace, Policy::All, budget);
        prop_assert_eq!((none.saved, none.hits, none.peak), (0.0, 0, 0));
        prop_assert_eq!(all.peak, trace.bytes());
        for policy in BOUNDED {
            let found = replay(&trace, policy, budget);
            prop_assert!(found.peak <= budget, "{:?}: {} of {}", policy, found.peak, budget);
            prop_assert!(found.paid <= none.paid + 1e-9 && found.paid >= all.paid - 1e-9);
            if share >= 10 {
                prop_assert_eq!((found.evicted, found.hits), (0, all.hits));
            }
        }
    }

    #[test]
    fn what_is_larger_than_the_budget_is_never_admitted(budget in 1_u64..1000, over in 1_u64..1000, seconds in 0.0_f64..1e9) {
        for policy in BOUNDED {
            let mut shelf = Built::new(policy);
            let small = shelf.stored("small", 1.0, budget / 2, &[]);
            let at = shelf.known("giant", seconds, budget + over, &[]);
            prop_assert!(!shelf.0.admit(at, 9, budget));
            prop_assert!(shelf.0.has(small), "nothing leaves for it");
        }
    }

    #[test]
    fn what_the_queue_finds_is_the_least_of_all(trace in traces(), share in 1_u64..8) {
        let budget = trace.bytes() * share / 10;
        let mut shelf = Shelf::new(Policy::Value, 0.0);
        let mut numbers = std::collections::BTreeMap::new();
        for (tick, step) in trace.runs.iter().flatten().enumerate() {
            let known = numbers.get(&step.key).copied();
            let at = known.unwrap_or_else(|| {
                let part = shelf.add_part(step.bytes);
                let item = Item { key: step.key.as_str().into(), seconds: step.seconds, ..Item::default() };
                let at = shelf.add(item, vec![part]);
                step.parents.iter().for_each(|parent| shelf.link(numbers[parent], at));
                numbers.insert(step.key.clone(), at);
                at
            });
            let tick = i64::try_from(tick).unwrap();
            if shelf.has(at) { shelf.touch(at, tick) } else { shelf.put(at, tick) }
            while shelf.held() > budget {
                let places = (0..shelf.len()).filter(|at| shelf.may_leave(*at));
                let least = places.map(|at| Policy::Value.score(&shelf, at)).fold(f64::INFINITY, f64::min);
                let (victim, score) = shelf.victim().unwrap();
                prop_assert_eq!(score, least);
                shelf.evict(victim, score);
            }
        }
    }
}

// The recorded traces.

fn recorded(name: &str) -> Trace {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/bench/traces");
    let text = std::fs::read_to_string(format!("{folder}/{name}.jsonl")).unwrap();
    assert!(text.len() < 300_000, "{name} has {} bytes", text.len());
    let trace = Trace::read(&text).unwrap();
    assert!(Trace::read(&trace.write()).unwrap() == trace);
    trace
}

/// Seconds saved as a share of what keeping everything saves, for each policy.
fn shares(trace: &Trace, percent: u64) -> Vec<(Policy, f64, Outcome)> {
    let budget = trace.bytes() * percent / 100;
    let all = replay(trace, Policy::All, budget).saved;
    let each = Policy::ALL.into_iter().map(|policy| replay(trace, policy, budget));
    each.map(|outcome| (outcome.policy, outcome.saved / all, outcome)).collect()
}

#[test]
fn the_comparison_over_the_recorded_traces() {
    let mut table = String::new();
    for name in ["outage", "pretrain", "week"] {
        let trace = recorded(name);
        for percent in [10, 25, 50] {
            table += &format!("{name} {percent} %:");
            for (policy, share, _) in shares(&trace, percent) {
                table += &format!(" {} {:.1}", policy.name(), share * 100.0);
            }
            table += "\n";
        }
    }
    let expected = include_str!("eviction.txt");
    assert!(table == expected, "runtime/core/tests/eviction.txt should be:\n{table}");
}
