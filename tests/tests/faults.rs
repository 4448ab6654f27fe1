//! Killed at any moment: the store stays sound, and the next run ends with the same bytes as an undisturbed one.
//!
//! `PIPE_FAULTS` sets the number of kills (50). Moments are drawn from a fixed seed over the length of a run.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

use pipe_tests::pipe::{Project, nodes};
use pipe_tests::random::Random;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

const PROGRAM: &str = r#"
param factor: float = 2.0
let t = data.read("numbers.csv")
let a = t |> data.derive(a: row => row.x * factor) |> data.sort(["a"])
let b = t |> data.derive(b: row => row.y * 2.0) |> data.sort(["b"])
let c = t |> data.derive(c: row => row.z + factor) |> data.filter(row => row.c > factor) |> data.sort(["c"])
let both = a |> data.join(with: b, on: ["id"], suffix: "_b")
output smallest = a
output joined = both |> data.join(with: c, on: ["id"], suffix: "_c", how: "left")
output rows = { c: c.rows, share: c.rows / t.rows }
check some = c.rows > 0
"#;

fn project() -> Project {
    let mut random = Random::new(1);
    let mut numbers = String::from("id,x,y,z\n");
    for id in 0..20_000 {
        let (x, y, z) = (random.share(), random.share(), random.share() - 0.5);
        let _ = writeln!(numbers, "{id},{x:.6},{y:.6},{z:.6}");
    }
    Project::new(&[("p.pipe", PROGRAM), ("numbers.csv", &numbers)])
}

/// Files below `out/` with their content.
fn outputs(project: &Project) -> BTreeMap<String, Vec<u8>> {
    let folder = project.path().join("out/p");
    std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read(entry.path()).unwrap())
        })
        .collect()
}

fn verified(project: &Project, moment: &str) {
    if !project.path().join(".pipe/store.db").exists() {
        return;
    }
    let said = project.pipe(&["store", "verify"]);
    assert_eq!(said.code, 0, "after a kill {moment}: {said:?}");
}

#[test]
fn killed_at_random_moments() {
    let kills: u32 = std::env::var("PIPE_FAULTS").ok().and_then(|n| n.parse().ok()).unwrap_or(50);
    let calm = project();
    let begin = Instant::now();
    let said = calm.pipe(&["run", "p.pipe", "--factor", "3.25"]);
    let length = begin.elapsed();
    assert_eq!(said.code, 0, "{said:?}");

    let disturbed = project();
    let mut random = Random::new(7);
    let mut hit = 0;
    for number in 0..kills {
        if number % 10 == 0 {
            let _ = std::fs::remove_dir_all(disturbed.path().join(".pipe"));
        }
        let factor = format!("factor={}.25", number % 5);
        let wait = length.mul_f64(random.share());
        let mut child = disturbed.start(&["run", "p.pipe", "--set", &factor]);
        std::thread::sleep(wait);
        child.kill().unwrap();
        hit += u32::from(child.wait().unwrap().code().is_none());
        verified(&disturbed, &format!("{number} after {wait:?}"));
    }
    assert!(hit > 0 || kills == 0, "no kill came before the end");

    let said = disturbed.pipe(&["run", "p.pipe", "--factor", "3.25"]);
    assert_eq!(said.code, 0, "{said:?}");
    let (expected, found) = (outputs(&calm), outputs(&disturbed));
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    for (name, content) in &expected {
        assert!(found[name] == *content, "{name} differs from that of an undisturbed run");
    }
    let leftover = std::fs::read_dir(disturbed.path().join(".pipe/tmp")).map_or(0, Iterator::count);
    assert!(leftover <= 1, "{leftover} folders of killed runs are left in .pipe/tmp");
}

/// What a killed run left of an output that it wrote goes with the next run; what somebody else calls a part stays.
#[test]
fn parts_of_killed_runs_go() {
    let project = project();
    assert_eq!(project.pipe(&["run", "p.pipe"]).code, 0);
    let store = std::path::absolute(project.path().join(".pipe")).unwrap();
    let digest = blake3::hash(store.as_os_str().as_encoded_bytes()).to_hex();
    let store: String = digest.chars().take(8).collect();
    let (left, other) = (format!(".joined.arrow.{store}-1.part"), ".joined.arrow.1.part");
    for name in [left.as_str(), other] {
        std::fs::write(project.path().join("out/p").join(name), "half").unwrap();
    }
    assert_eq!(project.pipe(&["run", "p.pipe"]).code, 0);
    let found = outputs(&project);
    assert!(!found.contains_key(&left) && found.contains_key(other), "{:?}", found.keys());
}

/// A chain of steps and a fan of elements: what had ended when the process was killed is found, the rest runs.
#[test]
fn killed_while_it_expands() {
    let project = project();
    let program = r#"
let t = data.read("numbers.csv")
let signs = if t.rows > 3 { [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] } else { [1.0] }
let tables = for sign in signs { t |> data.derive(s: row => row.z * sign) |> data.sort(["s"]) }
output rows = for table in tables { table.rows }
output last = iterate(t, step: t => t |> data.derive(x: row => row.x * 1.5) |> data.sort(["y"]), max: 10)
"#;
    project.write("e.pipe", program);
    let made = |name: &String| name.starts_with("last[step=") || name.starts_with("tables[sign=");
    let ended = || {
        let text = std::fs::read_to_string(project.path().join("events.jsonl")).unwrap_or_default();
        let events = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        let events: Vec<serde_json::Value> = events.collect();
        nodes(&events, "ran").into_iter().filter(made).collect::<Vec<String>>()
    };
    let mut child = project.start(&["run", "e.pipe", "--events", "events.jsonl"]);
    while ended().len() < 4 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let found = ended();
    assert!(found.len() >= 4, "{found:?}");
    verified(&project, "of an expanding run");
    let (said, events) = project.run("e.pipe", &[]);
    assert_eq!(said.code, 0, "{said:?}");
    let again: Vec<String> = nodes(&events, "ran").into_iter().filter(made).collect();
    assert!(found.iter().all(|name| !again.contains(name)), "{found:?} and again {again:?}");
    let calm = self::project();
    calm.write("e.pipe", program);
    assert_eq!(calm.pipe(&["run", "e.pipe"]).code, 0);
    for output in ["out/e/last.arrow", "out/e/rows.json"] {
        let read = |project: &Project| std::fs::read(project.path().join(output)).unwrap();
        assert!(read(&calm) == read(&project), "{output} differs from that of an undisturbed run");
    }
}

/// SIGTERM is a wish, not an accident: exit 75, and the same command goes on from there.
#[cfg(unix)]
#[test]
fn stopped_by_a_signal() {
    let project = project();
    let mut child = project.start(&["run", "p.pipe", "--events", "events.jsonl"]);
    let begun = || {
        let events = std::fs::read_to_string(project.path().join("events.jsonl"));
        events.is_ok_and(|text| text.contains("node_started"))
    };
    while !begun() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let sent = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
    let code = child.wait().unwrap().code();
    assert!(matches!(code, Some(75 | 0)), "{code:?}");
    verified(&project, "of SIGTERM");
    assert_eq!(project.pipe(&["run", "p.pipe"]).code, 0);
}
