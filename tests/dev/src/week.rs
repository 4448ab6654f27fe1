//! A week of five people on one store, made from a seed: a trace for the comparison of evictions.
//!
//! What the people do, and why:
//!
//! * `metrics`, two programs: read a day's measurements, clean, make features, fit a detector, score, report. New data
//!   comes every morning, so all of yesterday is of no more use. People turn thresholds and windows.
//! * `model`, two programs over one corpus: read, remove duplicates, tokenize, train, judge, report. The first three are the
//!   same results for both. Trainings take hours, and are tried with other settings.
//! * `adapters`, one program over the same tokens: eight small trainings, their scores, the best of them merged into a
//!   large file that takes seconds.
//!
//! Most edits are near the end of a program, few at its beginning; one in three goes back to what was there before.
//! Integers alone decide, so the file is the same everywhere.

use std::collections::BTreeMap;
use std::fmt::Write;

const SEED: u64 = 20_240_501;
const DAYS: u64 = 7;

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed(self.0)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }
}

fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// A step of a program: op, seconds, megabytes times ten, the stages that it reads, how often it is made.
struct Stage {
    op: &'static str,
    seconds: u64,
    tenths: u64,
    reads: &'static [usize],
    times: usize,
    /// Its versions are those of everybody who has the stage.
    shared: bool,
}

const fn stage(op: &'static str, seconds: u64, tenths: u64, reads: &'static [usize]) -> Stage {
    Stage { op, seconds, tenths, reads, times: 1, shared: false }
}

const METRICS: &[Stage] = &[
    stage("read", 6, 9_000, &[]),
    stage("clean", 40, 7_000, &[0]),
    stage("features", 90, 3_000, &[1]),
    stage("fit", 60, 50, &[2]),
    stage("score", 20, 400, &[2, 3]),
    stage("alerts", 1, 2, &[4]),
    stage("report", 3, 10, &[1, 4, 5]),
];

const MODEL: &[Stage] = &[
    Stage { shared: true, ..stage("corpus", 10, 20_000, &[]) },
    Stage { shared: true, ..stage("dedup", 600, 15_000, &[0]) },
    Stage { shared: true, ..stage("tokens", 200, 8_000, &[1]) },
    stage("train", 5_400, 5_000, &[2]),
    stage("judge", 120, 1, &[2, 3]),
    stage("package", 15, 5_200, &[3]),
    stage("report", 3, 5, &[3, 4]),
];

const ADAPTERS: &[Stage] = &[
    Stage { shared: true, ..stage("corpus", 10, 20_000, &[]) },
    Stage { shared: true, ..stage("dedup", 600, 15_000, &[0]) },
    Stage { shared: true, ..stage("tokens", 200, 8_000, &[1]) },
    Stage { times: 8, ..stage("adapt", 900, 200, &[2]) },
    Stage { times: 8, ..stage("judge", 60, 1, &[2, 3]) },
    stage("best", 1, 1, &[4]),
    stage("merge", 30, 12_000, &[3, 5]),
    stage("report", 2, 5, &[4, 5]),
];

struct Program {
    user: &'static str,
    name: &'static str,
    stages: &'static [Stage],
    /// Runs on a working day.
    busy: u64,
    /// The version of each stage, and how many there have been.
    versions: Vec<(u64, u64)>,
}

/// The trace as JSON Lines.
#[must_use]
pub(crate) fn week() -> String {
    let mut random = Random(SEED);
    let program = |user, name, stages: &'static [Stage], busy| Program {
        user,
        name,
        stages,
        busy,
        versions: vec![(0, 1); stages.len()],
    };
    let mut programs = [
        program("ada", "metrics", METRICS, 9),
        program("ben", "metrics", METRICS, 6),
        program("cleo", "model", MODEL, 5),
        program("dan", "model", MODEL, 4),
        program("eve", "adapters", ADAPTERS, 4),
    ];
    let mut shared: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut out, mut run) = (String::new(), 0);
    for day in 0..DAYS {
        // In the night, over the new data.
        for program in programs.iter_mut().filter(|program| program.name == "metrics") {
            run += 1;
            program.versions[0] = (day, day + 1);
            write_run(&mut out, run, program, &shared);
        }
        let weekend = day >= 5;
        let each = |(at, program): (usize, &Program)| {
            let runs = if weekend { program.busy / 4 } else { program.busy };
            vec![at; usize::try_from(runs).unwrap_or(0)]
        };
        let mut order: Vec<usize> = programs.iter().enumerate().flat_map(each).collect();
        while !order.is_empty() {
            let next = random.below(order.len() as u64);
            let at = order.swap_remove(usize::try_from(next).unwrap_or(0));
            edit(&mut programs[at], &mut shared, &mut random);
            run += 1;
            write_run(&mut out, run, &programs[at], &shared);
        }
    }
    out
}

/// Change one stage, one near the end more often than one at the beginning, or nothing at all.
fn edit(program: &mut Program, shared: &mut BTreeMap<&str, u64>, random: &mut Random) {
    if random.below(8) == 0 {
        return;
    }
    let count = program.stages.len() as u64;
    // The later of two, and of three where the program is long to the end.
    let at = random.below(count).max(random.below(count)).max(random.below(count));
    let at = usize::try_from(at).unwrap_or(0);
    let back = random.below(3) == 0;
    let Some(stage) = program.stages.get(at) else { return };
    if stage.shared {
        // What all build on is changed once in a while, and never back.
        if random.below(4) == 0 {
            *shared.entry(stage.op).or_default() += 1;
        }
        return;
    }
    let Some((version, made)) = program.versions.get_mut(at) else { return };
    if back && *made > 1 {
        *version = random.below(*made);
    } else {
        *version = *made;
        *made += 1;
    }
}

fn write_run(out: &mut String, run: u64, program: &Program, shared: &BTreeMap<&str, u64>) {
    let mut keys: Vec<Vec<u64>> = Vec::new();
    for (at, stage) in program.stages.iter().enumerate() {
        let version = match program.versions.get(at) {
            _ if stage.shared => shared.get(stage.op).copied().unwrap_or(0),
            Some((version, _)) => *version,
            None => 0,
        };
        // Data and settings of two people are their own, what is shared is not.
        let owner = if stage.shared { "all" } else { program.user };
        let mut made = Vec::new();
        for time in 0..stage.times {
            let mut parents: Vec<u64> = Vec::new();
            for read in stage.reads {
                let of = keys.get(*read).map_or(&[][..], Vec::as_slice);
                // Elements of a loop read those at the same place.
                let own = of.get(time).filter(|_| of.len() == stage.times);
                parents.extend(own.map_or(of, std::slice::from_ref));
            }
            let key = key(owner, stage.op, version, time as u64, &parents);
            let last = at + 1 == program.stages.len();
            let output =
                last || stage.op == "alerts" || stage.op == "package" || stage.op == "merge";
            write_step(out, run, key, stage, &parents, program, output);
            made.push(key);
        }
        keys.push(made);
    }
}

fn write_step(
    out: &mut String,
    run: u64,
    key: u64,
    stage: &Stage,
    parents: &[u64],
    program: &Program,
    output: bool,
) {
    // Each result takes between half and twice the usual time and size.
    let factor = |bits: u64| [5, 7, 8, 9, 10, 12, 14, 20][usize::try_from(bits & 7).unwrap_or(0)];
    let seconds = stage.seconds * factor(key);
    let bytes = stage.tenths * factor(key >> 3) * 10_000;
    let parents: Vec<String> = parents.iter().map(|key| format!("\"{}\"", name(*key))).collect();
    let _ = write!(
        out,
        r#"{{"run":{run},"key":"{}","op":"{}","seconds":{}.{},"bytes":{bytes},"parents":[{}],"user":"{}""#,
        name(key),
        stage.op,
        seconds / 10,
        seconds % 10,
        parents.join(","),
        program.user,
    );
    out.push_str(if output { ",\"output\":true}\n" } else { "}\n" });
}

fn key(owner: &str, op: &str, version: u64, time: u64, parents: &[u64]) -> u64 {
    let letters = owner.bytes().chain([0]).chain(op.bytes());
    let start = letters.fold(SEED, |key, letter| mixed(key ^ u64::from(letter)));
    let numbers = [version, time].into_iter().chain(parents.iter().copied());
    numbers.fold(start, |key, number| mixed(key ^ number.wrapping_add(1)))
}

fn name(key: u64) -> String {
    format!("{:08x}", key >> 32)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_week_is_the_same_each_time_and_small() {
        let text = super::week();
        assert_eq!(text, super::week());
        assert!(text.len() < 300_000, "{}", text.len());
    }
}
