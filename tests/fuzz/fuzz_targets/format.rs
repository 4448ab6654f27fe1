//! A text that reads is formatted to one with the same tree and the same comments, and a second time changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipe_grammar::{FileId, Parsed, SourceFile, ast, format, parse};

fn comments(source: &SourceFile, parsed: &Parsed) -> Vec<String> {
    let comments = parsed.trivia.comments.iter();
    comments.map(|comment| source.slice(comment.span).trim_end().to_owned()).collect()
}

fuzz_target!(|text: &str| {
    let source = SourceFile::new(FileId(0), "fuzz.pipe", text);
    let (parsed, formatted) = (parse(&source), format(&source));
    assert_eq!(parsed.problems.len(), formatted.problems.len());
    if !parsed.problems.is_empty() {
        return;
    }
    let again = SourceFile::new(FileId(0), "fuzz.pipe", formatted.text.as_str());
    let parsed_again = parse(&again);
    assert!(parsed_again.problems.is_empty(), "{:?}", parsed_again.problems);
    assert!(ast::same(&parsed.module, &parsed_again.module), "the tree changed\n{}", again.text);
    assert_eq!(comments(&source, &parsed), comments(&again, &parsed_again));
    assert_eq!(format(&again).text, again.text, "a second time changes more");
});
