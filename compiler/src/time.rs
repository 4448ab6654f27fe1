//! ISO-8601 times to and from nanoseconds since 1970-01-01 UTC, without a clock or a time zone database.

/// Read `2024-01-31`, `2024-01-31T12:00:00`, `... 12:00`, fractions, and `Z` or `+02:00` at the end.
#[must_use]
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    let bytes = text.as_bytes();
    let between = bytes.get(4).copied();
    if bytes.len() < 10 || !matches!(between, Some(b'-' | b'/')) || bytes.get(7).copied() != between
    {
        return None;
    }
    let year = number(text.get(0..4)?)?;
    let month = number(text.get(5..7)?)?;
    let day = number(text.get(8..10)?)?;
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    let days = days_from_civil(year, month, day);
    let rest = text.get(10..)?;
    let nanos = if rest.is_empty() { 0 } else { clock(rest)? };
    days.checked_mul(86_400_000_000_000)?.checked_add(nanos)
}

fn clock(rest: &str) -> Option<i64> {
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (time, offset) = split_offset(rest)?;
    let mut parts = time.splitn(3, ':');
    let hour = number(parts.next()?)?;
    let minute = number(parts.next()?)?;
    let second = parts.next().unwrap_or("00");
    let (whole, fraction) = second.split_once(['.', ',']).unwrap_or((second, ""));
    let whole = number(whole)?;
    if hour > 23 || minute > 59 || whole > 60 || fraction.len() > 9 {
        return None;
    }
    let nanos = if fraction.is_empty() { 0 } else { number(&format!("{fraction:0<9}"))? };
    Some((hour * 3600 + minute * 60 + whole - offset) * 1_000_000_000 + nanos)
}

fn split_offset(rest: &str) -> Option<(&str, i64)> {
    if let Some(time) = rest.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(at) = rest.rfind(['+', '-']) else { return Some((rest, 0)) };
    let (time, offset) = rest.split_at(at);
    let digits: String = offset.chars().skip(1).filter(|c| *c != ':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (number(&digits)?, 0),
        4 => (number(digits.get(0..2)?)?, number(digits.get(2..4)?)?),
        _ => return None,
    };
    let seconds = hours * 3600 + minutes * 60;
    Some((time, if offset.starts_with('-') { -seconds } else { seconds }))
}

fn number(text: &str) -> Option<i64> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a date in the proleptic Gregorian calendar (H. Hinnant, "chrono-compatible
/// low-level date algorithms", `days_from_civil`).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Write nanoseconds as `2024-01-31T12:00:00Z`, with as many digits of the fraction as are needed.
#[must_use]
pub fn format(nanos: i64) -> String {
    let days = nanos.div_euclid(86_400_000_000_000);
    let left = nanos.rem_euclid(86_400_000_000_000);
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let seconds = left / 1_000_000_000;
    let fraction = left % 1_000_000_000;
    let digits = format!("{fraction:09}");
    let digits = digits.trim_end_matches('0');
    let dot = if digits.is_empty() { "" } else { "." };
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{dot}{digits}Z")
}

#[cfg(test)]
mod tests {
    use super::{format, parse};

    #[test]
    fn times_read_and_print() {
        for (text, nanos) in [
            ("1970-01-01", 0),
            ("1970-01-01T00:00:01Z", 1_000_000_000),
            ("2000-02-29 12:30:00.5", 951_827_400_500_000_000),
            ("2024-01-01T02:00:00+02:00", 1_704_067_200_000_000_000),
            ("1969-12-31T23:59:59Z", -1_000_000_000),
        ] {
            assert_eq!(parse(text), Some(nanos), "{text}");
            assert_eq!(parse(&format(nanos)), Some(nanos), "{text}");
        }
        for text in [
            "",
            "2024-13-01",
            "2023-02-29",
            "12:00",
            "2024-01-01x",
            "2024-01/02",
            "2024-01-01T24:00:00",
            "1234567890",
            "2024-01-01T",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
