//! Programs that a careful engineer would write for real jobs: checked without a remark, formatted, run to the end, and
//! then found in the store whole.

use pipe_tests::pipe::{Project, nodes, repository};
use std::process::Command;

/// Run the program of a folder twice; the second time nothing runs. Gives the project.
fn holds(name: &str, flags: &[&str]) -> Project {
    let project = Project::copy_of(&repository().join("tests/cases/real").join(name));
    let program = format!("{name}.pipe");
    let checked = project.pipe(&["check", &program]);
    let clean = format!("{program}: no problems\n");
    assert_eq!((checked.code, checked.stderr.as_str()), (0, clean.as_str()));
    let formatted = project.pipe(&["fmt", "--check", &program]);
    assert_eq!(formatted.code, 0, "{}{}", formatted.stdout, formatted.stderr);
    let (said, events) = project.run(&program, flags);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(nodes(&events, "ran").len() >= 3);
    let (said, events) = project.run(&program, flags);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(nodes(&events, "ran"), [""; 0]);
    project
}

#[test]
fn a_detector_is_chosen_by_cross_validation() {
    let project = holds("folds", &[]);
    let choice: serde_json::Value =
        serde_json::from_str(&project.read("out/folds/choice.json")).unwrap();
    assert!(choice["best"]["precision"].as_f64().unwrap() > 0.3, "{choice}");
}

#[test]
fn a_deployment_waits_for_a_check() {
    let project = holds("deploy", &["--allow", "exec"]);
    assert_eq!(project.read("out/deploy/receipt.txt"), "deployed detector\n");
    let (said, events) = project.run("deploy.pipe", &["--allow", "exec", "--recall", "1.1"]);
    assert_eq!(said.code, 3, "{}", said.stderr);
    assert!(nodes(&events, "ran").iter().all(|node| !node.contains("exec")));
    assert!(!project.path().join("out/deploy/receipt.txt").exists(), "{}", said.stderr);
}

#[test]
fn a_program_from_outside_needs_permission() {
    let project = Project::copy_of(&repository().join("tests/cases/real/deploy"));
    let said = project.pipe(&["run", "deploy.pipe"]);
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("--allow exec"), "{}", said.stderr);
    assert_eq!(project.pipe(&["plan", "deploy.pipe"]).code, 0);
}

#[test]
fn a_training_goes_on_in_rounds() {
    let project = holds("refine", &[]);
    let (said, events) = project.run("refine.pipe", &["--rounds", "2"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let trained = nodes(&events, "ran").into_iter().filter(|node| node.contains("fit"));
    assert_eq!(trained.count(), 0, "the first rounds are those of the longer run");
}

#[test]
fn features_from_awkward_headers() {
    let project = holds("features", &[]);
    assert!(project.path().join("out/features/features.arrow").exists());
}

#[test]
fn a_sweep_keeps_the_best() {
    let project = holds("sweep", &[]);
    let (said, events) = project.run("sweep.pipe", &["--rates", "[3e-3, 1e-2, 2e-2]"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let ran = nodes(&events, "ran");
    assert!(ran.iter().all(|node| !node.contains("rate=0.003")), "{ran:?}");
}

#[test]
fn pages_for_hosts_in_trouble() {
    let project = holds("alerting", &[]);
    assert!(project.path().join("out/alerting/pages.arrow").exists());
}

/// The data is what its script makes.
#[test]
fn the_data_is_fresh() {
    let folder = repository().join("tests/cases/real");
    let copy = tempfile::tempdir().unwrap();
    let script = copy.path().join("make_data.py");
    std::fs::copy(folder.join("make_data.py"), &script).unwrap();
    assert!(Command::new("python3").arg(&script).status().unwrap().success());
    for file in [
        "folds/metrics.csv",
        "deploy/labels.csv",
        "features/export.csv",
        "alerting/hosts.csv",
        "sweep/corpus.jsonl",
    ] {
        let made = std::fs::read(copy.path().join(file)).unwrap();
        assert!(made == std::fs::read(folder.join(file)).unwrap(), "{file}");
    }
}
