//! The layout: what it looks like, and that it keeps trees and comments.

mod corpus;

use pipe_grammar::{FileId, SourceFile, ast, format, parse};

fn file(text: &str) -> SourceFile {
    SourceFile::new(FileId(0), "program", text)
}

fn comments(source: &SourceFile) -> Vec<String> {
    let trivia = parse(source).trivia;
    trivia.comments.iter().map(|comment| source.slice(comment.span).trim_end().to_owned()).collect()
}

/// Formats, and holds the result against everything that formatting promises.
fn check(name: &str, text: &str) -> String {
    let source = file(text);
    let parsed = parse(&source);
    let once = format(&source).text;
    let again = file(&once);
    let parsed_again = parse(&again);
    assert!(parsed_again.problems.is_empty(), "{name}: {:#?}\n{once}", parsed_again.problems);
    assert!(ast::same(&parsed.module, &parsed_again.module), "{name}: the tree changed\n{once}");
    assert_eq!(comments(&source), comments(&again), "{name}: comments changed\n{once}");
    assert_eq!(format(&again).text, once, "{name}: a second time changes more");
    once
}

#[test]
fn programs_of_the_repository_keep_their_meaning() {
    for (name, text) in corpus::programs() {
        let formatted = check(&name, &text);
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(check(&name, &crlf), formatted, "{name} with CRLF");
        if std::env::var("SHOW").is_ok() {
            println!("=== {name}\n{formatted}");
        }
    }
}

/// A minus behind a `let` would be taken for a difference.
#[test]
fn a_block_ends_in_a_negative_value() {
    for value in ["(-b)", "(-b + 1)", "(-b |> f())"] {
        let text = format!("let a = x => {{\n  let b = x\n  {value}\n}}\n");
        assert_eq!(check(value, &text), text);
    }
}

/// Blanks at the end of a line in a `"""` string are part of the string.
#[test]
fn lines_of_a_string_keep_the_blanks_they_end_in() {
    let gap = "\n".repeat(60);
    for text in ["a \n\nb", "a  \nb \nc", "a ${1} \nb", "a\t\nb", &format!("a {gap}b")] {
        check(text, &format!("let note = \"\"\"\n{text}\n\"\"\"\n"));
    }
}
