//! Edits of the program, and random sequences of everything.

use crate::watched::Watched;
use pipe_tests::pipe::Project;
use pipe_tests::random::Random;
use std::collections::BTreeMap;
use std::path::Path;

const PROGRAM: &str = r#"
param cutoff: float = 0.5
let rows = data.read("m.csv")
let high = rows |> data.filter(row => row.cpu > cutoff)
let sorted = rows |> data.sort(["cpu"])
output high = high
output sorted = sorted
check few = high.rows < 2
"#;

fn project() -> Project {
    Project::new(&[("p.pipe", PROGRAM), ("m.csv", "cpu\n0.7\n0.9\n0.2\n")])
}

#[test]
fn only_what_an_edit_concerns_runs_and_checks_stand_beside_what_they_were() {
    let watched = Watched::start(project(), &[]);
    watched.project.write("p.pipe", &PROGRAM.replace("= 0.5", "= 0.8"));
    let run = watched.run(1);
    assert_eq!(run.nodes("ran"), ["few", "high"]);
    assert_eq!(run.nodes("cached"), ["rows", "sorted"]);
    watched.says("p.pipe: `cutoff` 0.5 → 0.8");
    watched.says("1 < 2, was 2 < 2: now true");
    watched.project.write("p.pipe", &(PROGRAM.replace("= 0.5", "= 0.8") + "# a note\n"));
    let run = watched.run(2);
    assert_eq!(run.nodes("ran"), Vec::<String>::new());
    watched.says("p.pipe: no declaration differs");
}

#[test]
fn a_mistake_is_shown_and_the_old_state_stays() {
    let watched = Watched::start(project(), &[]);
    let before = watched.project.read("out/p/checks.json");
    watched.project.write("p.pipe", &PROGRAM.replace("data.filter", "data.fliter"));
    watched.says("did you mean `filter`?");
    watched.says("the outputs are those of the last run");
    // Data that comes meanwhile is not forgotten.
    watched.project.write("m.csv", "cpu\n0.7\n0.1\n0.2\n");
    watched.rests_after(1);
    assert_eq!(watched.project.read("out/p/checks.json"), before);
    watched.project.write("p.pipe", PROGRAM);
    let run = watched.run(1);
    assert_eq!(run.nodes("ran"), ["few", "high", "rows", "sorted"]);
}

#[test]
fn a_file_that_is_used_and_one_that_comes_later() {
    let program = "use shop = \"shop.pipe\"\nlet rows = data.read(\"m.csv\")\noutput n = { n: rows.rows * shop.factor }\n";
    let project = Project::new(&[("p.pipe", program), ("m.csv", "cpu\n0.7\n")]);
    let watched = Watched::begin(project, &[]);
    watched.says("shop.pipe");
    watched.project.write("shop.pipe", "let factor = 2\n");
    watched.run(0);
    watched.project.write("shop.pipe", "let factor = 3\n");
    watched.run(1);
    assert!(watched.project.read("out/p/n.json").contains("\"n\": 3"));
    watched.says("shop.pipe: `factor` 2 → 3");
}

#[test]
fn while_nothing_runs_the_store_may_be_cleaned() {
    let watched = Watched::start(project(), &[]);
    let said = watched.project.pipe(&["store", "gc", "--budget", "1KB"]);
    assert_eq!(said.code, 0, "{said:?}");
    watched.project.write("p.pipe", &PROGRAM.replace("= 0.5", "= 0.8"));
    assert_eq!(watched.run(1).nodes("failed"), Vec::<String>::new(), "{}", watched.said());
}

#[test]
fn a_watch_ends_as_it_is_told() {
    assert_eq!(Watched::start(project(), &[]).end("-INT"), Some(0));
    assert_eq!(Watched::start(project(), &[]).end("-TERM"), Some(0));
    let failing = Watched::begin(project(), &["--exit-on-error"]);
    assert_eq!(failing.code(), Some(3), "a check is false");
    let watched = Watched::start(project(), &["--exit-on-error", "--cutoff", "0.8"]);
    watched.project.write("p.pipe", "let a =\n");
    assert_eq!(watched.code(), Some(1));
}

fn outputs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder.join("out/p")).unwrap().flatten();
    // A file may be replaced while it is looked at.
    let read = |entry: std::fs::DirEntry| {
        let content = std::fs::read(entry.path()).ok()?;
        Some((entry.file_name().into_string().ok()?, content))
    };
    entries.filter_map(read).collect()
}

/// After any sequence of edits, renames and touches, and a quiet time, the outputs are those of a cold run.
#[test]
fn after_any_edits_the_outputs_are_those_of_a_cold_run() {
    let mut random = Random::new(11);
    for round in 0..6 {
        let way: &[&str] = if round % 3 == 2 { &["--poll", "0.05"] } else { &[] };
        let watched = Watched::start(project(), way);
        for _ in 0..12 {
            edit(&watched.project, &mut random);
            let pause = (random.share() * 150.0) as u64;
            std::thread::sleep(std::time::Duration::from_millis(pause));
        }
        // The end is a program that reads, so that there is something to compare.
        let cutoff = random.share();
        let last = PROGRAM.replace("= 0.5", &format!("= {cutoff:.3}"));
        watched.project.write("p.pipe", &last);
        let cold = Project::new(&[("p.pipe", &last), ("m.csv", &watched.project.read("m.csv"))]);
        let said = cold.pipe(&["run", "p.pipe"]);
        assert!(matches!(said.code, 0 | 3), "{said:?}");
        let wanted = outputs(cold.path());
        let same = || outputs(watched.project.path()) == wanted;
        watched.until(&format!("the outputs of a cold run, in round {round}"), same);
        // And they stay.
        std::thread::sleep(std::time::Duration::from_millis(500));
        assert!(same(), "round {round}\n{}", watched.said());
    }
}

fn edit(project: &Project, random: &mut Random) {
    let file = |name: &str| project.path().join(name);
    let rows = |random: &mut Random| {
        let row = |_| format!("{:.3}\n", random.share());
        "cpu\n".to_owned() + &(0..4).map(row).collect::<String>()
    };
    match (random.share() * 7.0) as u32 {
        0 => project.write("m.csv", &rows(random)),
        1 => {
            project.write("m.tmp", &rows(random));
            std::fs::rename(file("m.tmp"), file("m.csv")).unwrap();
        }
        2 => {
            let cutoff = random.share();
            project.write("p.pipe", &PROGRAM.replace("= 0.5", &format!("= {cutoff:.3}")));
        }
        3 => project.write("p.pipe", &PROGRAM.replace("high", "tall")),
        4 => project.write("p.pipe", &PROGRAM.replace("data.sort", "data.srot")),
        5 => {
            let text = project.read("m.csv");
            project.write("m.csv", &text);
        }
        _ => {
            let text = project.read("m.csv");
            std::fs::remove_file(file("m.csv")).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(100));
            project.write("m.csv", &text);
        }
    }
}
