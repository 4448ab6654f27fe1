//! Every error that the ops of this crate give, with the page that `pipe explain CODE` prints.

use pipe_runtime::codes::{Code, joined, page};

/// All codes of this crate and of those below it, in alphabetical order.
#[must_use]
pub fn all() -> Vec<Code> {
    joined(pipe_runtime::codes::all(), CODES)
}

/// The codes of this crate that no crate below it has, in alphabetical order.
pub const CODES: &[Code] = &[
    page(
        "run::bad_encoder",
        "an encoder that cannot be used",
        "What an encoder learned is a JSON file. This one cannot be read, or was written by another version.

  parts.test |> encode.apply(with: hosts)

`pipe store verify` finds files of the store that changed, and the next run makes them again.",
    ),
    page(
        "run::bad_header",
        "a header that names no columns",
        "The first line of a CSV file names its columns, each once. Rows are looked up by these names, so a name that
is there twice would leave open which column is meant.

  time,cpu,cpu
  2026-01-05T00:00:00Z,0.5,0.7

The message says what is wrong. Correct the first line of the file.",
    ),
    page(
        "run::bad_row",
        "a row of a file that does not fit its columns",
        "A value cannot be read as the type of its column, or the row has too few or too many values. The types come
from `row: T`, or from the header and the first 1,000 rows. Reading on with a guess would hide the mistake.

  time,cpu
  2026-01-05T00:00:00Z,0.5
  2026-01-05T00:00:05Z,n/a?

The message names file and line. Correct the file, declare the column with another type, or leave such rows out; they
are counted and the run says how many there were:

  data.read(\"metrics.csv\", malformed: \"skip\")",
    ),
    page(
        "run::bad_tokenizer",
        "a tokenizer that cannot be used",
        "A `tokenizer.json` cannot be made or read, or it lacks the token `<|endoftext|>` that ends each document.

  let docs = corpus |> tokenizer.encode(with: tok)

Take a tokenizer that `tokenizer.train` made. `pipe store verify` finds files of the store that changed.",
    ),
    page(
        "run::bad_tokens",
        "tokens that contradict themselves",
        "A file of tokens does not hold what its kind promises: it is damaged, the ends of its documents do not fit,
or it has tokens that its vocabulary lacks.

  let rows = docs |> data.pack(length: 128)

`pipe store verify` finds files of the store that changed, and the next run makes them again. If the error stays,
report it with the program.",
    ),
    page(
        "run::column_type",
        "a column of another type than needed",
        "An op needs numbers, times, texts or truth values in a column, and the column holds something else. Types of
columns that are known before the run are checked there; those of a file may have to wait until now.

  data.read(\"metrics.csv\") |> tokenizer.train(column: \"cpu\", vocab: 4096)

Name another column, compute one of the right type with `data.derive`, or declare the types when reading:

  type Row = { time: time, text: str }
  let rows = data.read(\"rows.csv\", row: Row)",
    ),
    page(
        "run::empty_file",
        "a file with nothing in it",
        "A table needs at least a header, and a log at least a line. A file of no bytes is most often the trace of
something that failed before.

  curl --output metrics.csv https://wrong.example/metrics.csv

Look at what should have written the file.",
    ),
    page(
        "run::inexact",
        "a whole number beyond 2^53",
        "Whole numbers are exact between -2^53 and 2^53, about nine million billions. A larger one could not be kept
exactly, and a result that is nearly right would be worse than none.

  id,total
  9007199254740993,1

Read numbers that are only names, such as long ids, as text with `row: { id: str, .. }`, and others as `float`.",
    ),
    page(
        "run::is_directory",
        "a folder where a file is needed",
        "The path names a folder, and this op reads one file.

  data.read(\"metrics\")

Name a file in it, or all of them with a pattern:

  data.read(\"metrics/*.csv\")",
    ),
    page(
        "run::join_names",
        "a join whose new names are taken",
        "Where both tables have a column, the other table's one gets the `suffix`. Here a column of that name exists
as well.

  left |> data.join(with: right, on: [\"time\"])

where `left` has `cpu` and `cpu_right`, and `right` has `cpu`. Choose another suffix:

  left |> data.join(with: right, on: [\"time\"], suffix: \"_other\")",
    ),
    page(
        "run::join_types",
        "a join over columns of two types",
        "Rows are joined where the columns of `on` are equal. A number never equals a text, so the result would be
empty.

  orders |> data.join(with: customers, on: [\"customer\"])

where `customer` is `int` in one table and `str` in the other. Declare one type for both when reading them with
`row: T`, or derive a column of the right type.",
    ),
    page(
        "run::line_too_long",
        "a line that is longer than any should be",
        "A line, or a row with quoted line breaks, has grown beyond the limit that the message names. Most often a
quotation mark is never closed, or the file is of another kind.

  time,note
  2026-01-05T00:00:00Z,\"never closed

The message names the line where it starts. Close the quotation mark, or break the line.",
    ),
    page(
        "run::lost",
        "a stored file that cannot be opened",
        "A result was there when the run began, and its file cannot be opened now: something outside of `pipe` removed
it or changed its permissions.

  rm -r .pipe/blobs

during a run. Leave the store alone and run again: what is missing is computed again.",
    ),
    page(
        "run::missing_column",
        "a column that the table does not have",
        "A column is asked for by a name that is not there. Where the columns are known before the run this is found
before; those of a file may have changed since.

  data.read(\"metrics.csv\") |> data.select([\"time\", \"cpux\"])

The message lists the columns that there are. Names are compared letter by letter, capitals included. Correct the
name, or the header of the file.",
    ),
    page(
        "run::missing_file",
        "a file that is not there",
        "The file was removed or renamed after the run was planned.

  data.read(\"metrics.csv\")

Paths in a program are relative to the program's folder. Bring the file back, or correct the path.",
    ),
    page(
        "run::missing_time",
        "a row without a time",
        "Rows are put in order or into steps by their time, and a row without one has no place.

  time,cpu
  2026-01-05T00:00:00Z,0.5
  ,0.7

Leave such rows out:

  rows |> data.filter(row => row.time != none)",
    ),
    page(
        "run::missing_value",
        "a missing value where the type allows none",
        "A type without `?` promises that each row has a value. An empty cell, `null`, or `NaN` in a column of numbers
is a missing value.

  type Row = { time: time, cpu: float }
  let rows = data.read(\"metrics.csv\", row: Row)

Say that values may be missing:

  type Row = { time: time, cpu: float? }

or leave such rows out with `malformed: \"skip\"`.",
    ),
    page(
        "run::no_columns",
        "a table without columns",
        "A table has at least one column; without any it would have no rows either.

  rows |> data.select([])

Keep at least one column.",
    ),
    page(
        "run::no_curves",
        "a model without a record of its training",
        "The report shows how a training went, which `train.fit` writes down beside the model. This model has no such
record, or none that can be read: it comes from elsewhere, or was never trained.

  report.training(model.decoder(shape, vocab: tok.size))

Give the result of `train.fit`:

  report.training(trained)",
    ),
    page(
        "run::no_files",
        "nothing to read",
        "An op that puts files together was given none, so there are no columns and no rows.

  data.read(\"days/*.csv\")

Name at least one file, and look whether the folder holds what it should.",
    ),
    page(
        "run::no_log_lines",
        "a log in which no line has a time",
        "A line of a log starts with its time. No line of this file does in a form that is known, so it is probably
another kind of file, or writes times in a form of its own.

  logs.read(\"notes.txt\")

`pipe doc logs.read` lists the forms. Times of syslog name no year and need it:

  logs.read(\"messages\", year: 2026)",
    ),
    page(
        "run::no_text",
        "no text to learn a vocabulary from",
        "A tokenizer learns which letters stand together most often. The column has no rows, or only empty texts.

  tokenizer.train(docs.train, column: \"text\", vocab: 4096)

Look at the table: the column may be another one, or the part may be empty because its fraction is too small.",
    ),
    page(
        "run::no_time",
        "no telling which column is the time",
        "The time of a row is the column that is named `time`, or the only column of times. This table has none, or
several with other names.

  data.read(\"metrics.csv\") |> metrics.resample(every: 5s, by: \"mean\")

where the time is a number of seconds. Name the column when reading, and it is read as times:

  data.read(\"metrics.csv\", time: \"ts\")",
    ),
    page(
        "run::no_values",
        "nothing to learn from",
        "A column has no value in the rows that an encoder or a detector is fitted on, or there is no score to choose a
threshold by.

  detect.robust_z(parts.train, columns: [\"latency\"])

where `latency` was not recorded yet in those days. Leave the column out, or learn from a part that has it. A detector
of windows gives no score to the first rows of a series, so a part must be longer than a window.",
    ),
    page(
        "run::no_year",
        "a log whose times have no year",
        "Syslog writes `Jan 2 15:04:05`. The year is not in the file, and guessing it would move all lines.

  logs.read(\"messages\")

Say the year of the first line; it goes up by itself at the turn of a year:

  logs.read(\"messages\", year: 2026)",
    ),
    page(
        "run::not_utf8",
        "a file that is not UTF-8",
        "Text is read as UTF-8, the encoding that nearly all programs write. This file has bytes that mean nothing in it,
often because it comes from an older program that wrote Latin-1 or UTF-16.

  data.read(\"export.csv\")

Convert it once:

  iconv -f LATIN1 -t UTF-8 export.csv > table.csv",
    ),
    page(
        "run::pivot_twice",
        "two values for one place of a pivot",
        "Rows that are equal in `by` become one row, and each value of `name` has one place in it. Two rows have the
same, so it is open which value is meant.

  samples |> data.pivot(by: [\"time\"], name: \"metric\", value: \"value\", columns: [\"cpu\"])

Make one value of them first:

  samples |> data.group(by: [\"time\", \"metric\"], value: rows => stat.mean(rows.value))",
    ),
    page(
        "run::report",
        "a report that cannot be written",
        "A report is a page filled with results. Filling it failed, which programs cannot cause.

  output report = report.training(trained)

Report the error with the program.",
    ),
    page(
        "run::row_function",
        "a function of rows that cannot run",
        "A function of rows is checked before the run. The columns that came do not fit it all the same, so the table
and its declared type do not belong together.

  rows |> data.derive(share: row => row.errors / row.requests)

Run again, so that the program is checked against the files as they are now. If the error stays, report it with the
program.",
    ),
    page(
        "run::table",
        "a table that cannot be made",
        "The library for tables refused an operation, for example because two columns have different lengths or memory
ran out. Arguments are checked before, so this should not happen.

  left |> data.join(with: right, on: [\"time\"])

The message has the library's reason. Report the error with the program.",
    ),
    page(
        "run::too_few_tokens",
        "too few tokens",
        "Texts are laid one after the other and cut into rows of one length. All of them together do not fill one row,
or hold no token to predict.

  docs.test |> tokenizer.encode(with: tok) |> data.pack(length: 4096)

Take shorter rows, more text, or a larger part.",
    ),
    page(
        "run::too_many_steps",
        "a step that is too short for the time between first and last row",
        "Each step of time becomes a row, also where nothing happened. Between the first and the last time lie more
steps than are made at most. Often a single row has a wrong time, such as 1970.

  data.read(\"metrics.csv\", time: \"time\") |> metrics.resample(every: 1ms, by: \"mean\")

Choose longer steps, and look for a time far from the others:

  rows |> data.sort([\"time\"])",
    ),
    page(
        "run::unreadable",
        "a file that cannot be read",
        "The file is there, and the system refuses to read it: it belongs to another user, or its disk fails.

  chmod 000 metrics.csv

The message has the system's reason. Correct the file's permissions, or copy it to another disk.",
    ),
    page(
        "run::write",
        "a result that cannot be written",
        "An op writes its result into the store's scratch folder. The system refused, most often because the disk is
full.

  pipe store gc --budget 20GiB

frees what can be computed again. The message has the system's reason. Run again afterwards: what was complete is
kept.",
    ),
];
