//! The forms in which log lines begin, tried in a fixed order.

use crate::time::{nanos_of, parse_time_prefix, two};
use chrono::NaiveDate;
use pipe_runtime::op::OpError;

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Nanoseconds since 1970.
    pub time: i64,
    /// `debug`, `info`, `warning`, `error`, `fatal`.
    pub level: Option<&'static str>,
    /// Which part of the program speaks.
    pub component: Option<String>,
    /// What it says, with continuation lines.
    pub message: String,
}

impl Line {
    /// Add a continuation line, as long as the message stays within `limit` bytes.
    pub(super) fn append(&mut self, text: &str, limit: usize) {
        if self.message.len() + text.len() < limit {
            self.message.push('\n');
            self.message.push_str(text);
        }
    }
}

/// Reads lines; remembers the year for syslog, whose times have none.
pub struct Form {
    year: Option<i32>,
    month: u32,
}

impl Form {
    /// A reader; `year` is that of the first line.
    #[must_use]
    pub fn new(year: Option<i32>) -> Self {
        Self { year, month: 0 }
    }

    /// The line, or `None` when it starts with no time.
    ///
    /// # Errors
    /// When its time needs a year and none was given.
    pub fn parse(&mut self, text: &str) -> Result<Option<Line>, OpError> {
        let text = text.trim_start();
        let bare = text.strip_prefix(['[', '(']).unwrap_or(text);
        if let Some((time, used)) = parse_time_prefix(bare) {
            return Ok(Some(line(time, bare.get(used..).unwrap_or_default())));
        }
        if let Some((time, rest)) = self.syslog(text)? {
            return Ok(Some(syslog_line(time, rest)));
        }
        Ok(access_line(text).or_else(|| epoch_line(bare)))
    }

    /// `Jan  2 15:04:05`; the year goes up when December is followed by January.
    fn syslog<'t>(&mut self, text: &'t str) -> Result<Option<(i64, &'t str)>, OpError> {
        let Some((month, day, clock, rest)) = syslog_parts(text) else { return Ok(None) };
        let Some(year) = self.year else {
            return Err(OpError::new("run::no_year", "The times of this log name no year.")
                .help("say it: `logs.read(.., year: 2026)`"));
        };
        let year = if self.month == 12 && month == 1 { year + 1 } else { year };
        self.year = Some(year);
        self.month = month;
        let date = NaiveDate::from_ymd_opt(year, month, day);
        Ok(date.and_then(|date| nanos_of(date, clock, 0)).map(|time| (time, rest)))
    }
}

fn syslog_parts(text: &str) -> Option<(u32, u32, i64, &str)> {
    let month = month(text.get(..3)?)?;
    let rest = text.get(3..)?.trim_start();
    let (day, rest) = rest.split_once(' ')?;
    let clock = rest.trim_start();
    let seconds = clock_seconds(clock)?;
    Some((month, day.parse().ok()?, seconds, clock.get(8..)?))
}

fn clock_seconds(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let part = |at| two(bytes, at).map(i64::from);
    let colons = bytes.get(2) == Some(&b':') && bytes.get(5) == Some(&b':');
    let (hour, minute, second) = (part(0)?, part(3)?, part(6)?);
    (colons && hour < 24 && minute < 60 && second <= 60)
        .then_some(hour * 3600 + minute * 60 + second)
}

fn month(text: &str) -> Option<u32> {
    const NAMES: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    NAMES.iter().zip(1..).find(|(name, _)| text == **name).map(|(_, number)| number)
}

/// `host app[123]: message`
fn syslog_line(time: i64, rest: &str) -> Line {
    let rest = rest.trim_start();
    let after_host = rest.split_once(' ').map_or("", |(_, rest)| rest);
    match after_host.split_once(": ") {
        Some((app, message)) if !app.contains(' ') => {
            let app = app.split('[').next().unwrap_or(app);
            let mut made = line(time, message);
            made.component = Some(app.to_owned());
            message.clone_into(&mut made.message);
            made
        }
        _ => line(time, after_host),
    }
}

/// `1.2.3.4 - - [01/Dec/2026:06:50:23 +0000] "GET / HTTP/1.1" 500 12`
fn access_line(text: &str) -> Option<Line> {
    let (before, rest) = text.split_once('[')?;
    let (stamp, message) = rest.split_once(']')?;
    let (date, clock) = stamp.split_once(':')?;
    let mut parts = date.split('/');
    let day = parts.next()?.parse().ok()?;
    let month = month(parts.next()?)?;
    let date = NaiveDate::from_ymd_opt(parts.next()?.parse().ok()?, month, day)?;
    let offset = zone_seconds(clock.get(8..).unwrap_or_default().trim());
    let time = nanos_of(date, clock_seconds(clock)? - offset, 0)?;
    let message = message.trim_start();
    let status =
        message.rsplit('"').find_map(|part| part.split_whitespace().next()?.parse::<u16>().ok());
    let level = match status {
        Some(500..) => "error",
        Some(400..) => "warning",
        _ => "info",
    };
    let component = before.split_whitespace().next().map(str::to_owned);
    Some(Line { time, level: Some(level), component, message: message.to_owned() })
}

/// `+0130` in seconds.
fn zone_seconds(text: &str) -> i64 {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let bytes = text.as_bytes();
    let part = |at| two(bytes, at).map_or(0, i64::from);
    sign * (part(1) * 3600 + part(3) * 60)
}

/// `1796107823.25 message`: seconds since 1970, of this century.
fn epoch_line(text: &str) -> Option<Line> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at(end);
    let seconds = number.split('.').next().filter(|whole| whole.len() == 10)?;
    let fraction = number.get(seconds.len() + 1..).unwrap_or_default();
    let nanos: i64 = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    let time = seconds.parse::<i64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nanos)?;
    rest.starts_with([' ', ']', '\t', ':']).then(|| line(time, rest))
}

/// The rest of a line behind its time: level, component and message.
fn line(time: i64, rest: &str) -> Line {
    let mut made = Line { time, level: None, component: None, message: String::new() };
    let mut rest = rest.trim_start_matches([']', ')', ' ', '\t', ':', '-', '|']);
    while let Some((word, after)) = next_word(rest) {
        let bracketed = word.starts_with(['[', '(']);
        let bare = word.trim_matches(|c: char| "[](){}<>:,|-".contains(c));
        if made.level.is_none()
            && let Some(level) = level(bare)
        {
            made.level = Some(level);
        } else if made.component.is_none()
            && !bare.is_empty()
            && names_component(word, after, bracketed, made.level.is_some())
        {
            made.component = Some(bare.to_owned());
        } else if !bare.is_empty() || made.level.is_none() {
            break;
        }
        rest = after;
    }
    rest.clone_into(&mut made.message);
    made
}

/// Whether a word names the component: it is in brackets, ends with a colon, stands between level and message,
/// or stands shortly before the level.
fn names_component(word: &str, after: &str, bracketed: bool, level_seen: bool) -> bool {
    let level_follows = || {
        let next = after.split_whitespace().take(2);
        next.map(|word| word.trim_matches(|c: char| "[](){}<>:,|-".contains(c)))
            .any(|word| level(word).is_some())
    };
    if level_seen {
        return !after.is_empty();
    }
    bracketed || word.ends_with(':') || level_follows()
}

fn next_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    if text.is_empty() {
        return None;
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    Some((word, rest.trim_start()))
}

fn level(word: &str) -> Option<&'static str> {
    let word = word.strip_prefix("level=").unwrap_or(word);
    if word.len() > 9 || !word.is_ascii() {
        return None;
    }
    Some(match word.to_ascii_lowercase().as_str() {
        "trace" | "debug" | "dbg" | "fine" => "debug",
        "info" | "information" | "notice" | "inf" => "info",
        "warn" | "warning" | "wrn" => "warning",
        "error" | "err" | "severe" => "error",
        "fatal" | "critical" | "crit" | "panic" | "emerg" | "alert" => "fatal",
        _ => return None,
    })
}
