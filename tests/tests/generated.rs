//! Generated files are those that the sources give.

use pipe_tests::pipe::repository;

#[test]
fn generated_files_are_fresh() {
    let stale: Vec<&str> = pipe_dev::files()
        .into_iter()
        .filter(|(path, text)| {
            std::fs::read_to_string(repository().join(path)).ok().as_ref() != Some(text)
        })
        .map(|(path, _)| path)
        .collect();
    assert!(stale.is_empty(), "{stale:?}: run `cargo dev gen`");
}
