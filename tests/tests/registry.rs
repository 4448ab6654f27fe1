//! Signatures in stdlib/ and the ops that are registered are the same, both ways.

use pipe_runtime::Registry;
use std::collections::BTreeSet;
use std::process::Command;

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
    registry.register(Box::new(pipe_runtime::exec::Exec(pipe_runtime::exec::Programs::Refused)));
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

#[test]
fn signatures_of_drivers_are_the_registered_drivers() {
    let (all, _, _) = pipe_compiler::signatures(&pipe_stdlib::FILES);
    let drivers = all.into_iter().filter(|signature| signature.driver);
    let signed: Named = drivers.map(|signature| (signature.name, signature.version)).collect();
    let registry = Registry::new();
    let registered: Named =
        registry.drivers().map(|(name, version)| (name.to_owned(), version)).collect();
    assert_eq!(signed, registered);
}

/// This crate must not link libtorch, so it asks the worker program.
#[test]
fn signatures_for_the_torch_worker_are_its_ops() {
    let program = pipe_tests::pipe::worker();
    let output = Command::new(&program).arg("--ops").output().expect("the worker starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} --ops: {errors}", program.display());
    let text = String::from_utf8(output.stdout).unwrap();
    let listed: Named = text
        .lines()
        .map(|line| {
            let (name, version) = line.split_once(' ').unwrap_or_else(|| panic!("{line:?}"));
            (name.to_owned(), version.parse().unwrap_or_else(|error| panic!("{line:?}: {error}")))
        })
        .collect();
    let signed = signatures(true);
    let unsigned: Vec<_> = listed.difference(&signed).collect();
    let missing: Vec<_> = signed.difference(&listed).collect();
    assert!(
        unsigned.is_empty(),
        "in the worker and not (or in another version) in stdlib: {unsigned:?}"
    );
    assert!(
        missing.is_empty(),
        "in stdlib and not (or in another version) in the worker: {missing:?}"
    );
    assert!(!signed.is_empty());
}
