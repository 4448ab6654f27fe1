//! Functions of rows: typed against the columns, lowered to one canonical form.

use crate::support::{check, plan};
use pipe_compiler::key::row_display;
use pipe_compiler::plan::Arg;

fn lowered(function: &str) -> String {
    let program = format!(
        "let t = data.read(\"metrics.csv\")\nfn hot(row: {{ cpu: float, ..}}) -> bool = row.cpu > 0.9\noutput o = t |> data.derive(x: {function})\n"
    );
    let program = program.replace("fn hot(row: { cpu: float, ..}) -> bool = row.cpu > 0.9\n", if function.contains("hot(") { "type Cpu = { time: time, cpu: float, mem: float, requests: int?, errors: int, host: str }\nfn hot(row: Cpu) -> bool = row.cpu > 0.9\n" } else { "" });
    let plan = plan(&program);
    let node = plan.nodes.last().expect("a node");
    let Some(Arg::Record(columns)) = node.args.get("columns") else { panic!("{:?}", node.args) };
    let Some(Arg::Row(row)) = columns.get("x") else { panic!("{columns:?}") };
    let optional = if row.optional { "?" } else { "" };
    format!("{} : {}{optional}", row_display(row), row.ty)
}

#[test]
fn rows_lower() {
    for (function, text) in [
        ("row => row.cpu * 2", "row => (row.cpu * 2) : float"),
        ("row => row.errors + 1", "row => (row.errors + 1) : int"),
        ("row => row.errors / row.requests", "row => (row.errors / row.requests) : float?"),
        (
            "r => r[\"cpu\"] > 0.5 and not (r.host == \"a\")",
            "row => ((row.cpu > 0.5) and (not (row.host == \"a\"))) : bool",
        ),
        ("row => (row.requests ?? 0) > 3", "row => ((row.requests ?? 0) > 3) : bool"),
        ("row => row.requests == none", "row => (row.requests == none) : bool"),
        ("row => row.host in [\"a\", \"b\"]", "row => (row.host in [\"a\", \"b\"]) : bool"),
        (
            "row => if row.cpu > 0.5 { 1 } else { 0.5 }",
            "row => (if (row.cpu > 0.5) { 1.0 } else { 0.5 }) : float",
        ),
        ("row => \"${row.host}: ${row.cpu}\"", "row => concat(row.host, \": \", row.cpu) : str"),
        (
            "row => { let a = row.cpu + row.mem  a * a }",
            "row => ((row.cpu + row.mem) * (row.cpu + row.mem)) : float",
        ),
        ("row => math.max(row.errors, 1.0)", "row => math.max(row.errors, 1.0) : float"),
        ("row => row.time > \"2024-01-01\"", "row => (row.time > 2024-01-01T00:00:00Z) : bool"),
        ("row => row.time - row.time < 5m", "row => ((row.time - row.time) < 5m) : bool"),
        ("row => math.log1p(row.requests)", "row => math.log1p(row.requests) : float?"),
        ("row => math.sqrt(4)", "row => 2.0 : float"),
        ("row => hot(row)", "row => (row.cpu > 0.9) : bool"),
        ("row => -row.cpu", "row => (-row.cpu) : float"),
        ("row => 1", "row => 1 : int"),
    ] {
        assert_eq!(lowered(function), text, "{function}");
    }
}

#[test]
fn rows_are_checked() {
    let start = "let t = data.read(\"metrics.csv\")\noutput o = t |> data.filter(";
    for (function, says) in [
        ("row => row.host > 3", "`>` does not work on `str` and `int`"),
        ("row => row.cpu", "the result of `where` is `bool?`, and this is `float`"),
        ("row => row.host + \"x\" == \"ax\"", "`+` adds numbers; this is `str` and `str`"),
        ("row => row.cpu.x > 1", "`float` has no fields"),
        ("(a, b) => a.cpu > b.cpu", "this function takes 2 arguments, and 1 are given"),
        ("true", "`where` is a function of rows, and this is `bool`"),
        (
            "row => text.length(row.cpu) > 1",
            "`text` of `text.length` is `str`, and this is `float`",
        ),
    ] {
        let text = check(&format!("{start}{function})\n"));
        assert!(text.contains(says), "{function} gives\n{text}");
        assert_eq!(text.matches("error[").count(), 1, "{function} gives\n{text}");
    }
}

#[test]
fn columns_of_any_name() {
    let program = "type Point = { \"CPU (%)\": float, errors: int? }
let t = data.read(\"points.csv\", row: Point)
output o = t |> data.filter(row => row[\"CPU (%)\"] > 90.0)
";
    let plan = plan(program);
    let Some(Arg::Row(row)) = plan.nodes.last().and_then(|node| node.args.get("where")) else {
        panic!("a row function")
    };
    assert_eq!(row_display(row), "row => (row[\"CPU (%)\"] > 90.0)");
    let text = check(&program.replace("[\"CPU (%)\"]", "[\"CPU(%)\"]"));
    assert!(text.contains("fix: \"CPU(%)\" -> \"CPU (%)\""), "{text}");
}
