//! Codes of the shapes of models and of rows of tokens.

use super::{Code, page};

pub(super) const CODES: &[Code] = &[
    page(
        "shapes::context",
        "rows longer than the model's context",
        "A model sees at most as many tokens at once as its context holds; longer rows would be computed with positions
that it has never learned.

  let rows = docs |> tokenizer.encode(with: tok) |> data.pack(length: 512)
  let small = model.decoder({ layers: 2, width: 64, heads: 2, context: 128 }, vocab: tok.size)
  output trained = train.fit(small, data: rows, steps: 100, optimizer: optim.adamw(lr: 1e-3))

Pack shorter rows, `data.pack(length: 128)`, or give the model a longer context.",
    ),
    page(
        "shapes::decoder",
        "sizes that make no decoder",
        "Attention heads share the width of the residual stream in even parts of one size, and key and value heads serve the
heads in equal groups.

  let m = model.decoder({ layers: 2, width: 100, heads: 3, context: 128 }, vocab: 1000)

Take a number of heads that divides the width: `width: 96, heads: 3`.",
    ),
    page(
        "shapes::target",
        "an adapter for a module that the model does not have",
        "An adapter changes the linear modules that its `targets` name. A name that matches none would train nothing, silently.

  let adapter = lora.init(base, rank: 8, targets: [\"query\"])

The message lists the modules of the model; for a Llama-type decoder these are q_proj, k_proj, v_proj, o_proj,
gate_proj, up_proj and down_proj:

  let adapter = lora.init(base, rank: 8, targets: [\"q_proj\", \"v_proj\"])",
    ),
    page(
        "shapes::tokenizer",
        "tokens of another tokenizer",
        "A token is a number, and the same number means another piece of text in each tokenizer. A model learns the numbers of
one, so everything that it reads is encoded with that one.

  let rows = docs |> tokenizer.encode(with: tok_b) |> data.pack(length: 128)
  let m = model.decoder(shape, vocab: tok_a.size)
  output trained = train.fit(m, data: rows, steps: 100, optimizer: optim.adamw(lr: 1e-3))

Encode with the tokenizer by which the model is sized.",
    ),
    page(
        "shapes::vocabulary",
        "a vocabulary too small for its tokens",
        "A model has one row of weights for each token of its vocabulary; a larger number has none.

  let tok = tokenizer.train(docs, vocab: 4096)
  let m = model.decoder(shape, vocab: 1000)

Size the model by its tokenizer:

  let m = model.decoder(shape, vocab: tok.size)",
    ),
];
