//! Every error that the ops of this crate give, with the page that `pipe explain CODE` prints.

use pipe_runtime::codes::{Code, joined, page};

/// All codes of this crate and of those below it, in alphabetical order: every code that there is.
#[must_use]
pub fn all() -> Vec<Code> {
    joined(pipe_data::codes::all(), CODES)
}

/// The codes of this crate that no crate below it has, in alphabetical order.
pub const CODES: &[Code] = &[
    page(
        "run::bad_detector",
        "a detector that cannot be used",
        "What a detector learned is a JSON file. This one cannot be read, or was written by another version.

  detect.score(normal, data: parts.test)

`pipe store verify` finds files of the store that changed, and the next run makes them again.",
    ),
    page(
        "run::bad_label",
        "a labelled window that ends before it begins",
        "Labels say from when to when something was wrong. A window whose `end` is not after its `start` covers
nothing, and most often the two columns are swapped.

  start,end,kind,anomalous
  2026-01-05T10:00:00Z,2026-01-05T09:55:00Z,leak,true

The message names the window. Correct the labels.",
    ),
    page(
        "run::no_events",
        "no anomaly to find in what was scored",
        "The scores are judged by the anomalous windows of the labels, and none of them touches a scored step. Every
number of the result would be meaningless.

  eval.detection(detect.score(normal, data: parts.calib), labels: truth, threshold: limit)

where all anomalies lie in `test`. Score the part in which the events lie. If they should be there, compare the zones:
times without a zone are read as UTC.",
    ),
    page(
        "run::other_step",
        "rows at another distance than the detector knows",
        "A detector of windows learned how a fixed number of rows moves. Rows that lie closer together or further
apart would fill its windows with another length of time.

  let shapes = detect.pca_window(fine, columns: [\"cpu\"], window: 30s)
  let scored = detect.score(shapes, data: coarse)

Bring both to one step:

  coarse |> metrics.resample(every: 5s, by: \"mean\")",
    ),
    page(
        "run::time_order",
        "a series whose times do not increase",
        "A detector walks a series from its first time to its last; each time may be there once.

  time,cpu
  2026-01-05T00:00:05Z,0.5
  2026-01-05T00:00:00Z,0.7

The message names the rows. Sort the table with `data.sort`, and where several rows share a time, make one of them:

  rows |> metrics.resample(every: 5s, by: \"mean\")",
    ),
    page(
        "run::too_few_rows",
        "too few rows to learn from",
        "A detector of windows needs at least two whole windows in the part that it is fitted on, without a gap in
time inside a window.

  detect.pca_window(parts.train, columns: [\"cpu\"], window: 1h)

where `train` covers half an hour. Learn from a longer part, or take a shorter window.",
    ),
    page(
        "run::window_too_large",
        "a window with too many values",
        "A window of n rows and k columns has n times k values, and the work grows with the third power of that
number. The message names the limit.

  detect.pca_window(parts.train, columns: [\"cpu\", \"memory\", \"latency\"], window: 2h)

with a row each second. Take a shorter window, fewer columns, or longer steps:

  rows |> metrics.resample(every: 1m, by: \"mean\")",
    ),
    page(
        "run::window_too_short",
        "a window that holds no row",
        "Rows lie further apart than the window is long, so no window would have a row in it.

  detect.pca_window(parts.train, columns: [\"cpu\"], window: 1s)

with a row each minute. Take a window of several rows, such as `10m`.",
    ),
];
