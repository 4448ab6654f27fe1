//! Safe fixes: what they change, and that they leave fewer errors each time.

#[allow(dead_code, reason = "each test file uses a part")]
mod corpus;

use pipe_grammar::{Applicability, FileId, SourceFile, fix, parse};

fn file(text: &str) -> SourceFile {
    SourceFile::new(FileId(0), "program", text)
}

/// For each safe code a program, and what becomes of it.
const FIXES: &[(&str, &str, &str)] = &[
    ("syntax::arrow", "let a = row -> row.b", "let a = row => row.b"),
    ("syntax::call_space", "let a = f (b)", "let a = f(b)"),
    ("syntax::chained_comparison", "let a = 1 < b < 3", "let a = 1 < b and b < 3"),
    ("syntax::colon", "let a = f(b, c = 1)", "let a = f(b, c: 1)"),
    ("syntax::comment", "let a = 1 // one", "let a = 1 # one"),
    ("syntax::equality", "let a = if b = 1 { 1 } else { 2 }", "let a = if b == 1 { 1 } else { 2 }"),
    ("syntax::equals", "let a := 1", "let a = 1"),
    ("syntax::extra_comma", "let a = [1,, 2]", "let a = [1, 2]"),
    ("syntax::logic", "let a = b && c || d", "let a = b and c or d"),
    ("syntax::semicolon", "let a = 1;", "let a = 1"),
    ("syntax::arrow", "let a = f(lambda b: b.c)", "let a = f(b => b.c)"),
    ("syntax::missing_comma", "let a = [\n  1\n  2\n]", "let a = [\n  1,\n  2\n]"),
    ("syntax::quotes", "let a = 'b'", "let a = \"b\""),
    ("syntax::unknown_unit", "let a = 5min", "let a = 5m"),
    ("syntax::unknown_unit", "let a = 1h30m", "let a = 90m"),
    ("syntax::unknown_escape", "let a = \"\\d\"", "let a = \"\\\\d\""),
];

#[test]
fn each_safe_code_is_fixed() {
    for (code, before, after) in FIXES {
        for end in ["\n", "\r\n"] {
            let (before, after) = (before.replace('\n', end), after.replace('\n', end));
            let text = format!("{before}{end}output o = 1{end}");
            let first = parse(&file(&text)).problems;
            assert!(first.iter().any(|problem| problem.code == *code), "{before}: {first:?}");
            let fixed = fix(&file(&text));
            assert_eq!(fixed.text, format!("{after}{end}output o = 1{end}"));
            assert!(fixed.fixed.contains_key(code), "{:?}", fixed.fixed);
            assert!(parse(&file(&fixed.text)).problems.is_empty(), "{}", fixed.text);
        }
    }
}

#[test]
fn guesses_stay_as_they_are() {
    for text in
        ["lett a = 1\n", "let a = 10M\n", "let a = f(1\n", "let a = f(1 2)\n", "let a = '$b'\n"]
    {
        let problems = parse(&file(text)).problems;
        let suggested = |how| how == Some(Applicability::Suggested);
        assert!(problems.iter().any(|problem| suggested(problem.applicability())), "{problems:?}");
        assert_eq!(fix(&file(text)).text, text);
    }
}

/// In every case file: fewer errors or the same text, the same number of lines, and a second time changes nothing.
#[test]
fn fixing_never_makes_it_worse() {
    let mut found = Vec::new();
    corpus::collect(&corpus::root().join("tests/cases"), &mut found);
    let mut changed = 0;
    for path in found {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for part in text.split("\n--- ") {
            let text = part.split_once(" ---\n").map_or(part, |(_, text)| text);
            let errors = |text: &str| {
                parse(&file(text)).problems.iter().filter(|problem| problem.is_error()).count()
            };
            let fixed = fix(&file(text));
            changed += usize::from(fixed.text != text);
            assert!(fixed.text == text || errors(&fixed.text) < errors(text), "{text}");
            assert_eq!(fixed.text.lines().count(), text.lines().count(), "{text}");
            assert_eq!(fix(&file(&fixed.text)).text, fixed.text, "{text}");
        }
    }
    assert!(changed > 10, "{changed} programs were changed");
}
