//! Looking back at runs through the binary: `runs`, `diff`, `metrics`, `lineage`, `graph`.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

use pipe_tests::pipe::{Project, Said};
use pipe_tests::snapshot;
use serde_json::Value;
use std::process::Command;

const PROGRAM: &str = r#"## Visits, one a row.
param visits: path = "visits.csv"
param least: float = 5.0

let table = data.read(visits)
let kept = table |> data.filter(row => row.seconds >= least)
let longest = kept |> data.sort(["seconds"], descending: true)
let pages = table |> data.sort(["page"])

## Some visits have to be left.
check enough = kept.rows >= 2

output longest = longest
output pages = pages
output figures = { kept: kept.rows, share: 0.5 }
"#;

const VISITS: &str = "page,seconds\n/,4.2\n/docs,61.0\n/install,184.5\n/why,9.5\n";

fn project() -> Project {
    Project::new(&[("visits.pipe", PROGRAM), ("visits.csv", VISITS)])
}

/// Two runs, the second with another threshold.
fn twice() -> Project {
    let project = project();
    assert_eq!(project.pipe(&["run", "visits.pipe"]).code, 0);
    assert_eq!(project.pipe(&["run", "visits.pipe", "--least", "60"]).code, 0);
    project
}

fn json(said: &Said) -> Value {
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
    serde_json::from_str(&said.stdout).unwrap()
}

#[test]
fn runs_are_listed() {
    let project = twice();
    assert_eq!(project.pipe(&["run", "visits.pipe", "--least", "100"]).code, 3);
    snapshot!(project.pipe(&["runs", "visits.pipe"]));
    let runs = json(&project.pipe(&["runs", "--json"]));
    let found: Vec<(i64, &str, i64)> = runs
        .as_array()
        .unwrap()
        .iter()
        .map(|run| {
            let outcome = run["outcome"].as_str().unwrap();
            (run["run"].as_i64().unwrap(), outcome, run["exit_code"].as_i64().unwrap())
        })
        .collect();
    assert_eq!(found, [(3, "1 check false", 3), (2, "done", 0), (1, "done", 0)]);
    assert_eq!(runs[0]["numbers"]["enough"], 1.0, "the left side of the check");
    assert_eq!(
        json(&project.pipe(&["runs", "--last", "1", "--json"])).as_array().unwrap().len(),
        1
    );
    project.write("other.pipe", "output a = 1\n");
    assert_eq!(project.pipe(&["run", "other.pipe"]).code, 0);
    let only = json(&project.pipe(&["runs", "other.pipe", "--json"]));
    assert_eq!(only.as_array().unwrap().len(), 1);
}

#[test]
fn a_run_is_shown_in_full() {
    let project = twice();
    let said = project.pipe(&["runs", "show", "1"]);
    for words in [
        "run 1 · visits.pipe · done, exit 0",
        "pipe run visits.pipe",
        "versions  pipe ",
        "least   5.0",
        "✓ enough  3 >= 2",
        "figures.kept",
        "data.filter",
    ] {
        assert!(said.stdout.contains(words), "{words} is missing in\n{}", said.stdout);
    }
    let last = project.pipe(&["runs", "show"]);
    assert!(last.stdout.contains("out/visits/pages.arrow"), "{}", last.stdout);
    let run = json(&project.pipe(&["runs", "show", "last", "--json"]));
    assert_eq!(run["command"], serde_json::json!(["pipe", "run", "visits.pipe", "--least", "60"]));
    assert_eq!(run["params"]["least"], "60.0");
    for field in ["started", "ended", "folder", "host", "versions", "machine", "memory", "sources"]
    {
        assert!(!run[field].is_null(), "{field} is missing in {run:#}");
    }
    assert!(run["memory"]["pipe"].as_u64().unwrap() > 1 << 20, "{run:#}");
    let slowest: Vec<f64> = run["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["seconds"].as_f64().unwrap())
        .collect();
    assert!(slowest.is_sorted_by(|a, b| a >= b), "{slowest:?}");
    assert!(
        run["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .all(|node| node["key"].as_str().unwrap().len() == 64)
    );
    assert_eq!(run["checks"][0]["shown"], "2 >= 2");
    assert!(run["git"].is_null(), "it lies in no repository");
}

#[test]
fn a_run_knows_its_commit_and_what_was_changed() {
    let project = project();
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
            .args(arguments)
            .current_dir(project.path())
            .output();
        done.is_ok_and(|done| done.status.success())
    };
    if !git(&["init", "-q", "-b", "main"]) {
        eprintln!("skipped: git is not here");
        return;
    }
    assert!(git(&["add", "visits.pipe", "visits.csv"]) && git(&["commit", "-qm", "one"]));
    let state = |more: &[&str]| {
        assert_eq!(project.pipe(&[&["run", "visits.pipe"], more].concat()).code, 0);
        json(&project.pipe(&["runs", "show", "--json"]))["git"].clone()
    };
    let clean = state(&[]);
    assert_eq!((&clean["branch"], &clean["changes"]), (&"main".into(), &Value::Null));
    assert_eq!(clean["commit"].as_str().unwrap().len(), 40);
    project.write("visits.pipe", &format!("# a remark\n{PROGRAM}"));
    let one = state(&[]);
    assert_eq!(one["changes"]["names"], serde_json::json!(["visits.pipe"]));
    assert_eq!(one, state(&[]), "the same state has the same digest");
    project.write("visits.pipe", &format!("# another remark\n{PROGRAM}"));
    assert_ne!(one["changes"]["digest"], state(&[])["changes"]["digest"]);
    let said = project.pipe(&["diff", "last~1"]);
    assert!(
        said.stdout.contains("visits.pipe: ") && said.stdout.contains("on main, 1 file changed"),
        "{said:?}"
    );
}

#[test]
fn two_runs_side_by_side() {
    let project = twice();
    let mut said = project.pipe(&["diff", "1", "2"]);
    // Which times differ enough to be shown is another matter each time.
    if let Some(times) = said.stdout.find("\ntimes that differ") {
        said.stdout.truncate(times);
    }
    snapshot!(said);
    let found = json(&project.pipe(&["diff", "1", "2", "--json"]));
    assert_eq!(
        found["params"],
        serde_json::json!([{ "name": "least", "old": "5.0", "new": "60.0" }])
    );
    let changed: Vec<&str> = found["nodes"]["changed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["name"].as_str().unwrap())
        .collect();
    assert_eq!(changed, ["enough", "kept", "longest"]);
    assert_eq!(found["nodes"]["changed"][1]["changes"][0]["field"], "where");
    assert_eq!(found["nodes"]["changed"][2]["reads"], serde_json::json!(["kept"]));
    let kept = found["numbers"]
        .as_array()
        .unwrap()
        .iter()
        .find(|number| number["place"] == "figures.kept");
    assert_eq!(kept.unwrap()["difference"], -1.0);
    project.write(
        "visits.pipe",
        &PROGRAM.replace("pages = table", "sorted = table").replace("= pages", "= sorted"),
    );
    assert_eq!(project.pipe(&["run", "visits.pipe"]).code, 0);
    let said = project.pipe(&["diff", "1"]);
    assert!(said.stdout.contains("renamed: pages → sorted"), "{}", said.stdout);
}

#[test]
fn the_same_twice_differs_in_nothing() {
    let project = project();
    assert_eq!(project.pipe(&["run", "visits.pipe"]).code, 0);
    assert_eq!(project.pipe(&["run", "visits.pipe"]).code, 0);
    let said = project.pipe(&["diff", "1", "2"]);
    for words in ["keys: all 5 nodes the same", "the same in both", "numbers: 4 the same, 0 not"] {
        assert!(said.stdout.contains(words), "{words} is missing in\n{}", said.stdout);
    }
}

#[test]
fn numbers_as_a_table_and_for_programs() {
    let project = twice();
    snapshot!(project.pipe(&["metrics"]));
    snapshot!(project.pipe(&["metrics", "last"]));
    let runs = json(&project.pipe(&["metrics", "--json"]));
    assert_eq!((&runs[0]["run"], &runs[0]["numbers"]["figures.kept"]), (&2.into(), &2.0.into()));
    assert_eq!(runs[0]["checks"]["enough"], true);
    let csv = project.pipe(&["metrics", "--csv"]).stdout;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 3, "{csv}");
    assert!(
        lines[0]
            .ends_with(",enough passed,enough,figures.kept,figures.share,longest.rows,pages.rows"),
        "{csv}"
    );
    assert!(
        lines[1].ends_with(",true,2,2,0.5,2,4") && lines[2].ends_with(",true,3,3,0.5,3,4"),
        "{csv}"
    );
}

#[test]
fn an_output_leads_back_to_its_files() {
    let project = twice();
    snapshot!(project.pipe(&["lineage", "out/visits/longest.arrow"]));
    let found = json(&project.pipe(&["lineage", "longest", "--json"]));
    assert_eq!((&found["run"], &found["changed"]), (&2.into(), &0.into()));
    let node = |name: &str| {
        found["nodes"].as_array().unwrap().iter().find(|node| node["name"] == name).unwrap().clone()
    };
    assert_eq!(node("table")["computed_in"], 1);
    assert_eq!(node("table")["files"][0]["now"], "unchanged");
    project.write("visits.csv", &VISITS.replace("9.5", "9.0"));
    let said = project.pipe(&["lineage", "kept"]);
    assert!(
        said.stdout.contains("changed since") && said.stdout.contains("1 not as they were"),
        "{said:?}"
    );
    std::fs::rename(project.path().join("visits.csv"), project.path().join("old.csv")).unwrap();
    let said = project.pipe(&["lineage", "checks.json"]);
    assert_eq!(said.code, 2, "{said:?}");
    let said = project.pipe(&["lineage", "out/visits/checks.json"]);
    assert!(said.stdout.contains("missing"), "{said:?}");
    project.write("out/visits/longest.arrow", "mine");
    let said = project.pipe(&["lineage", "out/visits/longest.arrow"]);
    assert!(said.stdout.contains("edited since it was written"), "{said:?}");
}

#[test]
fn what_is_not_there_is_said_with_what_is_near() {
    let project = twice();
    for (arguments, words) in [
        (&["runs", "show", "9"][..], "near are 2, 1; the last is 2"),
        (&["runs", "show", "last~2"], "the record has only 2 runs"),
        (&["diff", "1", "latest"], "`latest` names no run"),
        (&["metrics", "7"], "there is no run 7"),
        (&["lineage", "longst"], "did you mean `longest`?"),
        (&["lineage", "visits.csv"], "no run that is on record wrote visits.csv"),
        (&["runs", "nowhere.pipe"], "there is no file nowhere.pipe"),
        (&["runs", "--store", "nowhere"], "there is no store at nowhere"),
        (&["graph", "visits.pipe", "--dot", "--svg", "a.svg"], "cannot be used with"),
    ] {
        let said = project.pipe(arguments);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{arguments:?}: {said:?}");
        assert!(said.stderr.contains(words), "{arguments:?}: {}", said.stderr);
    }
}

#[test]
fn the_plan_as_a_picture() {
    let project = twice();
    let said = project.pipe(&["graph", "visits.pipe", "--svg", "plan.svg", "--least", "7"]);
    assert_eq!((said.code, said.stdout.as_str(), said.stderr.as_str()), (0, "", ""));
    let picture = project.read("plan.svg");
    for words in ["<svg", "kept", "data.filter", "will run", "cached", "enough"] {
        assert!(picture.contains(words), "{words} is missing in\n{picture}");
    }
    assert_eq!(project.pipe(&["graph", "visits.pipe", "--least", "7"]).stdout, picture);
    let dot = project.pipe(&["graph", "visits.pipe", "--dot"]).stdout;
    assert_eq!(dot, project.pipe(&["plan", "visits.pipe", "--dot"]).stdout);
}
