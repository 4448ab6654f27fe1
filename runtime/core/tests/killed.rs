//! Runs that are killed at any moment leave a sound store, and the next run ends with the same result.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::process::{Command, Stdio};
use std::time::Duration;
use support::{Place, branch_ops, branches};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pipe-runtime-test");

#[test]
fn killed_runs_leave_a_sound_store_and_the_same_result() {
    let whole = Place::new();
    whole.run(&branches(), &branch_ops(Duration::ZERO));
    let expected = std::fs::read(whole.out().join("all.txt")).unwrap();
    let place = Place::new();
    for round in 0..10_u64 {
        let mut child = Command::new(PROGRAM)
            .arg("run")
            .arg(place.folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(2 + round * 7 % 40));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = place.store().verify().unwrap();
        assert!(found.is_clean(), "round {round}: {found:?}");
    }
    let ended = Command::new(PROGRAM).arg("run").arg(place.folder.path()).status().unwrap();
    assert!(ended.success());
    let out = std::fs::read(place.folder.path().join("out/all.txt")).unwrap();
    assert_eq!(out, expected);
    let mut store = place.store();
    store.clean(None).unwrap();
    let found = store.verify().unwrap();
    assert!(found.is_clean() && found.orphans.is_empty(), "{found:?}");
    assert_eq!(store.folder().join("tmp").read_dir().unwrap().count(), 0);
}

#[test]
fn processes_share_a_store() {
    let place = Place::new();
    let start = || {
        let mut command = Command::new(PROGRAM);
        command.arg("run").arg(place.folder.path()).spawn().unwrap()
    };
    let children: Vec<_> = (0..3).map(|_| start()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let store = place.store();
    assert!(store.verify().unwrap().is_clean());
    let runs = store.runs(10).unwrap();
    assert_eq!(runs.len(), 3);
    assert_eq!(runs.iter().map(|run| run.ran).sum::<i64>(), 13, "each node ran once: {runs:?}");
}

/// A driver over thirty items: elements that had ended before the process was killed are found by the next run.
#[test]
fn a_fan_out_that_is_killed_goes_on_where_it_was() {
    let place = Place::new();
    let mut rounds = 0;
    loop {
        let mut child = Command::new(PROGRAM).arg("fan").arg(place.folder.path()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(60));
        child.kill().unwrap();
        let ended = child.wait().unwrap().success();
        assert!(place.store().verify().unwrap().is_clean());
        rounds += 1;
        if ended || rounds == 4 {
            break;
        }
    }
    let ended = Command::new(PROGRAM).arg("fan").arg(place.folder.path()).status().unwrap();
    assert!(ended.success());
    let out = std::fs::read_to_string(place.folder.path().join("out/total.json")).unwrap();
    let values: Vec<i64> = serde_json::from_str(&out).unwrap();
    assert_eq!(values, (0..30).map(|at| at + 100).collect::<Vec<_>>());
    let marks = std::fs::read_to_string(place.folder.path().join("marks")).unwrap();
    // One thread: what runs when the process dies is the only work that is done again.
    let most = 30 + rounds;
    assert!((30..=most).contains(&marks.len()), "{} of at most {most} additions", marks.len());
}
