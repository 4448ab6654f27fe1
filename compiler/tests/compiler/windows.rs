//! Windows: how they lower, which order they get, and that programs without them keep their keys.

use crate::support::{Files, check, compiled, plan, rendered};
use pipe_compiler::key::row_display;
use pipe_compiler::plan::{Arg, Node};
use pipe_compiler::value::Const;
use pipe_row::Column;
use pipe_row::ir::{Expr, RowFn, Scalar, Ty};
use pipe_row::window::Order;

fn problems_of(files: &Files) -> String {
    let compiled = compiled(files, &[]);
    rendered(&compiled.problems, &compiled.sources)
}

fn derived(function: &str, order: &str) -> (String, Node) {
    let program = format!(
        "let t = data.read(\"metrics.csv\")\noutput o = t |> data.derive(x: {function}{order})\n"
    );
    let plan = plan(&program);
    let node = plan.nodes.last().expect("a node").clone();
    let Some(Arg::Record(columns)) = node.args.get("columns") else { panic!("{:?}", node.args) };
    let Some(Arg::Row(row)) = columns.get("x") else { panic!("{columns:?}") };
    let optional = if row.optional { "?" } else { "" };
    (format!("{} : {}{optional}", row_display(row), row.ty), node)
}

#[test]
fn windows_lower() {
    for (function, text) in [
        ("row => window.lag(row.cpu, 1)", "row => window.lag(row.cpu, 1) : float?"),
        ("row => window.lag(row.host, 1d)", "row => window.lag(row.host, 1d) : str?"),
        (
            "row => window.diff(row.errors)",
            "row => (row.errors - window.lag(row.errors, 1)) : int?",
        ),
        (
            "row => window.diff(row.time, 2)",
            "row => (row.time - window.lag(row.time, 2)) : duration?",
        ),
        ("row => window.mean(row.cpu, 5m)", "row => window.mean(row.cpu, 5m, min_rows: 1) : float"),
        (
            "row => window.mean(row.cpu, 12)",
            "row => window.mean(row.cpu, 12, min_rows: 12) : float?",
        ),
        (
            "row => window.mean(row.cpu, 12, min_rows: 1)",
            "row => window.mean(row.cpu, 12, min_rows: 1) : float",
        ),
        (
            "row => window.mean(row.requests, 5m)",
            "row => window.mean(row.requests, 5m, min_rows: 1) : float?",
        ),
        (
            "row => window.sum(row.errors, 5m)",
            "row => window.sum(row.errors, 5m, min_rows: 1) : int",
        ),
        ("row => window.max(row.time, 5m)", "row => window.max(row.time, 5m, min_rows: 1) : time"),
        ("row => window.std(row.cpu, 5m)", "row => window.std(row.cpu, 5m, min_rows: 1) : float?"),
        (
            "row => window.median(row.cpu, 1h)",
            "row => window.quantile(row.cpu, 1h, q: 0.5, min_rows: 1) : float",
        ),
        (
            "row => window.quantile(row.cpu, 1h, q: 0.99)",
            "row => window.quantile(row.cpu, 1h, q: 0.99, min_rows: 1) : float",
        ),
        (
            "row => window.ewma(row.cpu, half_life: 10m)",
            "row => window.ewma(row.cpu, half_life: 10m) : float",
        ),
        (
            "row => window.ewma(row.requests, alpha: 1)",
            "row => window.ewma(row.requests, alpha: 1.0) : float?",
        ),
        ("row => window.any(row.cpu > 0.9, 3)", "row => window.any((row.cpu > 0.9), 3) : bool?"),
        ("row => window.count(row.cpu > 0.9, 3)", "row => window.count((row.cpu > 0.9), 3) : int"),
        (
            "row => window.held(row.cpu > 0.9) >= 5m",
            "row => (window.held((row.cpu > 0.9)) >= 5m) : bool",
        ),
        ("row => window.streak(row.errors > 0)", "row => window.streak((row.errors > 0)) : int"),
        (
            "row => window.since(row.host == \"a\")",
            "row => window.since((row.host == \"a\")) : duration?",
        ),
        (
            "row => window.mean(row.cpu - row.mem, 5m) > 2 * window.std(row.cpu, 1h)",
            "row => (window.mean((row.cpu - row.mem), 5m, min_rows: 1) > (2 * window.std(row.cpu, 1h, min_rows: 1))) : bool?",
        ),
        (
            "row => window.max(window.mean(row.cpu, 2), 3)",
            "row => window.max(window.mean(row.cpu, 2, min_rows: 2), 3, min_rows: 3) : float?",
        ),
    ] {
        assert_eq!(derived(function, "").0, text, "{function}");
    }
}

#[test]
fn functions_with_windows_are_functions() {
    let program =
        "type Cpu = { time: time, cpu: float, mem: float, requests: int?, errors: int, host: str }
fn busy(row: Cpu, limit: float) -> bool = window.held(row.cpu > limit) >= 30s
let t = data.read(\"metrics.csv\")
output o = t |> data.filter(row => busy(row, limit: 0.9) and row.errors == 0, over: [\"host\"])\n";
    assert_eq!(check(program), "");
    let plan = plan(program);
    let Some(Arg::Row(row)) = plan.nodes.last().and_then(|node| node.args.get("where")) else {
        panic!("{plan:#?}")
    };
    assert_eq!(
        row_display(row),
        "row => ((window.held((row.cpu > 0.9)) >= 30s) and (row.errors == 0))"
    );
}

#[test]
fn the_order_is_settled_before_the_run() {
    let time = Arg::Const(Const::Str("time".into()));
    let hosts = Arg::Const(Const::List(vec![Const::Str("host".into())]));
    let (_, node) = derived("row => window.lag(row.cpu, 1)", "");
    assert_eq!((node.args.get("over"), node.args.get("by")), (None, Some(&time)));
    let (_, named) = derived("row => window.lag(row.cpu, 1)", ", by: \"time\"");
    assert_eq!(named.key, node.key, "the only column of times and its name are one order");
    let (_, node) = derived("row => window.lag(row.cpu, 1)", ", over: [\"host\"]");
    assert_eq!((node.args.get("over"), node.args.get("by")), (Some(&hosts), Some(&time)));
    assert_ne!(named.key, node.key);
    let (_, plain) = derived("row => row.cpu", "");
    assert_eq!(plain.args.keys().collect::<Vec<_>>(), ["columns", "table"]);
}

#[test]
fn a_row_without_a_time_has_no_place() {
    let mut files = Files::with(
        "let t = data.read(\"gaps.csv\")\noutput o = t |> data.derive(x: row => window.count(row.cpu > 0.5, 3))\n",
    );
    files.put("gaps.csv", "time,cpu\n2024-01-01T00:00:00Z,0.5\n,0.6\n");
    let plan = compiled(&files, &[]).plan.expect("a plan");
    let columns = plan.nodes.last().and_then(|node| node.columns.clone()).expect("columns");
    assert!(columns.iter().any(|column| column.name == "x" && column.optional), "{columns:?}");
}

#[test]
fn mistakes_with_windows() {
    let read = "let t = data.read(\"metrics.csv\")\n";
    for (rest, says) in [
        (
            "output o = t |> data.derive(x: row => window.lag(row.cpu, -1))",
            "a window looks back, and -1 rows lie ahead",
        ),
        (
            "output o = t |> data.derive(x: row => window.mean(row.cpu, 0s))",
            "a window reaches over rows or time, and this is 0s",
        ),
        (
            "output o = t |> data.derive(x: row => window.mean(row.cpu, row.errors))",
            "`window` of `window.mean` is one for all rows",
        ),
        (
            "output o = t |> data.derive(x: row => window.mean(row.cpu, 3, min_rows: 4))",
            "a window of 3 rows never holds 4",
        ),
        (
            "output o = t |> data.derive(x: row => window.mean(row.host, 3))",
            "`x` of `window.mean` is `float`, and this is `str`",
        ),
        (
            "output o = t |> data.derive(x: row => window.sum(row.host, 3))",
            "`window.sum` takes `float`, `int`, `size` or `duration`, and this is `str`",
        ),
        (
            "output o = t |> data.derive(x: row => window.diff(row.host))",
            "there is no difference of two values of `str`",
        ),
        (
            "output o = t |> data.derive(x: row => window.ewma(row.cpu))",
            "`window.ewma` needs to know how fast it forgets",
        ),
        (
            "output o = t |> data.derive(x: row => window.ewma(row.cpu, alpha: 0.1, half_life: 1m))",
            "`half_life` and `alpha` both say how fast it forgets",
        ),
        (
            "output o = t |> data.derive(x: row => window.ewma(row.cpu, alpha: 1.5))",
            "`alpha` lies above 0 and at most 1, and this is 1.5",
        ),
        (
            "output o = t |> data.derive(x: row => window.quantile(row.cpu, 3, q: 99.0))",
            "`q` lies between 0 and 1, and this is 99.0",
        ),
        (
            "output o = t |> data.derive(x: row => window.lag(row.cpu, 1), by: \"cpu\")",
            "the column `cpu` is `float`, not `time`",
        ),
        (
            "output o = t |> data.derive(x: row => window.lag(row.cpu, 1), over: [\"hots\"])",
            "`t` has no column `hots`",
        ),
        (
            "output o = t |> data.filter(row => row.cpu > 0.9, over: [\"host\"])",
            "no function of this `data.filter` looks at other rows, so `over` changes nothing",
        ),
        (
            "output o = (t |> data.split(by: \"group\", key: row => window.lag(row.host, 1), train: 1.0)).train",
            "`data.split` looks at each row alone, so there are no rows before one",
        ),
        (
            "let m = window.mean(0.5, 12)\noutput o = t\noutput p = m",
            "`window.mean` looks at the rows before one, and here are no rows",
        ),
    ] {
        let problems = check(&format!("{read}{rest}\n"));
        let count = problems.matches("error[").count() + problems.matches("warning[").count();
        assert_eq!(count, 1, "{rest}: {problems}");
        assert!(problems.contains(says), "{rest}: {problems}");
    }
}

#[test]
fn windows_of_time_need_one_column_of_times() {
    let mut files = Files::with(
        "type Row = { cpu: float }\nlet t = data.read(\"metrics.csv\", row: Row)\noutput o = t |> data.derive(x: row => window.mean(row.cpu, 5m))\n",
    );
    let problems = problems_of(&files);
    assert!(problems.contains("`window.mean` needs to know when each row was"), "{problems}");
    assert!(problems.contains("count rows: `12`"), "{problems}");
    files.put(
        "main.pipe",
        "let t = data.read(\"labels.csv\")\noutput o = t |> data.derive(x: row => window.held(row.anomalous))\n",
    );
    let problems = problems_of(&files);
    assert!(
        problems.contains("say which column in `data.derive`: `by: \"start\"` or `by: \"end\"`"),
        "{problems}"
    );
    files.put(
        "main.pipe",
        "let t = data.read(\"labels.csv\")\noutput o = t |> data.derive(x: row => window.streak(row.anomalous))\n",
    );
    assert_eq!(problems_of(&files), "", "rows as they stand");
}

/// A value of the examples: `none`, a number, or a duration or truth as it prints.
fn shown(value: &Scalar) -> String {
    match value {
        Scalar::None => "none".to_owned(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => {
            let mut text = String::new();
            pipe_row::print::write_number(&mut text, *value);
            text
        }
        Scalar::Duration(nanos) => Const::Duration(*nanos).to_string(),
        other => format!("{other:?}"),
    }
}

/// The lowered function of an expression over columns `time` and `x`, all of them optional.
fn example(expression: &str) -> RowFn {
    let mut files = Files::with(&format!(
        "type Row = {{ time: time?, x: float? }}\nlet t = data.read(\"metrics.csv\", row: Row)\noutput o = t |> data.derive(r: row => {expression})\n"
    ));
    files.put("metrics.csv", "time,x\n");
    let compiled = compiled(&files, &[]);
    let text = rendered(&compiled.problems, &compiled.sources);
    let plan = compiled.plan.unwrap_or_else(|| panic!("{expression}: {text}"));
    let node = plan.nodes.last().expect("a node");
    let Some(Arg::Record(columns)) = node.args.get("columns") else { panic!("{:?}", node.args) };
    let Some(Arg::Row(row)) = columns.get("r") else { panic!("{columns:?}") };
    row.clone()
}

#[test]
fn the_examples_of_the_specification() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/rows.md");
    let text = std::fs::read_to_string(path).expect("the page");
    let table = text.split("| expression | time | x | gives |\n|---|---|---|---|\n").nth(1);
    let table = table.expect("the examples");
    let mut count = 0;
    for line in table.lines().take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        let [expression, times, values, gives] = cells.as_slice() else { panic!("{line}") };
        let times = times.split(' ').map(|time| time.parse::<i64>().ok());
        let times = Column::optional_time(times.map(|time| time.map(|time| time * 1_000_000_000)));
        let x = Column::optional_float(values.split(' ').map(|value| value.parse::<f64>().ok()));
        let row = example(expression);
        let columns: Vec<&Column> =
            row.columns.iter().map(|read| if read.name == "x" { &x } else { &times }).collect();
        let order = Order::new(x.len(), &[], Some(&times)).expect("an order");
        let result = row.evaluate_over(&columns, &order).expect("a result");
        let found: Vec<String> = (0..x.len()).map(|at| shown(&result.get(at))).collect();
        assert_eq!(found.join(" "), *gives, "{expression} of {values}");
        count += 1;
    }
    assert!(count > 20, "{count} examples");
}

#[test]
fn the_table_of_windows() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/rows.md");
    let text = std::fs::read_to_string(path).expect("the page");
    let table = text.split("| window | takes |").nth(1).expect("the table");
    let mut told = std::collections::BTreeSet::new();
    for line in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [call, takes, times, gives, missing] = cells.as_slice() else { panic!("{line}") };
        let call = call.trim_matches('`').replace("(x", "(X").replace(", n)", ", 3)");
        let truth = *takes == "`bool`";
        let row = example(&call.replace('X', if truth { "row.x > 0.5" } else { "row.x" }));
        let mut open = vec![&row.body];
        let mut window = None;
        while let Some(expr) = open.pop() {
            if let Expr::Window(found, _) = expr {
                window = Some(*found);
            }
        }
        let window = window.expect("a window");
        told.insert(window.path());
        assert_eq!(window.accepts().words(), *takes, "{line}");
        assert_eq!(window.needs_times(), *times == "yes", "{line}");
        for ty in Ty::ALL.into_iter().filter(|ty| window.accepts().contains(*ty)) {
            let result = window.result(ty).expect("a type");
            let expected = if *gives == "same" { ty.name() } else { gives.trim_matches('`') };
            assert_eq!(result.name(), expected, "{line}");
        }
        let expected = match (window.may_miss(false), window.may_miss(true)) {
            (true, _) => "yes",
            (false, true) => "where `x` may",
            (false, false) => "no",
        };
        assert_eq!(expected, *missing, "{line}");
    }
    assert_eq!(told.len(), 14, "{told:?}");
}
