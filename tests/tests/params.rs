//! Values from outside reach a program, and paths among them are relative to where they were written.

use pipe_tests::pipe::Project;

const PROGRAM: &str =
    "param rows: path = \"own.csv\"\nlet table = data.read(rows)\noutput count = table.rows\n";

fn project() -> Project {
    Project::new(&[
        ("deep/program.pipe", PROGRAM),
        ("deep/own.csv", "a\n1\n"),
        ("here.csv", "a\n1\n2\n"),
        ("settings/values.toml", "rows = \"beside.csv\"\n"),
        ("settings/beside.csv", "a\n1\n2\n3\n"),
        ("pipe.toml", ""),
    ])
}

fn count(arguments: &[&str]) -> String {
    let project = project();
    let said = project.pipe(&[&["run", "deep/program.pipe"], arguments].concat());
    assert_eq!(said.code, 0, "{}", said.stderr);
    project.read("out/program/count.json").trim().to_owned()
}

#[test]
fn a_default_is_relative_to_the_program() {
    assert_eq!(count(&[]), "1");
}

#[test]
fn a_flag_is_relative_to_the_current_folder() {
    assert_eq!(count(&["--rows", "here.csv"]), "2");
    assert_eq!(count(&["--set", "rows=./here.csv"]), "2");
}

#[test]
fn a_file_of_params_is_relative_to_itself() {
    assert_eq!(count(&["--params", "settings/values.toml"]), "3");
    assert_eq!(count(&["--params", "settings/values.toml", "--rows", "here.csv"]), "2");
}
