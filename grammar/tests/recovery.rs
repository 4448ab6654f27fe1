//! Several mistakes in one file: each is reported once, at its place, and the rest of the file stays readable.

use pipe_grammar::ast::ItemKind;
use pipe_grammar::{FileId, SourceFile, parse};

fn found(text: &str) -> Vec<(&'static str, u32)> {
    let source = SourceFile::new(FileId(0), "program", text);
    let problems = parse(&source).problems;
    problems.iter().map(|problem| (problem.code, source.place(problem.span.start).line)).collect()
}

#[test]
fn many_mistakes_in_one_file() {
    let text = "\
let a = if hot { 1 }
let b = { x: 1, y }
output c = f(1
check d = a > 1 && !b
param rate = 0.5
lett e = 2
let s = \"abc
let good = 1
let wait = 5min
type T = { a int }
let type = 3
let t = (1, 2)
";
    let expected = [
        ("syntax::missing_else", 1),
        ("syntax::missing_value", 2),
        ("syntax::unclosed", 3),
        ("syntax::logic", 4),
        ("syntax::logic", 4),
        ("syntax::missing_type", 5),
        ("syntax::unknown_declaration", 6),
        ("syntax::unclosed_string", 7),
        ("syntax::unknown_unit", 9),
        ("syntax::colon", 10),
        ("syntax::reserved_word", 11),
        ("syntax::tuple", 12),
    ];
    assert_eq!(found(text), expected);
    let parsed = parse(&SourceFile::new(FileId(0), "program", text));
    assert_eq!(parsed.module.items.len(), 12);
    assert!(!parsed.module.items.iter().any(|item| matches!(item.kind, ItemKind::Broken { .. })));
}

#[test]
fn blocks_at_the_first_column_hold_together() {
    let text = "fn f(x: int) -> int {\nlet a = x\na && x\n}\nlet z = 5\n";
    assert_eq!(found(text), [("syntax::logic", 3)]);
}

#[test]
fn an_open_text_ends_before_the_next_declaration() {
    let text = "let a = \"\"\"\n  some text\nlet b = \"\"\"\n  more\n\"\"\"\nlet c = 1\n";
    assert_eq!(found(text), [("syntax::unclosed_string", 1)]);
}

#[test]
fn carriage_returns_and_byte_order_marks_are_fine() {
    assert_eq!(found("\u{FEFF}let a = 1\r\n\r\n# end\r\nlet b = \"\"\"\r\n  x\r\n\"\"\"\r\n"), []);
}

#[test]
fn places_stay_exact_behind_repairs() {
    let text = "let a = b && c && \"x ${d.e}\"\n";
    let source = SourceFile::new(FileId(0), "program", text);
    let shown = format!("{:?}", parse(&source).module.items[0].kind);
    let at = text.find("d.e").unwrap();
    assert!(shown.contains(&format!("start: {at}, end: {}", at + 3)), "{shown}");
}
