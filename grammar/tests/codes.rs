//! Every code is produced, every produced code is explained, and every edit removes the problem it belongs to.

use pipe_grammar::codes::CODES;
use pipe_grammar::{FileId, Problem, SourceFile, parse};
use std::collections::BTreeSet;

/// One mistake each: the code it has to give, alone, and the program.
const MISTAKES: &[(&str, &str)] = &[
    ("syntax::arrow", "let x = row -> row.a"),
    ("syntax::arrow", "let x = (a, b) -> a"),
    ("syntax::arrow", "fn f(x: int): int = 1"),
    ("syntax::arrow", "fn f(x: int) => int = 1"),
    ("syntax::arrow", "let f = fn(x) { x }"),
    ("syntax::bare_value", "data.read(\"x\")"),
    ("syntax::bare_value", "if x { 1 } else { 2 }"),
    ("syntax::block", "let x = { let a = 1  a }"),
    ("syntax::block", "let x = {\n  let a = [1, 2]\n  let b = f(a)\n  list.max(b)\n}"),
    ("syntax::block", "let x = {\nlet a = [1, 2]\nlist.max(a)\n}"),
    ("syntax::block", "let x = { @gpu(1) let a = 1  a }"),
    ("syntax::block", "output x = f([1, { let a = 1  a }], b: 2)"),
    ("syntax::block", "let x = { list.max(a) }"),
    ("syntax::block", "let x = 2 * { a + 1 }"),
    ("syntax::block", "let x = { 1 }"),
    ("syntax::block", "let x = { if a { 1 } else { 2 } }"),
    ("syntax::block", "fn f(x: int) -> int = { let a = x  a }"),
    ("syntax::block", "fn f(x: int) -> int = { x + 1 }"),
    ("syntax::call_space", "let x = f (1)"),
    ("syntax::call_space", "let x = a.b [0]"),
    ("syntax::chained_comparison", "let a = 1 < 2 <= 3"),
    ("syntax::chained_comparison", "let a = (1 < 2) == true == false"),
    ("syntax::character", "let größe = 1"),
    ("syntax::character", "let a = 3 – 1"),
    ("syntax::character", "let a =\u{A0}1"),
    ("syntax::character", "let a = 1 \u{1A}"),
    ("syntax::colon", "let x = f(1, a = 1)"),
    ("syntax::colon", "let x = { a = 1 }"),
    ("syntax::colon", "let x = { a 1 }"),
    ("syntax::colon", "type A = { a int }"),
    ("syntax::comment", "let x = 1 // it's one"),
    ("syntax::comment", "let x = 1 /* one */"),
    ("syntax::equality", "let x = if a = b { 1 } else { 2 }"),
    ("syntax::equality", "check x = a = b"),
    ("syntax::equals", "let x := 1"),
    ("syntax::equals", "let x == 1"),
    ("syntax::equals", "let x: 0.5"),
    ("syntax::equals", "check good: bool = true"),
    ("syntax::extra_bracket", "let x = f(1))"),
    ("syntax::extra_comma", "let x = [1,, 2]"),
    ("syntax::extra_comma", "let x = f(, 2)"),
    ("syntax::logic", "let x = a && b"),
    ("syntax::logic", "let x = a || b"),
    ("syntax::logic", "let x = !a"),
    ("syntax::logic", "let x = f(row => row.a & row.b)"),
    ("syntax::lone_attribute", "@gpu(1)"),
    ("syntax::mismatched", "let x = [1, 2)"),
    ("syntax::missing_block", "let x = if a 1 else 2"),
    ("syntax::missing_body", "fn f(x: int) -> int"),
    ("syntax::missing_body", "type A"),
    ("syntax::missing_comma", "let x = f(1 2)"),
    ("syntax::missing_comma", "let x = { a: 1 b: 2 }"),
    ("syntax::missing_comma", "fn f(x: int y: int) = 1"),
    ("syntax::missing_comma", "let x = [1, \"a ${b}\" 3]"),
    ("syntax::missing_else", "let x = if a { 1 }"),
    ("syntax::missing_else", "let x = if a { 1 } elif b { 2 } else { 3 }"),
    ("syntax::missing_equals", "let x 1"),
    ("syntax::missing_equals", "type A { a: int }"),
    ("syntax::missing_equals", "use shop from \"x\""),
    ("syntax::missing_equals", "use data"),
    ("syntax::missing_equals", "use data, text"),
    ("syntax::missing_equals", "use \"shop.pipe\""),
    ("syntax::missing_in", "let x = for a xs { a }"),
    ("syntax::missing_in", "let x = for a of xs { a }"),
    ("syntax::missing_name", "let 5x = 2"),
    ("syntax::missing_name", "let x = a.b."),
    ("syntax::missing_name", "let x = a.0"),
    ("syntax::missing_type", "param x = [1.5]"),
    ("syntax::missing_type", "fn f(x) -> int = 1"),
    ("syntax::missing_type", "let x: = 1"),
    ("syntax::missing_value", "let x ="),
    ("syntax::missing_value", "let x"),
    ("syntax::missing_value", "let x = a +"),
    ("syntax::missing_value", "let x = a or or b"),
    ("syntax::missing_value", "let x = f(a:)"),
    ("syntax::missing_value", "let x = if a { let b = 1 } else { 2 }"),
    ("syntax::missing_value", "let x = { y, z: 1 }"),
    ("syntax::number_range", "let x = 99999999999999999999"),
    ("syntax::number_range", "let x = 1e999"),
    ("syntax::number_range", "let x = 99999999w"),
    ("syntax::pipe_call", "let x = a |> f"),
    ("syntax::pipe_call", "let x = a |> 3"),
    ("syntax::plain_string", "use a = \"${b}\""),
    ("syntax::quotes", "let x = 'a'"),
    ("syntax::quotes", "let x = “a”"),
    ("syntax::reserved_word", "let in = 1"),
    ("syntax::reserved_word", "let x = f(type)"),
    ("syntax::reserved_word", "let x = if a { let in = 1  2 } else { 3 }"),
    ("syntax::reserved_word", "fn f(in: int) -> int = 1"),
    ("syntax::semicolon", "let x = 1;"),
    ("syntax::ternary", "let x = a ? b : c"),
    ("syntax::trailing", "let x = 1 2"),
    ("syntax::trailing", "let x = 1 where x > 2"),
    ("syntax::tuple", "let x = (a, b)"),
    ("syntax::tuple", "let x = f((1, [2, 3]), 4)"),
    ("syntax::tuple_type", "type A = (int, str)"),
    ("syntax::unclosed", "let x = f(1"),
    ("syntax::unclosed", "let x = f([1)"),
    ("syntax::unclosed_string", "let x = f(\"abc, 1)"),
    ("syntax::unclosed_string", "let x = \"a ${b"),
    ("syntax::unclosed_string", "let x = \"\"\" a"),
    ("syntax::unexpected", "let x = {1: 2}"),
    ("syntax::unexpected", "param x: [int, str] = 1"),
    ("syntax::unknown_declaration", "lett x = 1"),
    ("syntax::unknown_declaration", "def f(x: int) -> int = x"),
    ("syntax::unknown_declaration", "x = 5"),
    ("syntax::unknown_declaration", "banana x = 5"),
    ("syntax::unknown_declaration", "import data"),
    ("syntax::unknown_declaration", "import data as d"),
    ("syntax::unknown_declaration", "import data.read"),
    ("syntax::unknown_declaration", "from data import read, write"),
    ("syntax::unknown_declaration", "import shop = \"shop.pipe\""),
    ("syntax::unknown_declaration", "import shop from \"shop.pipe\""),
    ("syntax::unknown_declaration", "include \"parts/shop.pipe\""),
    ("syntax::unknown_declaration", "import \"a b.pipe\""),
    ("syntax::unknown_escape", "let x = \"\\d\""),
    ("syntax::unknown_operator", "let x = a <> b"),
    ("syntax::unknown_operator", "let x = a === b"),
    ("syntax::unknown_operator", "let x = a ** b"),
    ("syntax::unknown_operator", "let x = a ^ b"),
    ("syntax::unknown_unit", "let x = 5min"),
    ("syntax::unknown_unit", "let x = 0x10"),
    ("syntax::unknown_unit", "let x = 1h30m"),
    ("syntax::unknown_unit", "let x = 1hr30min"),
    ("syntax::unknown_unit", "let x = 1.5h30m10s"),
    ("syntax::unknown_unit", "let x = 1GB500MB"),
    ("syntax::unknown_unit", "let x = 1h5MB"),
];

fn problems(text: &str) -> Vec<Problem> {
    parse(&SourceFile::new(FileId(0), "program", text)).problems
}

fn apply(text: &str, problem: &Problem) -> String {
    let mut edits = problem.edits.clone();
    edits.sort_by_key(|edit| edit.span.start);
    let mut fixed = text.to_owned();
    for edit in edits.iter().rev() {
        fixed.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.replacement);
    }
    fixed
}

#[test]
fn each_mistake_gives_its_problem_and_no_other() {
    let mut wrong = Vec::new();
    for (code, text) in MISTAKES {
        // An attribute would belong to the next declaration, and `if` may filter a `for` of the line above.
        let alone = text.starts_with('@') || text.starts_with("if");
        for text in [(*text).to_owned(), format!("let before = 1\n{text}\n\nlet after = 2\n")] {
            if alone && text.starts_with("let before") {
                continue;
            }
            let found: Vec<_> = problems(&text).into_iter().map(|problem| problem.code).collect();
            if found != [*code] {
                wrong.push(format!("{code}: {text:?} gave {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn edits_remove_the_problem() {
    let mut wrong = Vec::new();
    for (_, text) in MISTAKES {
        for problem in problems(text).iter().filter(|problem| !problem.edits.is_empty()) {
            let fixed = apply(text, problem);
            let left = problems(&fixed);
            if !left.is_empty() {
                wrong.push(format!("{text:?} became {fixed:?}: {left:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn help_says_more_than_the_edit() {
    for (code, text) in MISTAKES {
        for problem in problems(text) {
            let ([edit], Some(help)) = (problem.edits.as_slice(), &problem.help) else { continue };
            let new = edit.replacement.trim();
            let repeats = ["write", "replace with", "add"].map(|word| format!("{word} `{new}`"));
            assert!(!repeats.contains(help) && help != "remove it", "{code}: {text:?}: {help}");
        }
    }
}

#[test]
fn every_code_is_produced_and_explained() {
    let mut produced: BTreeSet<&str> = MISTAKES.iter().map(|(code, _)| *code).collect();
    for text in
        [format!("let x = {}1{}", "(".repeat(200), ")".repeat(200)), "#".repeat((16 << 20) + 1)]
    {
        produced.extend(problems(&text).iter().map(|problem| problem.code));
    }
    let explained: BTreeSet<&str> = CODES.iter().map(|code| code.code).collect();
    assert_eq!(produced, explained);
    assert!(CODES.iter().all(|code| !code.title.is_empty() && code.explanation.len() > 60));
    assert!(CODES.is_sorted_by_key(|code| code.code));
}

#[test]
fn neighbours_of_a_mistake_stay_whole() {
    for (_, text) in MISTAKES {
        let text = format!("let before = 1\n{text}\n\nlet after = 2\n");
        let parsed = parse(&SourceFile::new(FileId(0), "program", text.clone()));
        let names: Vec<_> = parsed.module.items.iter().filter_map(|item| name(item)).collect();
        assert!(names.contains(&"before") && names.contains(&"after"), "{text}: {names:?}");
    }
}

fn name(item: &pipe_grammar::ast::Item) -> Option<&str> {
    match &item.kind {
        pipe_grammar::ast::ItemKind::Let(binding) => Some(&binding.name.text),
        _ => None,
    }
}
