//! Codes of the worker program: how it ends, and what it says itself.

use super::{Code, page};

/// What `pipe` says of the worker.
pub(super) const CODES: &[Code] = &[
    page(
        "worker::crashed",
        "the worker crashed",
        "Steps that need libtorch run in the program `pipe-torch`, so that a crash there does not take the run along.
It ended by a signal that means a mistake inside it or in libtorch, such as 11 (segmentation fault). Steps that shared
the worker are tried again apart, so the one that is named is the one that crashes it.

  let trained = train.fit(fresh, data: rows, steps: 100, optimizer: adam)

The message has the worker's last words. Run again; if it crashes again, report it with the program.",
    ),
    page(
        "worker::died",
        "the worker ended by itself",
        "The program `pipe-torch` was gone before its task was done, without a crash. Somebody may have ended it, or
it could not go on, for example because a library was missing.

  kill PID_OF_PIPE_TORCH

The message has the worker's last words. `pipe doctor` says whether it starts. Then run again: a training goes on from
its last checkpoint.",
    ),
    page(
        "worker::killed",
        "the worker was killed, most likely for its memory",
        "Signal 9 ends a program at once. The system sends it to the largest program when memory runs out.

  train.fit(fresh, data: rows, batch: 4096, steps: 100, optimizer: adam)

Give the step less to do at once: a smaller `batch` with a larger `accumulate` gives the same result, and
`recompute: true` needs less memory for the backward pass. Or state the need, so that nothing else runs beside it:

  @memory(24GiB)
  let trained = train.fit(fresh, data: rows, batch: 64, steps: 100, optimizer: adam)",
    ),
    page(
        "worker::missing",
        "the worker program was not found",
        "Steps that need libtorch run in the program `pipe-torch`. `pipe` looks for it where `PIPE_TORCH` says, else
beside itself, and it is not there. Programs without such steps run all the same.

  cp target/debug/pipe ~/bin/

leaves the worker behind. Put both into one folder, build again with `make build`, or set `PIPE_TORCH` to the program.",
    ),
    page(
        "worker::protocol",
        "`pipe` and the worker do not understand each other",
        "`pipe` and `pipe-torch` exchange messages of a certain form, which may change between versions. Here the
answer was of another form, or did not keep the rules.

  PIPE_TORCH=/bin/cat pipe run train.pipe

Build both from one source. If `PIPE_TORCH` is set, let it point to the `pipe-torch` of that build.",
    ),
    page(
        "worker::start",
        "the worker cannot be started",
        "The program `pipe-torch` is there, and the system refuses to start it: it may not be executed, or was built
for another machine.

  chmod -x target/debug/pipe-torch

Build again with `make build`. If `PIPE_TORCH` is set, look at what it points to.",
    ),
];

/// What the worker says itself.
pub(super) const TORCH: &[Code] = &[
    page(
        "run::bad_artifact",
        "a model, rows or a checkpoint that cannot be used",
        "A file that a step reads is not what its kind promises: cut off, of another format, or with tensors of other
shapes. The store compares content with digests, so a file of the store was right once; one that came from elsewhere
may not be.

  let trained = train.fit(fresh, data: rows, steps: 100, optimizer: adam)

The message says what was found. `pipe store verify` finds files that changed. For a checkpoint of another version
remove `.pipe/checkpoints`, and the training begins anew.",
    ),
    page(
        "run::device",
        "a device that is not there",
        "A step was given to a GPU that libtorch does not see, although the system has it, or to a name that means no
device.

  CUDA_VISIBLE_DEVICES=\"\" pipe run train.pipe

`pipe doctor` says which GPUs there are and which libtorch sees; a libtorch without CUDA sees none. Remove `@gpu`, or
set up a libtorch with CUDA by `make setup DEVICE=cuda`.",
    ),
    page(
        "run::dtype",
        "a precision that the device does not have",
        "`dtype` is the precision of matrix products. `fp16` is for GPUs: a CPU has no fast products of it.

  train.fit(fresh, data: rows, steps: 100, optimizer: adam, dtype: \"fp16\")

`auto` takes what suits the device: fp32 on a CPU, bf16 on a GPU.",
    ),
    page(
        "run::internal",
        "an op of the worker that broke down",
        "The op hit a case that its authors thought impossible. The worker and the other steps go on.

  let trained = train.fit(fresh, data: rows, steps: 100, optimizer: adam)

Report the error with the program. Other arguments may avoid the case until it is corrected.",
    ),
    page(
        "run::member",
        "a step that is in its task already",
        "Trainings that share their steps are members of one task, each once. `pipe` has sent this one twice, which
programs cannot cause.

  let models = for seed in 0..4 { train.fit(fresh, data: rows, seed: seed, steps: 100, optimizer: adam) }

Run again. If the error comes back, report it with the program.",
    ),
    page(
        "run::model",
        "a model of a kind that is not supported",
        "The decoder computes models of the Llama type. A `config.json` that asks for something else would be computed
wrongly, so it is refused.

  { \"model_type\": \"gpt2\", \"hidden_act\": \"gelu\" }

The message names the field. Make the model with `model.decoder`, or take one of the Llama type without biases and
with plain rotary frequencies.",
    ),
    page(
        "run::not_finite",
        "numbers that have left the range",
        "A training whose loss is NaN or infinite cannot recover, and a detector cannot learn from numbers whose
squares are larger than any float. Going on would only waste time.

  train.fit(fresh, data: rows, steps: 100, optimizer: optim.adamw(lr: 10.0))

In a training use a lower `lr`, a longer `warmup` or a smaller `clip`. In a table look for values that are far too
large, and leave them out or scale the column with `data.derive`.",
    ),
    page(
        "run::out_of_memory",
        "memory that ran out",
        "The device has less memory free than the step needs. Other programs on the same GPU count too.

  train.fit(fresh, data: rows, batch: 512, steps: 100, optimizer: adam)

Make `batch` smaller and `accumulate` larger by the same factor, which gives the same result, or keep less for the
backward pass:

  train.fit(fresh, data: rows, batch: 64, accumulate: 8, recompute: true, steps: 100, optimizer: adam)",
    ),
    page(
        "run::protocol",
        "the worker was started by something else than its `pipe`",
        "`pipe-torch` expects a greeting of a certain form and version as the first message. It was started by hand,
or by a `pipe` of another version.

  echo hello | pipe-torch

Let `pipe` start it, and build both from one source.",
    ),
    page(
        "run::target",
        "an adapter for a module that the model does not have",
        "An adapter changes the linear modules that its `targets` name; a name that matches none would train nothing.
Where the model's shape is known before the run, `pipe check` finds it (`shapes::target`).

  let adapter = lora.init(base, rank: 8, targets: [\"query\"])

The message lists the modules of the model.",
    ),
    page(
        "run::torch",
        "libtorch refused a computation",
        "A computation failed inside libtorch, usually because tensors do not fit together. The message names what was
being done, the shapes and libtorch's reason. Arguments are checked before, so this should not happen.

  let trained = train.fit(fresh, data: rows, steps: 100, optimizer: adam)

On a GPU look whether its driver works (`pipe doctor`). Else report the error with the program.",
    ),
];
