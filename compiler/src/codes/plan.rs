//! Codes of plans, parameters, files and parts.

use super::{Code, page};

pub(super) const CODES: &[Code] = &[
    page(
        "parts::fit_on_test",
        "something is fitted on the part `test`",
        "`test` tells how good a result is on rows that nobody has chosen by. Whatever is fitted on it knows the answers.

  let limit = threshold.quantile(scored_test, q: 0.99)

Fit on `train`, choose settings on `valid` or `calib`, and keep `test` for judging.",
    ),
    page(
        "parts::mixed",
        "parts of two splits of the same rows",
        "A row of `train` in one split may lie in `test` of the other, so the mixture leaks.

  let a = table |> data.split(by: \"time\", train: 0.5, test: 0.5)
  let b = table |> data.split(by: \"hash\", train: 0.5, test: 0.5)
  output both = data.join(a.train, with: b.test, on: [\"time\"])

Split once and take all parts from that split.",
    ),
    page(
        "parts::overlapping",
        "overlapping windows that are split at random",
        "Windows that overlap have rows in common, so neighbours in different parts show the one what is asked of the other.

  let windows = series |> data.window(length: 5m, step: 1m, cpu: rows => stat.mean(rows.cpu))
  let parts = windows |> data.split(by: \"random\", train: 0.8, test: 0.2)

Split by time, split before the windows are made, or leave `step` out so that the windows touch.",
    ),
    page(
        "parts::scored_on_fitted",
        "scores on the rows that were learned from",
        "A result is always good on the rows that it has been fitted on; it says nothing about new ones.

  let normal = detect.robust_z(parts.train, columns: [\"cpu\"])
  let scored = detect.score(normal, data: parts.train)

Score another part:

  let scored = detect.score(normal, data: parts.test)",
    ),
    page(
        "parts::scored_on_whole",
        "scores on rows of which some were learned from",
        "What is fitted on a whole table has seen every part of it. This is a warning, because it may be meant, for
example for the model that is deployed in the end.

Split the table, fit on `train` and score on `test`. Encoders count too: fit them on `train` after the split, and use them
on all parts.",
    ),
    page(
        "parts::selected_and_reported",
        "judged by the score that chose it",
        "The best of many by their scores on one part looks better there than it is: some of its lead is luck. This is a
warning, because the score may be shown as what it is.

  let best = list.max_by(runs, key: run => run.f1)
  check good = best.f1 > 0.8

Choose on `valid`, and judge what was chosen once, on `test`:

  let judged = detect.score(best.detector, data: parts.test) |> eval.detection(labels: truth, threshold: limit)
  check good = judged.f1 > 0.8",
    ),
    page(
        "parts::wrong_part",
        "another part than the declared one",
        "A type such as `Table<Row, train>` says which part is meant.

  let rows: Table<Row, train> = parts.test

Take the declared part, or declare the one that is taken.",
    ),
    page(
        "plan::attribute_value",
        "an attribute with a wrong value",
        "The attributes are `@gpu(1, else: \"cpu\")`, `@memory(8GiB)`, `@retry(2)`, `@timeout(6h)` and `@cache(off)`.

  @timeout(60)
  let a = train.fit(model, data: rows)

Give a value of the right kind:

  @timeout(60s)
  let a = train.fit(model, data: rows)",
    ),
    page(
        "plan::attribute_without_node",
        "an attribute that has nothing to act on",
        "Attributes say where and how ops run. A `param` or a `fn` runs nothing by itself; write the attribute above the
`let`, `output` or `check` that calls it.",
    ),
    page(
        "plan::bug",
        "a bug in pipe",
        "The program seems right, and still no plan could be made of it. Please report it with the program and `pipe --version`.",
    ),
    page(
        "plan::constant",
        "a constant expression that cannot be computed",
        "The expression consists of constants, and computing it failed. Check the values in it.",
    ),
    page(
        "plan::duplicate_attribute",
        "an attribute that is given twice",
        "Each attribute stands once above a declaration.

  @retry(2)
  @retry(3)
  let a = data.read(\"table.csv\")

Remove one of them.",
    ),
    page(
        "plan::file",
        "a data file that cannot be read",
        "The file exists, and the system refused to open it. Check that it is a file, and that it may be read.",
    ),
    page(
        "plan::folder",
        "a folder where a file is wanted",
        "A table is read from a file.

  let t = data.read(\"logs\")

Name a file, or all files of a folder with a pattern:

  let t = data.read(\"logs/*.csv\")",
    ),
    page(
        "plan::known_before",
        "something that must be known before the run",
        "Columns, files and attributes are part of the plan: they are checked, digested and obeyed before anything runs. A
result, or a variable that takes its values in the run, comes too late for that.

  let names = if t.rows > 3 { [\"cpu\", \"mem\"] } else { [\"cpu\"] }
  output parts = for name in names { t |> data.select([name]) }

Take the value from a `param`, or from a list that the program writes; such a list unfolds before the run:

  output parts = for name in [\"cpu\", \"mem\"] { t |> data.select([name]) }",
    ),
    page(
        "plan::missing_file",
        "a data file that does not exist",
        "Paths are relative to the folder of the program. Patterns such as `*.csv` must match at least one file.

Check the spelling, or make the file first.",
    ),
    page(
        "plan::missing_param",
        "a parameter without a value",
        "A parameter without a default gets its value from outside.

  param corpus: path

Run with `--set corpus=docs.jsonl`, or write a default behind `=`.",
    ),
    page(
        "plan::memory",
        "more memory than the machine has",
        "The estimate is a lower bound: fp32 weights with their gradient and the two moments of AdamW (16 bytes a weight), and
what one micro-batch leaves behind for the backward pass; for tables, the size of the files.

  let large = model.decoder({ layers: 80, width: 8192, heads: 64, context: 4096 }, vocab: 32000)
  output trained = train.fit(large, data: rows, steps: 100, optimizer: optim.adamw(lr: 1e-4))

Take a smaller model, a smaller `batch` with more `accumulate`, or `recompute: true`.",
    ),
    page(
        "plan::no_gpu",
        "a GPU is asked for, and there is none",
        "Nothing falls back to the CPU silently: it could take a hundred times longer.

  @gpu(1)
  let trained = train.fit(model, data: rows)

Say that the CPU will do, or run on a machine with a GPU:

  @gpu(1, else: \"cpu\")
  let trained = train.fit(model, data: rows)",
    ),
    page(
        "plan::output_name",
        "an output that cannot be called so",
        "Outputs are written below one folder, each under its own name. `checks.json` there holds the results of the checks.

  output checks = { cpu: 0.5 }

Give it another name:

  output checked = { cpu: 0.5 }",
    ),
    page(
        "plan::outside_root",
        "a file outside the project",
        "A program reads below its project's folder: that of the nearest `pipe.toml`, else its own.

  let t = data.read(\"../../secret.csv\")

Move the file into the project, or allow the folder for one run with `--allow path=FOLDER`.",
    ),
    page(
        "plan::param_condition",
        "a parameter that does not meet its condition",
        "The condition behind `where` is checked for the default and for every value from outside.

  param rate: float = 0.5 where rate < 0.1

Give a value that meets it.",
    ),
    page(
        "plan::runtime_choice",
        "a choice that would have to be made during the run",
        "`if`, `for` and `iterate` over results are decided in the run. What the shape of the plan depends on is not: the
ends of a range, the list behind `in`, which function is called.

  let t = data.read(\"table.csv\")
  output steps = for step in 0..t.rows { step }

Let a `param` or the program say it, or walk a list that a result holds:

  param steps: int = 10
  output steps = for step in 0..steps { step }",
    ),
    page(
        "plan::table_head",
        "the head of a table file that makes no sense",
        "The names and types of columns come from the header and the first 1,000 rows. The message says what is wrong:
an empty file, a column without name, two columns of one name, or text in another encoding than UTF-8.

Correct the file, or give the columns with `row: T`.",
    ),
    page(
        "plan::too_large",
        "a program that unfolds into too much",
        "Loops and calls unfold when the plan is made, and values and types hold what they are made of. There is a limit for
their depth, number and size, so that a slip such as a range to a billion is told at once.

Shorten the lists that `for` walks, nest fewer calls, or compute parts of a long row expression as columns.",
    ),
    page(
        "plan::unknown_attribute",
        "an attribute that does not exist",
        "The attributes are @gpu, @memory, @retry, @timeout and @cache. Whatever changes a result is an argument, not an
attribute.

  @retries(2)
  let a = data.read(\"table.csv\")

Write

  @retry(2)
  let a = data.read(\"table.csv\")",
    ),
    page(
        "plan::unknown_param",
        "a value for a parameter that is not declared",
        "Only `param` declarations of the program itself take values from outside. `pipe check` lists them; correct the name.",
    ),
];
