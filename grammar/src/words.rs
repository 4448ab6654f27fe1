//! The one table of reserved words and units, and the one measure of likeness between words.
//!
//! Editor grammars, completion and messages read these tables; nothing else lists the words again.

use crate::ast::Unit;

/// Words that start a declaration.
pub const DECLARATIONS: [&str; 7] = ["use", "param", "let", "output", "fn", "type", "check"];

/// All reserved words. They are reserved only where a name is bound or used as a value.
pub const RESERVED: [&str; 18] = [
    "use", "param", "let", "output", "fn", "type", "check", "where", "for", "in", "if", "else",
    "and", "or", "not", "true", "false", "none",
];

/// Units of numbers, smallest first within each kind.
pub const UNITS: [(&str, Unit); 17] = [
    ("ns", Unit::Duration("ns", 1)),
    ("us", Unit::Duration("us", 1_000)),
    ("ms", Unit::Duration("ms", 1_000_000)),
    ("s", Unit::Duration("s", 1_000_000_000)),
    ("m", Unit::Duration("m", 60_000_000_000)),
    ("h", Unit::Duration("h", 3_600_000_000_000)),
    ("d", Unit::Duration("d", 86_400_000_000_000)),
    ("w", Unit::Duration("w", 604_800_000_000_000)),
    ("B", Unit::Size("B", 1)),
    ("KB", Unit::Size("KB", 1_000)),
    ("MB", Unit::Size("MB", 1_000_000)),
    ("GB", Unit::Size("GB", 1_000_000_000)),
    ("TB", Unit::Size("TB", 1_000_000_000_000)),
    ("KiB", Unit::Size("KiB", 1 << 10)),
    ("MiB", Unit::Size("MiB", 1 << 20)),
    ("GiB", Unit::Size("GiB", 1 << 30)),
    ("TiB", Unit::Size("TiB", 1 << 40)),
];

/// What other languages and habits write for our units.
const UNIT_HABITS: [(&str, &str); 33] = [
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("min", "m"),
    ("mins", "m"),
    ("minute", "m"),
    ("minutes", "m"),
    ("hr", "h"),
    ("hrs", "h"),
    ("hour", "h"),
    ("hours", "h"),
    ("day", "d"),
    ("days", "d"),
    ("week", "w"),
    ("weeks", "w"),
    ("msec", "ms"),
    ("millis", "ms"),
    ("usec", "us"),
    ("byte", "B"),
    ("bytes", "B"),
    ("b", "B"),
    ("kb", "KB"),
    ("mb", "MB"),
    ("gb", "GB"),
    ("tb", "TB"),
    ("kib", "KiB"),
    ("mib", "MiB"),
    ("gib", "GiB"),
    ("tib", "TiB"),
    ("K", "KB"),
    ("G", "GB"),
    ("T", "TB"),
];

/// What other languages write for our words.
const WORD_HABITS: [(&str, &str); 32] = [
    ("import", "use"),
    ("include", "use"),
    ("from", "use"),
    ("require", "use"),
    ("var", "let"),
    ("val", "let"),
    ("const", "let"),
    ("def", "fn"),
    ("fun", "fn"),
    ("func", "fn"),
    ("function", "fn"),
    ("struct", "type"),
    ("class", "type"),
    ("enum", "type"),
    ("interface", "type"),
    ("assert", "check"),
    ("test", "check"),
    ("ensure", "check"),
    ("input", "param"),
    ("arg", "param"),
    ("variable", "param"),
    ("parameter", "param"),
    ("export", "output"),
    ("return", "output"),
    ("result", "output"),
    ("null", "none"),
    ("nil", "none"),
    ("None", "none"),
    ("undefined", "none"),
    ("True", "true"),
    ("False", "false"),
    ("elif", "else if"),
];

/// Whether `word` is reserved.
#[must_use]
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// The unit written `text`.
#[must_use]
pub fn unit(text: &str) -> Option<Unit> {
    UNITS.iter().find(|(name, _)| *name == text).map(|(_, unit)| *unit)
}

/// The unit that was meant by `text`: `min` is `m`, `gb` is `GB`.
#[must_use]
pub fn meant_unit(text: &str) -> Option<&'static str> {
    let habit = UNIT_HABITS.iter().find(|(habit, _)| *habit == text).map(|(_, unit)| *unit);
    habit.or_else(|| {
        UNITS.iter().map(|(name, _)| *name).find(|name| name.eq_ignore_ascii_case(text))
    })
}

/// Our word for what other languages write: `null` is `none`, `def` is `fn`.
#[must_use]
pub fn meant_word(text: &str) -> Option<&'static str> {
    WORD_HABITS.iter().find(|(habit, _)| *habit == text).map(|(_, word)| *word)
}

/// The candidate most like `word`: at most two edits away (one for words of up to four letters), the first of equals.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = if word.chars().count() <= 4 { 1 } else { 2 };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate.len().abs_diff(word.len()) > 8 {
            continue;
        }
        let distance = strsim::osa_distance(word, candidate);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_word_wins() {
        assert_eq!(did_you_mean("lett", DECLARATIONS), Some("let"));
        assert_eq!(did_you_mean("ouput", DECLARATIONS), Some("output"));
        assert_eq!(did_you_mean("banana", DECLARATIONS), None);
        assert_eq!(did_you_mean("latency_p9", ["latency_p50", "latency_p99"]), Some("latency_p99"));
    }

    #[test]
    fn habits_name_real_words() {
        assert!(UNIT_HABITS.iter().all(|(_, name)| unit(name).is_some()));
        assert!(WORD_HABITS.iter().all(|(_, word)| is_reserved(word) || *word == "else if"));
        assert_eq!(meant_unit("GIB"), Some("GiB"));
    }
}
