//! Reading files: what is right is read as it is meant, what is wrong is named with its line.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Bench, text};
use pipe_row::Column;
use pipe_row::ir::{Scalar, Ty};
use pipe_runtime::op::Args;
use pipe_runtime::value::Value;

const COLUMNS: [(&str, Ty, bool); 3] =
    [("time", Ty::Time, false), ("cpu", Ty::Float, true), ("note", Ty::Str, false)];

fn code(bench: &Bench, name: &str, bytes: impl AsRef<[u8]>) -> (String, String) {
    let error = bench.read(&bench.file(name, bytes), &COLUMNS, "error").unwrap_err();
    (error.code.clone(), error.message.replace(&format!("{}/", bench.folder.path().display()), ""))
}

#[test]
fn a_file_as_spreadsheets_write_it() {
    let bench = Bench::new();
    let path = bench.file(
        "m.csv",
        "\u{feff}note,cpu,time,more\r\n\"two\r\nlines\",1.5,2026-12-01T00:00:00Z,x\r\n\"a \"\"b\"\"\",,2026-12-01 00:00:01,y\r\n,NaN,2026-12-01T00:00:02+00:00,z\r\n",
    );
    let table = bench.read(&path, &COLUMNS, "error").unwrap();
    assert_eq!(table.names(), ["time", "cpu", "note"]);
    assert_eq!(table.floats("cpu").unwrap(), [Some(1.5), None, None]);
    assert_eq!(table.column("note").unwrap(), Column::text(["two\r\nlines", "a \"b\"", ""]));
    let second = 1_000_000_000;
    let start = 1_796_083_200 * second;
    assert_eq!(table.times("time").unwrap(), [start, start + second, start + 2 * second]);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let bench = Bench::new();
    let head = "time,cpu,note\n2026-12-01T00:00:00,1,a\n";
    let cases: [(&str, Vec<u8>, &str, &str); 8] = [
        (
            "cell",
            format!("{head}2026-12-01T00:00:01,high,b\n").into(),
            "run::bad_row",
            "cell.csv:3: `cpu` is `high` where `float?` is needed.",
        ),
        (
            "ragged",
            format!("{head}2026-12-01T00:00:01,2\n").into(),
            "run::bad_row",
            "ragged.csv:3: the row has 2 fields where the header has 3.",
        ),
        (
            "missing",
            format!("{head}\"\",2,x\n").into(),
            "run::missing_value",
            "missing.csv:3: `time` has no value here, and its type `time` does not allow that.",
        ),
        (
            "column",
            b"time,cpu\n".to_vec(),
            "run::missing_column",
            "column.csv:1: the header has no `note`; it has `time`, `cpu`.",
        ),
        (
            "twice",
            b"time,cpu,cpu\n".to_vec(),
            "run::bad_header",
            "twice.csv:1: columns 2 and 3 are both called `cpu`.",
        ),
        (
            "bytes",
            [head.as_bytes(), b"2026-12-01T00:00:01,2,\xff\n"].concat(),
            "run::not_utf8",
            "bytes.csv:3: `note` is not UTF-8 text.",
        ),
        (
            "wide",
            b"\xff\xfet\0".to_vec(),
            "run::not_utf8",
            "wide.csv is in UTF-16 where UTF-8 is needed.",
        ),
        ("empty", Vec::new(), "run::empty_file", "empty.csv is empty."),
    ];
    for (name, bytes, expected, message) in cases {
        assert_eq!(
            code(&bench, &format!("{name}.csv"), bytes),
            (expected.to_owned(), message.to_owned())
        );
    }
    let folder = bench.read(bench.folder.path(), &COLUMNS, "error").unwrap_err();
    assert_eq!(folder.code, "run::is_directory");
    let nothing = bench.read(&bench.folder.path().join("no.csv"), &COLUMNS, "error").unwrap_err();
    assert_eq!(nothing.code, "run::missing_file");
}

#[test]
fn rows_that_do_not_fit_can_be_left_out_and_are_counted() {
    let bench = Bench::new();
    let path = bench.file("m.csv", b"time,cpu,note\n2026-12-01T00:00:00,1,a\nnoon,2,b\n2026-12-01T00:00:02,3,c\n2026-12-01T00:00:03,x,d\n,,\xff\n");
    let table = bench.read(&path, &COLUMNS, "skip").unwrap();
    assert_eq!(table.floats("cpu").unwrap(), [Some(1.0), Some(3.0)]);
    assert_eq!(
        bench.context.warnings(),
        [
            "m.csv: left out 3 of 5 rows that do not fit (line 3, 5, 6): `time` is `noon` where `time` is needed."
        ]
    );
}

#[test]
fn a_header_alone_is_an_empty_table() {
    let bench = Bench::new();
    let table = bench.read(&bench.file("m.csv", "time,cpu,note\n"), &COLUMNS, "error").unwrap();
    assert_eq!((table.rows(), table.names().len()), (0, 3));
}

#[test]
fn a_line_without_end_stops_before_it_fills_the_memory() {
    let bench = Bench::new();
    let mut bytes = b"time,cpu,note\n2026-12-01T00:00:00,1,\"".to_vec();
    bytes.resize(bytes.len() + (20 << 20), b'x');
    let path = bench.file("long.csv", &bytes);
    let error = bench.read(&path, &COLUMNS, "error").unwrap_err();
    assert_eq!(error.code, "run::line_too_long");
    assert!(error.message.contains("long.csv:2:"), "{}", error.message);
    let path = bench.file("long.jsonl", &bytes[14..]);
    assert_eq!(bench.read(&path, &COLUMNS, "skip").unwrap_err().code, "run::line_too_long");
}

#[test]
fn json_lines() {
    let bench = Bench::new();
    let rows = "{\"time\": \"2026-12-01T00:00:00Z\", \"cpu\": 1, \"note\": \"a\"}\n\n{\"note\": [1, 2], \"cpu\": null, \"time\": \"2026-12-01T00:00:01Z\", \"more\": {}}\n";
    let table = bench.read(&bench.file("m.jsonl", rows), &COLUMNS, "error").unwrap();
    assert_eq!(table.floats("cpu").unwrap(), [Some(1.0), None]);
    assert_eq!(table.column("note").unwrap(), Column::text(["a", "[1,2]"]));
    let (found, message) = code(&bench, "bad.jsonl", format!("{rows}[1]\n"));
    assert_eq!(
        (found.as_str(), message.as_str()),
        ("run::bad_row", "bad.jsonl:4: the line is not a JSON object.")
    );
}

#[test]
fn every_type_of_column() {
    let bench = Bench::new();
    let path = bench.file("m.csv", "at,n,ok,wait,bytes\n1796083200.5,-3,true,1.5s,2KiB\n,,,,\n");
    let columns = [
        ("at", Ty::Time),
        ("n", Ty::Int),
        ("ok", Ty::Bool),
        ("wait", Ty::Duration),
        ("bytes", Ty::Size),
    ];
    let wanted = columns.map(|(name, ty)| pipe_compiler::plan::Column {
        name: name.into(),
        ty,
        optional: true,
    });
    let args = Args::of([
        ("path", text(&path.to_string_lossy())),
        ("malformed", text("error")),
        ("time", text("at")),
    ])
    .with("row", pipe_runtime::op::ArgValue::Columns(wanted.to_vec()));
    let table = bench.table("data.read", args).unwrap();
    let first: Vec<Scalar> = columns.map(|(name, _)| table.column(name).unwrap().get(0)).to_vec();
    assert_eq!(
        first,
        [
            Scalar::Time(1_796_083_200_500_000_000),
            Scalar::Int(-3),
            Scalar::Bool(true),
            Scalar::Duration(1_500_000_000),
            Scalar::Size(2048)
        ]
    );
    for (name, ty) in columns {
        let column = table.column(name).unwrap();
        assert_eq!((column.ty(), column.get(1)), (ty, Scalar::None), "{name}");
    }
}

#[test]
fn a_log_with_stack_traces_out_of_order() {
    let bench = Bench::new();
    let log = "noise\n2026-12-01T00:00:02.000Z ERROR api query failed: no such column\n  File \"x.py\", line 3\n2026-12-01T00:00:01.000Z INFO  store opened 3 files\n[2026-12-01 00:00:03,500] [main] WARN slow request 1201 ms\n";
    let path = bench.file("s.log", log);
    let read = bench
        .run(
            "logs.read",
            Args::of([("path", text(&path.to_string_lossy())), ("year", Value::None)]),
        )
        .unwrap();
    let table = bench.open(&read);
    assert_eq!(table.column("level").unwrap(), Column::text(["info", "error", "warning"]));
    assert_eq!(table.column("component").unwrap(), Column::text(["store", "api", "main"]));
    let messages = table.texts("message").unwrap();
    assert_eq!(
        messages[1].as_deref(),
        Some("query failed: no such column\n  File \"x.py\", line 3")
    );
    assert_eq!(messages[2].as_deref(), Some("slow request 1201 ms"));
    assert_eq!(
        bench.context.warnings(),
        [format!("{}: 1 lines stand before the first time and were left out.", path.display())]
    );

    let counts = bench
        .table("logs.count", Args::of([("log", read), ("every", Value::Duration(1_000_000_000))]))
        .unwrap();
    assert_eq!(counts.column("log_lines").unwrap(), Column::bind_int(&[1, 1, 1]).unwrap());
    assert_eq!(counts.column("log_errors").unwrap(), Column::bind_int(&[0, 1, 0]).unwrap());
    assert_eq!(counts.column("log_warnings").unwrap(), Column::bind_int(&[0, 0, 1]).unwrap());
    assert_eq!(counts.column("log_new").unwrap(), Column::bind_int(&[1, 1, 1]).unwrap());
}

#[test]
fn other_forms_of_logs() {
    let bench = Bench::new();
    let read = |name: &str, log: &str, year: Value| {
        let path = bench.file(name, log);
        bench.run("logs.read", Args::of([("path", text(&path.to_string_lossy())), ("year", year)]))
    };
    let syslog = "Dec 31 23:59:59 web1 sshd[812]: Accepted key\nJan  1 00:00:00 web1 cron[9]: error: no disk\n";
    let table = bench.open(&read("a.log", syslog, Value::Int(2026)).unwrap());
    assert_eq!(
        table.times("time").unwrap(),
        [1_798_761_599_000_000_000, 1_798_761_600_000_000_000]
    );
    assert_eq!(table.column("component").unwrap(), Column::text(["sshd", "cron"]));
    assert_eq!(read("b.log", syslog, Value::None).unwrap_err().code, "run::no_year");
    let access = "10.0.0.7 - - [01/Dec/2026:01:00:00 +0100] \"GET /x HTTP/1.1\" 503 12\n";
    let table = bench.open(&read("c.log", access, Value::None).unwrap());
    assert_eq!(table.times("time").unwrap(), [1_796_083_200_000_000_000]);
    assert_eq!(table.column("level").unwrap(), Column::text(["error"]));
    assert_eq!(read("d.log", "hello\n", Value::None).unwrap_err().code, "run::no_log_lines");
}
