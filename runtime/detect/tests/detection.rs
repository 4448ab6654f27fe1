//! From a series to judged alerts, through the ops.

#![expect(clippy::unwrap_used, reason = "tests")]

use pipe_data::{Table, read_table, write_table};
use pipe_row::Column;
use pipe_runtime::op::{Args, Context, OpError};
use pipe_runtime::registry::Registry;
use pipe_runtime::standalone::Standalone;
use pipe_runtime::value::Value;
use tempfile::TempDir;

const SECOND: i64 = 1_000_000_000;

struct Bench {
    context: Standalone,
    registry: Registry,
    _folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut registry = Registry::new();
        pipe_detect::register(&mut registry);
        Self { context: Standalone::new(folder.path()), registry, _folder: folder }
    }

    fn run<const N: usize>(&self, op: &str, args: [(&str, Value); N]) -> Result<Value, OpError> {
        self.registry.find(op).unwrap().run(&Args::of(args), &self.context)
    }

    fn give(&self, columns: Vec<(&str, Column)>) -> Value {
        let columns = columns.into_iter().map(|(name, column)| (name.to_owned(), column)).collect();
        let path = self.context.scratch("table.arrow").unwrap();
        write_table(&Table::new(columns).unwrap(), &path).unwrap();
        Value::Artifact(self.context.adopt(&path, "table", "arrow", [].into()).unwrap())
    }

    fn open(&self, value: &Value) -> Table {
        let Value::Artifact(artifact) = value else { panic!("no artifact: {value:?}") };
        read_table(&self.context.path(artifact).unwrap()).unwrap()
    }

    /// `rows` seconds of two signals from `first` on; within `fault` the second one is stuck.
    fn series(&self, first: i64, rows: i64, fault: std::ops::Range<i64>) -> Value {
        let wave =
            |row: i64, period: i64| (row % period) as f64 + ((row * 7919) % 13) as f64 / 50.0;
        let times: Vec<i64> = (first..first + rows).collect();
        let stuck = |row: &i64| if fault.contains(row) { 40.0 } else { wave(*row, 7) };
        self.give(vec![
            ("time", Column::time(times.iter().map(|row| row * SECOND).collect())),
            ("cpu", Column::float(times.iter().map(|row| wave(*row, 5)).collect())),
            ("lag", Column::float(times.iter().map(stuck).collect())),
        ])
    }

    fn labels(&self, windows: &[(i64, i64, bool)]) -> Value {
        self.give(vec![
            ("start", Column::time(windows.iter().map(|window| window.0 * SECOND).collect())),
            ("end", Column::time(windows.iter().map(|window| window.1 * SECOND).collect())),
            ("kind", Column::text(windows.iter().map(|_| "stuck"))),
            ("anomalous", Column::boolean(windows.iter().map(|window| window.2).collect())),
        ])
    }

    fn fit(&self, kind: &str, data: Value) -> Result<Value, OpError> {
        let columns = Value::List(vec![Value::Str("cpu".into()), Value::Str("lag".into())]);
        let floor = ("floor", Value::Float(0.01));
        match kind {
            "robust_z" => self.run(
                "detect.robust_z",
                [("data", data), ("columns", columns), ("side", Value::Str("both".into())), floor],
            ),
            _ => self.run(
                "detect.pca_window",
                [
                    ("data", data),
                    ("columns", columns),
                    ("window", Value::Duration(10 * SECOND)),
                    ("keep", Value::Float(0.9)),
                    floor,
                ],
            ),
        }
    }
}

fn field<'a>(record: &'a Value, name: &str) -> &'a Value {
    let Value::Record(fields) = record else { panic!("no record") };
    fields.get(name).unwrap_or_else(|| panic!("no {name}: {fields:?}"))
}

fn number(record: &Value, name: &str) -> f64 {
    match field(record, name) {
        Value::Float(value) => *value,
        Value::Int(value) => *value as f64,
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn a_stuck_signal_is_found_by_both_detectors() {
    for kind in ["robust_z", "pca_window"] {
        let bench = Bench::new();
        let detector = bench.fit(kind, bench.series(0, 400, 0..0)).unwrap();
        let score = |data: Value| {
            bench.run("detect.score", [("detector", detector.clone()), ("data", data)]).unwrap()
        };
        let limit = bench
            .run(
                "threshold.quantile",
                [("scored", score(bench.series(400, 250, 0..0))), ("q", Value::Float(0.99))],
            )
            .unwrap();
        let scored = score(bench.series(650, 600, 800..830));
        let table = bench.open(&scored);
        let row = 820 - 650;
        assert_eq!(table.texts("top").unwrap()[row].as_deref(), Some("lag"), "{kind}");

        let merge = ("merge", Value::Duration(10 * SECOND));
        let alerts = bench.run(
            "detect.alerts",
            [
                ("scored", scored.clone()),
                ("threshold", limit.clone()),
                merge.clone(),
                ("steps", Value::Int(3)),
            ],
        );
        let alerts = bench.open(&alerts.unwrap());
        assert_eq!(alerts.rows(), 1, "{kind}");
        assert_eq!(alerts.times("start").unwrap(), [800 * SECOND], "{kind}");

        let labels = bench.labels(&[(800, 830, true), (1000, 1020, false), (0, 10, true)]);
        let quality = bench
            .run(
                "eval.detection",
                [("scored", scored), ("labels", labels), ("threshold", limit), merge],
            )
            .unwrap();
        assert_eq!(number(&quality, "event_recall"), 1.0, "{kind}");
        assert_eq!(
            (number(&quality, "events"), number(&quality, "lookalikes")),
            (1.0, 1.0),
            "{kind}"
        );
        assert_eq!(field(&quality, "delay"), &Value::Duration(SECOND), "{kind}");
        assert!(
            number(&quality, "f1") > 0.8 * if kind == "robust_z" { 1.0 } else { 0.85 },
            "{kind}: {quality:?}"
        );
        assert!(number(&quality, "average_precision") > 0.8, "{kind}: {quality:?}");
        let always = field(&quality, "always");
        assert!(
            (number(always, "precision") - 0.05).abs() < 1e-12 && number(always, "recall") == 1.0
        );
        assert!((number(field(&quality, "random"), "precision") - 0.05).abs() < 1e-12);
    }
}

#[test]
fn a_detector_is_the_same_file_each_time() {
    for kind in ["robust_z", "pca_window"] {
        let bench = Bench::new();
        let digests: Vec<String> = (0..2)
            .map(|_| {
                let Value::Artifact(artifact) =
                    bench.fit(kind, bench.series(0, 100, 0..0)).unwrap()
                else {
                    panic!()
                };
                assert_eq!(artifact.meta["kind"], Value::Str(kind.into()));
                artifact.digest
            })
            .collect();
        assert_eq!(digests[0], digests[1]);
    }
}

#[test]
fn what_cannot_be_judged_is_said() {
    let bench = Bench::new();
    let detector = bench.fit("pca_window", bench.series(0, 100, 0..0)).unwrap();
    let twice = bench.give(vec![
        ("time", Column::time(vec![0, 0])),
        ("cpu", Column::float(vec![1.0; 2])),
        ("lag", Column::float(vec![1.0; 2])),
    ]);
    let error =
        bench.run("detect.score", [("detector", detector.clone()), ("data", twice)]).unwrap_err();
    assert_eq!(error.code, "run::time_order");
    assert!(error.message.contains("row 2"), "{}", error.message);
    let coarse = bench.give(vec![
        ("time", Column::time((0..20).map(|row| row * 5 * SECOND).collect())),
        ("cpu", Column::float(vec![1.0; 20])),
        ("lag", Column::float(vec![1.0; 20])),
    ]);
    assert_eq!(
        bench
            .run("detect.score", [("detector", detector.clone()), ("data", coarse)])
            .unwrap_err()
            .code,
        "run::other_step"
    );
    let other =
        bench.give(vec![("time", Column::time(vec![0, 1])), ("cpu", Column::float(vec![1.0; 2]))]);
    assert_eq!(
        bench
            .run("detect.score", [("detector", detector.clone()), ("data", other)])
            .unwrap_err()
            .code,
        "run::missing_column"
    );
    let empty = bench.give(vec![
        ("time", Column::time(vec![])),
        ("cpu", Column::float(vec![])),
        ("lag", Column::float(vec![])),
    ]);
    assert_eq!(bench.fit("robust_z", empty.clone()).unwrap_err().code, "run::no_values");
    let scored = bench.run("detect.score", [("detector", detector), ("data", empty)]).unwrap();
    assert_eq!(bench.open(&scored).rows(), 0);
    let error = bench
        .run("threshold.quantile", [("scored", scored.clone()), ("q", Value::Float(0.9))])
        .unwrap_err();
    assert_eq!(error.code, "run::no_values");
    let args = [
        ("scored", scored),
        ("labels", bench.labels(&[(0, 5, true)])),
        ("threshold", Value::Float(1.0)),
        ("merge", Value::Duration(0)),
    ];
    assert_eq!(bench.run("eval.detection", args).unwrap_err().code, "run::no_events");
}

#[test]
fn a_dead_service_raises_an_alert() {
    for kind in ["robust_z", "pca_window"] {
        let bench = Bench::new();
        let detector = bench.fit(kind, bench.series(0, 300, 0..0)).unwrap();
        let rows = 0..60_i64;
        let dead = bench.give(vec![
            ("time", Column::time(rows.clone().map(|row| row * SECOND).collect())),
            (
                "cpu",
                Column::optional_float(
                    rows.clone().map(|row| (row < 30).then_some((row % 5) as f64)),
                ),
            ),
            ("lag", Column::optional_float(rows.map(|row| (row < 30).then_some((row % 7) as f64)))),
        ]);
        let table = bench
            .open(&bench.run("detect.score", [("detector", detector), ("data", dead)]).unwrap());
        let scores = table.floats("score").unwrap();
        assert!(
            scores[50].unwrap() > 3.0 * scores[20].unwrap(),
            "{kind}: {:?} {:?}",
            scores[50],
            scores[20]
        );
        assert_eq!(table.texts("top").unwrap()[50].as_deref(), Some("(missing)"), "{kind}");
    }
}

#[test]
fn too_few_scores_for_a_quantile_warn() {
    let bench = Bench::new();
    let scored = bench.give(vec![
        ("time", Column::time(vec![0, 1, 2])),
        ("score", Column::float(vec![1.0, 3.0, 2.0])),
    ]);
    let limit =
        bench.run("threshold.quantile", [("scored", scored), ("q", Value::Float(0.99))]).unwrap();
    assert_eq!(limit, Value::Float(3.0));
    assert!(bench.context.warnings()[0].contains("0.7500"), "{:?}", bench.context.warnings());
}
