//! Short descriptions of values: what progress lines, reports and errors print.

use crate::value::{Artifact, Value};
use std::fmt::Write;

const LONGEST: usize = 60;

/// `1200` as `1,200`.
#[must_use]
pub fn count(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if number < 0 {
        text.push('-');
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the largest unit that keeps a whole part: `4.2 MiB`.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
pub fn bytes(size: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    if size < 1024 {
        return format!("{size} B");
    }
    let mut value = size as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", units.get(unit).unwrap_or(&"TiB"))
}

/// Nanoseconds in the largest unit that divides them: `90s`, `250ms`, `2h`.
#[must_use]
pub fn duration(nanos: i64) -> String {
    let units = [
        (86_400_000_000_000, "d"),
        (3_600_000_000_000, "h"),
        (60_000_000_000, "m"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
    ];
    if nanos == 0 {
        return "0s".to_owned();
    }
    let fitting = units.iter().find(|(size, _)| nanos % size == 0);
    fitting.map_or_else(|| format!("{nanos}ns"), |(size, unit)| format!("{}{unit}", nanos / size))
}

/// A moment in RFC 3339, UTC, with as many decimals as it needs.
#[must_use]
pub fn time(nanos: i64) -> String {
    let seconds = nanos.div_euclid(1_000_000_000);
    let rest = nanos.rem_euclid(1_000_000_000);
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, date) = civil(day);
    let clock = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    let decimals = match rest {
        0 => String::new(),
        _ if rest % 1_000_000 == 0 => format!(".{:03}", rest / 1_000_000),
        _ if rest % 1_000 == 0 => format!(".{:06}", rest / 1_000),
        _ => format!(".{rest:09}"),
    };
    format!("{year:04}-{month:02}-{date:02}T{clock}{decimals}Z")
}

/// Days since 1970-01-01 to year, month and day (H. Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms", `civil_from_days`).
fn civil(day: i64) -> (i64, i64, i64) {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, date)
}

/// A float with at most four significant decimals, `0.7412`.
#[must_use]
pub fn float(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e9).contains(&size) {
        return format!("{value:.3e}");
    }
    let decimals = if size >= 1000.0 { 1 } else { 4 };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        let short = text.trim_end_matches('0');
        return if short.ends_with('.') { format!("{short}0") } else { short.to_owned() };
    }
    text
}

impl Value {
    /// A short description for people: `1,200 rows`, `0.74`, `12 items`.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::None => "none".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Int(value) => count(*value),
            Self::Float(value) => float(*value),
            Self::Str(text) => quoted(text),
            Self::Time(nanos) => time(*nanos),
            Self::Duration(nanos) => duration(*nanos),
            Self::Size(size) => bytes(u64::try_from(*size).unwrap_or(0)),
            Self::List(items) if items.len() == 1 => "1 item".to_owned(),
            Self::List(items) => format!("{} items", count(length(items.len()))),
            Self::Record(fields) => record(fields.iter()),
            Self::Artifact(artifact) => artifact.describe(),
        }
    }
}

impl Artifact {
    /// A short description for people: `1,200 rows` of a table, kind and size of anything else.
    #[must_use]
    pub fn describe(&self) -> String {
        match self.meta.get("rows") {
            Some(Value::Int(1)) => "1 row".to_owned(),
            Some(Value::Int(rows)) => format!("{} rows", count(*rows)),
            _ => format!("{}, {}", self.kind, bytes(self.bytes)),
        }
    }
}

fn record<'a>(fields: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
    let mut text = String::new();
    for (name, value) in fields {
        let shown = match value {
            Value::Record(_) => continue,
            other => other.describe(),
        };
        if text.chars().count() + name.chars().count() + shown.chars().count() + 3 > LONGEST {
            text.push_str(if text.is_empty() { "a record" } else { ", ..." });
            break;
        }
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{name} {shown}");
    }
    if text.is_empty() { "a record".to_owned() } else { text }
}

fn quoted(text: &str) -> String {
    let short: String = text.chars().take(LONGEST - 5).collect();
    let dots = if short.len() < text.len() { "..." } else { "" };
    format!("{:?}", format!("{short}{dots}"))
}

fn length(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_units_fit() {
        assert_eq!(count(0), "0");
        assert_eq!(count(-1_234_567), "-1,234,567");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(4_404_019), "4.2 MiB");
        assert_eq!(duration(90_000_000_000), "90s");
        assert_eq!(duration(7_200_000_000_000), "2h");
        assert_eq!(float(0.741_23), "0.7412");
        assert_eq!(float(2.0), "2.0");
        assert_eq!(float(1e-7), "1.000e-7");
    }

    #[test]
    fn moments_before_and_after_the_epoch() {
        assert_eq!(time(0), "1970-01-01T00:00:00Z");
        assert_eq!(time(-1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(time(951_782_400_250_000_000), "2000-02-29T00:00:00.250Z");
    }
}
