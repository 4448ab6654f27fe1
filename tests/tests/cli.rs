//! What `pipe` says about programs: check, fmt, explain, doc, help, doctor, and exit codes of usage.
//! After a wanted change: `INSTA_UPDATE=always cargo test -p pipe-tests --test cli`, and read the difference.

use pipe_tests::pipe::Project;
use pipe_tests::snapshot;
use serde_json::Value;

const GOOD: &str = r#"## Which pages do people stay on?

## Visits, one a row.
param visits: path = "visits.csv"

## Shorter visits do not count.
param least: float = 5.0 where least >= 0.0

let kept = data.read(visits) |> data.filter(row => row.seconds >= least)

output kept = kept
"#;

const VISITS: &str = "page,seconds\n/,4.2\n/docs,61.0\n/install,184.5\n";

/// Eight mistakes of eight kinds.
const BROKEN: &str = r#"param window: duration = 30
param least: flot = 5.0
type Row = { page: str, seconds: float }
let visits = data.read("visits.csv", row: Row)
let timed = data.read("visits.csv", time: "tme")
let long = visits |> data.fliter(row => row.seconds > least)
let some = visits |> data.filter(row => row.secnds > 1.0)
let gone = data.read("visit.csv")
let size = 5m + 10
output all = [long.rows, some.rows, timed.rows, gone.rows, typo]
output more = [window, size]
"#;

fn project() -> Project {
    Project::new(&[("good.pipe", GOOD), ("visits.csv", VISITS), ("broken.pipe", BROKEN)])
}

#[test]
fn check_of_a_right_program() {
    snapshot!(project().pipe(&["check", "good.pipe"]));
    let said = project().pipe(&["check", "good.pipe", "--json"]);
    assert_eq!((said.code, said.stdout.trim(), said.stderr.as_str()), (0, "[]", ""));
}

#[test]
fn check_of_eight_mistakes() {
    snapshot!(project().pipe(&["check", "broken.pipe"]));
}

#[test]
fn eight_mistakes_as_json() {
    let said = project().pipe(&["check", "broken.pipe", "--json"]);
    assert_eq!((said.code, said.stderr.as_str()), (1, ""));
    let problems: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    let found: Vec<(i64, &str)> = problems
        .iter()
        .map(|problem| {
            (problem["start"]["line"].as_i64().unwrap(), problem["code"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        found,
        [
            (1, "types::mismatch"),
            (2, "types::unknown_type"),
            (5, "types::unknown_column"),
            (6, "resolve::unknown_op"),
            (7, "types::unknown_column"),
            (8, "plan::missing_file"),
            (9, "types::operands"),
            (10, "resolve::unknown_name"),
        ]
    );
    for problem in &problems {
        assert!(problem["help"].is_string() || problem["edits"][0].is_object(), "{problem:#}");
    }
    for field in ["code", "severity", "message", "file", "start", "end", "labels", "help", "edits"]
    {
        assert!(problems.iter().all(|problem| problem.get(field).is_some()), "{field} is missing");
    }
    assert_eq!(problems[0]["start"]["column"], 26);
}

/// The fixes that `--json` offers mend what can be mended without a person.
#[test]
fn edits_of_json_mend_the_program() {
    let project = project();
    let said = project.pipe(&["check", "broken.pipe", "--json"]);
    let problems: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    let mut lines: Vec<String> = BROKEN.lines().map(str::to_owned).collect();
    let mut edits: Vec<&Value> =
        problems.iter().filter_map(|problem| problem["edits"].as_array()).flatten().collect();
    let place = |value: &Value, of: &str| value[of].as_u64().unwrap() as usize - 1;
    edits.sort_by_key(|edit| std::cmp::Reverse(place(&edit["start"], "column")));
    for edit in &edits {
        let line = &mut lines[place(&edit["start"], "line")];
        let columns = place(&edit["start"], "column")..place(&edit["end"], "column");
        line.replace_range(columns, edit["replacement"].as_str().unwrap());
    }
    project.write("mended.pipe", &lines.join("\n"));
    let said = project.pipe(&["check", "mended.pipe", "--json"]);
    let left: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    assert!(edits.len() >= 4, "{edits:#?}");
    assert!(left.len() <= problems.len() - edits.len(), "{left:#?}");
}

/// What is certain is mended in the program and in the files that it uses.
#[test]
fn fixes_reach_the_files_that_are_used() {
    let program = "use shop = \"in/shop.pipe\"\noutput a = shop.wait && true;\n";
    let shop = "let wait = 5min > 1m\n";
    let project = Project::new(&[("p.pipe", program), ("in/shop.pipe", shop)]);
    let said = project.pipe(&["check", "--fix", "--diff", "p.pipe"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stdout.contains("+let wait = 5m > 1m"), "{}", said.stdout);
    assert_eq!(project.read("in/shop.pipe"), shop);
    let said = project.pipe(&["check", "--fix", "p.pipe"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(project.read("p.pipe"), program.replace("&&", "and").replace(';', ""));
    assert_eq!(project.read("in/shop.pipe"), "let wait = 5m > 1m\n");
    assert!(said.stderr.contains("in/shop.pipe: fixed 1 syntax::unknown_unit"), "{said:?}");
}

#[test]
fn format_in_place_and_only_looking() {
    let untidy = "let   a=1 # one\noutput  b = a+1\n";
    let project = Project::new(&[("untidy.pipe", untidy), ("tidy.pipe", "output a = 1\n")]);
    snapshot!(project.pipe(&["fmt", "--check", "untidy.pipe", "tidy.pipe"]));
    assert_eq!(project.read("untidy.pipe"), untidy);
    let said = project.pipe(&["fmt", "."]);
    assert_eq!((said.code, said.stdout.as_str()), (0, ""));
    assert_eq!(project.read("untidy.pipe"), "let a = 1 # one\noutput b = a + 1\n");
    assert_eq!(project.pipe(&["fmt", "--check", "."]).code, 0);
}

#[test]
fn format_keeps_what_it_cannot_read() {
    let broken = "let a = (1\noutput   b = 2\n";
    let project = Project::new(&[("broken.pipe", broken)]);
    assert_eq!(project.pipe(&["fmt", "broken.pipe"]).code, 1);
    assert!(project.read("broken.pipe").contains("let a = (1"));
}

#[test]
fn a_program_as_json_and_back() {
    let text = "## What is large.\nparam least: float = 0.5\n\nlet t = data.read(\"metrics.csv\") |> data.filter(row => row.cpu > least)\n\noutput t = t\n";
    let project = Project::new(&[("p.pipe", text)]);
    let tree = project.pipe(&["fmt", "--to-json", "p.pipe"]);
    assert_eq!(tree.code, 0, "{tree:?}");
    project.write("p.json", &tree.stdout);
    let back = project.pipe(&["fmt", "--from-json", "p.json"]);
    assert_eq!((back.code, back.stdout.as_str()), (0, text), "{back:?}");
    assert_eq!(project.read("p.pipe"), text);
    let schema: Value =
        serde_json::from_str(&project.pipe(&["grammar", "--json-schema"]).stdout).unwrap();
    assert!(schema["$defs"]["declaration"]["anyOf"].is_array());
    project.write("p.json", &tree.stdout.replace("\"param\"", "\"parm\""));
    let said = project.pipe(&["fmt", "--from-json", "p.json"]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert!(
        said.stderr.contains(
            "p.json: declarations[0]: there is no `parm` in a declaration; did you mean `param`?"
        ),
        "{said:?}"
    );
    assert_eq!(project.pipe(&["fmt", "--from-json", "p.pipe"]).code, 2);
}

/// Whoever reads may leave early; that is no bug to report.
#[test]
fn output_that_nobody_reads() {
    let project = Project::new(&[("p.pipe", "output a = 1\n")]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let said = project.command(&["grammar", "--json-schema"]).stdout(writer).output().unwrap();
    assert_eq!((said.status.code(), said.stderr.as_slice()), (Some(141), &[][..]));
}

/// The type of a file, pasted before a program that reads it, is the type that the file has.
#[test]
fn a_schema_is_a_type_that_reads_its_file() {
    let csv =
        "time,CPU (%),cpu,note\n2024-01-01T00:00:00Z,12.5,3,\n2024-01-01T00:00:01Z,13.5,4,slow\n";
    let jsonl = "{\"id\": 1, \"text\": \"a\"}\n{\"id\": 2, \"text\": \"b\", \"score\": 0.5}\n";
    let project = Project::new(&[("load.csv", csv), ("docs.jsonl", jsonl)]);
    for (file, name, columns) in [
        ("load.csv", "Load", &["time: time", "\"CPU (%)\": float", "cpu: int", "note: str?"][..]),
        ("docs.jsonl", "Docs", &["id: int", "text: str", "score: float?"]),
    ] {
        let said = project.pipe(&["schema", file]);
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.stdout.contains(&format!("type {name} = {{")), "{}", said.stdout);
        for column in columns {
            assert!(said.stdout.contains(column), "`{column}` is missing in\n{}", said.stdout);
        }
        let ty = said.stdout;
        project.write("p.pipe", &format!("{ty}\noutput t = data.read(\"{file}\", row: {name})\n"));
        let said = project.pipe(&["run", "p.pipe"]);
        assert_eq!(said.code, 0, "{said:?}\n{ty}");
    }
    let named = project.pipe(&["schema", "load.csv", "--name", "Sample"]);
    assert!(named.stdout.contains("type Sample = {"), "{named:?}");
    assert_eq!(project.pipe(&["schema", "nowhere.csv"]).code, 2);
}

#[test]
fn explain_and_doc() {
    let project = project();
    snapshot!(project.pipe(&["explain", "types::unknown_column"]));
    let said = project.pipe(&["explain", "types::unknown_colum"]);
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("did you mean `types::unknown_column`?"), "{}", said.stderr);
    for code in pipe_detect::codes::all() {
        assert_eq!(project.pipe(&["explain", code.code]).code, 0, "{}", code.code);
    }
    snapshot!(project.pipe(&["doc", "list.zip"]));
    let all = project.pipe(&["doc"]);
    assert_eq!(all.code, 0);
    assert!(all.stdout.contains("data.join") && all.stdout.contains("train.fit"), "{}", all.stdout);
    let json = project.pipe(&["doc", "data.read", "--json"]);
    let signatures: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(signatures[0]["name"], "data.read");
    let said = project.pipe(&["doc", "data.raed"]);
    assert_eq!((said.code, said.stdout.as_str()), (2, ""));
    assert!(said.stderr.contains("did you mean `data.read`?"), "{}", said.stderr);
}

#[test]
fn help_of_a_program() {
    snapshot!(project().pipe(&["run", "good.pipe", "--help"]));
}

#[test]
fn doctor_says_what_is_here() {
    let said = project().pipe(&["doctor"]);
    assert!(matches!(said.code, 0 | 3), "{said:?}");
    for word in ["pipe", "processor", "memory", "store", "GPU", "libtorch"] {
        assert!(said.stdout.contains(word), "{word} is missing in\n{}", said.stdout);
    }
    assert!(said.code == 0 || said.stdout.contains("remedy"), "{}", said.stdout);
}

#[test]
fn usage_is_told_with_exit_2() {
    let project = project();
    for arguments in [
        &["run"][..],
        &["frobnicate"],
        &["run", "nowhere.pipe"],
        &["run", "."],
        &["plan", "good.pipe", "--json", "--dot"],
        &["run", "good.pipe", "--set", "least"],
        &["run", "good.pipe", "--params", "nowhere.toml"],
        &["run", "good.pipe", "--allow", "world"],
        &["why", "good.pipe", "nothing"],
        &["store", "ls", "--store", "nowhere"],
        &["store", "gc", "--budget", "much", "--store", "nowhere"],
        &["init", "nothing"],
    ] {
        let said = project.pipe(arguments);
        assert_eq!(said.code, 2, "{arguments:?}: {said:?}");
        assert_eq!(said.stdout, "", "{arguments:?}");
        assert!(said.stderr.starts_with("error: "), "{arguments:?}: {}", said.stderr);
    }
}

#[test]
fn values_from_outside_are_checked() {
    let project = project();
    snapshot!(project.pipe(&["check", "good.pipe", "--set", "leest=1"]));
    snapshot!(project.pipe(&["run", "good.pipe", "--least", "much"]));
    let said = project.pipe(&["run", "good.pipe", "--least", "-1"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("plan::param_condition"), "{}", said.stderr);
}

#[test]
fn a_param_called_like_a_flag_is_warned_about() {
    let project = Project::new(&[("p.pipe", "param out: int = 1\noutput a = out\n")]);
    let said = project.pipe(&["check", "p.pipe"]);
    assert_eq!(said.code, 0);
    assert!(said.stderr.contains("`--set out=VALUE` does"), "{}", said.stderr);
}
