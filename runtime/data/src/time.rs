//! Times as text: ISO 8601 in the forms that metrics and logs use.

use chrono::{NaiveDate, TimeZone, Utc};

/// Nanoseconds since 1970 of a time that fills `text`: date and time, `T` or a space between them, a fraction after
/// point or comma, a zone or none (then UTC). A date alone is its midnight.
#[must_use]
pub fn parse_time(text: &str) -> Option<i64> {
    let text = text.trim();
    match parse_time_prefix(text) {
        Some((nanos, used)) if used == text.len() => Some(nanos),
        Some(_) => None,
        None => {
            let (date, used) = date_prefix(text.as_bytes())?;
            if used != text.len() { None } else { nanos_of(date, 0, 0) }
        }
    }
}

/// A date and time at the start of `text`, and how many bytes it takes.
#[must_use]
pub fn parse_time_prefix(text: &str) -> Option<(i64, usize)> {
    let bytes = text.as_bytes();
    let (date, mut at) = date_prefix(bytes)?;
    if !matches!(bytes.get(at), Some(b'T' | b't' | b' ')) {
        return None;
    }
    at += 1;
    let (hour, minute) = (two(bytes, at)?, two_after(bytes, at + 2, b':')?);
    let second = two_after(bytes, at + 5, b':');
    at += if second.is_some() { 8 } else { 5 };
    let second = second.unwrap_or(0);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, used) = fraction(bytes, at);
    at += used;
    let (offset, used) = zone(bytes, at)?;
    at += used;
    let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second) - offset;
    Some((nanos_of(date, seconds, fraction)?, at))
}

fn date_prefix(bytes: &[u8]) -> Option<(NaiveDate, usize)> {
    let year = digits(bytes, 0, 4)?;
    let separator = *bytes.get(4)?;
    if !matches!(separator, b'-' | b'/') {
        return None;
    }
    let (month, day) = (two(bytes, 5)?, two_after(bytes, 7, separator)?);
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    Some((date, 10))
}

/// `.123`, `,123456789`: nanoseconds, and the bytes it takes.
fn fraction(bytes: &[u8], at: usize) -> (i64, usize) {
    if !matches!(bytes.get(at), Some(b'.' | b',')) {
        return (0, 0);
    }
    let digits: Vec<i64> = bytes
        .iter()
        .skip(at + 1)
        .take_while(|byte| byte.is_ascii_digit())
        .map(|byte| i64::from(byte - b'0'))
        .collect();
    if digits.is_empty() {
        return (0, 0);
    }
    let nanos = (0..9).fold(0, |sum, place| sum * 10 + digits.get(place).copied().unwrap_or(0));
    (nanos, 1 + digits.len())
}

/// `Z`, `+01:00`, `+0100`, ` +0100` or nothing: seconds east of UTC, and the bytes it takes.
fn zone(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let space =
        usize::from(bytes.get(at) == Some(&b' ') && matches!(bytes.get(at + 1), Some(b'+' | b'-')));
    match bytes.get(at + space) {
        Some(b'Z' | b'z') => Some((0, 1)),
        Some(sign @ (b'+' | b'-')) => {
            let start = at + space + 1;
            let Some(hours) = two(bytes, start) else {
                return if space == 1 { Some((0, 0)) } else { None };
            };
            let colon = usize::from(bytes.get(start + 2) == Some(&b':'));
            let minutes = two(bytes, start + 2 + colon);
            let used = space + 3 + if minutes.is_some() { colon + 2 } else { 0 };
            let seconds = i64::from(hours) * 3600 + i64::from(minutes.unwrap_or(0)) * 60;
            Some((if *sign == b'-' { -seconds } else { seconds }, used))
        }
        _ => Some((0, 0)),
    }
}

/// Nanoseconds since 1970 of a date plus seconds and nanoseconds; `None` outside of 1677 to 2262.
pub(crate) fn nanos_of(date: NaiveDate, seconds: i64, nanos: i64) -> Option<i64> {
    let midnight = Utc.from_utc_datetime(&date.and_hms_opt(0, 0, 0)?).timestamp();
    midnight.checked_add(seconds)?.checked_mul(1_000_000_000)?.checked_add(nanos)
}

fn digits(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    let mut value = 0;
    for byte in bytes.get(at..at + count)? {
        value = value * 10 + u32::from(byte.is_ascii_digit().then(|| byte - b'0')?);
    }
    Some(value)
}

pub(crate) fn two(bytes: &[u8], at: usize) -> Option<u32> {
    digits(bytes, at, 2)
}

fn two_after(bytes: &[u8], at: usize, separator: u8) -> Option<u32> {
    if bytes.get(at) == Some(&separator) { two(bytes, at + 1) } else { None }
}

/// `2026-12-01 06:50:23` in UTC, for people.
#[must_use]
pub fn show_time(nanos: i64) -> String {
    chrono::DateTime::from_timestamp(nanos.div_euclid(1_000_000_000), 0)
        .map_or_else(|| nanos.to_string(), |time| time.format("%Y-%m-%d %H:%M:%S").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_time() {
        let expected = Some(1_796_107_823_250_000_000);
        for text in [
            "2026-12-01T06:50:23.25Z",
            "2026-12-01 06:50:23,250",
            "2026/12/01 06:50:23.25",
            "2026-12-01T07:50:23.25+01:00",
            "2026-12-01T05:20:23.25-0130",
        ] {
            assert_eq!(parse_time(text), expected, "{text}");
        }
        assert_eq!(parse_time("2026-12-01"), parse_time("2026-12-01T00:00Z"));
        assert_eq!(show_time(1_796_107_823_250_000_000), "2026-12-01 06:50:23");
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "2026",
            "2026-13-01T00:00:00",
            "2026-02-30 00:00:00",
            "2026-12-01T25:00:00",
            "2026-12-01T06:50:23 x",
            "éé26-12-01",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }

    #[test]
    fn a_prefix_says_how_long_it_is() {
        assert_eq!(
            parse_time_prefix("2026-12-01T06:50:23.250Z INFO").map(|found| found.1),
            Some(24)
        );
        assert_eq!(parse_time_prefix("2026-12-01 06:50:23 - done").map(|found| found.1), Some(19));
    }
}
