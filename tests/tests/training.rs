//! A training that is killed or stopped goes on from its checkpoint and ends with the same bytes.

use pipe_tests::pipe::{Project, nodes};
use pipe_tests::random::Random;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const PROGRAM: &str = r#"
type Text = { id: int, text: str }
param steps: int = 160
let docs = data.read("texts.jsonl", row: Text)
let tok = tokenizer.train(docs, column: "text", vocab: 300)
let rows = docs |> tokenizer.encode(with: tok, column: "text") |> data.pack(length: 32)
let trained = model.decoder({ layers: 2, width: 64, heads: 4, context: 32 }, vocab: tok.size, seed: 3)
  |> train.fit(
    data: rows,
    steps: steps,
    batch: 8,
    optimizer: optim.adamw(lr: 2e-3),
    schedule: sched.cosine(warmup: 10, floor: 0.1),
    clip: 1.0,
    strategy: dist.none(),
    log_every: 1,
    checkpoint_every: 4,
  )
output model = trained
"#;

fn project() -> Project {
    let texts: String = (0..120)
        .map(|n| {
            let words = ["store", "key", "plan", "node", "worker", "step", "table", "check"];
            let text: Vec<&str> =
                (0..24).map(|at| words[(n * 7 + at * (n % 5 + 1)) % words.len()]).collect();
            format!("{{\"id\": {n}, \"text\": \"the {}\"}}\n", text.join(" the "))
        })
        .collect();
    Project::new(&[("train.pipe", PROGRAM), ("texts.jsonl", &texts)])
}

fn weights(project: &Project) -> blake3::Hash {
    let path = project.path().join("out/train/model/model.safetensors");
    blake3::hash(&std::fs::read(path).expect("the weights"))
}

/// Steps that the event file shows.
fn steps_done(project: &Project) -> u64 {
    let text = std::fs::read_to_string(project.path().join("events.jsonl")).unwrap_or_default();
    let lines =
        text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let of_training =
        lines.filter(|event| event["event"] == "progress" && event["node"] == "trained");
    of_training.filter_map(|event| event["done"].as_u64()).max().unwrap_or(0)
}

/// Start a run and wait until the training has done `steps` steps.
fn started(project: &Project, steps: u64) -> Child {
    let _ = std::fs::remove_file(project.path().join("events.jsonl"));
    let child = project.start(&["run", "train.pipe", "--events", "events.jsonl"]);
    let start = Instant::now();
    while steps_done(project) < steps {
        assert!(
            start.elapsed() < Duration::from_secs(180),
            "the training does not get to step {steps}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn resumes(events: &[serde_json::Value]) -> bool {
    let mut starts = events.iter().filter(|event| event["event"] == "node_started");
    starts.any(|event| event["node"] == "trained" && event["resumed"] == true)
}

fn finishes_alike(project: &Project, undisturbed: blake3::Hash, moment: &str) {
    let (said, events) = project.run("train.pipe", &[]);
    assert_eq!(said.code, 0, "after {moment}: {}", said.stderr);
    assert!(
        nodes(&events, "ran").contains(&"trained".to_owned()),
        "after {moment} the training was over"
    );
    assert!(resumes(&events), "after {moment} the training began anew");
    assert_eq!(weights(project), undisturbed, "after {moment} the weights differ");
    let verified = project.pipe(&["store", "verify"]);
    assert_eq!(verified.code, 0, "after {moment}: {}", verified.stderr);
}

#[test]
fn killed_and_stopped_trainings_end_with_the_same_weights() {
    let undisturbed = project();
    let (said, _) = undisturbed.run("train.pipe", &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let expected = weights(&undisturbed);
    for steps in moments(11) {
        let project = project();
        let mut child = started(&project, steps);
        child.kill().expect("SIGKILL");
        child.wait().expect("its end");
        finishes_alike(&project, expected, &format!("kill -9 at step {steps}"));
    }
    for steps in moments(12) {
        let project = project();
        let mut child = started(&project, steps);
        terminate(&child);
        let code = child.wait().expect("its end").code();
        assert_eq!(code, Some(75), "SIGTERM at step {steps}");
        assert!(checkpoints(project.path()) > 0, "SIGTERM at step {steps} leaves no checkpoint");
        finishes_alike(&project, expected, &format!("SIGTERM at step {steps}"));
    }
}

/// Five random steps behind the first checkpoints and before the end.
fn moments(seed: u64) -> [u64; 5] {
    let mut random = Random::new(seed);
    [(); 5].map(|()| 9 + (random.share() * 130.0) as u64)
}

fn terminate(child: &Child) {
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "cannot send SIGTERM");
}

fn checkpoints(folder: &Path) -> usize {
    std::fs::read_dir(folder.join(".pipe/checkpoints"))
        .map_or(0, |entries| entries.flatten().count())
}
