//! Stores and output folders that cannot be written, full disks, and two runs at once.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

use pipe_tests::pipe::Project;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = r#"
param factor: float = 2.0
let t = data.read("numbers.csv")
let a = t |> data.derive(a: row => row.x * factor) |> data.sort(["a"])
let b = t |> data.derive(b: row => row.x + factor) |> data.sort(["b"])
output a = a
output b = b
output n = a.rows + b.rows
"#;

fn project(rows: usize) -> Project {
    let mut numbers = String::from("id,x\n");
    for id in 0..rows {
        let _ = writeln!(numbers, "{id},{}", (id * 7919) % 1000);
    }
    Project::new(&[("p.pipe", PROGRAM), ("numbers.csv", &numbers)])
}

/// A file system of its own at `folder`; unmounted when dropped.
struct Mount<'a>(&'a Path);

impl<'a> Mount<'a> {
    /// `None`, with a word on stderr, where this user may not mount.
    fn new(folder: &'a Path, options: &str) -> Option<Self> {
        std::fs::create_dir_all(folder).unwrap();
        let made = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(folder)
            .output()
            .is_ok_and(|output| output.status.success());
        if !made {
            eprintln!("skipped: this user may not mount a tmpfs ({options})");
        }
        made.then_some(Self(folder))
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_file_where_the_store_should_be() {
    let project = project(10);
    project.write(".pipe", "not a folder");
    let said = project.pipe(&["run", "p.pipe"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(
        said.stderr.contains("there is a file") && said.stderr.contains("help:"),
        "{}",
        said.stderr
    );
    assert_eq!(project.read(".pipe"), "not a folder");
    assert_eq!(project.pipe(&["check", "p.pipe"]).code, 0);
    assert_eq!(project.pipe(&["plan", "p.pipe"]).code, 0);
}

#[test]
fn a_store_that_is_no_database() {
    let project = project(10);
    assert_eq!(project.pipe(&["run", "p.pipe"]).code, 0);
    project.write(".pipe/store.db", &"not a database ".repeat(1000));
    for name in ["store.db-wal", "store.db-shm"] {
        let _ = std::fs::remove_file(project.path().join(".pipe").join(name));
    }
    let said = project.pipe(&["run", "p.pipe"]);
    assert!(!said.stderr.contains("panicked"), "{}", said.stderr);
    assert!(said.code == 0 || (said.code == 3 && said.stderr.starts_with("error: ")), "{said:?}");
}

#[test]
fn a_store_that_cannot_be_written() {
    let project = project(10);
    let folder = project.path().join("ro");
    let Some(_mount) = Mount::new(&folder, "size=1m,ro") else { return };
    let store = folder.join("store");
    let output = project.command(&["run", "p.pipe"]).env("PIPE_STORE", &store).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("cannot be written") && said.contains("PIPE_STORE"), "{said}");
}

#[test]
fn a_full_disk_under_the_store() {
    let project = project(60_000);
    let folder = project.path().join("small");
    let Some(_mount) = Mount::new(&folder, "size=1m") else { return };
    let store = folder.join("store");
    let with_store =
        |arguments: &[&str]| project.command(arguments).env("PIPE_STORE", &store).output().unwrap();
    let output = with_store(&["run", "p.pipe"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("No space left") || said.contains("full"), "{said}");
    assert_eq!(with_store(&["store", "verify"]).status.code(), Some(0));
    let output = with_store(&["run", "p.pipe"]);
    assert_eq!(output.status.code(), Some(3), "still full");
    assert_eq!(project.pipe(&["run", "p.pipe"]).code, 0, "another store has room");
}

#[test]
fn a_full_disk_under_the_outputs() {
    let project = project(60_000);
    let folder = project.path().join("small");
    let Some(_mount) = Mount::new(&folder, "size=1m") else { return };
    let said = project.pipe(&["run", "p.pipe", "--out", "small"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(
        said.stderr.contains("No space left") || said.stderr.contains("full"),
        "{}",
        said.stderr
    );
    assert_eq!(project.pipe(&["store", "verify"]).code, 0);
    let again = project.pipe(&["run", "p.pipe"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.stderr.contains("cached"), "what was computed is kept: {}", again.stderr);
}

#[test]
fn two_runs_at_once_on_one_store() {
    let (together, alone) = (project(20_000), project(20_000));
    let mut children: Vec<_> = ["1.5", "2.5", "1.5", "2.5"]
        .iter()
        .enumerate()
        .map(|(number, factor)| {
            let out = format!("out{number}");
            together.start(&["run", "p.pipe", "--factor", factor, "--out", &out])
        })
        .collect();
    for child in &mut children {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    assert_eq!(together.pipe(&["store", "verify"]).code, 0);
    for (number, factor) in ["1.5", "2.5"].iter().enumerate() {
        assert_eq!(alone.pipe(&["run", "p.pipe", "--factor", factor]).code, 0);
        for name in ["a.arrow", "b.arrow", "n.json"] {
            let expected = std::fs::read(alone.path().join("out/p").join(name)).unwrap();
            for number in [number, number + 2] {
                let found =
                    std::fs::read(together.path().join(format!("out{number}/p")).join(name))
                        .unwrap();
                assert!(found == expected, "{name} of run {number} differs");
            }
        }
    }
}
