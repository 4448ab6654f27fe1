//! Large and hostile programs: an answer, never a crash.

use crate::support::{Files, check, compiled, plan};
use std::fmt::Write;

#[test]
fn ten_thousand_declarations_in_any_order() {
    let mut forward = String::from("let x0 = 1\n");
    for at in 1..10_000 {
        writeln!(forward, "let x{at} = x{} + {at}", at - 1).unwrap();
    }
    let end = "output last = x9999\n";
    let backward: Vec<&str> = forward.lines().rev().collect();
    for program in [format!("{forward}{end}"), format!("{end}{}\n", backward.join("\n"))] {
        let plan = plan(&program);
        assert!(plan.nodes.is_empty());
        assert!(
            format!("{:?}", plan.roots[0].value).contains("49995001"),
            "{:?}",
            plan.roots[0].value
        );
    }
}

#[test]
fn deep_calls_and_wide_rows_stop_in_time() {
    let mut calls = String::from("fn f0(x: int) -> int = x\n");
    for at in 1..500 {
        writeln!(calls, "fn f{at}(x: int) -> int = f{}(x)", at - 1).unwrap();
    }
    let text = check(&format!("{calls}output a = f499(1)\n"));
    assert!(text.contains("error[plan::too_large]"), "{text}");
    let mut row = String::from(
        "let t = data.read(\"metrics.csv\")\noutput o = t |> data.derive(x: row => { let a0 = row.cpu ",
    );
    for at in 1..40 {
        write!(row, " let a{at} = a{} + a{} ", at - 1, at - 1).unwrap();
    }
    row.push_str(" a39 })\n");
    let text = check(&row);
    assert!(
        text.contains("error[plan::too_large] this expression unfolds into more than 10000 steps"),
        "{text}"
    );
    let chain = |step: &str| {
        let mut chain = String::from("let t0 = data.read(\"metrics.csv\")\n");
        for at in 1..=1_000 {
            writeln!(chain, "let t{at} = t{} |> {step}", at - 1).unwrap();
        }
        plan(&format!("{chain}output o = t1000\n"))
    };
    let sorted = chain("data.sort([\"cpu\"])");
    assert_eq!(sorted.nodes.len(), 1_001);
    assert_eq!(sorted.nodes.last().map(|node| node.runs.level), Some(1_000));
    let filtered = chain("data.filter(row => row.cpu > 0.5)");
    assert_eq!(filtered.nodes.last().map(|node| node.fused.len()), Some(1_000));
}

#[test]
fn any_text_gets_an_answer() {
    for text in [
        "",
        "\u{0}",
        "let",
        "output a = ",
        "use x = \"\"\noutput a = x.y",
        "output a = (((((",
        "let a = \"${a}\"\noutput b = a",
        "type T = T\noutput a = 1",
        "type A = { b: B }\ntype B = { a: A }\nparam p: A\noutput a = p",
        "output a = a",
    ] {
        let compiled = compiled(&Files::with(text), &[]);
        assert_eq!(
            compiled.plan.is_none(),
            compiled.problems.iter().any(pipe_grammar::Problem::is_error),
            "{text}"
        );
    }
}

const PROGRAM: &str = "use tools = \"tools.pipe\"
type Row = { time: time, cpu: float, note: str? }
param limit: float = 0.5 where limit > 0.0 and limit < 1.0
param names: [str] = [\"cpu\", \"mem\"]
fn hot(row: Row, at: float = 0.9) -> bool { let high = row.cpu > at  high and row.note != none }
let t = data.read(\"metrics.csv\", time: \"time\") |> data.derive(note: row => if row.cpu > limit { \"x\" } else { \"y\" })
@retry(2) @timeout(5m) @gpu(1, else: \"cpu\")
let parts = t |> data.split(by: \"time\", train: 0.5, calib: 0.2, test: 0.3)
let normal = detect.robust_z(parts.train, columns: names)
let scored = for (at, share) in list.zip([0.5, 0.9], 0..2), k in [1, 2] if k != share { detect.score(normal, data: parts.calib) |> threshold.quantile(q: at) }
check low = list.mean(scored) < 2.0 * 3s / 1s
output all = { scored: scored, text: \"n ${t.rows} ${limit}\", ..{ a: tools.x } }
output row = t |> data.filter(row => hot(row, at: 0.1) or row[\"cpu\"] in [1.0, 2.0]) |> data.join(with: t, on: [\"time\"], how: \"left\")
";

#[test]
fn the_whole_program_has_a_plan() {
    let mut files = Files::with(PROGRAM);
    files.put("tools.pipe", "let x = 1\n");
    let compiled = compiled(&files, &[]);
    let text = crate::support::rendered(&compiled.problems, &compiled.sources);
    assert!(compiled.plan.is_some(), "{text}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 96, ..Default::default() })]

    /// Programs with a piece cut out, doubled or moved: an answer, and a plan if and only if there is no error.
    #[test]
    fn damaged_programs_get_an_answer(
        cuts in proptest::collection::vec((0usize..PROGRAM.len(), 0usize..24, 0usize..PROGRAM.len()), 1..4),
    ) {
        let mut text = PROGRAM.to_owned();
        for (start, length, target) in cuts {
            let start = start.min(text.len());
            let end = (start + length).min(text.len());
            let piece = text[start..end].to_owned();
            text.replace_range(start..end, "");
            if target % 3 != 0 {
                text.insert_str(target.min(text.len()), &piece);
            }
        }
        let mut files = Files::with(&text);
        files.put("tools.pipe", "let x = 1\n");
        let compiled = compiled(&files, &[]);
        proptest::prop_assert_eq!(
            compiled.plan.is_none(),
            compiled.problems.iter().any(pipe_grammar::Problem::is_error),
            "{}",
            text
        );
        proptest::prop_assert!(compiled.problems.iter().all(|problem| problem.code != "plan::bug"), "{}", text);
    }
}

#[test]
fn a_block_of_ten_thousand_lets() {
    let mut text = String::from("fn f(x: int) -> int {\n  let a0 = x\n");
    for at in 1..10_000 {
        writeln!(text, "  let a{at} = a{}", at - 1).unwrap();
    }
    text.push_str("  a9999\n}\noutput o = f(1)\n");
    let plan = plan(&text);
    assert_eq!(plan.roots.len(), 1);
}

/// Each name is ten times, or twice, the one before: what is written small and would be huge is given up.
#[test]
fn a_billion_laughs() {
    let grown = |first: &str, next: &dyn Fn(usize) -> String, last: usize| {
        let mut text = format!("let a0 = {first}\n");
        for at in 1..=last {
            writeln!(text, "let a{at} = {}", next(at - 1)).unwrap();
        }
        format!("{text}output o = a{last}\n")
    };
    let ten = |at: usize| vec![format!("a{at}"); 10].join(", ");
    let programs = [
        grown("[1]", &|at| format!("[{}]", ten(at)), 9),
        grown("\"ha\"", &|at| format!("\"${{a{at}}}${{a{at}}}\""), 40),
        grown("{ x: 1 }", &|at| format!("{{ l: a{at}, r: a{at} }}"), 40),
        grown("1", &|at| format!("{{ l: a{at}, r: [a{at}] }}"), 60),
        String::from("type Two<X> = { l: X, r: X }\nparam p: ")
            + &"Two<".repeat(60)
            + "int"
            + &">".repeat(60)
            + "\noutput o = p\n",
        (1..60).fold(String::from("type A0 = { x: int }\n"), |text, at| {
            let before = at - 1;
            format!("{text}type A{at} = {{ l: A{before}, r: A{before}? }}\n")
        }) + "fn f(x: A59) -> A59 = x\noutput o = f({})\n",
    ];
    for program in programs {
        let text = check(&program);
        assert!(text.contains("error[plan::too_large]"), "{program}\n{text}");
    }
}

#[test]
fn huge_literals_are_told() {
    let digits = "9".repeat(1 << 20);
    for (value, code) in [
        (digits.clone(), "syntax::number_range"),
        (format!("{digits}s"), "syntax::number_range"),
        (format!("1e{digits}"), "syntax::number_range"),
        (format!("0.{digits}x"), "syntax::unknown_unit"),
    ] {
        let text = check(&format!("output o = {value}\n"));
        assert!(text.contains(code), "{code} is missing in {:.500}", text);
    }
    let long = "x".repeat(8 << 20);
    let text = check(&format!("output o = \"{long}\"\n"));
    assert!(!text.contains("error"), "{:.500}", text);
}

/// A byte-order mark and line breaks of another system change nothing, and places stay right.
#[test]
fn marks_and_line_breaks_of_other_systems() {
    let plain = "let t = data.read(\"metrics.csv\")\noutput o = t |> data.sort([\"cpo\"])\n";
    let place = |text: &str| {
        let compiled = compiled(&Files::with(text), &[]);
        let problem = compiled.problems.first().map(|problem| {
            let file = compiled.sources.get(problem.span.file).unwrap();
            (
                problem.code,
                file.place(problem.span.start).line,
                file.place(problem.span.start).column,
            )
        });
        problem.unwrap()
    };
    let wanted = place(plain);
    assert_eq!(place(&plain.replace('\n', "\r\n")), wanted);
    assert_eq!(place(&format!("\u{FEFF}{plain}")), wanted);
}
