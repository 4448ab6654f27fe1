//! Gradients in closed form against libtorch's own, on small decoders of every shape that the code distinguishes.
#![allow(clippy::unwrap_used, reason = "a test may unwrap")]

use pipe_torch::model::config::Config;
use pipe_torch::model::decoder::{Batch, Decoder};
use pipe_torch::model::{init, layout::Layout};
use pipe_torch::place::Place;
use pipe_torch::rows::TokenRows;
use tch::{Device, Kind, Tensor};

fn config(kv_heads: i64, tied: bool) -> Config {
    serde_json::from_value(serde_json::json!({
        "architectures": ["LlamaForCausalLM"],
        "hidden_act": "silu",
        "hidden_size": 24,
        "initializer_range": 0.3,
        "intermediate_size": 40,
        "max_position_embeddings": 16,
        "model_type": "llama",
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "num_key_value_heads": kv_heads,
        "rms_norm_eps": 1e-5,
        "rope_theta": 100.0,
        "tie_word_embeddings": tied,
        "vocab_size": 50,
    }))
    .unwrap()
}

/// Weights whose norms are not all one.
fn weights(config: &Config) -> Tensor {
    let layout = Layout::new(config);
    let flat = init::initial(config, &layout, 3).unwrap();
    let wave = Tensor::arange(layout.total, (Kind::Float, Device::Cpu)).sin() * 0.2;
    flat + wave
}

fn rows(padded: bool) -> TokenRows {
    let mut tokens: Vec<i32> = (0..5 * 9).map(|i| (i * i + 7 * i) % 50).collect();
    if padded {
        tokens[40..45].fill(-1);
        tokens[16..18].fill(-1);
    }
    TokenRows::new(&Tensor::from_slice(&tokens).view([5, 9])).unwrap()
}

/// The mean loss and its gradient as libtorch computes them from the logits.
fn reference(decoder: &Decoder, flat: &Tensor, batch: &Batch, targets: u64) -> (f64, Tensor) {
    let leaf = flat.detach().set_requires_grad(true);
    let logits = decoder.logits(&decoder.ready(&leaf).unwrap(), &batch.tokens).unwrap();
    let likely = logits.view([-1, decoder.config.vocab_size]).log_softmax(-1, Kind::Float);
    let own = likely.gather(1, &batch.targets.token.unsqueeze(1), false).squeeze_dim(1);
    let own = match &batch.targets.weight {
        Some(weight) => own * weight,
        None => own,
    };
    let loss = -own.sum(Kind::Float) / targets as f64;
    loss.backward();
    (loss.double_value(&[]), leaf.grad())
}

fn closest(a: &Tensor, b: &Tensor) -> f64 {
    (a - b).abs().max().double_value(&[])
}

fn check(kv_heads: i64, tied: bool, padded: bool, recompute: bool) {
    let config = config(kv_heads, tied);
    let flat = weights(&config);
    let decoder = Decoder::new(config, Place::cpu(), 16).unwrap();
    let (batch, targets) = rows(padded).batch(&[3, 1, 4], Device::Cpu).unwrap();
    let (loss, wanted) = reference(&decoder, &flat, &batch, targets);

    let _no_grad = tch::no_grad_guard();
    let gradient = Tensor::zeros([decoder.layout.total], (Kind::Float, Device::Cpu));
    let ready = decoder.ready(&flat).unwrap();
    let scale = 1.0 / targets as f64;
    let sum = decoder.loss_and_gradient(&ready, &batch, scale, recompute, &gradient).unwrap();
    let plain = decoder.loss(&ready, &batch).unwrap();
    assert!((sum.double_value(&[0]) * scale - loss).abs() < 1e-6);
    assert!((plain.double_value(&[0]) * scale - loss).abs() < 1e-6);
    let largest = wanted.abs().max().double_value(&[]);
    let error = closest(&gradient, &wanted);
    assert!(
        error < 2e-6 * largest.max(1.0),
        "kv {kv_heads} tied {tied} padded {padded}: {error} of {largest}"
    );
    for (part, view) in decoder.layout.export(&gradient).unwrap() {
        assert!(view.abs().max().double_value(&[]) > 0.0, "{part} has no gradient");
    }
}

#[test]
fn closed_form_gradients_are_those_of_autograd() {
    for kv_heads in [1, 2, 4] {
        for tied in [true, false] {
            check(kv_heads, tied, false, false);
        }
    }
}

#[test]
fn padding_has_neither_loss_nor_gradient() {
    check(2, true, true, false);
}

#[test]
fn recomputed_blocks_have_the_same_gradient() {
    check(2, true, true, true);
}

/// Micro-batches of 1, 2 and 5 rows, some of them ragged, against one batch of 5.
#[test]
fn accumulated_gradients_are_those_of_one_batch() {
    let _no_grad = tch::no_grad_guard();
    let config = config(2, true);
    let flat = weights(&config);
    let decoder = Decoder::new(config, Place::cpu(), 16).unwrap();
    let ready = decoder.ready(&flat).unwrap();
    let rows = rows(true);
    let scale = 1.0 / rows.all_targets() as f64;
    let accumulated = |size: usize| {
        let gradient = Tensor::zeros([decoder.layout.total], (Kind::Float, Device::Cpu));
        let loss: f64 = [0u32, 1, 2, 3, 4]
            .chunks(size)
            .map(|part| {
                let (batch, _) = rows.batch(part, Device::Cpu).unwrap();
                decoder
                    .loss_and_gradient(&ready, &batch, scale, false, &gradient)
                    .unwrap()
                    .double_value(&[0])
            })
            .sum();
        (loss * scale, gradient)
    };
    let (loss, gradient) = accumulated(5);
    for size in [1, 2, 3] {
        let (other_loss, other) = accumulated(size);
        assert!((loss - other_loss).abs() < 1e-6);
        assert!(closest(&gradient, &other) < 1e-6);
    }
}

/// bf16 products stay near fp32 ones; weights, gradient and loss are fp32 and f64 all the same.
#[test]
fn bf16_is_close_to_fp32() {
    let _no_grad = tch::no_grad_guard();
    let config = config(2, true);
    let flat = weights(&config);
    let run = |dtype: &str| {
        let decoder = Decoder::new(config.clone(), Place::new("cpu", dtype).unwrap(), 16).unwrap();
        let (batch, targets) = rows(true).batch(&[0, 1, 2], Device::Cpu).unwrap();
        let gradient = Tensor::zeros([decoder.layout.total], (Kind::Float, Device::Cpu));
        let ready = decoder.ready(&flat).unwrap();
        let scale = 1.0 / targets as f64;
        let loss = decoder.loss_and_gradient(&ready, &batch, scale, false, &gradient).unwrap();
        (loss.double_value(&[0]) * scale, gradient)
    };
    let ((full, exact), (half, rough)) = (run("fp32"), run("bf16"));
    assert!((full - half).abs() < 0.05 * full, "{full} {half}");
    let cosine = (&exact * &rough).sum(Kind::Float) / (exact.norm() * rough.norm());
    assert!(cosine.double_value(&[]) > 0.99, "{cosine}");
}

#[test]
fn weights_come_back_from_the_names_on_disk() {
    for tied in [true, false] {
        let config = config(2, tied);
        let layout = Layout::new(&config);
        let flat = init::initial(&config, &layout, 5).unwrap();
        let back = layout.import(&layout.export(&flat).unwrap().into_iter().collect()).unwrap();
        assert_eq!(closest(&flat, &back), 0.0);
    }
}

#[test]
fn wrong_tensors_are_refused_by_name() {
    let config = config(2, true);
    let layout = Layout::new(&config);
    let flat = init::initial(&config, &layout, 5).unwrap();
    let good =
        || layout.export(&flat).unwrap().into_iter().collect::<std::collections::BTreeMap<_, _>>();
    let mut missing = good();
    missing.remove("model.layers.1.mlp.up_proj.weight");
    assert!(
        layout
            .import(&missing)
            .unwrap_err()
            .message
            .contains("model.layers.1.mlp.up_proj.weight is missing")
    );
    let mut extra = good();
    extra.insert("model.layers.2.mlp.up_proj.weight".into(), Tensor::from(1f32));
    assert!(layout.import(&extra).unwrap_err().message.contains("does not know"));
    let mut other = good();
    other.insert("model.norm.weight".into(), Tensor::zeros([3], (Kind::Float, Device::Cpu)));
    assert!(layout.import(&other).unwrap_err().message.contains("has shape [3]"));
}
