//! Bad files, odd programs and full disks: a clear error or a correct result each time, and a sound store afterwards.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

use pipe_tests::pipe::{Project, Said};
use std::io::Write;
use std::process::{Command, Stdio};

/// A program over one file.
fn reading(name: &str, content: &[u8], program: &str) -> Project {
    let project = Project::new(&[("p.pipe", program)]);
    std::fs::write(project.path().join(name), content).unwrap();
    project
}

fn sound(project: &Project) {
    if project.path().join(".pipe/store.db").exists() {
        let said = project.pipe(&["store", "verify"]);
        assert_eq!(said.code, 0, "{said:?}");
    }
}

/// The run ends with this code and says all of this; the store is sound.
fn told(project: &Project, code: i32, words: &[&str]) -> Said {
    let said = project.pipe(&["run", "p.pipe"]);
    assert_eq!(said.code, code, "{said:?}");
    for word in words {
        assert!(said.stderr.contains(word), "`{word}` is missing in\n{}", said.stderr);
    }
    sound(project);
    said
}

const ROWS: &str = "output t = data.read(\"t.csv\")\noutput n = data.read(\"t.csv\").rows\n";

#[test]
fn a_row_with_too_many_fields() {
    let ragged = b"time,cpu\n2024-01-01T00:00:00Z,0.5\n2024-01-01T00:00:01Z,0.6,7\n2024-01-01T00:00:02Z,0.7\n";
    told(
        &reading("t.csv", ragged, ROWS),
        3,
        &["t.csv:3", "3 fields", "malformed: \"skip\"", "run::bad_row"],
    );
    let skipping = ROWS.replace("\"t.csv\"", "\"t.csv\", malformed: \"skip\"");
    let project = reading("t.csv", ragged, &skipping);
    told(&project, 0, &["left out 1 of 3 rows", "line 3"]);
    assert_eq!(project.read("out/p/n.json").trim(), "2");
}

#[test]
fn a_value_of_another_type() {
    let program = "type Row = { cpu: float }\noutput t = data.read(\"t.csv\", row: Row)\n";
    told(
        &reading("t.csv", b"cpu\n0.5\nhigh\n", program),
        3,
        &["t.csv:3", "`cpu` is `high`", "float"],
    );
    let program = "type Row = { cpu: float }\noutput t = data.read(\"t.csv\", row: Row)\n";
    told(&reading("t.csv", b"cpu\n0.5\n\"\"\n", program), 3, &["t.csv:3", "cpu"]);
}

#[test]
fn a_misfit_behind_the_rows_that_decided_the_type() {
    let mut text = String::from("n\n");
    (0..3000).for_each(|n| text += &format!("{n}\n"));
    text += "many\n";
    told(&reading("t.csv", text.as_bytes(), ROWS), 3, &["t.csv:3002", "`many`", "int"]);
}

#[test]
fn columns_of_nothing_but_nan() {
    let program = r#"
type Row = { id: int, x: float? }
let t = data.read("t.csv", row: Row)
let p = t |> data.split(by: "hash", train: 0.5, test: 0.5)
output kept = t |> data.filter(row => row.x > 0.0)
output n = (t |> data.filter(row => row.x > 0.0)).rows
output d = detect.robust_z(p.train, columns: ["x"])
"#;
    let project = reading("t.csv", b"id,x\n1,NaN\n2,NaN\n3,\n4,NaN\n", program);
    let said = project.pipe(&["run", "p.pipe"]);
    assert!(matches!(said.code, 0 | 3), "{said:?}");
    assert_eq!(project.read("out/p/n.json").trim(), "0");
    assert!(!said.stderr.contains("panicked"), "{}", said.stderr);
    sound(&project);
}

#[test]
fn empty_files_and_tables() {
    told(&reading("t.csv", b"", ROWS), 1, &["plan::table_head", "it is empty"]);
    let project = reading("t.csv", b"a,b\n", ROWS);
    told(&project, 0, &["0 rows"]);
    assert_eq!(project.read("out/p/n.json").trim(), "0");
    let program = "type Row = { a: int }\noutput t = data.read(\"t.jsonl\", row: Row)\n";
    told(&reading("t.jsonl", b"", program), 1, &["plan::table_head", "it is empty"]);
    told(&reading("p2.pipe", b"", "# nothing\n"), 2, &["no `output` and no `check`"]);
}

#[test]
fn empty_tables_through_the_ops() {
    let program = r#"
type Row = { time: time, x: float }
let t = data.read("t.csv", row: Row)
let steps = t |> metrics.resample(every: 1s, by: "mean")
let p = t |> data.split(by: "time", train: 0.5, test: 0.5)
output joined = steps |> data.join(with: t, on: ["time"])
output sorted = t |> data.derive(y: row => row.x * 2.0) |> data.sort(["y"]) |> data.select(["y"])
output train = p.train
output d = detect.robust_z(p.train, columns: ["x"])
"#;
    let project = reading("t.csv", b"time,x\n", program);
    let said = project.pipe(&["run", "p.pipe"]);
    assert!(matches!(said.code, 0 | 3), "{said:?}");
    assert!(!said.stderr.contains("panicked") && !said.stderr.contains("bug"), "{}", said.stderr);
    assert!(project.path().join("out/p/sorted.arrow").exists(), "{}", said.stderr);
    sound(&project);
}

#[test]
fn text_that_is_not_utf8() {
    told(&reading("t.csv", b"a,b\n1,caf\xe9\n", ROWS), 1, &["t.csv", "line 2 is not UTF-8"]);
    let program = "type Row = { a: int, b: str }\noutput t = data.read(\"t.csv\", row: Row)\n";
    told(&reading("t.csv", b"a,b\n1,caf\xe9\n", program), 1, &["t.csv", "line 2 is not UTF-8"]);
    let project = reading("p.pipe", b"let a = \"\xff\"\n", "");
    told(&project, 1, &["resolve::not_text"]);
    assert_eq!(project.pipe(&["fmt", "p.pipe"]).code, 2);
}

#[test]
fn folders_where_files_are_wanted() {
    let project = Project::new(&[("p.pipe", ROWS), ("t.csv/a.txt", "x")]);
    told(&project, 1, &["plan::folder", "`t.csv` is a folder"]);
    let said = project.pipe(&["run", "t.csv"]);
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("is a folder"), "{}", said.stderr);
}

#[test]
fn files_that_are_missing_or_outside() {
    let project =
        Project::new(&[("p.pipe", "output t = data.read(\"t.cvs\")\n"), ("t.csv", "a\n1\n")]);
    told(&project, 1, &["plan::missing_file", "t.csv"]);
    let project =
        Project::new(&[("in/p.pipe", "output t = data.read(\"../t.csv\")\n"), ("t.csv", "a\n1\n")]);
    let said = project.pipe(&["run", "in/p.pipe"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("plan::outside_root"), "{}", said.stderr);
    assert_eq!(project.pipe(&["run", "in/p.pipe", "--allow", "path=."]).code, 0);
    std::os::unix::fs::symlink("../t.csv", project.path().join("in/link.csv")).unwrap();
    project.write("in/q.pipe", "output t = data.read(\"link.csv\")\n");
    let said = project.pipe(&["run", "in/q.pipe"]);
    assert!(
        said.code == 1 && said.stderr.contains("plan::outside_root"),
        "a link leads out: {said:?}"
    );
}

/// Runs with 1.5 GB of address space: the libraries alone map about half of it.
fn in_little_memory(project: &Project, arguments: &str) -> Said {
    let line =
        format!("ulimit -v 1500000; exec '{}' {arguments}", pipe_tests::pipe::binary().display());
    let output = Command::new("sh")
        .args(["-c", &line])
        .current_dir(project.path())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Said {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn write_long(project: &Project, name: &str, before: &str, after: &str) {
    let mut file = std::fs::File::create(project.path().join(name)).unwrap();
    file.write_all(before.as_bytes()).unwrap();
    let piece = vec![b'x'; 1_000_000];
    (0..100).for_each(|_| file.write_all(&piece).unwrap());
    file.write_all(after.as_bytes()).unwrap();
}

#[test]
fn lines_of_100_megabytes() {
    for (code, name, before, after, program) in [
        (3, "t.csv", "a,b\n1,", "\n2,y\n", "output t = data.read(\"t.csv\")\n"),
        (
            1,
            "t.jsonl",
            "{\"a\": \"",
            "\"}\n",
            "type Row = { a: str }\noutput t = data.read(\"t.jsonl\", row: Row)\n",
        ),
        (3, "t.log", "2024-01-01T00:00:00Z INFO ", "\n", "output t = logs.read(\"t.log\")\n"),
    ] {
        let project = Project::new(&[("p.pipe", program)]);
        write_long(&project, name, before, after);
        let said = in_little_memory(&project, "run p.pipe");
        assert_eq!(said.code, code, "{name}: {said:?}");
        assert!(said.stderr.contains("longer than 16 MiB"), "{name}: {}", said.stderr);
        sound(&project);
    }
}

#[test]
fn huge_and_deep_programs() {
    let deep = |open: &str, close: &str| {
        format!("output a = {}1{}\n", open.repeat(100_000), close.repeat(100_000))
    };
    for (text, code) in [
        (deep("[", "]"), "syntax::too_deep"),
        (deep("(", ")"), "syntax::too_deep"),
        (deep("-", ""), "syntax::too_deep"),
        (deep("if true { ", " } else { 2 }"), "syntax::too_deep"),
        (format!("# {}\noutput a = 1\n", "x".repeat(17 << 20)), "syntax::too_large"),
    ] {
        let project = Project::new(&[("p.pipe", text.as_str())]);
        let said = in_little_memory(&project, "check p.pipe --json");
        assert_eq!(said.code, 1, "{code}: {}", said.stderr);
        assert!(said.stdout.contains(code), "{code} is missing in {:.500}", said.stdout);
    }
}

/// A program that another program saved in another way, and one that is no program at all.
#[test]
fn programs_in_utf16_and_of_100_megabytes() {
    let text: Vec<u8> = std::iter::once(0xFEFF_u16)
        .chain("output a = \"caf\u{e9}\"\n".encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let project = reading("p.pipe", &text, "");
    let said = told(&project, 1, &["resolve::not_text", "save the file as UTF-8"]);
    assert!(said.stderr.contains("line 1"), "{}", said.stderr);
    let project = Project::new(&[("p.pipe", "")]);
    write_long(&project, "p.pipe", "# ", "\noutput a = 1\n");
    let said = in_little_memory(&project, "check p.pipe --json");
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stdout.contains("syntax::too_large"), "{:.500}", said.stdout);
}

#[test]
fn a_long_line_is_not_shown_whole() {
    let text = format!("output a = [{}missing]\n", "1, ".repeat(200_000));
    let said = Project::new(&[("p.pipe", text.as_str())]).pipe(&["check", "p.pipe"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("there is no `missing`"), "{:.500}", said.stderr);
    assert!(said.stderr.len() < 5_000, "{} bytes are shown", said.stderr.len());
}

#[test]
fn deep_json() {
    let text = format!("{{\"a\": {}{}}}\n", "[".repeat(100_000), "]".repeat(100_000));
    let project = reading(
        "t.jsonl",
        text.as_bytes(),
        "type Row = { a: str }\noutput t = data.read(\"t.jsonl\", row: Row)\n",
    );
    told(&project, 1, &["t.jsonl", "line 1"]);
}
