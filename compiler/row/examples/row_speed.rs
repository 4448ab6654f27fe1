//! Times row expressions over columns in memory and prints JSON: `row_speed ROWS ROUNDS`.
//!
//! Each expression: nanoseconds a row by kernel, by interpreter, by what the planner chooses and by the same loop
//! written in Rust, round by round and interleaved; then how long a kernel takes to compile, and what the choice
//! costs over the better engine at several sizes.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on stops")]

use pipe_row::ir::{BinaryOp, ColumnRef, Expr, Function, RowFn, Scalar, Ty};
use pipe_row::{Column, Engine, Program, Values, forget_kernels};
use serde_json::{Value, json};
use std::time::Instant;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn column(name: &str) -> Expr {
    Expr::Column(u32::try_from(NAMES.iter().position(|known| *known == name).unwrap()).unwrap())
}

fn number(value: f64) -> Expr {
    Expr::Literal(Scalar::Float(value))
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

fn function(body: Expr, ty: Ty) -> RowFn {
    let column =
        |name: &&str| ColumnRef { name: (*name).to_owned(), ty: Ty::Float, optional: true };
    RowFn { columns: NAMES.iter().map(column).collect(), body, ty, optional: true }.canonical()
}

/// `(a - b) / max(c, 1) * 0.5 + d`
fn arithmetic() -> RowFn {
    let top = binary(BinaryOp::Subtract, column("a"), column("b"));
    let bottom = Expr::Call(Function::Max, vec![column("c"), number(1.0)]);
    let half = binary(BinaryOp::Multiply, binary(BinaryOp::Divide, top, bottom), number(0.5));
    function(binary(BinaryOp::Add, half, column("d")), Ty::Float)
}

/// `a > 3 * b and c < 0.9 or d * d + a > 17`
fn filter(limit: f64) -> RowFn {
    let steep = binary(
        BinaryOp::Greater,
        column("a"),
        binary(BinaryOp::Multiply, number(3.0), column("b")),
    );
    let low = binary(BinaryOp::Less, column("c"), number(limit));
    let square = binary(BinaryOp::Multiply, column("d"), column("d"));
    let far =
        binary(BinaryOp::Greater, binary(BinaryOp::Add, square, column("a")), number(17.0 + limit));
    function(binary(BinaryOp::Or, binary(BinaryOp::And, steep, low), far), Ty::Bool)
}

/// `exp(-(a * a)) + log1p(abs(b))`
fn transcendental() -> RowFn {
    let square = binary(BinaryOp::Multiply, column("a"), column("a"));
    let negative = Expr::Unary(pipe_row::ir::UnaryOp::Negate, Box::new(square));
    let exp = Expr::Call(Function::Exp, vec![negative]);
    let abs = Expr::Call(Function::Abs, vec![column("b")]);
    let log = Expr::Call(Function::Log1p, vec![abs]);
    function(binary(BinaryOp::Add, exp, log), Ty::Float)
}

/// `sqrt(a * a + b * b + c * c)`
fn length() -> RowFn {
    let square = |name| binary(BinaryOp::Multiply, column(name), column(name));
    let sum = binary(BinaryOp::Add, binary(BinaryOp::Add, square("a"), square("b")), square("c"));
    function(Expr::Call(Function::Sqrt, vec![sum]), Ty::Float)
}

/// `if a > b { (a - b) / a } else { c * d }`
fn branches() -> RowFn {
    let condition = binary(BinaryOp::Greater, column("a"), column("b"));
    let first =
        binary(BinaryOp::Divide, binary(BinaryOp::Subtract, column("a"), column("b")), column("a"));
    let second = binary(BinaryOp::Multiply, column("c"), column("d"));
    function(Expr::If(Box::new(condition), Box::new(first), Box::new(second)), Ty::Float)
}

/// `abs(a - b) > 0.5 and c >= 1 and c <= 3`
fn band() -> RowFn {
    let apart =
        Expr::Call(Function::Abs, vec![binary(BinaryOp::Subtract, column("a"), column("b"))]);
    let apart = binary(BinaryOp::Greater, apart, number(0.5));
    let above = binary(BinaryOp::GreaterEqual, column("c"), number(1.0));
    let below = binary(BinaryOp::LessEqual, column("c"), number(3.0));
    let both = binary(BinaryOp::And, apart, above);
    function(binary(BinaryOp::And, both, below), Ty::Bool)
}

type Loop = fn(&[Vec<f64>]) -> Column;

fn rows(data: &[Vec<f64>]) -> impl Iterator<Item = (f64, f64, f64, f64)> {
    let [a, b, c, d] = data else { unreachable!() };
    let pairs = a.iter().zip(b).zip(c.iter().zip(d));
    pairs.map(|((a, b), (c, d))| (*a, *b, *c, *d))
}

fn floats(values: impl Iterator<Item = f64>) -> Column {
    // Not through the constructor, which looks at every value once more.
    std::hint::black_box(values.collect::<Vec<f64>>());
    Column::float(Vec::new())
}

fn truths(values: impl Iterator<Item = bool>) -> Column {
    std::hint::black_box(values.collect::<Vec<bool>>());
    Column::boolean(Vec::new())
}

fn cases() -> Vec<(&'static str, RowFn, Loop)> {
    vec![
        ("arithmetic", arithmetic(), |data| {
            floats(rows(data).map(|(a, b, c, d)| (a - b) / c.max(1.0) * 0.5 + d))
        }),
        ("filter", filter(0.9), |data| {
            truths(rows(data).map(|(a, b, c, d)| (a > 3.0 * b) & (c < 0.9) | (d * d + a > 17.9)))
        }),
        ("transcendental", transcendental(), |data| {
            floats(rows(data).map(|(a, b, _, _)| libm::exp(-(a * a)) + libm::log1p(b.abs())))
        }),
        ("length", length(), |data| {
            floats(rows(data).map(|(a, b, c, _)| (a * a + b * b + c * c).sqrt()))
        }),
        ("branches", branches(), |data| {
            floats(rows(data).map(|(a, b, c, d)| if a > b { (a - b) / a } else { c * d }))
        }),
        ("band", band(), |data| {
            truths(rows(data).map(|(a, b, c, _)| ((a - b).abs() > 0.5) & (1.0..=3.0).contains(&c)))
        }),
    ]
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Runs by an engine, or by choice.
fn by(engine: Option<Engine>, functions: &[&RowFn], data: &[Column], rows: usize) {
    let program = Program::new(functions).unwrap();
    let place = |name: &str| NAMES.iter().position(|known| *known == name).unwrap();
    let bound: Vec<&Column> = program.columns().iter().map(|c| &data[place(&c.name)]).collect();
    match engine {
        Some(engine) => drop(std::hint::black_box(program.run_by(engine, &bound, rows).unwrap())),
        None => drop(std::hint::black_box(program.run(&bound, rows).unwrap())),
    }
}

/// Numbers between 0 and 4.
fn data(rows: usize) -> Vec<Vec<f64>> {
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(seed >> 33).unwrap()) / f64::from(1_u32 << 31) * 4.0
    };
    (0..4).map(|_| (0..rows).map(|_| next()).collect()).collect()
}

fn speeds(columns: &[Column], data: &[Vec<f64>], rounds: usize) -> Vec<Value> {
    let rows = data.first().unwrap().len();
    #[expect(clippy::cast_precision_loss, reason = "a measurement")]
    let nanos = |seconds: f64| seconds / rows as f64 * 1e9;
    let mut results = Vec::new();
    for (name, function, written) in cases() {
        let mut times = [vec![], vec![], vec![]];
        // In turn, and each one first as often as the others: what ran before has left its memory.
        for round in 0..rounds * times.len() {
            let place = (round + round / times.len()) % times.len();
            let taken = seconds(|| match place {
                0 => by(Some(Engine::Kernel), &[&function], columns, rows),
                1 => drop(written(data)),
                _ => by(Some(Engine::Interpreter), &[&function], columns, rows),
            });
            times[place].push(nanos(taken));
        }
        let [kernel, rust, interpreter] = times;
        results.push(
            json!({"name": name, "kernel": kernel, "rust": rust, "interpreter": interpreter}),
        );
    }
    let rules: Vec<RowFn> = (0..10).map(|rule| filter(0.1 * f64::from(rule))).collect();
    let rules: Vec<&RowFn> = rules.iter().collect();
    let mut kernel = vec![];
    for _ in 0..rounds {
        kernel.push(nanos(seconds(|| by(Some(Engine::Kernel), &rules, columns, rows))));
    }
    results.push(json!({"name": "ten rules", "kernel": kernel}));
    results
}

/// Microseconds from an expression to a kernel that has computed two rows.
fn compiling(columns: &[Column], rounds: usize) -> Vec<Value> {
    let two: Vec<Column> = columns.iter().map(|column| short(column, 2)).collect();
    let time = |function: &RowFn| {
        forget_kernels();
        seconds(|| by(Some(Engine::Kernel), &[function], &two, 2)) * 1e6
    };
    let of = |(name, function, _): &(&str, RowFn, Loop)| {
        let micros: Vec<f64> = (0..rounds * 5).map(|_| time(function)).collect();
        json!({"name": name, "micros": micros})
    };
    cases().iter().map(of).collect()
}

/// What the choice costs at several sizes, kernels forgotten before each run.
fn choices(columns: &[Column], rounds: usize) -> Vec<Value> {
    let rows = columns.first().unwrap().len();
    let sizes = [100, 1_000, 3_000, 10_000, 20_000, 30_000, 50_000, 100_000, 300_000, 1_000_000];
    let mut results = Vec::new();
    for size in sizes.into_iter().filter(|size| *size <= rows) {
        let part: Vec<Column> = columns.iter().map(|column| short(column, size)).collect();
        for (name, function, _) in cases() {
            let engines = [None, Some(Engine::Kernel), Some(Engine::Interpreter)];
            let mut times = [vec![], vec![], vec![]];
            // Each engine runs once behind each other one: what ran before has left its memory.
            let rounds = rounds * (1 + 200_000 / size).min(10);
            for round in 0..rounds * engines.len() {
                let place = (round + round / engines.len()) % engines.len();
                forget_kernels();
                let taken = seconds(|| by(engines[place], &[&function], &part, size));
                times[place].push(taken * 1e6);
            }
            let [chosen, kernel, interpreter] = times;
            results.push(json!({
                "name": name, "rows": size,
                "chosen": chosen, "kernel": kernel, "interpreter": interpreter,
            }));
        }
    }
    results
}

fn short(column: &Column, rows: usize) -> Column {
    match column.values() {
        Values::Float(values) => Column::float(values[..rows].to_vec()),
        _ => unreachable!("all are floats"),
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>().unwrap());
    let rows = arguments.next().unwrap_or(1_000_000);
    let rounds = arguments.next().unwrap_or(9);
    let data = data(rows);
    let columns: Vec<Column> = data.iter().map(|values| Column::float(values.clone())).collect();
    let report = json!({
        "speeds": speeds(&columns, &data, rounds),
        "compiling": compiling(&columns, rounds),
        "choices": choices(&columns, rounds),
    });
    println!("{report}");
}
