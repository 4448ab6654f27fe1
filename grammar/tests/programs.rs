//! Valid programs parse without problems.

use pipe_grammar::{FileId, SourceFile, parse};

#[test]
fn sketch_examples() {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/sketch/examples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let parsed = parse(&SourceFile::new(FileId(0), path.display().to_string(), text));
        assert!(parsed.problems.is_empty(), "{}: {:#?}", path.display(), parsed.problems);
        println!("{:#?}", parsed.module);
    }
}
