//! Keys of a small program, as hex. They change when, and only when, a result may: everybody's cache depends on it.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

use pipe_compiler::host::{Inputs, Machine, ParamText};
use pipe_compiler::plan::Plan;
use pipe_tests::host::FolderHost;
use std::collections::BTreeMap;

const PROGRAM: &str = r#"
param least: float = 5.0
let table = data.read("visits.csv")
let kept = table |> data.filter(row => row.seconds >= least) |> data.derive(minutes: row => row.seconds / 60.0)
let sorted = kept |> data.sort(["seconds"], descending: true)
output longest = sorted
output many = kept.rows > 10
"#;

const VISITS: &str = "page,seconds\n/,4.2\n/docs,61.0\n";

/// Plan keys of [`PROGRAM`] by op. A new version of an op or a new `key::FORMAT` changes them; nothing else should.
const GOLDEN: [(&str, &str); 5] = [
    ("data.derive", "81ca79939e25965807a105bd27ca1674b1cebae7c1af1a1e4924c98a223369fd"),
    ("data.filter", "3f6e72e418cc3a81017334443d5d6e796c4a23d8fa99052eece0cb62bb6567d6"),
    ("data.read", "1677fdc250184056dfd5921db0161fba0d39b8d11f78e0e2067dd12efa68cde2"),
    ("data.sort", "da72ba64f76e3e867230bf3b7dedfe55da6111238708bd69b6b14073e17824a4"),
    ("value.compute", "1486e800867adddadf6ea0f7763afcb713bffab172c5220c0aad82532b5b586c"),
];

fn plan_with(
    program: &str,
    visits: &str,
    library: &[(&str, &str)],
    params: &[(&str, &str)],
) -> Plan {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.pipe"), program).unwrap();
    std::fs::write(folder.path().join("visits.csv"), visits).unwrap();
    let params: BTreeMap<String, ParamText> = params
        .iter()
        .map(|(name, text)| {
            (
                (*name).to_owned(),
                ParamText { text: (*text).to_owned(), origin: (*name).to_owned(), folder: None },
            )
        })
        .collect();
    let compiled = pipe_compiler::compile(&Inputs {
        file: "p.pipe",
        host: &FolderHost::new(folder.path()),
        library: &library,
        params: &params,
        tools: &BTreeMap::from([("torch".into(), "2.11.0".into())]),
        machine: Machine { threads: 2, memory: 8 << 30, gpus: 0 },
    });
    compiled.plan.unwrap_or_else(|| panic!("{:#?}", compiled.problems))
}

/// Keys by op; those of steps that run as one are still their own.
fn keys_of(plan: &Plan) -> BTreeMap<String, String> {
    let steps = plan.nodes.iter().flat_map(|node| match node.fused.as_slice() {
        [] => std::slice::from_ref(node),
        steps => steps,
    });
    steps.map(|node| (node.op.clone(), node.key.to_string())).collect()
}

fn keys(program: &str) -> BTreeMap<String, String> {
    keys_of(&plan_with(program, VISITS, pipe_stdlib::FILES, &[]))
}

/// Ops whose keys differ between two plans.
fn changed(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<String> {
    a.iter().filter(|(op, key)| b.get(*op) != Some(key)).map(|(op, _)| op.clone()).collect()
}

#[test]
fn keys_are_pinned() {
    let golden: BTreeMap<String, String> =
        GOLDEN.iter().map(|(op, key)| ((*op).to_owned(), (*key).to_owned())).collect();
    assert_eq!(keys(PROGRAM), golden);
}

#[test]
fn names_comments_layout_and_order_change_nothing() {
    let plain = keys(PROGRAM);
    for other in [
        PROGRAM.replace("kept", "remaining").replace("sorted", "in_order").replace("table", "t"),
        PROGRAM.replace("let ", "\n# a remark\n## documentation\nlet "),
        PROGRAM.replace("row =>", "r =>").replace("row.seconds", "r.seconds"),
        PROGRAM.replace("longest", "first").replace("least", "shortest"),
        PROGRAM.replace(
            "data.sort([\"seconds\"], descending: true)",
            "data.sort(descending: true, by: [\"seconds\"])",
        ),
        PROGRAM.replace("5.0", "(2.5 * 2.0)").replace("5.0)", "5)"),
        PROGRAM.lines().rev().collect::<Vec<_>>().join("\n"),
    ] {
        assert_eq!(keys(&other), plain, "{other}");
    }
}

#[test]
fn a_value_from_outside_that_equals_the_default_changes_nothing() {
    let files = pipe_stdlib::FILES;
    assert_eq!(keys_of(&plan_with(PROGRAM, VISITS, files, &[("least", "5")])), keys(PROGRAM));
}

#[test]
fn arguments_change_what_depends_on_them() {
    let plain = keys(PROGRAM);
    let threshold = keys_of(&plan_with(PROGRAM, VISITS, pipe_stdlib::FILES, &[("least", "6.0")]));
    assert_eq!(
        changed(&plain, &threshold),
        ["data.derive", "data.filter", "data.sort", "value.compute"]
    );
    let order = keys(&PROGRAM.replace("descending: true", "descending: false"));
    assert_eq!(changed(&plain, &order), ["data.sort"]);
    let default = keys(&PROGRAM.replace(", descending: true", ""));
    assert_eq!(order, default, "a default that is written out is the default");
}

#[test]
fn the_content_of_a_file_changes_keys() {
    let other = keys_of(&plan_with(PROGRAM, &VISITS.replace("61", "62"), pipe_stdlib::FILES, &[]));
    assert_eq!(changed(&keys(PROGRAM), &other).len(), 5);
}

#[test]
fn the_version_of_an_op_changes_keys() {
    let newer: Vec<(&str, String)> = pipe_stdlib::FILES
        .iter()
        .map(|(module, text)| {
            let sort = text.find("fn sort<").filter(|_| *module == "data");
            let Some(at) = sort else { return (*module, (*text).to_owned()) };
            let (before, after) = text.split_at(at);
            let version = before.rfind("version: 1").expect("data.sort has version 1");
            (*module, format!("{}version: 2{}{after}", &before[..version], &before[version + 10..]))
        })
        .collect();
    let newer: Vec<(&str, &str)> =
        newer.iter().map(|(module, text)| (*module, text.as_str())).collect();
    let other = keys_of(&plan_with(PROGRAM, VISITS, &newer, &[]));
    assert_eq!(changed(&keys(PROGRAM), &other), ["data.sort"]);
}
