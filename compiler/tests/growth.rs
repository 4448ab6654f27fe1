//! What compiling costs grows with the program and not with its square: counts of allocations, bytes that a plan holds,
//! and, where valgrind is there, instructions. Counts are the same on every machine; times would not be.
#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]
#![allow(dead_code, reason = "the example uses all of it")]

#[path = "../examples/plan_speed/counting.rs"]
mod counting;
#[path = "../examples/plan_speed/programs.rs"]
mod programs;

use pipe_compiler::{Inputs, Machine};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// Most that ten times as much may cost.
const DECADE: f64 = 12.0;

/// Counts are of the whole process, so one test counts at a time.
static COUNTING: Mutex<()> = Mutex::new(());

struct Cost {
    allocations: usize,
    nodes: usize,
    bytes: usize,
}

fn cost(kind: &str, size: usize) -> Cost {
    let files = programs::Files::with(programs::program(kind, size).unwrap());
    let (none, tools) = (BTreeMap::new(), BTreeMap::new());
    let inputs = Inputs {
        file: "main.pipe",
        host: &files,
        library: &pipe_stdlib::FILES,
        params: &none,
        tools: &tools,
        machine: Machine { threads: 2, memory: 8 << 30, gpus: 0 },
    };
    let (held, made) = (counting::live_bytes(), counting::allocations());
    let compiled = pipe_compiler::compile(&inputs);
    let allocations = counting::allocations() - made;
    let errors: Vec<_> = compiled.problems.iter().filter(|problem| problem.is_error()).collect();
    assert!(errors.is_empty(), "{kind}: {errors:?}");
    let plan = compiled.plan.unwrap();
    drop((compiled.sources, compiled.problems, compiled.params, compiled.doc));
    Cost { allocations, nodes: plan.nodes.len(), bytes: counting::live_bytes() - held }
}

#[test]
fn allocations_grow_with_the_program() {
    let _one = COUNTING.lock().unwrap();
    for kind in programs::KINDS {
        let fixed = cost(kind, 80).allocations;
        let (small, large) = (cost(kind, 400), cost(kind, 4_000));
        // What the library costs is there once and hides nothing when it is taken off.
        let grown = |cost: &Cost| cost.allocations.saturating_sub(fixed).max(1) as f64;
        let ratio = grown(&large) / grown(&small);
        assert!(
            ratio < DECADE * 1.25,
            "{kind}: {ratio:.1} times the allocations for 10 times the size"
        );
    }
}

#[test]
fn a_node_of_a_plan_holds_less_than_a_kilobyte() {
    let _one = COUNTING.lock().unwrap();
    for kind in ["fan", "sweep"] {
        let (small, large) = (cost(kind, 400), cost(kind, 4_000));
        let each = (large.bytes - small.bytes) / (large.nodes - small.nodes);
        assert!(each <= 1024, "{kind}: {each} bytes a node");
    }
}

#[test]
fn instructions_grow_with_the_program() {
    let program = example();
    let there =
        Command::new("valgrind").arg("--version").output().is_ok_and(|out| out.status.success());
    if !there || !program.exists() {
        println!("skipped: valgrind or {} is not there", program.display());
        return;
    }
    let sizes: &[usize] = if std::env::var_os("PIPE_LONG").is_some() {
        &[1_000, 10_000, 100_000]
    } else {
        &[300, 3_000]
    };
    for kind in ["fan", "declarations"] {
        let counts: Vec<f64> =
            sizes.iter().map(|size| instructions(&program, kind, *size)).collect();
        for (pair, size) in counts.windows(2).zip(sizes) {
            let ratio = pair[1] / pair[0];
            println!("{kind}: {} instructions at {size}, then {ratio:.1} times", pair[0]);
            assert!(ratio < DECADE, "{kind}: {ratio:.1} times the instructions from {size} on");
        }
    }
}

/// The example, which cargo builds beside the tests.
fn example() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().and_then(std::path::Path::parent).unwrap().join("examples/plan_speed")
}

fn instructions(program: &PathBuf, kind: &str, size: usize) -> f64 {
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([kind, &size.to_string()])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stderr);
    let line =
        text.lines().find(|line| line.contains("Collected :")).unwrap_or_else(|| panic!("{text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}
