//! The description of the language holds: every program in it reads, and stands in the one layout.

use pipe_grammar::{FileId, SourceFile, format, words};

const PAGE: &str = include_str!("../../spec/language.md");

fn blocks(page: &'static str) -> Vec<&'static str> {
    let block = |rest: &'static str| rest.split_once('\n')?.1.split("```").next();
    page.split("```pipe").skip(1).filter_map(block).collect()
}

#[test]
fn every_block_reads_and_is_formatted() {
    let blocks = blocks(PAGE);
    assert!(blocks.len() > 8);
    for block in blocks {
        let formatted = format(&SourceFile::new(FileId(0), "language.md", block));
        assert!(formatted.problems.is_empty(), "{:#?}\n{block}", formatted.problems);
        assert_eq!(formatted.text, block);
    }
}

#[test]
fn reserved_words_and_units_are_listed() {
    let plain = PAGE.replace('\n', " ");
    assert!(plain.contains(&words::RESERVED.join(" ")));
    let units: Vec<&str> = words::UNITS.iter().map(|(name, _)| *name).collect();
    let (durations, sizes) = units.split_at(8);
    assert!(plain.contains(&durations.join(" ")) && plain.contains(&sizes.join(" ")));
}
