//! Every program in the repository reads without problems.

mod corpus;

use pipe_grammar::{FileId, SourceFile, parse};

#[test]
fn programs_of_the_repository_read() {
    let programs = corpus::programs();
    assert!(programs.len() > 5, "the repository's programs were not found");
    let mut wrong = Vec::new();
    for (name, text) in programs {
        let problems = parse(&SourceFile::new(FileId(0), name.as_str(), text)).problems;
        if !problems.is_empty() {
            wrong.push(format!("{name}: {problems:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
