//! A training that is killed at any moment and started again ends with the same bytes as one that was not.
#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

mod support;

use pipe_runtime::protocol::{Reply, Request};
use pipe_torch::random::Random;
use std::time::Duration;
use support::{Lab, Worker, code, digest, exists};

fn uninterrupted(lab: &Lab) -> String {
    let mut worker = Worker::start();
    worker.run(1, vec![lab.fit("whole", &[])]);
    digest(&worker.results(1)["whole"])
}

/// Runs to the end and gives the digest with the step that it continued from.
fn finish(lab: &Lab, node: &str) -> (String, u64) {
    let mut worker = Worker::start();
    worker.run(1, vec![lab.fit(node, &[])]);
    let seen = worker.until(|reply| matches!(reply, Reply::Done { .. }));
    let resumed = seen.iter().find_map(|reply| match reply {
        Reply::Started { resumed_at, .. } => Some(*resumed_at),
        _ => None,
    });
    (digest(&support::ends(&seen)[node]), resumed.unwrap())
}

#[test]
fn killed_at_random_moments_and_resumed_gives_the_same_model() {
    let lab = Lab::new();
    let whole = uninterrupted(&lab);
    let mut random = Random::new(20, 0);
    for round in 0..5 {
        let node = format!("killed{round}");
        let checkpoints = 1 + random.below(12);
        let mut worker = Worker::start();
        worker.run(1, vec![lab.fit(&node, &[])]);
        for _ in 0..checkpoints {
            worker.until(|reply| matches!(reply, Reply::Checkpointed { .. }));
        }
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        worker.signal("KILL");
        worker.child.wait().unwrap();
        let (resumed, from) = finish(&lab, &node);
        assert!(from >= 3 * checkpoints, "round {round} went on from step {from}");
        assert_eq!(resumed, whole, "round {round}, killed after {checkpoints} checkpoints");
    }
}

#[test]
fn stopped_by_a_signal_a_cancel_or_a_closed_pipe_and_resumed_gives_the_same_model() {
    let lab = Lab::new();
    let whole = uninterrupted(&lab);
    for way in ["TERM", "USR1", "cancel", "pipe"] {
        let mut worker = Worker::start();
        worker.run(1, vec![lab.fit(way, &[])]);
        worker.until(|reply| matches!(reply, Reply::Checkpointed { .. }));
        match way {
            "cancel" => worker.send(&Request::Cancel { task: 1, node: way.to_owned() }),
            "pipe" => worker.hang_up(),
            signal => worker.signal(signal),
        }
        let seen = worker.until(|reply| matches!(reply, Reply::Done { .. }));
        let ends = support::ends(&seen);
        assert_eq!(code(&ends[way]), "run::cancelled", "{way}");
        if way != "cancel" {
            assert_eq!(worker.child.wait().unwrap().code(), Some(0));
        }
        assert!(exists(&lab.checkpoint(way).join("state.json")));
        let (resumed, from) = finish(&lab, way);
        assert!(from >= 3);
        assert_eq!(resumed, whole, "{way}");
    }
}

#[test]
fn a_damaged_checkpoint_is_left_aside_with_a_warning() {
    let lab = Lab::new();
    let whole = uninterrupted(&lab);
    let mut worker = Worker::start();
    worker.run(1, vec![lab.fit("damaged", &[])]);
    worker.until(|reply| matches!(reply, Reply::Checkpointed { .. }));
    worker.signal("KILL");
    worker.child.wait().unwrap();
    let folder = lab.checkpoint("damaged");
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "safetensors") {
            std::fs::write(path, b"nothing").unwrap();
        }
    }
    let mut worker = Worker::start();
    worker.run(1, vec![lab.fit("damaged", &[])]);
    let seen = worker.until(|reply| matches!(reply, Reply::Done { .. }));
    let warned = |reply: &Reply| matches!(reply, Reply::Warning { message, .. } if message.contains("damaged"));
    assert!(seen.iter().any(warned));
    assert_eq!(digest(&support::ends(&seen)["damaged"]), whole);
}
