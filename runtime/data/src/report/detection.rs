//! `report.detection`: what a detector found, and how far to trust it.

use super::page;
use super::plot::{Axis, Band, Line, Plot};
use super::show::{duration, number, words};
use crate::call::Call;
use crate::table::Table;
use crate::time::show_time;
use pipe_runtime::args::Fields;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use serde::Serialize;
use std::collections::BTreeMap;

/// Most signals that are drawn.
const SIGNALS: usize = 6;
/// Most log lines that are quoted for an alert.
const LINES: usize = 12;

#[derive(Serialize)]
struct Page {
    period: String,
    threshold: String,
    tiles: Vec<Tile>,
    score: String,
    signals: Vec<Signal>,
    quality: Vec<Row>,
    unscored: String,
    alerts: Vec<Alert>,
    missed: Vec<Missed>,
}

#[derive(Serialize)]
struct Tile {
    value: String,
    text: String,
}

#[derive(Serialize)]
struct Signal {
    name: String,
    text: String,
    svg: String,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    values: Vec<String>,
}

#[derive(Serialize)]
struct Alert {
    start: String,
    lasted: String,
    peak: String,
    top: String,
    tags: Vec<Tag>,
    log: String,
    log_count: String,
}

#[derive(Serialize)]
struct Tag {
    class: &'static str,
    text: String,
}

#[derive(Serialize)]
struct Missed {
    start: String,
    lasted: String,
    kind: String,
    peak: String,
}

/// A labelled window.
struct Window {
    start: i64,
    end: i64,
    kind: String,
    anomalous: bool,
}

/// A found alert.
struct Found {
    start: i64,
    end: i64,
    score: f64,
    top: Option<String>,
}

/// Everything that the page is made of.
struct Story {
    times: Vec<i64>,
    scores: Vec<Option<f64>>,
    threshold: f64,
    alerts: Vec<Found>,
    windows: Vec<Window>,
    /// First time and end of the last step.
    range: (i64, i64),
}

pub(crate) fn detection(call: &Call) -> Result<Value, OpError> {
    let story = Story::read(call)?;
    let quality = call.args.record("quality")?;
    let data = call.table("data")?;
    let log =
        if call.args.optional_artifact("log")?.is_some() { Some(call.table("log")?) } else { None };
    let unscored = quality.int("steps_unscored").unwrap_or(0);
    let page = Page {
        period: story.period(),
        threshold: number(story.threshold),
        tiles: tiles(&quality)?,
        score: story.score_plot(),
        signals: story.signals(&data)?,
        quality: quality_rows(&quality)?,
        unscored: if unscored == 0 {
            String::new()
        } else {
            format!(
                "{unscored} steps have no score, since too little lies before them; they count as calm."
            )
        },
        alerts: story
            .alerts
            .iter()
            .map(|alert| story.alert_row(alert, log.as_deref()))
            .collect::<Result<_, _>>()?,
        missed: story.missed(),
    };
    page::give(call, include_str!("detection.html"), call.args.str("title")?, &page)
}

impl Story {
    fn read(call: &Call) -> Result<Self, OpError> {
        let scored = call.table("scored")?;
        let times = scored.times("time")?;
        let step = times
            .windows(2)
            .filter_map(|pair| Some(pair.last()? - pair.first()?))
            .min()
            .unwrap_or(0);
        let range =
            (times.first().copied().unwrap_or(0), times.last().map_or(0, |last| last + step));
        let (alerts, labels) = (call.table("alerts")?, call.table("labels")?);
        let (starts, ends, tops) =
            (alerts.times("start")?, alerts.times("end")?, alerts.texts("top")?);
        let found = starts.into_iter().zip(ends).zip(alerts.floats("score")?).zip(tops);
        let alerts = found
            .map(|(((start, end), score), top)| Found {
                start,
                end,
                score: score.unwrap_or(f64::NAN),
                top,
            })
            .collect();
        let (starts, ends) = (labels.times("start")?, labels.times("end")?);
        let labelled = starts
            .into_iter()
            .zip(ends)
            .zip(labels.texts("kind")?)
            .zip(labels.floats("anomalous")?);
        let windows = labelled
            .map(|(((start, end), kind), anomalous)| Window {
                start,
                end,
                kind: words(&kind.unwrap_or_default()),
                anomalous: anomalous == Some(1.0),
            })
            .filter(|window| window.start < range.1 && window.end > range.0)
            .collect();
        let threshold = call.args.float("threshold")?;
        Ok(Self { scores: scored.floats("score")?, times, threshold, alerts, windows, range })
    }

    fn period(&self) -> String {
        format!(
            "{} to {} UTC · {} steps · {} alerts",
            show_time(self.range.0),
            show_time(self.range.1).get(11..).unwrap_or_default(),
            self.times.len(),
            self.alerts.len()
        )
    }

    fn plot(&self, title: &str, line: Vec<Option<f64>>) -> Plot {
        let points = self.times.iter().map(|time| place(*time)).zip(line).collect();
        let line = Line { class: "main", name: title.to_owned(), points };
        let mut plot =
            Plot::new(title, Axis::Time, (place(self.range.0), place(self.range.1)), vec![line]);
        plot.bands = self.windows.iter().map(Window::band).collect();
        plot.alerts = self.alerts.iter().map(Found::band).collect();
        plot
    }

    fn score_plot(&self) -> String {
        let highest = self.scores.iter().flatten().copied().fold(0.0, f64::max);
        let mut plot = self.plot("score", self.scores.clone());
        plot.height = 250.0;
        plot.threshold = Some(self.threshold);
        plot.logarithmic = self.threshold > 0.0 && highest > 12.0 * self.threshold;
        plot.labelled = true;
        plot.svg()
    }

    /// The columns that alerts name, the most frequent first, then others of the data.
    fn signals(&self, data: &Table) -> Result<Vec<Signal>, OpError> {
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for top in self.alerts.iter().filter_map(|alert| alert.top.as_deref()) {
            *named.entry(top).or_default() += 1;
        }
        let mut order: Vec<(&str, usize)> =
            named.into_iter().filter(|(name, _)| data.has(name)).collect();
        order.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        if data.time_column(None).ok().and_then(|name| data.times(&name).ok()).as_ref()
            != Some(&self.times)
        {
            return Ok(Vec::new());
        }
        let draw = |(name, count): (&str, usize)| {
            let plot = self.plot(name, data.floats(name)?);
            let alerts = if count == 1 { "alert" } else { "alerts" };
            Ok(Signal {
                name: name.to_owned(),
                text: format!("strongest in {count} {alerts}"),
                svg: plot.svg(),
            })
        };
        order.into_iter().take(SIGNALS).map(draw).collect()
    }

    fn alert_row(&self, alert: &Found, log: Option<&Table>) -> Result<Alert, OpError> {
        let mut tags: Vec<Tag> = self
            .windows
            .iter()
            .filter(|window| window.start < alert.end && window.end > alert.start)
            .map(|window| Tag { class: window.class(), text: window.kind.clone() })
            .collect();
        tags.sort_by_key(|tag| tag.class != "incident");
        if tags.is_empty() {
            tags.push(Tag { class: "none", text: "nothing".to_owned() });
        }
        let (count, log) = match log {
            Some(log) => quoted_lines(log, alert)?,
            None => (0, String::new()),
        };
        Ok(Alert {
            start: show_time(alert.start).get(11..).unwrap_or_default().to_owned(),
            lasted: duration(alert.end - alert.start),
            peak: format!("{} ({}×)", number(alert.score), number(alert.score / self.threshold)),
            top: alert.top.clone().unwrap_or_default(),
            tags,
            log,
            log_count: format!("{count} log lines"),
        })
    }

    fn missed(&self) -> Vec<Missed> {
        let found = |window: &&Window| {
            !self.alerts.iter().any(|alert| window.start < alert.end && window.end > alert.start)
        };
        let peak = |window: &Window| {
            let scores = self.times.iter().zip(&self.scores);
            let within = scores.filter(|(time, _)| **time >= window.start && **time < window.end);
            within.filter_map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max)
        };
        self.windows
            .iter()
            .filter(|window| window.anomalous)
            .filter(found)
            .map(|window| Missed {
                start: show_time(window.start).get(11..).unwrap_or_default().to_owned(),
                lasted: duration(window.end - window.start),
                kind: window.kind.clone(),
                peak: number(peak(window)),
            })
            .collect()
    }
}

impl Window {
    fn class(&self) -> &'static str {
        if self.anomalous { "incident" } else { "harmless" }
    }

    fn band(&self) -> Band {
        let what = if self.anomalous { "incident" } else { "harmless" };
        let title = format!(
            "{what}: {}, {} for {}",
            self.kind,
            show_time(self.start),
            duration(self.end - self.start)
        );
        Band {
            class: self.class(),
            from: place(self.start),
            to: place(self.end),
            title,
            label: self.kind.clone(),
        }
    }
}

impl Found {
    fn band(&self) -> Band {
        let title = format!(
            "alert: {} for {}, peak {}",
            show_time(self.start),
            duration(self.end - self.start),
            number(self.score)
        );
        Band {
            class: "alert",
            from: place(self.start),
            to: place(self.end),
            title,
            label: String::new(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
fn place(time: i64) -> f64 {
    time as f64
}

/// Lines that are warnings or worse within an alert, or any when there is none of those.
fn quoted_lines(log: &Table, alert: &Found) -> Result<(usize, String), OpError> {
    let (times, levels) = (log.times("time")?, log.texts("level")?);
    let (components, messages) = (log.texts("component")?, log.texts("message")?);
    let within: Vec<usize> = (0..times.len())
        .filter(|row| times.get(*row).is_some_and(|time| *time >= alert.start && *time < alert.end))
        .collect();
    let is_bad = |row: &&usize| {
        let level = levels.get(**row).cloned().flatten();
        matches!(level.as_deref(), Some("warning" | "error" | "fatal"))
    };
    let bad: Vec<usize> = within.iter().filter(is_bad).copied().collect();
    let chosen = if bad.is_empty() { &within } else { &bad };
    let text = |column: &[Option<String>], row: usize| {
        column.get(row).cloned().flatten().unwrap_or_default()
    };
    let line = |row: &usize| {
        let time = times.get(*row).map(|time| show_time(*time)).unwrap_or_default();
        let message = text(&messages, *row);
        let first: String = message.lines().next().unwrap_or_default().chars().take(150).collect();
        format!(
            "{} {:<7} {} {first}",
            time.get(11..).unwrap_or_default(),
            text(&levels, *row),
            text(&components, *row)
        )
    };
    let mut lines: Vec<String> = chosen.iter().take(LINES).map(line).collect();
    if chosen.len() > LINES {
        lines.push(format!("... and {} more", chosen.len() - LINES));
    }
    Ok((chosen.len(), lines.join("\n")))
}

fn tiles(quality: &Fields) -> Result<Vec<Tile>, OpError> {
    let (random, always) = (quality.record("random")?, quality.record("always")?);
    let mut tiles = vec![
        Tile {
            value: format!("{} of {}", quality.int("events_found")?, quality.int("events")?),
            text: "incidents raised an alert".to_owned(),
        },
        Tile {
            value: number(quality.float("f1")?),
            text: format!(
                "F1; at random {}, always {}",
                number(random.float("f1")?),
                number(always.float("f1")?)
            ),
        },
        Tile {
            value: quality.int("false_alarms")?.to_string(),
            text: format!(
                "false alarms, {} an hour",
                number(quality.float("false_alarms_per_hour")?)
            ),
        },
        Tile {
            value: format!(
                "{} of {}",
                quality.int("lookalike_alarms")?,
                quality.int("lookalikes")?
            ),
            text: "harmless look-alikes raised one".to_owned(),
        },
    ];
    if let Some(delay) = quality.optional_duration("delay")? {
        tiles.push(Tile { value: duration(delay), text: "from onset to alert, median".to_owned() });
    }
    Ok(tiles)
}

fn quality_rows(quality: &Fields) -> Result<Vec<Row>, OpError> {
    let row = |name, fields: &Fields| {
        let values = ["precision", "recall", "f1", "average_precision", "event_recall"];
        let values = values
            .into_iter()
            .map(|field| fields.float(field).map(number))
            .collect::<Result<_, _>>()?;
        Ok::<_, OpError>(Row { name, values })
    };
    Ok(vec![
        row("this detector", quality)?,
        row("at random, as often", &quality.record("random")?)?,
        row("marking every step", &quality.record("always")?)?,
    ])
}
