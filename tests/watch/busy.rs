//! Changes that come while the program runs.

use crate::watched::Watched;
use pipe_tests::pipe::Project;
use std::fs;

/// Two steps that take as long as the test wants: each ends when a file is there.
const PROGRAM: &str = r#"
let slow = exec(
  ["sh", "inputs/wait.sh", "SLOW", "slow 1"],
  inputs: { wait: "wait.sh" },
  outputs: { said: "said.txt" },
)
let other = exec(
  ["sh", "inputs/wait.sh", "OTHER", "other 1"],
  inputs: { wait: "wait.sh" },
  outputs: { said: "said.txt" },
)
output slow = slow.said
output other = other.said
"#;

const WAIT: &str = "echo \"$2\" >> FOLDER/begun\nwhile [ ! -e FOLDER/$1 ]; do sleep 0.02; done\necho \"$2\" > said.txt\n";

fn project() -> Project {
    let project = Project::new(&[("p.pipe", PROGRAM)]);
    let wait = WAIT.replace("FOLDER", &project.path().display().to_string());
    project.write("wait.sh", &wait);
    project
}

/// A program that is stopped puts things in order, and what it has started ends with it.
#[test]
fn a_program_that_is_stopped_is_asked_first_and_leaves_nothing_behind() {
    let project = Project::new(&[]);
    let folder = project.path().display().to_string();
    let program = r#"
let slow = exec(["sh", "inputs/s.sh"], inputs: { s: "s.sh" }, outputs: { o: "o" })
output o = slow.o
"#;
    project.write("p.pipe", program);
    let script = "trap 'echo asked > FOLDER/asked; exit 1' TERM\nsleep 600 &\necho $! > FOLDER/begun\nwait\n";
    project.write("s.sh", &script.replace("FOLDER", &folder));
    let watched = Watched::begin(project, &["--allow", "exec"]);
    watched.until("it has begun", || !begun(&watched).is_empty());
    let started = begun(&watched).concat();
    watched.project.write("p.pipe", "let rows = [1]\noutput rows = rows\n");
    watched.run(1);
    watched.rests_after(2);
    assert_eq!(watched.project.read("asked"), "asked\n");
    let lives = std::path::Path::new("/proc").join(&started).exists();
    let zombie = || {
        std::fs::read_to_string(format!("/proc/{started}/stat"))
            .is_ok_and(|stat| stat.contains(") Z"))
    };
    assert!(!lives || zombie(), "{started} lives on");
}

/// How often each step has begun.
fn begun(watched: &Watched) -> Vec<String> {
    let text = fs::read_to_string(watched.project.path().join("begun")).unwrap_or_default();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn both_run(watched: &Watched) {
    watched.until("both have begun", || begun(watched).len() == 2);
}

/// What a change does not concern goes on under the new plan; what it concerns stops and begins anew.
#[test]
fn what_is_still_wanted_goes_on_and_the_rest_stops() {
    let watched = Watched::begin(project(), &["--allow", "exec"]);
    both_run(&watched);
    let renamed = PROGRAM.replace("\"other 1\"", "\"other 2\"").replace("let slow", "let kept");
    watched.project.write("p.pipe", &renamed.replace("= slow.said", "= kept.said"));
    assert_eq!(watched.run(0).end("superseded"), true);
    watched.node("node_started", "kept");
    watched.until("the other has begun again", || begun(&watched).len() == 3);
    watched.project.write("SLOW", "");
    watched.project.write("OTHER", "");
    let run = watched.run(1);
    assert_eq!(run.nodes("ran"), ["kept", "other"], "{}", watched.said());
    assert_eq!(begun(&watched), ["other 1", "other 2", "slow 1"], "slow has begun once");
    assert_eq!(watched.project.read("out/p/other.txt"), "other 2\n");
    assert_eq!(watched.project.read("out/p/slow.txt"), "slow 1\n");
    watched.rests_after(2);
}

#[test]
fn on_busy_finish_lets_the_run_end_and_runs_once_more() {
    let watched = Watched::begin(project(), &["--allow", "exec", "--on-busy", "finish"]);
    both_run(&watched);
    watched.project.write("p.pipe", &PROGRAM.replace("\"other 1\"", "\"other 2\""));
    watched.says("the program runs again after this run");
    watched.project.write("p.pipe", &PROGRAM.replace("\"other 1\"", "\"other 3\""));
    std::thread::sleep(std::time::Duration::from_millis(300));
    watched.project.write("SLOW", "");
    watched.project.write("OTHER", "");
    assert_eq!(watched.run(0).nodes("ran"), ["other", "slow"]);
    assert_eq!(watched.run(1).nodes("ran"), ["other"], "one run for both edits");
    assert_eq!(watched.project.read("out/p/other.txt"), "other 3\n");
    watched.rests_after(2);
}

#[test]
fn a_mistake_made_meanwhile_leaves_the_run_alone() {
    let watched = Watched::begin(project(), &["--allow", "exec"]);
    both_run(&watched);
    watched.project.write("p.pipe", "let a =\n");
    watched.says("what runs goes on");
    watched.project.write("SLOW", "");
    watched.project.write("OTHER", "");
    assert_eq!(watched.run(0).nodes("ran"), ["other", "slow"]);
}

#[test]
fn a_step_that_writes_what_the_program_reads_is_found_out() {
    let program = r#"
let grown = exec(["sh", "-c", "date +%N >> FOLDER/log.txt; cat inputs/log.txt > said.txt"],
  inputs: { log: "log.txt" }, outputs: { said: "said.txt" })
output said = grown.said
"#;
    let project = Project::new(&[("log.txt", "a\n")]);
    let folder = project.path().display().to_string();
    project.write("p.pipe", &program.replace("FOLDER", &folder));
    let watched = Watched::begin(project, &["--allow", "exec"]);
    watched.says("it seems to write what it reads");
    let runs = watched.runs().len();
    assert!(runs <= 4, "{runs} runs before it was found out");
    watched.rests_after(runs);
}

#[test]
fn ctrl_c_while_it_runs_ends_it_with_its_state_saved() {
    let watched = Watched::begin(project(), &["--allow", "exec"]);
    both_run(&watched);
    assert_eq!(watched.end("-INT"), Some(75));
}
