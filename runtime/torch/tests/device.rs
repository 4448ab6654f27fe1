//! The device of the plan against the CPU. `tests/device.sh` sets PIPE_DEVICE where there is a GPU; without it the same
//! tests compare the CPU with itself, so that they cannot rot.
#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

mod support;

use pipe_runtime::op::{Args, Context, Op};
use pipe_runtime::standalone::Standalone;
use pipe_runtime::value::Value;
use pipe_torch::eval::perplexity::Perplexity;
use pipe_torch::model::decoder::Decoder;
use pipe_torch::model::folder;
use pipe_torch::place::Place;
use pipe_torch::train::fit::Fit;
use std::time::Instant;
use support::{Lab, fit_args, text};
use tch::{Device, Kind, Tensor};

fn device() -> String {
    std::env::var("PIPE_DEVICE").unwrap_or_else(|_| "cpu".to_owned())
}

/// Trains and judges on a device: loss of each logged step, and the perplexity.
fn outcome(lab: &Lab, device: &str, dtype: &str) -> (Vec<f64>, f64) {
    let out = tempfile::tempdir().unwrap();
    let context = Standalone::new(out.path()).on(device, 2);
    let known = |name: &str| lab.folder.path().join(name);
    let model = context.adopt(&known("model"), "model", "", Default::default()).unwrap();
    let rows = context
        .adopt(&known("rows.safetensors"), "tokens", "safetensors", Default::default())
        .unwrap();
    let mut args = fit_args(&model, &rows);
    args.insert("dtype".to_owned(), text(dtype));
    args.insert("log_every".to_owned(), Value::Int(1));
    let Value::Artifact(trained) = Fit.run(&Args::of(args), &context).unwrap() else {
        panic!("no model")
    };
    let judge = Args::of([
        ("model", Value::Artifact(trained)),
        ("data", Value::Artifact(rows)),
        ("batch", Value::Int(7)),
        ("dtype", text(dtype)),
    ]);
    let Value::Record(judged) = Perplexity.run(&judge, &context).unwrap() else {
        panic!("no record")
    };
    let Value::Float(perplexity) = judged["perplexity"] else { panic!("no perplexity") };
    let losses =
        context.metrics().into_iter().filter(|(name, ..)| name == "loss").map(|(.., loss)| loss);
    (losses.collect(), perplexity)
}

#[test]
fn fp32_learns_on_the_device_what_it_learns_on_a_cpu() {
    let lab = Lab::new();
    let (there, perplexity_there) = outcome(&lab, &device(), "fp32");
    let (here, perplexity_here) = outcome(&lab, "cpu", "fp32");
    assert_eq!(there.len(), 60);
    let farthest = there.iter().zip(&here).take(20).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(farthest < 1e-4, "losses of the first 20 steps differ by {farthest}");
    assert!(
        (perplexity_there / perplexity_here - 1.0).abs() < 0.02,
        "{perplexity_there} {perplexity_here}"
    );
}

#[test]
fn low_precision_learns_nearly_the_same() {
    let lab = Lab::new();
    let (full, _) = outcome(&lab, &device(), "fp32");
    let dtypes: &[&str] = if device() == "cpu" { &["bf16"] } else { &["bf16", "fp16", "auto"] };
    for dtype in dtypes {
        let (low, perplexity) = outcome(&lab, &device(), dtype);
        assert!(
            (low[0] - full[0]).abs() < 0.05,
            "{dtype}: first loss {} against {}",
            low[0],
            full[0]
        );
        assert!(
            low.last().unwrap() < &(full.last().unwrap() + 0.3),
            "{dtype}: last loss {:?}",
            low.last()
        );
        assert!(perplexity < 4.0, "{dtype}: {perplexity}");
    }
}

/// The gradient of one batch, on the device and on the CPU.
#[test]
fn gradients_on_the_device_are_those_of_the_cpu() {
    let _no_grad = tch::no_grad_guard();
    let lab = Lab::new();
    let loaded = folder::read(&lab.folder.path().join("model")).unwrap();
    let tokens: Vec<i32> = (0..6 * 17).map(|i| (i * i) % 48).collect();
    let rows =
        pipe_torch::rows::TokenRows::new(&Tensor::from_slice(&tokens).view([6, 17])).unwrap();
    let run = |device: &str| {
        let place = Place::new(device, "fp32").unwrap();
        let decoder = Decoder::new(loaded.config.clone(), place, 16).unwrap();
        let flat = loaded.weights().to_device(place.device);
        let ready = decoder.ready(&flat).unwrap();
        let gradient = flat.zeros_like();
        let (batch, _) = rows.batch(&[0, 1, 2, 3, 4, 5], place.device).unwrap();
        let loss = decoder.loss_and_gradient(&ready, &batch, 1.0 / 96.0, false, &gradient).unwrap();
        assert!(loss.double_value(&[0]).is_finite());
        gradient.to_device(Device::Cpu)
    };
    let (there, here) = (run(&device()), run("cpu"));
    let error = (&there - &here).abs().max().double_value(&[]);
    assert!(error < 1e-5, "{error}");
}

/// Says how fast the device is; a speed never fails a test.
#[test]
fn speed_on_the_device() {
    let _no_grad = tch::no_grad_guard();
    let (width, layers, steps) = if device() == "cpu" { (64, 2, 2) } else { (1024, 12, 20) };
    let config = serde_json::json!({
        "architectures": ["LlamaForCausalLM"], "hidden_act": "silu", "hidden_size": width,
        "intermediate_size": width * 3, "max_position_embeddings": 512, "model_type": "llama",
        "num_attention_heads": 16, "num_hidden_layers": layers, "num_key_value_heads": 16,
        "tie_word_embeddings": true, "vocab_size": 8192,
    });
    let dtypes: &[&str] = if device() == "cpu" { &["fp32"] } else { &["fp32", "bf16"] };
    for dtype in dtypes {
        let place = Place::new(&device(), dtype).unwrap();
        let decoder =
            Decoder::new(serde_json::from_value(config.clone()).unwrap(), place, 512).unwrap();
        let flat = Tensor::randn([decoder.layout.total], (Kind::Float, place.device)) * 0.02;
        let gradient = flat.zeros_like();
        let batch = if device() == "cpu" { 2 } else { 16 };
        let tokens = Tensor::randint(8192, [batch, 512], (Kind::Int, Device::Cpu));
        let rows = pipe_torch::rows::TokenRows::new(&tokens).unwrap();
        let picked: Vec<u32> = (0..u32::try_from(batch).unwrap()).collect();
        let step = || {
            let ready = decoder.ready(&flat).unwrap();
            let (batch, targets) = rows.batch(&picked, place.device).unwrap();
            let loss = decoder
                .loss_and_gradient(&ready, &batch, 1.0 / targets as f64, false, &gradient)
                .unwrap();
            loss.double_value(&[0])
        };
        assert!(step().is_finite());
        let start = Instant::now();
        (0..steps).for_each(|_| assert!(step().is_finite()));
        let rate =
            f64::from(steps) * f64::from(batch as i32) * 511.0 / start.elapsed().as_secs_f64();
        let parameters = decoder.layout.parameters() / 1_000_000;
        println!(
            "{} {dtype}: {rate:.0} tokens/s forward and backward at {parameters} M parameters",
            device()
        );
    }
}
