//! Numbers and durations as people read them.

/// Three significant digits: `0.74`, `12.3`, `1,240`, `3.1e6`.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "–".to_owned();
    }
    if size != 0.0 && !(1e-4..1e6).contains(&size) {
        return format!("{value:.1e}");
    }
    if size >= 1_000.0 {
        return grouped(value);
    }
    let digits: usize = match size {
        _ if size >= 100.0 => 0,
        _ if size >= 10.0 => 1,
        _ if size >= 0.1 || size == 0.0 => 2,
        _ => 4,
    };
    format!("{value:.digits$}")
}

fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if value < 0.0 { format!("−{out}") } else { out }
}

/// `45 s`, `2 min 5 s`, `3 h 20 min`.
pub(crate) fn duration(nanos: i64) -> String {
    let seconds = nanos.div_euclid(1_000_000_000);
    match seconds {
        0 if nanos > 0 => format!("{} ms", nanos / 1_000_000),
        0..120 => format!("{seconds} s"),
        120..7_200 if seconds % 60 == 0 => format!("{} min", seconds / 60),
        120..7_200 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// `slow_dependency` as `slow dependency`.
pub(crate) fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// Text for HTML and SVG.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown: Vec<String> =
            [0.0, 0.5, 0.012, 12.34, 123.4, 65_432.1, 3.2e7, -4_000.0, f64::NAN]
                .map(number)
                .to_vec();
        assert_eq!(
            shown,
            ["0.00", "0.50", "0.0120", "12.3", "123", "65,432", "3.2e7", "−4,000", "–"]
        );
        assert_eq!(
            [duration(45_000_000_000), duration(125_000_000_000), duration(7_260_000_000_000)],
            ["45 s", "2 min 5 s", "2 h 1 min"]
        );
    }
}
