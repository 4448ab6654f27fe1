//! Choices and loops that are decided in the run, through the binary.

use pipe_tests::pipe::{Project, nodes};
use pipe_tests::snapshot;
use serde_json::Value;

const PROGRAM: &str = r#"let visits = data.read("visits.csv")

## Known in the run only.
let pages = if visits.rows > 3 { ["/", "/docs", "/why"] } else { ["/"] }

let per_page = for page in pages { visits |> data.filter(row => row.page == page) }
let counts = for table in per_page { table.rows }

## All visits are on one of the pages.
check enough = list.sum(counts) >= 4

output per_page = per_page
output counts = counts
output most = if enough { list.max_by(per_page, key: table => table.rows) } else { none }
output power = iterate(1, step: n => n * 2, until: n => n > 100, max: 50)
"#;

const VISITS: &str = "page,seconds\n/,4.2\n/docs,61.0\n/docs,184.5\n/why,9.5\n/install,2.0\n";

fn project() -> Project {
    Project::new(&[("pages.pipe", PROGRAM), ("visits.csv", VISITS)])
}

fn ran(project: &Project) -> Vec<String> {
    let (said, events) = project.run("pages.pipe", &[]);
    assert!(matches!(said.code, 0 | 3), "{said:?}");
    nodes(&events, "ran")
}

fn json(project: &Project, path: &str) -> Value {
    serde_json::from_str(&project.read(path)).expect("JSON")
}

#[test]
fn a_program_with_choices_and_loops() {
    let project = project();
    snapshot!(project.pipe(&["plan", "pages.pipe"]));
    let first = project.pipe(&["run", "pages.pipe"]);
    assert_eq!(first.code, 0, "{first:?}");
    assert_eq!(json(&project, "out/pages/counts.json"), serde_json::json!([1, 2, 1]));
    assert_eq!(json(&project, "out/pages/power.json"), serde_json::json!(128));
    assert!(project.path().join("out/pages/most.arrow").exists());
    snapshot!(project.pipe(&["run", "pages.pipe"]));
    snapshot!(project.pipe(&["plan", "pages.pipe"]));
}

#[test]
fn a_list_that_grows_computes_what_is_new() {
    let project = project();
    ran(&project);
    assert_eq!(ran(&project), [""; 0]);
    project.write("pages.pipe", &PROGRAM.replace("[\"/\", ", "[\"/install\", \"/\", "));
    let again = ran(&project);
    let filters: Vec<&String> = again.iter().filter(|name| name.starts_with("per_page[")).collect();
    assert_eq!(filters, ["per_page[page=/install]"], "{again:?}");
    let reordered = PROGRAM.replace("\"/\", \"/docs\"", "\"/docs\", \"/\"");
    project.write("pages.pipe", &reordered);
    let again = ran(&project);
    assert!(!again.iter().any(|name| name.starts_with("per_page[")), "{again:?}");
    project.write(
        "pages.pipe",
        &PROGRAM.replace("page in pages", "p in pages").replace("== page)", "== p)"),
    );
    assert_eq!(ran(&project), [""; 0], "another name for the variable");
}

#[test]
fn an_output_that_is_none_is_said_and_an_old_file_goes() {
    let project = project();
    ran(&project);
    assert!(project.path().join("out/pages/most.arrow").exists());
    project.write("pages.pipe", &PROGRAM.replace(">= 4", ">= 40"));
    let said = project.pipe(&["run", "pages.pipe"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("output most"), "{}", said.stderr);
    assert!(said.stderr.contains("none: nothing is written"), "{}", said.stderr);
    assert!(said.stderr.contains("removed"), "{}", said.stderr);
    assert!(!project.path().join("out/pages/most.arrow").exists());
}

const SEARCH: &str = r#"let visits = data.read("visits.csv")
let found = tune.halving(
  [1.0, 2.0, 4.0, 8.0],
  trial: (weight, rows) => {
    let some = visits |> data.filter(row => row.seconds > 3.0)
    (some.rows + rows) * weight
  },
  budgets: [1, 10],
  goal: "largest",
)
output found = found
"#;

/// Losers are asked no further, a search that goes on finds the trials that it had, and so does one over more points.
#[test]
fn a_search_finds_its_trials_again() {
    let project = project();
    project.write("pages.pipe", SEARCH);
    snapshot!(project.pipe(&["plan", "pages.pipe"]));
    let first = ran(&project);
    let trials = |ran: &[String]| -> Vec<String> {
        let is_trial = |name: &&String| name.starts_with("found[") && name.ends_with(']');
        ran.iter().filter(is_trial).cloned().collect()
    };
    assert_eq!(trials(&first).len(), 6, "{first:?}");
    let found = serde_json::json!({ "point": 8.0, "score": 112.0, "trials": 6 });
    assert_eq!(json(&project, "out/pages/found.json"), found);
    assert_eq!(ran(&project), [""; 0]);
    project.write(
        "pages.pipe",
        &SEARCH.replace("[1, 10]", "[1, 10, 20]").replace("8.0]", "8.0, 0.5]"),
    );
    let again = trials(&ran(&project));
    assert_eq!(
        again,
        [
            "found[weight=0.5, rows=1]",
            "found[weight=2, rows=10]",
            "found[weight=4, rows=20]",
            "found[weight=8, rows=20]"
        ]
    );
}

#[test]
fn why_knows_elements() {
    let project = project();
    ran(&project);
    let said = project.pipe(&["why", "pages.pipe", "per_page[page=/docs]"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("its result is in the store"), "{}", said.stdout);
    let said = project.pipe(&["why", "pages.pipe", "per_page[page=/nope]"]);
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn a_long_fan_out_is_one_line_and_its_elements_are_events() {
    let numbers: Vec<String> = (0..30).map(|at| at.to_string()).collect();
    let list = format!("[{}]", numbers.join(", "));
    let program = format!(
        "let t = data.read(\"visits.csv\")\nlet limits = if t.rows > 1 {{ {list} }} else {{ [0] }}\nlet over = for limit in limits {{ t |> data.filter(row => row.seconds > limit) }}\noutput over = for table in over {{ table.rows }}\n"
    );
    let project = Project::new(&[("fan.pipe", &program), ("visits.csv", VISITS)]);
    let (said, events) = project.run("fan.pipe", &[]);
    assert_eq!(said.code, 0, "{said:?}");
    let elements =
        nodes(&events, "ran").into_iter().filter(|name| name.starts_with("over[")).count();
    assert_eq!(elements, 30);
    let said = project.pipe(&["run", "fan.pipe", "--fresh"]);
    assert!(said.stderr.contains("30 elements: 30 ran"), "{}", said.stderr);
    assert!(!said.stderr.contains("over[limit=7]"), "{}", said.stderr);
    let plan: Value =
        serde_json::from_str(&project.pipe(&["plan", "fan.pipe", "--json"]).stdout).expect("JSON");
    assert!(
        plan["nodes"]
            .as_array()
            .is_some_and(|nodes| nodes.iter().all(|node| node["state"] == "cached"))
    );
}
