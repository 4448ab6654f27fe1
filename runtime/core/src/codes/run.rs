//! Codes of nodes that fail: arguments, files, limits, and what an op must not do.

use super::{Code, page};

pub(super) const CODES: &[Code] = &[
    page(
        "run::argument",
        "an argument that an op cannot work with",
        "Most mistakes in arguments are found before the run. This one depends on a value that is known only now, such
as a computed number, or on two arguments that do not go together.

  let limit = threshold.quantile(scored, q: share)

where `share` turns out to be 1.5, and `q` must lie between 0 and 1. The message names the argument, its value and
what is allowed. Correct the value, or what computes it.",
    ),
    page(
        "run::arithmetic",
        "arithmetic without a result",
        "Whole numbers are exact between -2^53 and 2^53. A result beyond that, and a whole number divided by zero,
would have to be invented, so the node fails instead. Floats are different: they have infinity and NaN.

  rows |> data.derive(rest: row => row.seen % row.wanted)

where `wanted` is 0 in some row. Compute with floats where whole numbers are not needed, with `math.float(x)`, or say
what such rows get:

  rows |> data.derive(rest: row => if row.wanted == 0 { 0 } else { row.seen % row.wanted })",
    ),
    page(
        "run::not_reproduced",
        "a step that gives another result than before",
        "`--verify` computes steps again whose results are stored, and this one gave something else although its key is the
same: its op, arguments and inputs. So it takes something from elsewhere: the time, random numbers, the order of a
folder, files that are not declared. An op that promises a tolerance may differ within it on another device.

  let made = exec([\"sh\", \"-c\", \"date > now.txt\"], outputs: { now: \"now.txt\" })

What is stored stays. Declare what the step depends on, or write `@cache(off)` above it, so that nobody relies on a
stored result.",
    ),
    page(
        "run::exec_failed",
        "an external program that failed",
        "The program ended with another exit code than 0, or by a signal. The message shows the end of what it said on
standard error.

  let made = exec(
    [\"python3\", \"inputs/score.py\"],
    inputs: { score: \"score.py\" },
    outputs: { scores: \"scores.json\" },
  )

Correct the program or its inputs. It runs in a folder of its own with an empty environment: what it needs is declared
with `inputs` and `env`.",
    ),
    page(
        "run::exec_not_allowed",
        "an external program without permission",
        "A `.pipe` file can read its project and write its outputs, nothing more; external programs could do anything, so
they run only where somebody has allowed it.

  let made = exec([\"make\"], outputs: { page: \"page.html\" })

Look at what the program does, then run with `--allow exec`.",
    ),
    page(
        "run::exec_output",
        "an output that an external program did not write, or not as it can be kept",
        "Every output that is declared has to be there when the program ends, as a file, or as a folder of files and folders
without links.

  let made = exec([\"true\"], outputs: { page: \"page.html\" })

Correct the path, which is relative to the folder that the program runs in, or let the program write it.",
    ),
    page(
        "run::exec_start",
        "an external program that cannot be started",
        "There is no such program in `PATH`, or it may not be executed.

  let made = exec([\"pyhton3\", \"--version\"])

Correct the name, install the program, or give its whole path.",
    ),
    page(
        "run::cancelled",
        "a node that was stopped",
        "The run was asked to stop, by Ctrl-C or a signal, before this node had ended. Nothing is wrong with the node.
What was computed is in the store, and a training has saved a checkpoint.

  pipe run train.pipe

Run the same command again: it goes on from there.",
    ),
    page(
        "run::expansion",
        "a loop that would make too many nodes",
        "`for` over a list that a result gives makes the nodes of its body once for each item, while the program runs.
So that a list that is longer than anybody thought cannot fill the machine, a body is made at most 10,000 times by one
loop, and all loops of a run together make at most 100,000 nodes.

  let alarms = for request in requests { alarm(request) }

Let the loop go over fewer items: over the hosts and not over their requests, or over the items that a filter leaves.
What does the same to each row is faster as one op on the table, such as `data.derive` or `data.filter`.",
    ),
    page(
        "run::field",
        "a result without a field that it should have",
        "The signature of an op promises a field that its result lacks. Programs cannot cause this: the op and the
standard library do not belong together.

  output loss = judged.loss

where the op gave no `loss`. Build `pipe` again from one source. If the error stays, report it with the program.",
    ),
    page(
        "run::file",
        "a file that cannot be read or written during the run",
        "The file was there when the run was planned, or the folder could be written then, and now the system refuses.

  data.read(\"metrics.csv\")

where `metrics.csv` was deleted meanwhile, or belongs to another user. The message has the reason that the system
gave. Bring the file back or correct its permissions, then run again.",
    ),
    page(
        "run::file_changed",
        "a file that changed under the run",
        "Results are kept under the content of the files that they were made from. A file that is written to between
the planning and the end of the op that reads it would put a wrong result into the store, so nothing is kept.

  data.read(\"service.log\")

while the service still appends to it. Run again once nothing writes to the file, or read a copy.",
    ),
    page(
        "run::input",
        "an input that is not there",
        "A node began before what it reads was ready, or the worker was not told where an input lies. The order of
nodes is not the program's business, so this is a mistake in `pipe`.

  pipe run program.pipe

Run again. If the error comes back, report it with the program.",
    ),
    page(
        "run::key",
        "a key that cannot be computed",
        "Each result is stored under a key made of the op, its arguments and its inputs. Here one of them could not be
written down, which programs cannot cause.

  output table = data.read(\"metrics.csv\")

Report the error together with the program.",
    ),
    page(
        "run::late",
        "a training that came too late to share a pass",
        "Trainings that can share their steps run in one task. A node that becomes ready after the last step of that
task has to go into another one; `pipe` does that by itself, and this error is seen only when it could not.

  let models = for seed in 0..4 { train.fit(fresh, data: rows, seed: seed, steps: 100, optimizer: adam) }

Run again: what has ended is in the store.",
    ),
    page(
        "run::no_gpu",
        "a step that needs a GPU, and there is none",
        "`@gpu(1)` says that the step makes no sense without a GPU, and this machine has none that `pipe` can use.

  @gpu(1)
  let trained = train.fit(fresh, data: rows, steps: 1000, optimizer: adam)

Let the CPU do it where there is no GPU:

  @gpu(1, else: \"cpu\")
  let trained = train.fit(fresh, data: rows, steps: 1000, optimizer: adam)

If there should be one, `pipe doctor` says what is missing.",
    ),
    page(
        "run::panic",
        "an op that broke down",
        "The op hit a case that its authors thought impossible. The run goes on without it, and nothing of it is
stored.

  output joined = left |> data.join(with: right, on: [\"time\"])

Report the error with the program and, if you can, the data. Other arguments or a part of the data may avoid the case
until it is corrected.",
    ),
    page(
        "run::plan",
        "a plan that is not in order",
        "A plan lists nodes so that each comes after those it reads. This one does not, so it is refused before
anything runs. Plans that `pipe` makes are in order; one that was written or changed by other means may not be.

  pipe run program.pipe

Report the error together with the program.",
    ),
    page(
        "run::result",
        "a result that is not what the op has written",
        "An op may give only files that it has written itself, in the folder that it was given. This one names
another, so the result is not taken into the store.

  output table = data.read(\"metrics.csv\")

This is a mistake in the op and not in the program: report it.",
    ),
    page(
        "run::scratch",
        "a scratch folder that failed",
        "Ops write what they make into a scratch folder inside the store, from where it moves to its place. The folder
could not be made, or what lies in it could not be read back.

  rm -r .pipe/tmp

during a run has this effect, and so has a failing disk. Leave the store alone while a run uses it, look for free
space, and run again.",
    ),
    page(
        "run::thread",
        "a thread that could not be started",
        "Each running op has a thread, and the system refused to start one. It does so at a limit for processes and
threads of a user, or when memory is used up.

  ulimit -u 100

Raise the limit, or end other programs, and run again.",
    ),
    page(
        "run::timeout",
        "a step that ran longer than its limit",
        "`@timeout` bounds how long a step may run. At the limit it is asked to stop; a training saves a checkpoint
then.

  @timeout(10m)
  let trained = train.fit(fresh, data: rows, epochs: 20, optimizer: adam)

Raise the limit and run again: a training goes on from its checkpoint. The limit does not enter keys, so what is
stored stays valid.",
    ),
    page(
        "run::unknown_op",
        "an op that this program does not have",
        "The standard library inside `pipe` names an op, or a version of one, that the program that should run it
lacks. `pipe` and its worker `pipe-torch` are from different builds then.

  PIPE_TORCH=old/pipe-torch pipe run train.pipe

Build both from one source, and let `PIPE_TORCH` point to nothing older.",
    ),
    page(
        "run::value",
        "values that do not fit an expression",
        "Arithmetic over results is checked by types before the run. The values that came have other types than the
signatures of their ops promise.

  check good = found.f1 >= 0.8

where `f1` is a text. The op and the standard library do not belong together: build `pipe` again from one source, and
report the error if it stays.",
    ),
];
