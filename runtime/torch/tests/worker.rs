//! The worker program as the core sees it: every request, several members, errors, and the end of the pipe.
#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

mod support;

use pipe_runtime::op::Args;
use pipe_runtime::protocol::{PROTOCOL, Reply, Request};
use pipe_runtime::value::Value;
use std::io::Read;
use support::{Lab, Worker, adamw, code, decoder_args, digest, ends, exists, hello};

#[test]
fn a_model_is_made_trained_and_judged_without_leaving_the_worker() {
    let lab = Lab::new();
    let mut worker = Worker::start();
    worker.run(1, vec![lab.member("model", "model.decoder", decoder_args())]);
    let made = &worker.results(1)["model"];
    assert_eq!(digest(made), lab.model.digest, "the same seed gives the same model in any process");

    worker.run(2, vec![lab.fit("trained", &[])]);
    let seen = worker.until(|reply| matches!(reply, Reply::Done { .. }));
    let ends = ends(&seen);
    let Ok(Value::Artifact(trained)) = &ends["trained"].0 else {
        panic!("{:?}", ends["trained"].0)
    };
    assert_eq!(trained.files, ["config.json", "model.safetensors", "training.json"]);
    assert_eq!(trained.meta["steps"], Value::Int(60));
    let Some(Reply::Done { holds, peak_bytes, .. }) = seen.last() else { panic!("no end") };
    assert_eq!(holds.first(), Some(&trained.digest));
    assert!(cfg!(not(target_os = "linux")) || *peak_bytes > 0);
    let losses: Vec<f64> = seen
        .iter()
        .filter_map(|reply| match reply {
            Reply::Metric { name, value, .. } if name == "loss" => *value,
            _ => None,
        })
        .collect();
    assert_eq!(losses.len(), 6);
    assert!(losses.last().unwrap() < &1.0 && losses.first().unwrap() > &2.0, "{losses:?}");

    let judge = Args::of([
        ("model", Value::Artifact(trained.clone())),
        ("data", Value::Artifact(lab.rows.clone())),
        ("batch", Value::Int(16)),
        ("dtype", support::text("auto")),
    ]);
    worker.run(3, vec![lab.member("judged", "eval.perplexity", judge)]);
    let judged = &worker.results(3)["judged"];
    let Ok(Value::Record(fields)) = &judged.0 else { panic!("{:?}", judged.0) };
    assert_eq!(fields["targets"], Value::Int(40 * 16));
    let Value::Float(perplexity) = fields["perplexity"] else { panic!() };
    assert!(perplexity > 1.0 && perplexity < 4.0, "{perplexity}");
}

#[test]
fn members_that_join_or_leave_do_not_change_what_the_others_learn() {
    let lab = Lab::new();
    let alone = {
        let mut worker = Worker::start();
        worker.run(1, vec![lab.fit("alone", &[])]);
        digest(&worker.results(1)["alone"])
    };
    let mut worker = Worker::start();
    let other = [("seed", Value::Int(9)), ("steps", Value::Int(100_000))];
    let diverging = [("optimizer", adamw(1e30)), ("clip", Value::None)];
    worker.run(
        1,
        vec![
            lab.fit("a", &[]),
            lab.fit("stopped", &other),
            lab.fit("dropped", &other),
            lab.fit("bad", &diverging),
        ],
    );
    let mut seen = worker
        .until(|reply| matches!(reply, Reply::Checkpointed { node, .. } if node == "dropped"));
    worker.send(&Request::Add { task: 1, member: Box::new(lab.fit("late", &[])) });
    worker.send(&Request::Cancel { task: 1, node: "stopped".to_owned() });
    worker.send(&Request::Drop { task: 1, node: "dropped".to_owned() });
    seen.extend(worker.until(|reply| matches!(reply, Reply::Done { .. })));
    let ends = ends(&seen);
    assert_eq!(ends.len(), 5);
    assert_eq!(digest(&ends["a"]), alone);
    assert_eq!(digest(&ends["late"]), alone);
    assert_eq!(code(&ends["stopped"]), "run::cancelled");
    assert_eq!(code(&ends["dropped"]), "run::cancelled");
    assert_eq!(code(&ends["bad"]), "run::not_finite");
    assert!(ends["bad"].0.as_ref().unwrap_err().message.contains("not finite at step"));
    assert!(exists(&lab.checkpoint("stopped").join("state.json")));
    assert!(!exists(&lab.checkpoint("dropped")));
}

#[test]
fn a_member_that_comes_too_late_is_told_so() {
    let lab = Lab::new();
    let mut worker = Worker::start();
    worker.send(&Request::Add { task: 7, member: Box::new(lab.fit("late", &[])) });
    let seen = worker.until(|reply| matches!(reply, Reply::Finished { .. }));
    let late = &ends(&seen)["late"];
    assert_eq!(code(late), "run::late");
    assert!(late.0.as_ref().unwrap_err().transient);
}

#[test]
fn mistakes_are_explained() {
    let lab = Lab::new();
    let mut worker = Worker::start();
    let vocab = lab.fit("vocab", &[("model", Value::Artifact(lab.rows.clone()))]);
    let both = lab.fit("both", &[("tokens", Value::Int(5))]);
    let place = lab.fit("place", &[("dtype", support::text("fp16"))]);
    let unknown = lab.member("unknown", "train.fly", Args::default());
    let mut gone = lab.fit("gone", &[]);
    gone.inputs.clear();
    worker.run(1, vec![vocab, both, place, unknown, gone, lab.fit("good", &[])]);
    let ends = worker.results(1);
    assert_eq!(code(&ends["vocab"]), "run::argument");
    assert!(ends["both"].0.as_ref().unwrap_err().message.contains("exactly one of"));
    assert_eq!(code(&ends["place"]), "run::dtype");
    assert_eq!(code(&ends["unknown"]), "run::unknown_op");
    assert_eq!(code(&ends["gone"]), "run::input");
    assert!(ends["good"].0.is_ok());
}

#[test]
fn a_worker_of_another_build_refuses() {
    let mut worker = Worker::bare();
    worker.send(&hello(PROTOCOL + 1));
    assert!(worker.next().is_none());
    assert_eq!(worker.child.wait().unwrap().code(), Some(1));
    let mut said = String::new();
    worker.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("protocol"), "{said}");
}

#[test]
fn a_worker_ends_with_its_pipe() {
    let mut worker = Worker::start();
    worker.hang_up();
    assert_eq!(worker.child.wait().unwrap().code(), Some(0));
}
