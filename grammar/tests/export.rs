//! The exported grammars, each held against pest by an acceptor that knows nothing of it: llguidance for Lark, a small
//! recogniser for GBNF.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

#[allow(dead_code, reason = "each test file uses a part")]
mod acceptor;
mod corpus;
mod generate;
mod recognise;
mod sample;

use acceptor::Acceptor;
use pipe_grammar::{FileId, SourceFile, export, format, parse};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};
use recognise::Gbnf;
use sample::{Choices, Walk};

/// What no context-free rule can count.
const LIMITS: [&str; 3] = ["syntax::number_range", "syntax::too_deep", "syntax::too_large"];

fn file(text: &str) -> SourceFile {
    SourceFile::new(FileId(0), "program", text)
}

/// The codes of what is wrong with a text, without the limits.
fn wrong(text: &str) -> Vec<&'static str> {
    let codes = parse(&file(text)).problems.into_iter().map(|problem| problem.code);
    codes.filter(|code| !LIMITS.contains(code)).collect()
}

fn for_each<S: Strategy>(strategy: &S, cases: u32, test: impl Fn(S::Value) -> TestCaseResult) {
    let more = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(more.unwrap_or(cases))
    };
    TestRunner::new(config).run(strategy, test).unwrap();
}

/// Every program of the case files that reads, as it is formatted.
fn cases() -> Vec<(String, String)> {
    let mut found = Vec::new();
    corpus::collect(&corpus::root().join("tests/cases"), &mut found);
    found.sort();
    let mut programs = Vec::new();
    for path in found {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for part in text.split("\n--- ").filter(|part| part.contains(" ---\n")) {
            let (name, program) = part.split_once(" ---\n").unwrap();
            if parse(&file(program)).problems.is_empty() {
                programs.push((format!("{} {name}", path.display()), program.to_owned()));
            }
        }
    }
    programs
}

#[test]
fn what_fmt_prints_is_derived() {
    let acceptor = Acceptor::lark();
    let gbnf = Gbnf::read(&export::gbnf());
    let (programs, cases) = (corpus::programs(), cases());
    assert!(cases.len() > 40, "{} cases", cases.len());
    for (name, text) in programs.into_iter().chain(cases) {
        let text = format(&file(&text)).text;
        acceptor.must(&name, &text);
        if text.len() < 2_000 {
            assert!(gbnf.accepts(&text), "{name}: GBNF refuses\n{text}");
        }
    }
}

#[test]
fn random_programs_are_derived() {
    let acceptor = Acceptor::lark();
    let gbnf = Gbnf::read(&export::gbnf());
    for_each(&generate::program(), 48, |text| {
        let text = format(&file(&text)).text;
        acceptor.must("a random program", &text);
        prop_assert!(gbnf.accepts(&text), "GBNF refuses\n{text}");
        Ok(())
    });
}

#[test]
fn what_is_derived_reads() {
    let walk = Walk::new();
    let mut lengths = 0;
    for_each(&(any::<u32>(), 8usize..40), 4_000, |(seed, depth)| {
        let text = walk.text(depth, &mut Choices::seeded(seed));
        let problems = parse(&file(&text)).problems;
        let real = problems.iter().find(|problem| !LIMITS.contains(&problem.code));
        prop_assert!(real.is_none(), "{real:#?}\n{text}");
        Ok(())
    });
    for seed in 0..100 {
        lengths += walk.text(24, &mut Choices::seeded(seed)).len();
    }
    assert!(lengths > 5_000, "the walk gives little: {lengths} bytes");
}

#[test]
fn the_forms_agree() {
    let acceptor = Acceptor::lark();
    let gbnf = Gbnf::read(&export::gbnf());
    let walk = Walk::new();
    for_each(&(any::<u32>(), 8usize..24), 64, |(seed, depth)| {
        let text = walk.text(depth, &mut Choices::seeded(seed));
        acceptor.must("a text of the table", &text);
        prop_assert!(gbnf.accepts(&text), "GBNF refuses\n{text}");
        Ok(())
    });
}

/// A damaged program that an acceptor takes is one that reads.
#[test]
fn what_does_not_read_is_refused() {
    let acceptor = Acceptor::lark();
    let damaged = (generate::program(), any::<prop::sample::Index>(), 0usize..4, generate::scrap());
    for_each(&damaged, 256, |(text, at, removed, scrap)| {
        let text = format(&file(&text)).text;
        let mut signs: Vec<char> = text.chars().collect();
        let start = at.index(signs.len() + 1);
        signs.splice(start..(start + removed).min(signs.len()), scrap.chars());
        let text: String = signs.into_iter().collect();
        if acceptor.accepts(&text).is_ok() {
            let wrong = wrong(&text);
            prop_assert!(wrong.is_empty(), "accepted, and {wrong:?}\n{text}");
        }
        Ok(())
    });
}

/// Texts that look like the language.
const NEAR: &[&str] = &[
    "let a = 1 < 2 < 3",
    "let a = x => b < c < d",
    "let a = not b == c == d",
    "let a = 5min",
    "let a = 1h30m",
    "let a = 0x1F",
    "let a = 1_",
    "let a = 1.",
    "let a = .5",
    "let a = b |> c",
    "let a = b |> c() + 1",
    "let a = b |> -c()",
    "let a = b |> (c)",
    "let a = f (x)",
    "let a = f(x y)",
    "let a = f(x,, y)",
    "let a = [,]",
    "let a = {a}",
    "let a = {a = 1}",
    "let a = {..}",
    "let a = if b { 1 }",
    "let a = if b { 1 } else 2",
    "let a = for b { 1 }",
    "let a = for b in c 1",
    "let a = { let b = c -b }",
    "let a = x => { let b = c -b }",
    "let a = x => { let b = 1 }",
    "let in = 1",
    "let a = in",
    "let a = for",
    "let a = \"",
    "let a = \"\\q\"",
    "let a = \"${\"",
    "let a = \"${}\"",
    "let a = \"${b\n}\"",
    "let a = \"b\nc\"",
    "let a = \"\"\"b\"\"\"\"",
    "let a = \"\"\"${\"\"\"",
    "use a = b",
    "use a = \"${b}\"",
    "use \"a.pipe\"",
    "param a = 1",
    "param a: int where",
    "check a: bool = true",
    "output a",
    "fn f()",
    "fn f() -> int",
    "@cache(off) fn f()",
    "fn f(in: int) = 1",
    "fn f(_in: int) = 1",
    "fn f(a) = 1",
    "fn f(a: int) { let b = a }",
    "type A",
    "type A = (B, C)",
    "type A = ()",
    "type A = B??",
    "type A = B |",
    "type A = \"${b}\"",
    "type A = Table<>",
    "type A<> = B",
    "let a: = 1",
    "let a == 1",
    "let a = b && c",
    "let a = b = c",
    "let a = b;",
    "let a = 'b'",
    "let a = b // c",
    "@gpu (1) let a = 1",
    "@gpu(1)",
    "leta = 1",
    "let a = notb c",
    "let a = \u{1A}",
];

#[test]
fn near_misses_are_refused_by_all() {
    let acceptor = Acceptor::lark();
    let gbnf = Gbnf::read(&export::gbnf());
    for text in NEAR {
        let text = format!("{text}\n");
        assert!(!wrong(&text).is_empty(), "pest reads {text}");
        assert!(acceptor.accepts(&text).is_err(), "Lark derives {text}");
        assert!(!gbnf.accepts(&text), "GBNF derives {text}");
    }
}
