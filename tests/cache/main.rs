//! What other systems got wrong about caching, one test for each kind of report: a wrong hit, a needless run, or silence.
//!
//! The numbers are those of the table that they come from; each test is named after the right behaviour.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

mod files;
mod keys;
mod programs;
mod results;

use pipe_tests::pipe::{Project, nodes};

/// Two steps over a small table.
const PROGRAM: &str = r#"
param cutoff: float = 0.5
let rows = data.read("m.csv")
let high = rows |> data.filter(row => row.cpu > cutoff)
let sorted = high |> data.sort(["cpu"])
output sorted = sorted
output count = { high: high.rows }
"#;

const TABLE: &str = "host,cpu\na,0.7\nb,0.9\nc,0.2\nd,0.6\n";

fn project() -> Project {
    Project::new(&[("p.pipe", PROGRAM), ("m.csv", TABLE)])
}

/// Run `p.pipe`, which has to succeed, and give the nodes that ran.
fn ran(project: &Project) -> Vec<String> {
    ran_with(project, &[])
}

fn ran_with(project: &Project, flags: &[&str]) -> Vec<String> {
    let (said, events) = project.run("p.pipe", flags);
    assert_eq!(said.code, 0, "{said:?}");
    nodes(&events, "ran")
}

/// Change the program.
fn edit(project: &Project, from: &str, to: &str) {
    let before = project.read("p.pipe");
    assert!(before.contains(from), "{from} is not in\n{before}");
    project.write("p.pipe", &before.replace(from, to));
}

const NONE: [String; 0] = [];
