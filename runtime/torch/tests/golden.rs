//! Golden values of PyTorch and Hugging Face transformers (tests/fixtures/make_llama_fixture.py says how they were made).
#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

use pipe_torch::model::decoder::{Batch, Decoder};
use pipe_torch::model::folder;
use pipe_torch::model::layout::Layout;
use pipe_torch::nn::head::Targets;
use pipe_torch::nn::rope::Rope;
use pipe_torch::optim::adamw::{AdamW, State, Update, clip};
use pipe_torch::place::Place;
use pipe_torch::tensors;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tch::{Device, Kind, Tensor};

#[derive(Deserialize)]
struct Golden {
    model: Model,
    rope: Rotary,
    adamw: Updates,
    clip: Vec<Clip>,
}

#[derive(Deserialize)]
struct Model {
    ids: Vec<Vec<i64>>,
    logits: Vec<f64>,
    loss: f64,
    tensors: BTreeMap<String, Vec<i64>>,
}

#[derive(Deserialize)]
struct Rotary {
    width: i64,
    positions: i64,
    theta: f64,
    heads: Vec<f32>,
    turned: Vec<f32>,
}

#[derive(Deserialize)]
struct Updates {
    start: Vec<f32>,
    decayed: i64,
    lr: Vec<f64>,
    gradients: Vec<Vec<f32>>,
    weights: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
struct Clip {
    limit: f64,
    before: Vec<f32>,
    norm: f64,
    after: Vec<f32>,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn golden() -> Golden {
    serde_json::from_str(&std::fs::read_to_string(fixtures().join("golden.json")).unwrap()).unwrap()
}

fn farthest(found: &Tensor, wanted: &[f32]) -> f64 {
    (found.view([-1]) - Tensor::from_slice(wanted)).abs().max().double_value(&[])
}

fn device() -> Device {
    Device::cuda_if_available()
}

#[test]
fn logits_and_loss_are_those_of_transformers() {
    let _no_grad = tch::no_grad_guard();
    let Golden { model, .. } = golden();
    let loaded = folder::read(&fixtures().join("llama")).unwrap();
    for device in [Device::Cpu, device()] {
        let place = Place { device, compute: Kind::Float };
        let decoder = Decoder::new(loaded.config.clone(), place, 32).unwrap();
        let ready = decoder.ready(&loaded.weights().to_device(device)).unwrap();
        let ids: Vec<i64> = model.ids.concat();
        let ids = Tensor::from_slice(&ids).view([2, 12]).to_device(device);
        let logits = decoder.logits(&ready, &ids).unwrap().to_device(Device::Cpu);
        let wanted: Vec<f32> = model.logits.iter().map(|&x| x as f32).collect();
        let error = farthest(&logits, &wanted);
        assert!(error < 1e-5, "{device:?}: logits differ by {error}");

        let token = ids.narrow(1, 1, 11).reshape([-1]);
        let batch = Batch {
            tokens: ids.narrow(1, 0, 11).contiguous(),
            targets: Targets { token, weight: None },
        };
        let loss = decoder.loss(&ready, &batch).unwrap().double_value(&[0]) / 22.0;
        assert!((loss - model.loss).abs() < 1e-6, "{device:?}: loss {loss} is not {}", model.loss);
    }
}

#[test]
fn a_saved_model_has_the_names_shapes_and_bytes_that_transformers_wrote() {
    let Golden { model, .. } = golden();
    let loaded = folder::read(&fixtures().join("llama")).unwrap();
    let names = Layout::new(&loaded.config).names();
    assert_eq!(names, model.tensors);

    let out = tempfile::tempdir().unwrap();
    folder::write(out.path(), &loaded.config, &loaded.weights()).unwrap();
    let theirs = tensors::read(&fixtures().join("llama/model.safetensors")).unwrap();
    let ours = tensors::read(&out.path().join("model.safetensors")).unwrap();
    assert_eq!(theirs.keys().collect::<Vec<_>>(), ours.keys().collect::<Vec<_>>());
    for (name, tensor) in &theirs {
        assert_eq!(tensor, &ours[name], "{name}");
    }
    let again = folder::read(out.path()).unwrap();
    assert_eq!(again.config, loaded.config);
    assert_eq!(again.weights(), loaded.weights());
}

/// transformers turns halves; our heads hold the same numbers in pairs.
#[test]
fn the_rotary_embedding_is_that_of_transformers() {
    let Golden { rope, .. } = golden();
    let pairs = |numbers: &[f32]| {
        let halves = Tensor::from_slice(numbers).view([1, rope.positions, 1, 2, rope.width / 2]);
        halves.transpose(3, 4).reshape([1, rope.positions, 1, rope.width])
    };
    let heads = pairs(&rope.heads);
    Rope::new(rope.theta, rope.width, rope.positions, Device::Cpu).unwrap().apply_(&heads).unwrap();
    let error = (heads - pairs(&rope.turned)).abs().max().double_value(&[]);
    assert!(error < 1e-6, "{error}");
}

#[test]
fn updates_are_those_of_torch_adamw() {
    let Golden { adamw: golden, .. } = golden();
    let adamw = AdamW { lr: 1e-2, betas: (0.9, 0.95), eps: 1e-8, weight_decay: 0.1 };
    for device in [Device::Cpu, device()] {
        let weights = Tensor::from_slice(&golden.start).to_device(device);
        let state = State::new(9, device).unwrap();
        for (step, ((gradient, wanted), lr)) in
            golden.gradients.iter().zip(&golden.weights).zip(&golden.lr).enumerate()
        {
            let gradient = Tensor::from_slice(gradient).to_device(device);
            let update = Update { step: (step + 1) as f64, lr: *lr, decayed: golden.decayed };
            adamw.update(&weights, &gradient, None, &state, update).unwrap();
            let error = farthest(&weights.to_device(Device::Cpu), wanted);
            assert!(error < 5e-7, "step {step} on {device:?}: {error}");
        }
    }
}

/// The pieces that a large tensor is worked through in give what one small tensor gives.
#[test]
fn updates_do_not_depend_on_the_pieces() {
    let adamw = AdamW { lr: 1e-2, betas: (0.9, 0.95), eps: 1e-8, weight_decay: 0.1 };
    let (total, decayed) = (300_000, 200_003);
    let wave = |factor: f64| (Tensor::arange(total, (Kind::Float, Device::Cpu)) * factor).sin();
    let (weights, gradient) = (wave(0.7), wave(0.3));
    let start = weights.copy();
    let state = State::new(total, Device::Cpu).unwrap();
    let update = |decayed| Update { step: 1.0, lr: 0.01, decayed };
    let factor = Tensor::from_slice(&[0.5f32]);
    adamw.update(&weights, &gradient.copy(), Some(&factor), &state, update(decayed)).unwrap();
    for at in [0, 131_071, 131_072, decayed - 1, decayed, total - 1] {
        let one = start.narrow(0, at, 1).copy();
        let decays = if at < decayed { 1 } else { 0 };
        let state = State::new(1, Device::Cpu).unwrap();
        adamw
            .update(&one, &gradient.narrow(0, at, 1).copy(), Some(&factor), &state, update(decays))
            .unwrap();
        let error = (&one - weights.narrow(0, at, 1)).abs().double_value(&[0]);
        assert!(error < 1e-7, "element {at}: {error}");
    }
}

#[test]
fn clipping_is_that_of_torch() {
    for case in golden().clip {
        let gradient = Tensor::from_slice(&case.before);
        let (norm, factor) = clip(&gradient, Some(case.limit)).unwrap();
        assert!((norm.double_value(&[]) / case.norm - 1.0).abs() < 1e-6);
        let error = farthest(&(gradient * factor.unwrap()), &case.after);
        assert!(error < 1e-6 * case.norm.max(1.0), "{error}");
    }
}
