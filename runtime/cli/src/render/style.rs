//! Colour, width, and the way numbers are written for people.

use crate::args::Color;
use console::{Style, Term};
use unicode_width::UnicodeWidthStr;

/// How to write to one stream.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// Whether to use colour.
    pub(crate) color: bool,
    /// Columns to stay within.
    pub(crate) width: usize,
    /// Whether lines may be redrawn (a terminal).
    pub(crate) live: bool,
}

impl Look {
    /// The look of stderr.
    pub(crate) fn of_stderr(choice: Color) -> Self {
        Self::of(&Term::stderr(), choice)
    }

    /// The look of stdout.
    pub(crate) fn of_stdout(choice: Color) -> Self {
        Self::of(&Term::stdout(), choice)
    }

    fn of(term: &Term, choice: Color) -> Self {
        let live = term.is_term();
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var("TERM").map_or(true, |term| term != "dumb");
        let color = match choice {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => live && wanted,
        };
        let width =
            term.size_checked().map_or(80, |(_, columns)| usize::from(columns)).clamp(40, 120);
        Self { color, width, live }
    }

    fn paint(&self, style: Style, text: &str) -> String {
        style.force_styling(self.color).apply_to(text).to_string()
    }

    /// Green.
    pub(crate) fn good(&self, text: &str) -> String {
        self.paint(Style::new().green(), text)
    }

    /// Red and bold.
    pub(crate) fn bad(&self, text: &str) -> String {
        self.paint(Style::new().red().bold(), text)
    }

    /// Yellow.
    pub(crate) fn careful(&self, text: &str) -> String {
        self.paint(Style::new().yellow(), text)
    }

    /// Grey.
    pub(crate) fn quiet(&self, text: &str) -> String {
        self.paint(Style::new().dim(), text)
    }

    /// Bold.
    pub(crate) fn strong(&self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }
}

/// `text` filled with spaces to `columns`.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// `text` cut to `columns`, with an ellipsis when something is missing.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    for letter in text.chars() {
        if out.width() + 2 > columns {
            break;
        }
        out.push(letter);
    }
    out + "…"
}

/// `text` cut to `columns` in front, as paths are.
pub(crate) fn cut_front(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut tail = String::new();
    for letter in text.chars().rev() {
        if tail.width() + 2 > columns {
            break;
        }
        tail.insert(0, letter);
    }
    format!("…{tail}")
}

/// A node's name cut to `columns`: of an element, what tells it from the others stays.
pub(crate) fn cut_name(name: &str, columns: usize) -> String {
    let (true, Some(inside)) = (name.width() > columns, name.find('[')) else {
        return cut(name, columns);
    };
    let (driver, label) = name.split_at(inside);
    let room = columns.saturating_sub(label.width());
    if room >= 2 {
        return format!("{}{label}", cut(driver, room));
    }
    cut_front(name, columns)
}

/// `12 ms`, `1.8 s`, `2 m 05 s`, `1 h 02 m`.
pub(crate) fn seconds(value: f64) -> String {
    if value < 0.0995 {
        format!("{:.0} ms", value * 1e3)
    } else if value < 59.95 {
        format!("{value:.1} s")
    } else if value < 3599.5 {
        let whole = value.round() as u64;
        format!("{} m {:02} s", whole / 60, whole % 60)
    } else {
        let whole = (value / 60.0).round() as u64;
        format!("{} h {:02} m", whole / 60, whole % 60)
    }
}

/// `1 node`, `2 nodes`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{cut, cut_name, seconds};

    #[test]
    fn people_read_them() {
        let shown: Vec<_> = [0.0, 0.012, 0.1, 1.84, 59.97, 125.0, 3720.0].map(seconds).into();
        assert_eq!(shown, ["0 ms", "12 ms", "0.1 s", "1.8 s", "1 m 00 s", "2 m 05 s", "1 h 02 m"]);
        let name = "per_host[host=web-1].fit";
        assert_eq!(cut_name(name, 24), name);
        assert_eq!(cut_name(name, 21), "per_…[host=web-1].fit");
        assert_eq!(cut_name(name, 10), "…eb-1].fit");
        assert_eq!((cut("short", 5), cut("longer", 5)), ("short".into(), "long…".into()));
    }
}
