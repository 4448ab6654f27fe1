//! Values as text: numbers in the shortest form that reads back equal, times as ISO 8601 in UTC,
//! durations and sizes as the language writes them.

use crate::ir::Ty;
use crate::lane::{Data, Lane, Strings, both};
use std::borrow::Cow;
use std::fmt::Write;

/// Units of sizes, largest first.
const SIZES: [(i64, &str); 8] = [
    (1 << 40, "TiB"),
    (1_000_000_000_000, "TB"),
    (1 << 30, "GiB"),
    (1_000_000_000, "GB"),
    (1 << 20, "MiB"),
    (1_000_000, "MB"),
    (1 << 10, "KiB"),
    (1_000, "KB"),
];

/// Units of durations, largest first.
const DURATIONS: [(u64, &str); 7] = [
    (86_400_000_000_000, "d"),
    (3_600_000_000_000, "h"),
    (60_000_000_000, "m"),
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "us"),
    (1, "ns"),
];

/// Joins pieces place by place; a missing piece gives missing.
pub(crate) fn concat<'a>(pieces: Vec<Lane<'a>>, types: &[Option<Ty>], count: usize) -> Lane<'a> {
    if pieces.iter().any(|piece| matches!(piece.data, Data::Nothing)) {
        return Lane::nothing();
    }
    let mut joined = vec![String::new(); count];
    let mut valid = None;
    for (piece, ty) in pieces.into_iter().zip(types) {
        append(&mut joined, &piece.data, *ty);
        valid = both(valid, piece.valid);
    }
    let joined = joined.into_iter().map(Cow::Owned).collect();
    Lane { data: Data::Text(Strings::Owned(joined)), valid }
}

fn append(joined: &mut [String], piece: &Data<'_>, ty: Option<Ty>) {
    match piece {
        Data::Nothing => {}
        Data::Number(values) => {
            let write = if ty == Some(Ty::Size) { write_size } else { write_number };
            joined.iter_mut().zip(values.iter()).for_each(|(text, value)| write(text, *value));
        }
        Data::Truth(values) => {
            for (text, value) in joined.iter_mut().zip(values.iter()) {
                text.push_str(if *value { "true" } else { "false" });
            }
        }
        Data::Nanos(values) => {
            let write = if ty == Some(Ty::Time) { write_time } else { write_duration };
            joined.iter_mut().zip(values.iter()).for_each(|(text, value)| write(text, *value));
        }
        Data::Text(values) => {
            joined.iter_mut().zip(values.iter()).for_each(|(text, value)| text.push_str(value));
        }
    }
}

/// `1`, `0.1`, `1e300`, `nan`, `inf`: the fewest digits that read back equal.
pub fn write_number(out: &mut String, value: f64) {
    let magnitude = value.abs();
    let result = if value.is_nan() {
        out.write_str("nan")
    } else if value.is_infinite() || magnitude == 0.0 || (1e-5..1e16).contains(&magnitude) {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    };
    debug_assert!(result.is_ok(), "writing to a string does not fail");
}

/// `10GiB`, `1500B`: the largest unit that divides the size.
#[expect(clippy::cast_possible_truncation, reason = "sizes are whole and within 2^53")]
pub fn write_size(out: &mut String, bytes: f64) {
    let bytes = bytes as i64;
    let unit = SIZES.into_iter().find(|(unit, _)| bytes != 0 && bytes % unit == 0);
    let (unit, name) = unit.unwrap_or((1, "B"));
    let result = write!(out, "{}{name}", bytes / unit);
    debug_assert!(result.is_ok(), "writing to a string does not fail");
}

/// `1m30s`, `2d`, `-5ms`, `0s`.
pub fn write_duration(out: &mut String, nanos: i64) {
    if nanos == 0 {
        out.push_str("0s");
        return;
    }
    if nanos < 0 {
        out.push('-');
    }
    let mut rest = nanos.unsigned_abs();
    for (unit, name) in DURATIONS {
        if rest >= unit {
            let result = write!(out, "{}{name}", rest / unit);
            debug_assert!(result.is_ok(), "writing to a string does not fail");
            rest %= unit;
        }
    }
}

/// `2026-12-01T06:45:08Z`, with 3, 6 or 9 digits of a second where it has a fraction.
pub fn write_time(out: &mut String, nanos: i64) {
    const DAY: i64 = 86_400_000_000_000;
    let (year, month, day) = civil(nanos.div_euclid(DAY));
    let (seconds, fraction) = {
        let rest = nanos.rem_euclid(DAY);
        (rest / 1_000_000_000, rest % 1_000_000_000)
    };
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let clock = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    out.push_str(&clock);
    if fraction != 0 {
        let digits = format!("{fraction:09}");
        let kept = match (fraction % 1_000_000, fraction % 1_000) {
            (0, _) => 3,
            (_, 0) => 6,
            _ => 9,
        };
        out.push('.');
        out.push_str(digits.get(..kept).unwrap_or(&digits));
    }
    out.push('Z');
}

/// Year, month and day of a day since 1970-01-01 (Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms", `civil_from_days`).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}
