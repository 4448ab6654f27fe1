//! Files that programs read.

use crate::{NONE, PROGRAM, TABLE, edit, project, ran};
use pipe_tests::pipe::Project;
use std::fs;
use std::time::{Duration, SystemTime};

fn set_time(project: &Project, name: &str, time: SystemTime) {
    let file = fs::File::options().write(true).open(project.path().join(name)).unwrap();
    file.set_modified(time).unwrap();
}

#[test]
fn n07_a_file_that_cannot_be_digested_stops_the_plan() {
    let project = project();
    ran(&project);
    fs::remove_file(project.path().join("m.csv")).unwrap();
    fs::create_dir(project.path().join("m.csv")).unwrap();
    let said = project.pipe(&["run", "p.pipe"]);
    assert_eq!(said.code, 1, "nothing is taken from the store for it: {said:?}");
}

#[test]
fn n09_an_edit_of_a_file_that_is_used_is_seen() {
    let project = Project::new(&[
        (
            "p.pipe",
            "use shop = \"lib/shop.pipe\"\nlet rows = data.read(\"m.csv\")\noutput n = shop.high(rows)\n",
        ),
        (
            "lib/shop.pipe",
            "fn high(rows: Table<{ cpu: float, host: str }>) -> Table<{ cpu: float, host: str }> =\n  rows |> data.filter(row => row.cpu > 0.5)\n",
        ),
        ("m.csv", TABLE),
    ]);
    ran(&project);
    let text = project.read("lib/shop.pipe").replace("0.5", "0.8");
    project.write("lib/shop.pipe", &text);
    assert_eq!(ran(&project), ["n"]);
}

#[test]
fn n21_a_checkout_that_writes_every_file_again_changes_nothing() {
    let project = project();
    ran(&project);
    project.write("p.pipe", PROGRAM);
    project.write("m.csv", TABLE);
    for name in ["p.pipe", "m.csv"] {
        set_time(&project, name, SystemTime::now() + Duration::from_secs(3600));
    }
    assert_eq!(ran(&project), NONE);
}

#[test]
fn n28_an_input_counts_whatever_git_thinks_of_it() {
    let project = project();
    project.write(".gitignore", "*.csv\n");
    ran(&project);
    project.write("m.csv", &TABLE.replace("0.9", "0.99"));
    assert_eq!(ran(&project), ["high", "rows", "sorted"]);
}

#[test]
fn n39_n43_times_say_nothing_about_what_is_new() {
    let project = project();
    ran(&project);
    // Of the same size, and older than what was made of the file before.
    project.write("m.csv", &TABLE.replace("0.9", "0.8"));
    set_time(&project, "m.csv", SystemTime::now() - Duration::from_secs(86_400));
    assert_eq!(ran(&project), ["high", "rows", "sorted"]);
    // Results that are older than their input are good.
    set_time(&project, "m.csv", SystemTime::now() + Duration::from_secs(86_400));
    assert_eq!(ran(&project), NONE);
    edit(&project, "= 0.5", "= 0.75");
    assert_eq!(ran(&project), ["high", "sorted"]);
}
