//! Every code of the compiler has a program that causes it; several mistakes give several separate problems.

use crate::support::{Files, MACHINE, check, compiled, compiled_on, rendered};
use std::collections::BTreeSet;

/// A program for each code, and what the problem says about it.
const CASES: &[(&str, &str, &str)] = &[
    (
        "parts::fit_on_test",
        "let t = data.read(\"metrics.csv\")\nlet p = t |> data.split(by: \"time\", train: 0.5, test: 0.5)\noutput d = detect.robust_z(p.test, columns: [\"cpu\"])",
        "`detect.robust_z` is fitted on the part `test`, which is kept for judging",
    ),
    (
        "parts::mixed",
        "let t = data.read(\"metrics.csv\")\nlet a = t |> data.split(by: \"time\", train: 0.5, test: 0.5)\nlet b = t |> data.split(by: \"hash\", train: 0.5, test: 0.5)\noutput d = a.train |> data.join(with: b.test, on: [\"time\"])",
        "`data.join` mixes parts of two splits of the same rows",
    ),
    (
        "parts::overlapping",
        "let w = data.read(\"metrics.csv\") |> data.window(length: 5m, step: 1m, n: rows => stat.count(rows))\nlet p = w |> data.split(by: \"random\", train: 0.8, test: 0.2)\noutput a = p.train",
        "the windows overlap, and `random` puts neighbours into different parts",
    ),
    (
        "parts::scored_on_fitted",
        "let t = data.read(\"metrics.csv\")\nlet p = t |> data.split(by: \"time\", train: 0.5, test: 0.5)\nlet d = detect.robust_z(p.train, columns: [\"cpu\"])\noutput s = detect.score(d, data: p.train)",
        "`detect.score` scores the part `train`, on which it has been fitted",
    ),
    (
        "parts::scored_on_whole",
        "let t = data.read(\"metrics.csv\")\nlet p = t |> data.split(by: \"time\", train: 0.5, test: 0.5)\nlet d = detect.robust_z(t, columns: [\"cpu\"])\noutput s = detect.score(d, data: p.test)",
        "`detect.score` scores a part of the rows on which it has been fitted",
    ),
    (
        "parts::selected_and_reported",
        "let p = data.read(\"metrics.csv\") |> data.split(by: \"time\", train: 0.4, valid: 0.3, test: 0.3)\nlet truth = data.read(\"labels.csv\")\nlet runs = for w in [2s, 4s] {\n  let d = detect.pca_window(p.train, columns: [\"cpu\"], window: w)\n  { d: d, f1: (detect.score(d, data: p.valid) |> eval.detection(labels: truth, threshold: 1.0)).f1 }\n}\nlet best = list.max_by(runs, key: run => run.f1)\ncheck good = best.f1 > 0.5",
        "by which it was chosen as the best",
    ),
    (
        "parts::wrong_part",
        "type Row = { time: time, cpu: float }\nlet t = data.read(\"metrics.csv\", row: Row)\nlet p = t |> data.split(by: \"time\", train: 0.5, test: 0.5)\nlet r: Table<Row, train> = p.test |> data.filter(row => row.cpu > 0.1)\noutput o = r",
        "this is the part `test`, and `train` is declared",
    ),
    (
        "plan::memory",
        "type Doc = { text: str }\nlet docs = data.read(\"docs.jsonl\", row: Doc)\nlet tok = tokenizer.train(docs, vocab: 32_000)\nlet rows = docs |> tokenizer.encode(with: tok) |> data.pack(length: 4096)\nlet m = model.decoder({ layers: 80, width: 8192, heads: 64, context: 4096 }, vocab: tok.size)\noutput t = train.fit(m, data: rows, steps: 1, optimizer: optim.adamw(lr: 1e-3))",
        "this needs at least 3.4 TiB",
    ),
    (
        "shapes::context",
        "type Doc = { text: str }\nlet docs = data.read(\"docs.jsonl\", row: Doc)\nlet tok = tokenizer.train(docs, vocab: 300)\nlet rows = docs |> tokenizer.encode(with: tok) |> data.pack(length: 512)\nlet m = model.decoder({ layers: 1, width: 32, heads: 2, context: 128 }, vocab: tok.size)\noutput t = train.fit(m, data: rows, steps: 1, optimizer: optim.adamw(lr: 1e-3))",
        "rows have 512 tokens, and the model's context is 128",
    ),
    (
        "shapes::decoder",
        "output m = model.decoder({ layers: 2, width: 100, heads: 3, context: 64 }, vocab: 1000)",
        "3 heads cannot share a width of 100",
    ),
    (
        "shapes::target",
        "let base = model.decoder({ layers: 1, width: 32, heads: 2, context: 64 }, vocab: 1000)\noutput a = lora.init(base, rank: 8, targets: [\"query\"])",
        "no module of the model is called `query`",
    ),
    (
        "shapes::tokenizer",
        "type Doc = { text: str }\nlet docs = data.read(\"docs.jsonl\", row: Doc)\nlet a = tokenizer.train(docs, vocab: 300)\nlet b = tokenizer.train(docs, vocab: 400)\nlet m = model.decoder({ layers: 1, width: 32, heads: 2, context: 64 }, vocab: a.size)\noutput f = model.package(m, tokenizer: b)",
        "another tokenizer than the model's vocabulary",
    ),
    (
        "shapes::vocabulary",
        "type Doc = { text: str }\nlet docs = data.read(\"docs.jsonl\", row: Doc)\nlet tok = tokenizer.train(docs, vocab: 4096)\nlet rows = docs |> tokenizer.encode(with: tok) |> data.pack(length: 64)\nlet m = model.decoder({ layers: 1, width: 32, heads: 2, context: 64 }, vocab: 1000)\noutput t = train.fit(m, data: rows, steps: 1, optimizer: optim.adamw(lr: 1e-3))",
        "the model's vocabulary ends at 999",
    ),
    (
        "types::exec",
        "output a = exec([\"true\"], inputs: \"metrics.csv\")",
        "`inputs` of `exec` is a record",
    ),
    (
        "types::exec_image",
        "output a = exec([\"true\"], outputs: { a: \"x\" }, image: \"python:3.12\")",
        "may be another image tomorrow",
    ),
    (
        "types::exec_path",
        "output a = exec([\"true\"], outputs: { a: \"../x.json\" })",
        "outside the folder that the program runs in",
    ),
    (
        "plan::attribute_value",
        "@timeout(60)\noutput a = data.read(\"metrics.csv\")",
        "`@timeout` takes a duration, such as `6h`",
    ),
    (
        "plan::attribute_without_node",
        "@retry(2)\nparam a: int = 1\noutput b = a",
        "a `param` makes no nodes, so `@retry` has no effect",
    ),
    (
        "plan::constant",
        "output a = 9007199254740993 / 2",
        "this cannot be computed: a whole number in it lies beyond 2^53",
    ),
    (
        "plan::file",
        "output a = logs.read(\"locked.log\")",
        "`locked.log` cannot be read: it may not be read",
    ),
    (
        "plan::duplicate_attribute",
        "@retry(2)\n@retry(3)\noutput a = data.read(\"metrics.csv\")",
        "`@retry` is given twice",
    ),
    (
        "plan::folder",
        "output a = data.read(\"folder\")",
        "`folder` is a folder, and a file is wanted",
    ),
    (
        "plan::known_before",
        "let t = data.read(\"metrics.csv\")\nlet n = if t.rows > 3 { [\"cpu\"] } else { [\"mem\"] }\noutput a = t |> data.select(n)",
        "`columns` of `data.select` must be known before the run",
    ),
    (
        "plan::missing_file",
        "output a = data.read(\"metrics.cvs\")",
        "there is no file `metrics.cvs`",
    ),
    ("plan::missing_param", "param a: int\noutput b = a", "the parameter `a` has no value"),
    (
        "plan::outside_root",
        "output a = data.read(\"../x.csv\")",
        "`../x.csv` lies outside the project",
    ),
    (
        "plan::output_name",
        "output checks = 1",
        "an output cannot be called `checks`: `checks.json` holds the results of the checks",
    ),
    (
        "plan::param_condition",
        "param rate: float = 0.5 where rate < 0.1\noutput a = rate",
        "`rate` is 0.5, and must meet `rate < 0.1`",
    ),
    (
        "plan::runtime_choice",
        "let t = data.read(\"metrics.csv\")\noutput a = for i in 0..t.rows { i }",
        "the ends of a range are known before the run",
    ),
    (
        "plan::table_head",
        "output a = data.read(\"twice.csv\")",
        "columns 1 and 2 are both called `a`",
    ),
    (
        "plan::too_large",
        "output a = for x in 0..3000 { for y in 0..3000 { x * y } }",
        "the program unfolds into too much to plan",
    ),
    (
        "plan::unknown_attribute",
        "@retries(2)\noutput a = data.read(\"metrics.csv\")",
        "there is no attribute `@retries`",
    ),
    (
        "resolve::cycle",
        "let a = b + 1\nlet b = a + 1\noutput c = a",
        "`a` is defined by itself: a → b → a",
    ),
    ("resolve::duplicate", "let a = 1\nlet a = 2\noutput b = a", "`a` is declared twice"),
    ("resolve::file", "use shop = \"shop.pipe\"\noutput a = shop.x", "`shop.pipe` cannot be read"),
    ("resolve::module_as_value", "output a = math", "`math` is a library module, not a value"),
    (
        "resolve::native",
        "@native(version: 1)\nfn f(x: int) -> int\noutput a = f(1)",
        "only the library declares ops",
    ),
    (
        "resolve::not_text",
        "use shop = \"binary.pipe\"\noutput a = shop.x",
        "`binary.pipe` is not UTF-8 text (line 1)",
    ),
    (
        "resolve::recursion",
        "fn f(x: int) -> int = g(x)\nfn g(x: int) -> int = f(x)\noutput a = f(1)",
        "`f` calls itself: f → g → f",
    ),
    (
        "resolve::type_as_value",
        "type Row = { a: int }\noutput a = Row",
        "`Row` is a type, not a value",
    ),
    ("resolve::unknown_name", "let rate = 1\noutput a = rte", "there is no `rte`"),
    ("resolve::unknown_op", "output a = data.reed(\"metrics.csv\")", "there is no op `data.reed`"),
    ("resolve::unused", "let a = 1\noutput b = 2", "nothing uses the value `a`"),
    (
        "resolve::use_cycle",
        "use a = \"a.pipe\"\noutput x = a.x",
        "these files use each other: a.pipe → b.pipe → a.pipe",
    ),
    (
        "types::argument_count",
        "output a = list.length([1], [2])",
        "`list.length` takes no more arguments",
    ),
    (
        "types::branches",
        "output a = if true { 1 } else { \"one\" }",
        "both branches have one type; these are `int` and `str`",
    ),
    ("types::check", "check a = 1", "a check is `bool`, and this is `int`"),
    (
        "types::column_type",
        "type Row = { tags: [str] }\noutput a = data.read(\"metrics.csv\", row: Row)",
        "the column `tags` is `[str]`; columns hold scalars",
    ),
    (
        "types::compiler_only",
        "output a = value.compute(1)",
        "the compiler writes `value.compute` itself",
    ),
    (
        "types::condition",
        "output a = if 1 { 2 } else { 3 }",
        "a condition is `bool`, and this is `int`",
    ),
    (
        "types::duplicate_argument",
        "output a = data.read(\"metrics.csv\", path: \"labels.csv\")",
        "the argument `path` is given twice",
    ),
    (
        "types::duplicate_column",
        "output a = data.read(\"metrics.csv\") |> data.select([\"cpu\", \"cpu\"])",
        "`cpu` is selected twice",
    ),
    ("types::duplicate_field", "output a = { x: 1, x: 2 }", "the field `x` is given twice"),
    ("types::empty_list", "output a = list.sum(for x in [1] if x > 1 { x })", "this list is empty"),
    ("types::index", "output a = [1, 2][2]", "the list has 2 items, and this asks for number 2"),
    (
        "types::interpolation",
        "let t = data.read(\"metrics.csv\")\noutput a = \"${t}\"",
        "cannot be put into a text",
    ),
    (
        "types::join_columns",
        "let t = data.read(\"metrics.csv\")\noutput a = t |> data.join(with: t, on: [])",
        "`on` names the columns that are equal",
    ),
    (
        "types::join_names",
        "let t = data.read(\"metrics.csv\")\nlet u = t |> data.derive(cpu_right: row => row.cpu)\noutput a = t |> data.join(with: u, on: [\"time\"])",
        "both tables have `cpu`, and `cpu_right` is taken too",
    ),
    (
        "types::join_types",
        "let t = data.read(\"metrics.csv\")\nlet u = t |> data.derive(time: row => row.cpu)\noutput a = t |> data.join(with: u, on: [\"time\"])",
        "`time` is `time` in one table and `float` in the other",
    ),
    (
        "types::inline_type",
        "output a = data.read(\"metrics.csv\", row: { cpu: float, mem: float })",
        "`row` takes the name of a type",
    ),
    (
        "types::list_lengths",
        "output a = list.zip([1, 2], [\"a\"])",
        "these lists have 2 and 1 items",
    ),
    (
        "types::mismatch",
        "output a = data.read(5)",
        "`path` of `data.read` is `path`, and this is `int` (5)",
    ),
    (
        "types::missing_argument",
        "output a = metrics.resample(data.read(\"metrics.csv\"), every: 5s)",
        "`metrics.resample` needs the argument `by`",
    ),
    (
        "types::missing_column",
        "output a = threshold.quantile(data.read(\"metrics.csv\"))",
        "needs the column `score` of type `float?`",
    ),
    (
        "types::missing_field",
        "type P = { x: int, y: int }\nlet p: P = { x: 1 }\noutput a = p.x",
        "`p` needs the field `y` of type `int`",
    ),
    (
        "types::mixed_files",
        "output a = data.read(\"mix/*.csv\")",
        "`mix/b.csv` has other columns than `mix/a.csv`",
    ),
    (
        "types::group_in_row",
        "output a = data.read(\"metrics.csv\") |> data.derive(n: row => row.cpu - stat.mean(row.cpu))",
        "one value of many rows cannot be read in a function of one row",
    ),
    (
        "types::group_of_group",
        "output a = data.read(\"metrics.csv\") |> data.group(by: [], n: rows => stat.mean(stat.max(rows.cpu)))",
        "`stat.mean` of a value that is one per group already",
    ),
    (
        "types::value_per_row",
        "output a = data.read(\"metrics.csv\") |> data.group(by: [\"host\"], n: rows => rows.cpu)",
        "`cpu` has one value per row, and a group has many rows",
    ),
    (
        "types::quantile",
        "output a = data.read(\"metrics.csv\") |> data.group(by: [], n: rows => stat.quantile(rows.cpu, q: 99))",
        "`q` lies between 0 and 1",
    ),
    (
        "types::fold_count",
        "let f = data.read(\"metrics.csv\") |> data.folds(k: 1, by: \"random\")\noutput a = f",
        "`k` is the number of folds",
    ),
    (
        "types::categories",
        "output a = data.read(\"metrics.csv\") |> data.encode([\"host\"], by: \"ordinal\")",
        "`host` is `str`, which does not say what categories there are",
    ),
    (
        "types::pivot_columns",
        "output a = data.read(\"metrics.csv\") |> data.pivot(by: [\"time\"], name: \"host\", value: \"cpu\")",
        "the values of `host` become columns",
    ),
    (
        "types::window_length",
        "output a = data.read(\"metrics.csv\") |> data.window(length: 5m, step: 10, n: rows => stat.count(rows))",
        "`length` is a duration and `step` is a number of rows",
    ),
    (
        "types::decimal_comma",
        "output a = data.read(\"preise.csv\")",
        "`preis` of `preise.csv` holds numbers with decimal commas, and it is read as text",
    ),
    (
        "types::header",
        "type Row = { time: time, load: float }\noutput a = data.read(\"metrics.csv\", row: Row)",
        "`metrics.csv` has no column `load`, which `Row` has",
    ),
    ("types::mixed_list", "output a = [1, \"two\"]", "a list has one type: this is `str`"),
    ("types::never_none", "let a = 1 ?? 2\noutput b = a", "the left side of `??` is never missing"),
    ("types::not_a_function", "let a = 1\noutput b = a(2)", "this is `int` and cannot be called"),
    ("types::not_a_list", "output a = for x in 5 { x }", "`for` walks a list, and this is `int`"),
    (
        "types::not_a_record",
        "output a = data.read(\"metrics.csv\", row: int)",
        "a row is a record type, and this is `int`",
    ),
    (
        "types::not_a_time",
        "output a = data.read(\"metrics.csv\", time: \"host\")",
        "the column `host` is `str`, and times are ISO 8601 or seconds since 1970",
    ),
    ("types::number_range", "output a = 9223372036854775807 + 1", "this whole number is too large"),
    (
        "types::op_as_value",
        "output a = list.max_by([\"a\"], key: text.length)",
        "an op is called, not handed over",
    ),
    (
        "types::op_in_row",
        "let t = data.read(\"metrics.csv\")\noutput a = t |> data.derive(n: row => data.read(\"labels.csv\"))",
        "`data.read` makes an artifact and cannot be called in a function of rows",
    ),
    (
        "types::operands",
        "output a = 5m + 10GiB",
        "`+` cannot join a duration and a size: one is time, the other is bytes",
    ),
    (
        "types::optional",
        "type P = { x: { y: int }? }\nfn f(p: P) -> int = p.x.y\noutput a = f({ x: none })",
        "this may be missing, so its field `y` cannot be read",
    ),
    (
        "types::order_unused",
        "let t = data.read(\"metrics.csv\")\noutput o = t |> data.filter(row => row.cpu > 0.9, over: [\"host\"])",
        "no function of this `data.filter` looks at other rows, so `over` changes nothing",
    ),
    (
        "types::window_needs_time",
        "type Row = { cpu: float }\nlet t = data.read(\"metrics.csv\", row: Row)\noutput o = t |> data.derive(x: row => window.mean(row.cpu, 5m))",
        "`window.mean` needs to know when each row was",
    ),
    (
        "types::window_outside_rows",
        "output a = window.mean(0.5, 12)",
        "`window.mean` looks at the rows before one, and here are no rows",
    ),
    (
        "types::window_size",
        "let t = data.read(\"metrics.csv\")\noutput o = t |> data.derive(x: row => window.lag(row.cpu, -1))",
        "a window looks back, and -1 rows lie ahead",
    ),
    (
        "types::window_without_order",
        "let t = data.read(\"metrics.csv\")\nlet s = t |> data.split(by: \"group\", key: row => window.lag(row.host, 1), train: 1.0)\noutput o = s.train",
        "`data.split` looks at each row alone, so there are no rows before one",
    ),
    ("types::output", "output a = x => x", "an output is a value"),
    (
        "types::param_default",
        "param a: int = data.read(\"metrics.csv\").rows\noutput b = a",
        "the default of `a` is known before the run",
    ),
    (
        "types::param_type",
        "type Row = { x: int }\nparam a: Table<Row>\noutput b = a",
        "a parameter is given as text",
    ),
    (
        "types::row_result",
        "let t = data.read(\"metrics.csv\")\noutput a = t |> data.derive(n: row => { x: 1 })",
        "a function of rows gives one scalar",
    ),
    (
        "types::run_time_in_row",
        "let t = data.read(\"metrics.csv\")\nlet n = if t.rows > 3 { [1] } else { [2] }\noutput a = t |> data.filter(row => row.errors in n)",
        "a function of rows reads single results, and this is a list",
    ),
    (
        "types::split_share",
        "let t = data.read(\"metrics.csv\")\nlet p = t |> data.split(by: \"time\", train: 0.8, test: 0.3)\noutput a = p.test",
        "the shares add up to 1.100, which is more than 1",
    ),
    (
        "types::take_apart",
        "output a = for (x, y) in [1, 2] { x }",
        "`int` cannot be taken apart into 2 names",
    ),
    (
        "types::type_arguments",
        "param a: int<str> = 1\noutput b = a",
        "`int` takes no type arguments",
    ),
    (
        "types::unknown_argument",
        "output a = metrics.resample(data.read(\"metrics.csv\"), evry: 5s, by: \"mean\")",
        "`metrics.resample` has no argument `evry`",
    ),
    (
        "types::unknown_column",
        "let t = data.read(\"metrics.csv\")\noutput a = t |> data.filter(row => row.cpus > 1.0)",
        "`t` has no column `cpus`",
    ),
    (
        "types::unknown_field",
        "let s = { layers: 4 }\noutput a = s.layer",
        "this record has no field `layer`",
    ),
    ("types::unknown_type", "param a: string = \"x\"\noutput b = a", "there is no type `string`"),
    (
        "types::unknown_value",
        "output a = metrics.resample(data.read(\"metrics.csv\"), every: 5s, by: \"maen\")",
        "`maen` is none of",
    ),
    (
        "types::unnamed_argument",
        "output a = metrics.resample(data.read(\"metrics.csv\"), 5s, by: \"mean\")",
        "`metrics.resample` takes its other arguments by name",
    ),
];

/// Codes whose cause lies outside a program; their tests stand below or in other files.
const ELSEWHERE: [&str; 4] =
    ["plan::bug", "plan::no_gpu", "plan::unknown_param", "types::param_text"];

fn files(program: &str) -> Files {
    let mut files = Files::with(program);
    files.put("folder/a.csv", "a\n1\n");
    files.put("mix/a.csv", "a\n1\n");
    files.put("mix/b.csv", "b\n1\n");
    files.put("locked.log", "x");
    files.put("twice.csv", "a,a\n1,2\n");
    files.put("a.pipe", "use b = \"b.pipe\"\nlet x = b.y\n");
    files.put("b.pipe", "use a = \"a.pipe\"\nlet y = a.x\n");
    files.0.insert("binary.pipe".into(), vec![0xFF, 0xFE]);
    files
}

#[test]
fn every_code_has_a_program() {
    let mut wrong = String::new();
    let mut seen = BTreeSet::new();
    for (code, program, says) in CASES {
        seen.insert(*code);
        let compiled = compiled(&files(program), &[]);
        let text = rendered(&compiled.problems, &compiled.sources);
        let right = compiled
            .problems
            .iter()
            .any(|problem| problem.code == *code && problem.message.contains(says));
        let others: Vec<_> =
            compiled.problems.iter().filter(|problem| problem.code != *code).collect();
        let consequences = others.iter().filter(|problem| problem.is_error()).count();
        if !right || consequences > 0 {
            wrong += &format!("--- {code}\n{program}\ngives\n{text}\n");
        }
    }
    let codes: BTreeSet<&str> = pipe_compiler::codes::own().iter().map(|code| code.code).collect();
    let untold = |code: &&&str| !seen.contains(**code) && !ELSEWHERE.contains(*code);
    for code in codes.iter().filter(untold) {
        wrong += &format!("--- {code} has no program\n");
    }
    for code in seen.iter().filter(|code| !codes.contains(*code)) {
        wrong += &format!("--- {code} has no page\n");
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn pages_are_complete_and_sorted() {
    let codes = pipe_compiler::codes::all();
    assert!(codes.windows(2).all(|pair| pair[0].code < pair[1].code));
    assert!(codes.iter().all(|code| !code.title.is_empty() && code.explanation.len() > 60));
}

#[test]
fn eight_mistakes_are_eight_problems() {
    let text = check(
        "param window: duration = 30
param rate: float = 0.5 where rate < 0.1
type Row = { time: time, cpu: flot }
let series = data.read(\"metrics.csv\", time: \"tme\")
let smooth = data.read(\"metrics.csv\") |> metrics.resample(every: 5s, by: \"avg\")
let hot = data.read(\"metrics.csv\") |> data.fliter(row => row.cpu > 0.9)
let busy = data.read(\"metrics.csv\") |> data.filter(row => row.cpux > 0.9)
let late = 5m + 3
output all = { series: series, smooth: smooth, hot: hot, busy: busy, late: late, window: window, rate: rate }
check good = busy.rows > 3 and typo > 1
output rows = data.read(\"metrics.csv\", row: Row)
",
    );
    let firsts: Vec<&str> = text.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(
        firsts,
        [
            "1:26 `30` error[types::mismatch] `window` is `duration`, and this is `int` (30)",
            "2:21 `0.5` error[plan::param_condition] `rate` is 0.5, and must meet `rate < 0.1`",
            "3:31 `flot` error[types::unknown_type] there is no type `flot`",
            "4:45 `\"tme\"` error[types::unknown_column] the file has no column `tme`",
            "5:74 `\"avg\"` error[types::unknown_value] `avg` is none of \"last\" | \"max\" | \"mean\" | \"min\" | \"sum\"",
            "6:44 `fliter` error[resolve::unknown_op] there is no op `data.fliter`",
            "7:63 `cpux` error[types::unknown_column] the table has no column `cpux`",
            "8:15 `+` error[types::operands] `+` cannot join a duration and a number without a unit",
            "10:32 `typo` error[resolve::unknown_name] there is no `typo`",
        ],
        "{text}"
    );
    for fix in
        ["30 -> 30s", "flot -> float", "\"tme\" -> \"time\"", "fliter -> filter", "cpux -> cpu"]
    {
        assert!(text.contains(&format!("fix: {fix}")), "{fix} is missing in\n{text}");
    }
}

#[test]
fn both_places_are_shown() {
    let text = check("type P = { x: int }\nlet p: P = { x: \"one\" }\noutput a = p.x\n");
    assert!(
        text.contains(
            "2:12 `{ x: \"one\" }` error[types::mismatch] `x` of `p` is `int`, and this is `str`"
        ),
        "{text}"
    );
    assert!(text.contains("2:8 `P`: declared here"), "{text}");
    let text = check("output a = data.read(\"../x.csv\")");
    assert!(text.contains("    label: it is not below the project's folder\n"), "{text}");
    let text = check("let a = 1\nlet a = 2\noutput b = a\n");
    assert!(text.contains("1:5 `a`: first declared here"), "{text}");
}

#[test]
fn what_is_reported_causes_nothing_else() {
    let text = check(
        "let t = data.red(\"metrics.csv\")
let u = t |> data.filter(row => row.cpu > 1.0) |> data.derive(x: row => row.nothing)
output a = u
check b = u.rows > 3
let c = missing + 1
output d = c * 2.0 + list.sum([c, c])
",
    );
    assert_eq!(text.matches("error[").count(), 2, "{text}");
}

#[test]
fn a_function_is_checked_without_and_with_its_arguments() {
    let text = check("fn f(x: int) -> str = x + 1\noutput a = 1\noutput b = f(1)\n");
    assert_eq!(text.matches("error[").count(), 1, "{text}");
    assert!(text.contains("the result of `f` is `str`, and this is `int`"), "{text}");
    let program = "fn hot<T>(t: Table<{ cpu: float, ..T }>) -> Table<{ cpu: float, ..T }> = t |> data.filter(row => row.cpu > row.limit)
let t = data.read(\"metrics.csv\")
output a = hot(t)
";
    let text = check(program);
    assert!(text.contains("has no column `limit`"), "{text}");
    assert!(text.contains("3:12 `hot(t)`: in this call"), "{text}");
}

#[test]
fn parameters_come_from_outside() {
    let program = "param n: int = 1 where n > 0\nparam name: str = \"x\"\nparam w: duration = 5s\nparam ranks: [int] = [8]\nparam mode: \"fast\" | \"slow\" = \"fast\"\noutput a = { n: n, name: name, w: w, ranks: ranks, mode: mode }\n";
    let files = Files::with(program);
    let good = compiled(
        &files,
        &[("n", "3"), ("name", "two words"), ("w", "2m"), ("ranks", "[1, 2]"), ("mode", "slow")],
    );
    let plan = good.plan.expect("a plan");
    let shown: Vec<String> = plan.params.values().map(ToString::to_string).collect();
    assert_eq!(shown, ["\"slow\"", "3", "\"two words\"", "[1, 2]", "2m"]);
    for (name, value, code) in [
        ("n", "0", "plan::param_condition"),
        ("n", "x", "types::param_text"),
        ("n", "1.5", "types::mismatch"),
        ("w", "5", "types::mismatch"),
        ("w", "5min", "types::param_text"),
        ("mode", "fats", "types::unknown_value"),
        ("nn", "1", "plan::unknown_param"),
    ] {
        let bad = compiled(&files, &[(name, value)]);
        let text = rendered(&bad.problems, &bad.sources);
        assert_eq!(
            bad.problems.iter().map(|problem| problem.code).collect::<Vec<_>>(),
            [code],
            "{name}={value}\n{text}"
        );
        assert!(text.contains(&format!("--set {name}")), "{text}");
    }
}

#[test]
fn gpus_are_never_replaced_silently() {
    let program = |attribute: &str| {
        format!(
            "{attribute}\nlet m = model.decoder({{ layers: 1, width: 8, heads: 1, context: 8 }}, vocab: 8, seed: 1)\noutput o = m\n"
        )
    };
    if !pipe_stdlib::FILES.iter().any(|(name, _)| *name == "model") {
        return;
    }
    let none = compiled(&Files::with(&program("@gpu(1)")), &[]);
    let text = rendered(&none.problems, &none.sources);
    assert!(text.contains("error[plan::no_gpu] this asks for 1 GPU, and there is none"), "{text}");
    assert!(text.contains("fix: @gpu(1) -> @gpu(1, else: \"cpu\")"), "{text}");
    let cpu = compiled(&Files::with(&program("@gpu(1, else: \"cpu\")")), &[]);
    assert!(cpu.plan.is_some_and(|plan| plan.nodes.iter().all(|node| node.runs.device == "cpu")));
    let machine = pipe_compiler::Machine { gpus: 1, ..MACHINE };
    let gpu = compiled_on(&Files::with(&program("@gpu(1)")), &[], machine);
    assert!(gpu.plan.is_some_and(|plan| {
        plan.nodes.iter().any(|node| node.runs.device == "cuda" && node.runs.gpu == 1)
    }));
}

#[test]
fn broken_syntax_leaves_the_rest_checked() {
    let text = check("let a = (1 + \nlet b = missing\noutput c = a + b\n");
    assert!(text.contains("syntax::"), "{text}");
    assert!(text.contains("there is no `missing`"), "{text}");
    assert_eq!(text.matches("error[").count(), 2, "{text}");
}

#[test]
fn near_names_are_suggested_everywhere() {
    for (program, fix) in [
        ("let rate = 1\noutput a = rte", "rte -> rate"),
        ("output a = dta.read(\"metrics.csv\")", "dta -> data"),
        ("output a = data.fliter(data.read(\"metrics.csv\"), row => true)", "fliter -> filter"),
        ("output a = data.read(\"metrics.csv\", malfromed: \"skip\")", "malfromed -> malformed"),
        ("output a = data.read(\"metrics.csv\", malformed: \"skp\")", "\"skp\" -> \"skip\""),
        (
            "output a = data.read(\"metrics.csv\") |> data.select([\"cpu\", \"mme\"])",
            "\"mme\" -> \"mem\"",
        ),
        (
            "output a = data.read(\"metrics.csv\") |> data.filter(row => row.hots == \"a\")",
            "hots -> host",
        ),
        ("param a: duraton = 5s\noutput b = a", "duraton -> duration"),
        ("@retyr(2)\noutput a = data.read(\"metrics.csv\")", "retyr -> retry"),
        (
            "type Row = { level: \"info\" | \"error\" }\noutput a = data.read(\"metrics.csv\", row: Row) |> data.filter(row => row.level == \"eror\")",
            "\"eror\" -> \"error\"",
        ),
        (
            "output a = metrics.resample(data.read(\"metrics.csv\"), every: 5, by: \"mean\")",
            "5 -> 5s",
        ),
        ("output a = data.read(\"metrics.csv\") |> data.sort(\"cpu\")", "\"cpu\" -> [\"cpu\"]"),
        (
            "output a = metrics.resample(data.read(\"metrics.csv\"), 5s, by: \"mean\")",
            " -> every: ",
        ),
        ("output a = data.read(\"metrics.csv\") |> data.filter(true)", " -> row => "),
        ("output a = data.read(\"metrics.cvs\")", "\"metrics.cvs\" -> \"metrics.csv\""),
        ("output a = data.read(\"./metrics.cvs\")", "\"./metrics.cvs\" -> \"./metrics.csv\""),
        ("output a = logs.read(\"service.lgo\")", "\"service.lgo\" -> \"service.log\""),
        ("use m = \"mian.pipe\"\noutput a = m.x", "\"mian.pipe\" -> \"main.pipe\""),
    ] {
        let text = check(program);
        assert!(text.contains(&format!("fix: {fix}")), "{program}\n{text}");
    }
}

#[test]
fn help_says_more_than_the_edit() {
    for (code, program, _) in CASES {
        for problem in compiled(&files(program), &[]).problems {
            let ([edit], Some(help)) = (problem.edits.as_slice(), &problem.help) else { continue };
            let new = edit.replacement.trim();
            let repeats = ["write", "replace with", "add"].map(|word| format!("{word} `{new}`"));
            assert!(!repeats.contains(help), "{code}: {help}");
        }
    }
}

#[test]
fn unused_lets_inside_are_told() {
    let text = check(
        "fn f(x: int) -> int {\n  let a = x\n  let b = a\n  let _c = b\n  let d = 1\n  b\n}\noutput o = f(1)\n",
    );
    assert_eq!(text.matches("warning[resolve::unused]").count(), 1, "{text}");
    assert!(text.contains("nothing uses the value `d`"), "{text}");
}
