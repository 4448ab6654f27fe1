//! Signatures in stdlib/ and the ops that are registered are the same, both ways.

use pipe_runtime::Registry;
use std::collections::BTreeSet;

type Named = BTreeSet<(String, u32)>;

fn signatures(torch: bool) -> Named {
    let (all, problems, _) = pipe_compiler::signatures(&pipe_stdlib::FILES);
    assert!(problems.is_empty(), "{problems:#?}");
    all.into_iter()
        .filter(|signature| signature.is_op() && signature.is_torch() == torch)
        .map(|signature| (signature.name, signature.version))
        .collect()
}

#[test]
fn signatures_are_the_registered_ops() {
    let mut registry = Registry::new();
    pipe_data::register(&mut registry);
    pipe_detect::register(&mut registry);
    let registered: Named =
        registry.list().map(|(name, version)| (name.to_owned(), version)).collect();
    let signed = signatures(false);
    let unsigned: Vec<_> = registered.difference(&signed).collect();
    let missing: Vec<_> = signed.difference(&registered).collect();
    assert!(
        unsigned.is_empty(),
        "registered and not (or in another version) in stdlib: {unsigned:?}"
    );
    assert!(
        missing.is_empty(),
        "in stdlib and not (or in another version) registered: {missing:?}"
    );
}

/// This crate must not link libtorch, so it reads which ops the worker names in its sources. The worker's own
/// tests run them.
#[test]
fn signatures_for_the_torch_worker_are_in_its_sources() {
    let folder = pipe_tests::pipe::repository().join("runtime/torch/src");
    let mut sources = String::new();
    let mut open = vec![folder];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                sources += &std::fs::read_to_string(entry.path()).unwrap_or_default();
            }
        }
    }
    let signed = signatures(true);
    assert!(signed.len() >= 4, "{signed:?}");
    let missing: Vec<_> =
        signed.iter().filter(|(name, _)| !sources.contains(&format!("\"{name}\""))).collect();
    assert!(missing.is_empty(), "in stdlib and not in runtime/torch: {missing:?}");
}
