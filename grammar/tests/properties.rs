//! What holds for every text: no panic, places inside the text, one layout that keeps trees and comments.

mod corpus;
mod generate;

use pipe_grammar::ast::{self, ItemKind};
use pipe_grammar::codes::explain;
use pipe_grammar::{Earlier, FileId, SourceFile, Span, format, parse, parse_again};
use proptest::prelude::*;

fn file(text: &str) -> SourceFile {
    SourceFile::new(FileId(0), "program", text)
}

fn fits(text: &str, span: Span) -> bool {
    text.get(span.start as usize..span.end as usize).is_some()
}

/// What holds for every text whatsoever.
fn survives(text: &str) {
    let source = file(text);
    let parsed = parse(&source);
    for problem in &parsed.problems {
        assert!(explain(problem.code).is_some(), "{} is not explained", problem.code);
        assert!(fits(text, problem.span), "{problem:?}");
        assert!(problem.labels.iter().all(|label| fits(text, label.span)), "{problem:?}");
        assert!(problem.edits.iter().all(|edit| fits(text, edit.span)), "{problem:?}");
        assert!(!problem.message.contains('\u{1A}'), "{problem:?}");
    }
    for item in &parsed.module.items {
        assert!(fits(text, item.span), "{item:?}");
        let broken = matches!(item.kind, ItemKind::Broken { .. });
        assert!(!broken || !parsed.problems.is_empty(), "broken without a problem: {text:?}");
    }
    let formatted = format(&source);
    assert_eq!(formatted.problems.len(), parsed.problems.len());
}

/// What holds for a text without problems.
fn keeps(text: &str) {
    let source = file(text);
    let parsed = parse(&source);
    assert!(parsed.problems.is_empty(), "{:#?}\n{text}", parsed.problems);
    let once = format(&source).text;
    let again = file(&once);
    let parsed_again = parse(&again);
    assert!(
        parsed_again.problems.is_empty(),
        "{:#?}\n{text}\n--- became ---\n{once}",
        parsed_again.problems
    );
    assert!(
        ast::same(&parsed.module, &parsed_again.module),
        "the tree changed\n{text}\n--- became ---\n{once}"
    );
    let comments = |source: &SourceFile, parsed: &pipe_grammar::Parsed| -> Vec<String> {
        parsed.trivia.comments.iter().map(|c| source.slice(c.span).trim_end().to_owned()).collect()
    };
    assert_eq!(
        comments(&source, &parsed),
        comments(&again, &parsed_again),
        "{text}\n--- became ---\n{once}"
    );
    assert_eq!(format(&again).text, once, "not stable\n{text}");
}

/// Reading a text that changes step by step gives what reading each state by itself gives.
fn reads_again(text: &str, edits: Vec<(prop::sample::Index, usize, String)>) {
    let mut earlier = Earlier::default();
    let mut text: Vec<char> = text.chars().collect();
    for (step, (at, removed, inserted)) in edits.into_iter().enumerate() {
        let source =
            SourceFile::new(FileId(step as u16 / 3), "program", text.iter().collect::<String>());
        let (again, once) = (parse_again(&source, &mut earlier), parse(&source));
        for (left, right) in again.module.items.iter().zip(&once.module.items) {
            assert_eq!(left, right, "step {step}");
        }
        assert_eq!(again.module.doc, once.module.doc);
        assert_eq!(again.module.items.len(), once.module.items.len());
        assert_eq!(format!("{:?}", again.problems), format!("{:?}", once.problems));
        let start = at.index(text.len() + 1);
        text.splice(start..(start + removed).min(text.len()), inserted.chars());
    }
}

/// A program of the repository with a few random edits.
fn mutated() -> impl Strategy<Value = String> {
    let programs: Vec<String> = corpus::programs().into_iter().map(|(_, text)| text).collect();
    let edit = (any::<prop::sample::Index>(), 0usize..12, generate::scrap());
    (prop::sample::select(programs), prop::collection::vec(edit, 1..5)).prop_map(|(text, edits)| {
        let mut chars: Vec<char> = text.chars().collect();
        for (at, removed, inserted) in edits {
            let start = at.index(chars.len() + 1);
            let end = (start + removed).min(chars.len());
            chars.splice(start..end, inserted.chars());
        }
        chars.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn any_text_survives(text in any::<String>()) {
        survives(&text);
    }

    #[test]
    fn any_tokens_survive(scraps in prop::collection::vec(generate::scrap(), 0..40)) {
        survives(&scraps.concat());
    }

    #[test]
    fn damaged_programs_survive(text in mutated()) {
        survives(&text);
    }

    #[test]
    fn reading_again_is_reading(text in generate::program(), edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, generate::scrap()), 1..12)) {
        reads_again(&text, edits);
    }

    #[test]
    fn programs_are_read_again_as_read(at in any::<prop::sample::Index>(), edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, generate::scrap()), 1..6)) {
        let programs = corpus::programs();
        reads_again(&at.get(&programs).1, edits);
    }

    #[test]
    fn generated_programs_keep_their_meaning(text in generate::program()) {
        keeps(&text);
    }

    #[test]
    fn damaged_generated_programs_survive(text in generate::program(), at in any::<prop::sample::Index>(), scrap in generate::scrap()) {
        let mut chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len() + 1);
        chars.splice(at..(at + 1).min(chars.len()), scrap.chars());
        survives(&chars.into_iter().collect::<String>());
    }
}

/// Programs that once came out of the formatter with another meaning.
#[test]
fn a_comment_before_a_comma_keeps_its_meaning() {
    for gap in [
        "\n## four\n,\n",
        "\n## four\n\n,\n",
        "\n## four\n,\n\n\n",
        ",\n## four\n",
        "\n# a\n,\n## four\n",
    ] {
        keeps(&format!("fn a(\n_p: int{gap}@nokey ..q: int = 1\n) = 1\n"));
    }
}

#[test]
fn two_comments_never_become_one() {
    keeps("check a = ( 1 # one (\n|> # one (\nb(x: 1)) == a");
    keeps("let a = f(1 # one\n, # two\n)");
}

/// A function value takes the blanks behind its body; a bracket on the next line once was a call of the function.
#[test]
fn a_bracket_behind_a_function_value_is_no_call() {
    for value in ["(f)", "[f]", "(f, g) => f", "if f { 1 } else { 2 }"] {
        keeps(&format!("let a = c => {{\n  let f = b => b + 1\n  {value}\n}}\n"));
    }
}

/// The character that stands for a repair is like any other where people may write it.
#[test]
fn the_sign_of_a_repair_may_stand_in_comments_and_strings() {
    for text in [
        "# \u{1A} (\nlet a = (1)",
        "let a = (\"\u{1A}\") # \u{1A}",
        "let a = [\"\"\"\u{1A}\n(\"\"\"]",
    ] {
        keeps(text);
    }
    assert!(!parse(&file("let a = \u{1A}")).problems.is_empty());
    assert!(!parse(&file("let a = \"${\u{1A}}\"")).problems.is_empty());
}

/// Files are split at what looks like the start of a declaration; a declaration that only looks cut is read whole.
#[test]
fn layout_at_the_first_column_is_free() {
    let many: String = (0..40).map(|at| format!("let a{at} = {at}\n")).collect();
    for text in [
        format!("fn f(x: int) -> int {{\n{many}a0 + a39\n}}\nlet b = f(1)\n"),
        "let f = x => {\n@a(1)\nlet y = { k: [\n1,\n] }\ny\n}\n@b\nlet c = 1\n".to_owned(),
        format!("let text = \"\"\"\n{many}\"\"\"\n@b(\"x\")\nlet c = 1\n{many}"),
        "let text = f(\"\"\"\nlet a = 1\n\"\"\", \"\"\"\nlet b = (\n\"\"\")\n@b\nlet c = [\"\"\"\nlet d = \"\"\"]\n".to_owned(),
    ] {
        keeps(&text);
    }
}

#[test]
fn deep_and_long_texts_end_in_a_problem() {
    let deep = [
        format!("let x = {}1{}", "(".repeat(5000), ")".repeat(5000)),
        format!("let x = {}1", "-".repeat(5000)),
        format!("let x = {}1", "not ".repeat(5000)),
        format!("let x = {}1", "a => ".repeat(5000)),
        format!("let x = 1{}", " + 1".repeat(5000)),
        format!("let x = a{}", ".b".repeat(5000)),
        format!("let x = a{}", " |> f()".repeat(5000)),
        format!("let x = if a {{ 1 }} {} else {{ 2 }}", "else if a { 1 } ".repeat(5000)),
        format!("type A = {}B", "() -> ".repeat(5000)),
        format!("type A = {}B{}", "C<".repeat(5000), ">".repeat(5000)),
        format!("let x = {}1", "\"${".repeat(5000)),
        format!("let x = {}", "[".repeat(100_000)),
    ];
    for text in deep {
        let head: String = text.chars().take(30).collect();
        assert!(!parse(&file(&text)).problems.is_empty(), "{head}");
        survives(&text);
    }
    let wide = format!("let x = [{}]", "1, ".repeat(50_000));
    assert!(parse(&file(&wide)).problems.is_empty());
}
