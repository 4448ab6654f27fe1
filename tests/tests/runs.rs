//! Plans and runs through the binary: what runs again and why, outputs, events, the store, exit codes.

use pipe_tests::pipe::{Project, nodes};
use pipe_tests::snapshot;
use serde_json::Value;

const PROGRAM: &str = r#"## Which pages do people stay on?

## Visits, one a row.
param visits: path = "visits.csv"

## Shorter visits do not count.
param least: float = 5.0 where least >= 0.0

let table = data.read(visits)
let kept = table |> data.filter(row => row.seconds >= least)
let longest = kept |> data.sort(["seconds"], descending: true)
let pages = table |> data.sort(["page"])

## Some visits have to be left.
check enough = kept.rows >= 2

output longest = longest
output pages = pages
output count = kept.rows
output settings = { least: least, unit: "s" }
"#;

const VISITS: &str = "page,seconds\n/,4.2\n/docs,61.0\n/install,184.5\n/why,9.5\n";

fn project() -> Project {
    Project::new(&[("visits.pipe", PROGRAM), ("visits.csv", VISITS)])
}

fn ran(project: &Project, more: &[&str]) -> Vec<String> {
    let (said, events) = project.run("visits.pipe", more);
    assert!(matches!(said.code, 0 | 3), "{said:?}");
    nodes(&events, "ran")
}

#[test]
fn the_first_run_and_the_second() {
    let project = project();
    snapshot!(project.pipe(&["plan", "visits.pipe"]));
    let said = project.pipe(&["run", "visits.pipe"]);
    assert_eq!(said.code, 0, "{said:?}");
    for line in ["check enough", "3 >= 2"] {
        assert!(said.stderr.contains(line), "{}", said.stderr);
    }
    snapshot!(project.pipe(&["run", "visits.pipe"]));
    snapshot!(project.pipe(&["plan", "visits.pipe"]));
}

#[test]
fn only_what_changed_runs() {
    let project = project();
    assert_eq!(ran(&project, &[]), ["enough", "kept", "longest", "pages", "table"]);
    assert_eq!(ran(&project, &[]), [""; 0]);
    project.write(
        "visits.pipe",
        &format!("# a remark\n\n{}", PROGRAM.replace("let pages", "\n# pages\nlet pages")),
    );
    assert_eq!(ran(&project, &[]), [""; 0], "after a comment");
    let renamed = PROGRAM.replace("table", "everything").replace("let kept", "let  kept");
    project.write("visits.pipe", &renamed);
    assert_eq!(ran(&project, &[]), [""; 0], "after a new name");
    assert_eq!(
        ran(&project, &["--least", "60"]),
        ["enough", "kept", "longest"],
        "after a threshold"
    );
    assert_eq!(ran(&project, &["--set", "least=61"]), ["kept"], "an equal result stops there");
    assert_eq!(ran(&project, &[]), [""; 0], "and back again");
    project.write("visits.csv", &VISITS.replace("9.5", "9.0"));
    assert_eq!(ran(&project, &[]), ["everything", "kept", "longest", "pages"], "after new data");
    assert_eq!(ran(&project, &["--fresh"]).len(), 5);
}

#[test]
fn why_names_the_argument_and_both_values() {
    let project = project();
    snapshot!(project.pipe(&["why", "visits.pipe", "kept"]));
    assert_eq!(project.pipe(&["run", "visits.pipe"]).code, 0);
    snapshot!(project.pipe(&["why", "visits.pipe", "kept"]));
    snapshot!(project.pipe(&["why", "visits.pipe", "kept", "--least", "7.5"]));
    snapshot!(project.pipe(&["why", "visits.pipe", "longest", "--least", "7.5"]));
    project.write("visits.pipe", &PROGRAM.replace("descending: true", "descending: false"));
    let said = project.pipe(&["why", "visits.pipe", "longest"]);
    for word in ["descending", "true", "false"] {
        assert!(said.stdout.contains(word), "{word} is missing in\n{}", said.stdout);
    }
    let said = project.pipe(&["why", "visits.pipe", "longst"]);
    assert!(said.code == 2 && said.stderr.contains("did you mean `longest`?"), "{said:?}");
}

#[test]
fn plans_for_programs_and_graphs() {
    let project = project();
    let said = project.pipe(&["plan", "visits.pipe", "--json"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    let plan: Value = serde_json::from_str(&said.stdout).unwrap();
    let node = &plan["nodes"][0];
    for key in ["id", "op", "key", "state", "why", "level", "group", "resources"] {
        assert!(node.get(key).is_some(), "{key} is missing in {node:#}");
    }
    assert_eq!(node["state"], "run");
    let ids: Vec<&str> =
        plan["nodes"].as_array().unwrap().iter().filter_map(|node| node["id"].as_str()).collect();
    for edge in plan["edges"].as_array().unwrap() {
        let ends = edge.as_array().unwrap().iter().map(|end| end.as_str().unwrap());
        assert!(ends.clone().count() == 2 && ends.clone().all(|end| ids.contains(&end)), "{edge}");
    }
    let dot = project.pipe(&["plan", "visits.pipe", "--dot"]).stdout;
    assert!(dot.starts_with("digraph plan {") && dot.contains("data.filter"), "{dot}");
    assert!(dot.matches(" -> ").count() >= plan["edges"].as_array().unwrap().len(), "{dot}");
    assert!(!project.path().join(".pipe").exists(), "looking makes no store");
}

#[test]
fn outputs_and_checks_lie_where_scripts_expect_them() {
    let project = project();
    assert_eq!(project.pipe(&["run", "visits.pipe"]).code, 0);
    let mut names: Vec<String> = std::fs::read_dir(project.path().join("out/visits"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["checks.json", "count.json", "longest.arrow", "pages.arrow", "settings.json"]
    );
    assert_eq!(project.read("out/visits/count.json").trim(), "3");
    let settings: Value = serde_json::from_str(&project.read("out/visits/settings.json")).unwrap();
    assert_eq!(settings, serde_json::json!({ "least": 5.0, "unit": "s" }));
    let checks: Value = serde_json::from_str(&project.read("out/visits/checks.json")).unwrap();
    let check = &checks[0];
    assert_eq!(
        (&check["name"], &check["passed"], &check["value"]),
        (&"enough".into(), &true.into(), &true.into())
    );
    assert_eq!(check["doc"], "Some visits have to be left.");
    let said = project.pipe(&["run", "visits.pipe", "--out", "elsewhere"]);
    assert!(said.stdout.contains("elsewhere/visits/pages.arrow"), "{}", said.stdout);
    assert_eq!(project.read("elsewhere/visits/count.json").trim(), "3");
}

#[test]
fn a_false_check_still_writes_and_exits_3() {
    let project = project();
    let said = project.pipe(&["run", "visits.pipe", "--least", "100"]);
    assert_eq!(said.code, 3);
    assert!(
        said.stderr.contains("1 >= 2") && said.stderr.contains("Some visits"),
        "{}",
        said.stderr
    );
    assert_eq!(project.read("out/visits/count.json").trim(), "1");
    assert!(project.read("out/visits/checks.json").contains("\"passed\": false"));
}

#[test]
fn a_failed_node_leaves_the_other_branches_alone() {
    let project = Project::new(&[
        (
            "p.pipe",
            "type Row = { seconds: float }\noutput bad = data.read(\"bad.csv\", row: Row)\noutput size = data.read(\"bad.csv\").rows\n",
        ),
        ("bad.csv", "seconds\n1.5\nlong\n"),
    ]);
    let (said, events) = project.run("p.pipe", &[]);
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("bad.csv:3"), "{}", said.stderr);
    assert_eq!(nodes(&events, "failed"), ["bad"]);
    assert_eq!(project.read("out/p/size.json").trim(), "2");
    assert!(!project.path().join("out/p/bad.arrow").exists());
}

#[test]
fn events_are_lines_with_a_name_and_a_time() {
    let project = project();
    let (_, events) = project.run("visits.pipe", &[]);
    for event in &events {
        assert!(event["event"].is_string() && event["time"].is_string(), "{event}");
    }
    for event in events.iter().filter(|event| event["event"] == "node_finished") {
        assert!(event["node"].is_string() && event["seconds"].is_number(), "{event}");
    }
    let last = events.last().unwrap();
    assert_eq!(events[0]["event"], "run_started");
    assert_eq!(
        (&last["event"], &last["ran"], &last["cached"]),
        (&"run_finished".into(), &5.into(), &0.into())
    );
    let said = project.pipe(&["run", "visits.pipe", "--events", "-"]);
    let lines: Vec<Value> =
        said.stdout.lines().map(|line| serde_json::from_str(line).expect("only events")).collect();
    let last = lines.last().unwrap();
    assert_eq!((&last["event"], &last["cached"]), (&"run_finished".into(), &5.into()));
}

#[test]
fn data_goes_to_stdout_and_the_rest_to_stderr() {
    let project = project();
    let said = project.pipe(&["run", "visits.pipe"]);
    assert_eq!(said.stdout.lines().count(), 4, "{}", said.stdout);
    assert!(said.stdout.lines().all(|line| line.starts_with("out/visits/")), "{}", said.stdout);
    for text in [&said.stdout, &said.stderr] {
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    let coloured = project.pipe(&["--color", "always", "plan", "visits.pipe"]).stdout;
    assert!(coloured.contains('\u{1b}'), "{coloured:?}");
}

#[test]
fn values_come_from_flags_and_files() {
    let project = project();
    project.write("params.toml", "least = 60.0\n");
    project.write("params.json", "{\"least\": 100}");
    for (more, rows) in [
        (&["--set", "least=9.5"][..], "3"),
        (&["--least", "60"], "2"),
        (&["--params", "params.toml"], "2"),
        (&["--params", "params.json"], "1"),
        (&["--params", "params.json", "--least=5"], "3"),
    ] {
        let _ = project.pipe(&[&["run", "visits.pipe"], more].concat());
        assert_eq!(project.read("out/visits/count.json").trim(), rows, "{more:?}");
    }
}

#[test]
fn the_store_lists_verifies_and_cleans() {
    let project = project();
    assert_eq!(project.pipe(&["store", "ls"]).code, 2);
    let _ = project.pipe(&["run", "visits.pipe"]);
    let listed = project.pipe(&["store", "ls"]);
    assert_eq!(listed.stdout.lines().count(), 5, "{}", listed.stdout);
    for name in ["table", "kept", "longest", "pages", "enough"] {
        assert!(listed.stdout.contains(&format!("  {name} ")), "{}", listed.stdout);
    }
    assert!(listed.stderr.contains("5 results in .pipe"), "{}", listed.stderr);
    assert_eq!(project.pipe(&["store", "verify"]).code, 0);
    let said = project.pipe(&["store", "gc", "--budget", "1GiB"]);
    assert_eq!(said.code, 0);
    assert_eq!(ran(&project, &[]), [""; 0], "nothing was over the budget");
    let would = project.pipe(&["store", "gc", "--budget", "0B", "--dry-run"]);
    assert_eq!(would.code, 0);
    assert!(would.stderr.contains("nothing was removed"), "{}", would.stderr);
    assert_eq!(project.pipe(&["store", "gc", "--budget", "0B"]).code, 0);
    assert_eq!(project.pipe(&["store", "verify"]).code, 0);
    assert_eq!(project.pipe(&["run", "visits.pipe"]).code, 0);
}

#[test]
fn what_a_budget_takes_is_told_before_and_computed_again_after() {
    let chain = r#"let table = data.read("visits.csv")
let kept = table |> data.filter(row => row.seconds >= 5.0)
output longest = kept |> data.sort(["seconds"], descending: true)
"#;
    let project = Project::new(&[("chain.pipe", chain), ("visits.csv", VISITS)]);
    let run = |more: &[&str]| nodes(&project.run("chain.pipe", more).1, "ran");
    let line = |words: &[&str], name: &str| {
        let said = project.pipe(words);
        assert_eq!(said.code, 0, "{words:?}: {said:?}");
        let name = format!("  {name} ");
        said.stdout.lines().find(|line| line.contains(&name)).map(str::to_owned)
    };
    assert_eq!(run(&[]), ["kept", "longest", "table"]);
    let before = std::fs::read(project.path().join("out/chain/longest.arrow")).unwrap();
    let would = ["store", "gc", "--budget", "0B", "--dry-run"];
    assert!(line(&would, "table").unwrap().contains("larger than the whole budget"));
    assert!(line(&would, "kept").is_some());
    assert_eq!(line(&would, "longest"), None, "an output comes from it");
    let said = project.pipe(&["store", "pin", "kept"]);
    assert!(said.stderr.contains("(kept of chain.pipe)"), "{said:?}");
    assert_eq!(line(&would, "kept"), None);
    assert!(line(&["store", "ls"], "kept").unwrap().contains("pinned"));
    assert!(line(&["store", "ls"], "longest").unwrap().contains("output"));
    let json: Value =
        serde_json::from_str(&project.pipe(&["store", "ls", "--json"]).stdout).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 3);
    assert!(json[0]["recompute_seconds"].as_f64().is_some(), "{json}");
    let most = ["store", "gc", "--budget", "1.7KB", "--dry-run"];
    assert!(line(&most, "table").unwrap().contains("to compute again"));
    assert!(project.pipe(&["store", "unpin", "kept"]).stderr.contains("unpinned"));
    assert_eq!(project.pipe(&["store", "pin", "nothing"]).code, 2);
    let said = project.pipe(&["store", "gc", "--budget", "0B"]);
    assert!(said.stderr.contains("more than the budget"), "{}", said.stderr);
    assert_eq!(run(&[]), [""; 0], "the output is there");
    project.write("chain.pipe", &chain.replace("descending: true", "descending: false"));
    assert_eq!(run(&[]), ["kept", "longest", "table"], "what has left is computed again");
    project.write("chain.pipe", chain);
    std::fs::remove_dir_all(project.path().join("out")).unwrap();
    assert_eq!(run(&[]), [""; 0]);
    assert!(std::fs::read(project.path().join("out/chain/longest.arrow")).unwrap() == before);
    assert_eq!(project.pipe(&["store", "verify"]).code, 0);
}

#[test]
fn a_damaged_blob_is_found_and_made_again() {
    let project = project();
    let _ = project.pipe(&["run", "visits.pipe"]);
    let before = std::fs::read(project.path().join("out/visits/longest.arrow")).unwrap();
    let blobs = project.path().join(".pipe/blobs");
    let mut damaged = 0;
    for folder in std::fs::read_dir(blobs).unwrap().flatten() {
        for blob in std::fs::read_dir(folder.path()).unwrap().flatten() {
            let size = blob.metadata().unwrap().len() as usize;
            std::fs::remove_file(blob.path()).unwrap();
            std::fs::write(blob.path(), vec![7; size / 2]).unwrap();
            damaged += 1;
        }
    }
    assert!(damaged >= 3, "{damaged}");
    assert_eq!(project.pipe(&["store", "verify"]).code, 3);
    std::fs::remove_dir_all(project.path().join("out")).unwrap();
    let said = project.pipe(&["run", "visits.pipe"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(std::fs::read(project.path().join("out/visits/longest.arrow")).unwrap() == before);
    assert_eq!(project.pipe(&["run", "visits.pipe", "--fresh"]).code, 0);
    assert_eq!(project.pipe(&["store", "verify"]).code, 0);
}

#[test]
fn templates_run_as_they_stand() {
    for template in ["hello", "detect"] {
        let project = Project::new(&[]);
        assert_eq!(project.pipe(&["init", template]).code, 0);
        let program = format!("{template}.pipe");
        assert_eq!(
            project.pipe(&["fmt", "--check", &program]).code,
            0,
            "{template} is not formatted"
        );
        let said = project.pipe(&["run", &program]);
        assert_eq!(said.code, 0, "{said:?}");
        let again = project.pipe(&["init", template]);
        assert!(again.code == 0 && again.stderr.contains("kept"), "{again:?}");
    }
    let project = Project::new(&[]);
    assert_eq!(project.pipe(&["init", "train"]).code, 0);
    assert_eq!(project.pipe(&["check", "train.pipe"]).code, 0);
}
