//! What is stored, what is believed of it, and what is told.

use crate::{NONE, edit, project, ran, ran_with};
use pipe_tests::pipe::{Project, Said, nodes};
use std::fs;
use std::path::{Path, PathBuf};

fn blobs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.join(".pipe/blobs")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found
}

fn remove(path: &Path) {
    fs::remove_file(path).unwrap();
}

#[test]
fn n03_a_record_without_its_content_is_a_miss_that_is_told() {
    let project = project();
    ran(&project);
    blobs(project.path()).iter().for_each(|path| remove(path));
    edit(&project, "[\"cpu\"]", "[\"host\"]");
    assert_eq!(ran(&project), ["high", "rows", "sorted"]);
}

#[test]
fn n11_a_failure_is_never_stored() {
    let project = Project::new(&[
        (
            "p.pipe",
            "let made = exec([\"sh\", \"inputs/s.sh\"], inputs: { s: \"s.sh\" }, outputs: { o: \"o\" })\noutput o = made.o\n",
        ),
        ("s.sh", "echo partial > o\n[ -e FOLDER/now ]\n"),
    ]);
    let script = project.read("s.sh").replace("FOLDER", &project.path().display().to_string());
    project.write("s.sh", &script);
    let fails = |project: &Project| project.pipe(&["run", "p.pipe", "--allow", "exec"]).code;
    assert_eq!((fails(&project), fails(&project)), (3, 3));
    project.write("now", "");
    assert_eq!(ran_with(&project, &["--allow", "exec"]), ["made"]);
}

#[test]
fn n13_large_results_lie_beside_the_database() {
    let project = project();
    let rows: String = (0..60_000).map(|row| format!("h{row},0.{row}\n")).collect();
    project.write("m.csv", &format!("host,cpu\n{rows}"));
    ran(&project);
    let size = |path: PathBuf| fs::metadata(path).unwrap().len();
    assert!(size(project.path().join(".pipe/store.db")) < 200_000);
    assert!(blobs(project.path()).into_iter().map(size).max() > Some(500_000));
}

#[test]
fn n20_content_decides_and_force_is_for_those_who_mean_it() {
    let project = project();
    ran(&project);
    let file = fs::File::options().write(true).open(project.path().join("m.csv")).unwrap();
    file.set_modified(std::time::SystemTime::now()).unwrap();
    assert_eq!(ran(&project), NONE, "touched");
    assert_eq!(ran_with(&project, &["--force", "high"]), ["high"], "its result is the same");
    let said = project.pipe(&["run", "p.pipe", "--force", "hihg"]);
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("did you mean `high`?"), "{said:?}");
}

#[test]
fn n23_never_cached_beats_every_layer() {
    let project = project();
    edit(&project, "let high", "@cache(off)\nlet high");
    ran(&project);
    assert_eq!(ran(&project), ["high"]);
    let copy = Project::copy_of(project.path());
    assert_eq!(ran(&copy).len(), 3);
}

#[test]
fn n24_after_cleaning_a_lost_result_is_stored_again() {
    let project = project();
    ran(&project);
    blobs(project.path()).iter().for_each(|path| remove(path));
    assert_eq!(project.pipe(&["store", "gc"]).code, 0);
    edit(&project, "[\"cpu\"]", "[\"host\"]");
    assert_eq!(ran(&project).len(), 3);
    assert_eq!(ran(&project), NONE);
    assert_eq!(project.pipe(&["store", "verify"]).code, 0);
}

#[test]
fn n25_a_program_without_outputs_runs_each_time() {
    let program =
        "let told = exec([\"sh\", \"-c\", \"echo x >> FOLDER/log\"])\noutput told = told\n";
    let project = Project::new(&[]);
    project.write("p.pipe", &program.replace("FOLDER", &project.path().display().to_string()));
    ran_with(&project, &["--allow", "exec"]);
    ran_with(&project, &["--allow", "exec"]);
    assert_eq!(project.read("log"), "x\nx\n");
}

#[test]
fn n29_a_miss_says_whether_there_was_no_record_or_no_content() {
    let project = project();
    let why = |project: &Project| project.pipe(&["plan", "p.pipe"]).stdout;
    assert!(why(&project).contains("first run"));
    ran(&project);
    blobs(project.path()).iter().for_each(|path| remove(path));
    assert!(why(&project).contains("its result was lost"), "{}", why(&project));
}

#[test]
fn n30_n31_outputs_are_compared_on_every_hit_and_mended() {
    let project = project();
    ran(&project);
    let path = project.path().join("out/p/sorted.arrow");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, "edited").unwrap();
    assert_eq!(ran(&project), NONE);
    assert_eq!(fs::read(&path).unwrap(), whole, "edited");
    fs::remove_file(&path).unwrap();
    assert_eq!(ran(&project), NONE);
    assert_eq!(fs::read(&path).unwrap(), whole, "removed");
}

#[test]
fn n33_keys_come_from_recorded_digests_and_not_from_the_outputs() {
    let project = project();
    ran(&project);
    fs::remove_dir_all(project.path().join("out")).unwrap();
    edit(&project, "[\"cpu\"]", "[\"host\"]");
    assert_eq!(ran(&project), ["sorted"]);
}

#[test]
fn n36_results_hold_no_absolute_paths() {
    let project = project();
    ran(&project);
    let moved = Project::new(&[]);
    let from = project.path().display().to_string();
    let copied = std::process::Command::new("cp")
        .args(["-r", &format!("{from}/."), &moved.path().display().to_string()])
        .status()
        .unwrap();
    assert!(copied.success());
    assert_eq!(ran(&moved), NONE);
}

#[test]
fn n37_verify_runs_again_and_names_the_first_output_that_differs() {
    let project = project();
    ran(&project);
    let said = project.pipe(&["run", "p.pipe", "--verify", "3"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("as stored"), "{said:?}");
    let program = "let made = exec([\"sh\", \"-c\", \"echo same > a; date +%N > b\"], outputs: { a: \"a\", b: \"b\" })\noutput a = made.a\noutput b = made.b\n";
    let project = Project::new(&[("p.pipe", program)]);
    let run = |flags: &[&str]| -> Said {
        project.pipe(&[&["run", "p.pipe", "--allow", "exec"], flags].concat())
    };
    assert_eq!(run(&[]).code, 0);
    let before = project.read("out/p/b");
    let said = run(&["--verify", "1"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("`made`") && said.stderr.contains("`b`"), "{said:?}");
    assert_eq!(project.read("out/p/b"), before, "what is stored stays");
}

#[test]
fn n40_going_on_is_an_ordinary_run_that_tells_what_it_finds() {
    let project = project();
    let mut child = project.start(&["run", "p.pipe"]);
    std::thread::sleep(std::time::Duration::from_millis(30));
    let _ = child.kill();
    let _ = child.wait();
    let (said, events) = project.run("p.pipe", &[]);
    assert_eq!(said.code, 0);
    let told = nodes(&events, "ran").len() + nodes(&events, "cached").len();
    assert_eq!(told, 3, "every node is told of");
}
