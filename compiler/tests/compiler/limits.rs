//! Large and hostile programs: an answer, never a crash.

use crate::common::{Files, check, compiled, plan};
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
    let mut chain = String::from("let t0 = data.read(\"metrics.csv\")\n");
    for at in 1..=1_000 {
        writeln!(chain, "let t{at} = t{} |> data.filter(row => row.cpu > 0.5)", at - 1).unwrap();
    }
    let plan = plan(&format!("{chain}output o = t1000\n"));
    assert_eq!(plan.nodes.len(), 1_001);
    assert_eq!(plan.nodes.last().map(|node| node.runs.level), Some(1_000));
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
