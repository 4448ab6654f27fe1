//! External programs.

use crate::{NONE, edit, ran_with};
use pipe_tests::pipe::Project;
use std::fs;

const PROGRAM: &str = r#"
let made = exec(
  ["sh", "inputs/make.sh"],
  inputs: { make: "make.sh", rows: "m.csv" },
  outputs: { o: "o.txt" },
)
output o = made.o
"#;

fn project(script: &str) -> Project {
    let project = Project::new(&[("p.pipe", PROGRAM), ("m.csv", "cpu\n1\n")]);
    project.write("make.sh", &script.replace("FOLDER", &project.path().display().to_string()));
    project
}

fn ran(project: &Project) -> Vec<String> {
    ran_with(project, &["--allow", "exec"])
}

#[test]
fn n08_an_image_is_named_by_its_digest() {
    let project = project("cat inputs/rows.csv > o.txt\n");
    edit(&project, "  inputs:", "  image: \"python:3.12\",\n  inputs:");
    let said = project.pipe(&["check", "p.pipe"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("types::exec_image"), "{said:?}");
}

#[test]
fn n15_the_names_of_inputs_are_part_of_them() {
    let project = project("ls inputs > o.txt\n");
    ran(&project);
    edit(&project, "rows: \"m.csv\"", "table: \"m.csv\"");
    assert_eq!(ran(&project), ["made"]);
    assert!(project.read("out/p/o.txt").contains("table.csv"));
}

#[test]
fn n18_a_program_cannot_change_its_inputs() {
    let project = project(
        "chmod u+w inputs/rows.csv; echo 2 >> inputs/rows.csv; cat inputs/rows.csv > o.txt\n",
    );
    ran(&project);
    assert_eq!(project.read("m.csv"), "cpu\n1\n");
    assert_eq!(ran(&project), NONE);
    assert_eq!(project.pipe(&["store", "verify"]).code, 0);
}

#[test]
fn n22_the_command_is_in_the_key() {
    let project = project("echo $1 > o.txt\n");
    ran(&project);
    edit(&project, "\"inputs/make.sh\"]", "\"inputs/make.sh\", \"again\"]");
    assert_eq!(ran(&project), ["made"]);
    assert_eq!(project.read("out/p/o.txt"), "again\n");
}

#[test]
fn n26_only_what_is_declared_reaches_the_environment() {
    let project = project("echo \"token=$TOKEN home=$HOME\" > o.txt\n");
    let mut command = project.command(&["run", "p.pipe", "--allow", "exec"]);
    assert!(command.env("TOKEN", "s3cret").output().unwrap().status.success());
    assert_eq!(project.read("out/p/o.txt"), "token= home=\n");
}

#[test]
fn n34_an_input_that_changes_meanwhile_poisons_nothing() {
    let project = project("echo 2 >> FOLDER/m.csv; cat inputs/rows.csv > o.txt\n");
    let said = project.pipe(&["run", "p.pipe", "--allow", "exec"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("run::file_changed"), "{said:?}");
    assert!(!project.path().join("out/p/o.txt").exists());
}

#[test]
fn n35_success_without_the_outputs_is_none() {
    let project = project("exit 0\n");
    let said = project.pipe(&["run", "p.pipe", "--allow", "exec"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("run::exec_output"), "{said:?}");
    project.write("make.sh", "echo 1 > o.txt\n");
    assert_eq!(ran(&project), ["made"]);
    // A result that turns out to be bad is forgotten by its name.
    assert_eq!(project.pipe(&["store", "forget", "made"]).code, 0);
    assert!(fs::metadata(project.path().join("out/p/o.txt")).is_ok());
    assert_eq!(ran(&project), ["made"]);
}
