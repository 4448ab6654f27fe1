//! Any text is read: no panic, known codes, places inside the text, and nothing broken without a problem.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipe_grammar::ast::ItemKind;
use pipe_grammar::{FileId, SourceFile, Span, codes, parse};

fuzz_target!(|text: &str| {
    let parsed = parse(&SourceFile::new(FileId(0), "fuzz.pipe", text));
    let fits = |span: Span| text.get(span.start as usize..span.end as usize).is_some();
    for problem in &parsed.problems {
        assert!(codes::explain(problem.code).is_some(), "{} has no page", problem.code);
        assert!(fits(problem.span), "{problem:?}");
        assert!(problem.labels.iter().all(|label| fits(label.span)), "{problem:?}");
        assert!(problem.edits.iter().all(|edit| fits(edit.span)), "{problem:?}");
    }
    for item in &parsed.module.items {
        assert!(fits(item.span), "{item:?}");
        let broken = matches!(item.kind, ItemKind::Broken { .. });
        assert!(!broken || !parsed.problems.is_empty(), "broken without a problem");
    }
});
