//! Parts of splits.

use crate::support::check;

const START: &str = "let t = data.read(\"metrics.csv\")
let p = t |> data.split(by: \"time\", train: 0.5, calib: 0.2, test: 0.3)
";

#[test]
fn the_honest_way_is_silent() {
    let text = check(&format!(
        "{START}let d = detect.robust_z(p.train, columns: [\"cpu\"])
let limit = detect.score(d, data: p.calib) |> threshold.quantile(q: 0.9)
let scored = detect.score(d, data: p.test)
output alerts = detect.alerts(scored, threshold: limit)
output quality = eval.detection(scored, labels: data.read(\"labels.csv\"), threshold: limit)
"
    ));
    assert_eq!(text, "");
}

#[test]
fn parts_survive_the_ops_between() {
    let text = check(&format!(
        "{START}let train = p.train |> data.filter(row => row.cpu > 0.1) |> data.derive(x: row => row.cpu)
let d = detect.robust_z(train, columns: [\"x\"])
let again = p.train |> data.derive(x: row => row.mem)
output s = detect.score(d, data: again)
"
    ));
    assert!(text.contains("error[parts::scored_on_fitted]"), "{text}");
    assert!(text.contains("has been fitted on `train`"), "{text}");
    assert!(text.contains("2:14 `data.split"), "{text}");
}

#[test]
fn one_split_called_twice_is_one() {
    let text = check(
        "fn parts(t: Table<Row>) -> any = t |> data.split(by: \"time\", train: 0.5, test: 0.5)
type Row = { time: time, cpu: float }
let t = data.read(\"metrics.csv\", row: Row)
let d = detect.robust_z(parts(t).train, columns: [\"cpu\"])
output a = detect.score(d, data: parts(t).test)
output b = detect.score(d, data: parts(t).train)
",
    );
    assert_eq!(text.matches("error[").count(), 1, "{text}");
    assert!(text.contains("6:34 `parts(t).train` error[parts::scored_on_fitted]"), "{text}");
}

#[test]
fn a_part_that_does_not_exist() {
    let text = check(
        "let t = data.read(\"metrics.csv\")\nlet p = t |> data.split(by: \"time\", train: 0.5, test: 0.5)\noutput a = p.tset\noutput b = t |> data.join(with: p, on: [\"time\"])\n",
    );
    assert!(text.contains("fix: tset -> test"), "{text}");
    assert!(text.contains("help: take one of its parts: train, test"), "{text}");
}

const PARTS: &str = "let t = data.read(\"metrics.csv\")
check good = t.rows > 3
let hosts = if good { [\"a\", \"b\"] } else { [\"a\"] }
let made = for host in hosts {
  let parts = t |> data.filter(row => row.host == host) |> data.split(by: \"time\", train: 0.5, test: 0.5)
  { train: parts.train, rest: parts.test }
}\n";

/// What a list of records holds is known field by field, also when the run makes the list.
#[test]
fn fields_of_records_in_a_list_are_told_apart() {
    for honest in [
        "output a = for one in made {
  detect.robust_z(one.train, columns: [\"cpu\"]) |> detect.score(data: one.rest)
}\n",
        "let last = list.last(made)
output a = detect.robust_z(last.train, columns: [\"cpu\"]) |> detect.score(data: last.rest)\n",
        "output a = for (at, one) in list.enumerate(list.reverse(made)) {
  detect.robust_z(one.train, columns: [\"cpu\"]) |> detect.score(data: one.rest)
}\n",
        "let fitted = for one in made { detect.robust_z(one.train, columns: [\"cpu\"]) }
output a = for (one, detector) in list.zip(made, fitted) { detector |> detect.score(data: one.rest) }\n",
        "let best = list.max_by(made, key: one => one.train.rows)
output a = detect.robust_z(best.train, columns: [\"cpu\"]) |> detect.score(data: best.rest)\n",
    ] {
        let text = check(&format!("{PARTS}{honest}"));
        assert_eq!(text, "", "{honest}");
    }
    for (wrong, code) in [
        ("output a = for one in made { detect.robust_z(one.rest, columns: [\"cpu\"]) }\n", "fit_on_test"),
        (
            "let fitted = for one in made { detect.robust_z(one.train, columns: [\"cpu\"]) }
output a = for (one, detector) in list.zip(made, fitted) { detector |> detect.score(data: one.train) }\n",
            "scored_on_fitted",
        ),
        (
            "let either = if good { { train: t, rest: t } } else { list.first(made) }
output a = detect.robust_z(either.rest, columns: [\"cpu\"])\n",
            "fit_on_test",
        ),
    ] {
        let text = check(&format!("{PARTS}{wrong}"));
        assert!(text.contains(code), "{wrong}{text}");
    }
}
