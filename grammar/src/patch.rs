//! A part of the file with repairs applied, and the way back to the places in the file.
//!
//! Recovery repairs what it has reported and parses again; spans in the tree must still point into the file as written.

use std::ops::Range;

/// Text to parse that stems from a part of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patched {
    /// The text with all repairs.
    pub(crate) text: String,
    /// Where the part starts in the file.
    base: usize,
    /// Repairs in ascending order: range in the original part, length of the replacement.
    repairs: Vec<(Range<usize>, usize)>,
}

impl Patched {
    /// The part `range` of `source`, unrepaired.
    pub(crate) fn part(source: &str, range: Range<usize>) -> Self {
        let text = source.get(range.clone()).unwrap_or("").to_owned();
        Self { text, base: range.start, repairs: Vec::new() }
    }

    /// Replaces `range` of the current text. Repairs must not overlap earlier ones; where they do, the places of the
    /// earlier repair widen to hold both.
    pub(crate) fn replace(&mut self, range: Range<usize>, replacement: &str) {
        if self.text.get(range.clone()).is_none() {
            return;
        }
        let start = self.origin(range.start) - self.base;
        let end = (self.origin(range.end) - self.base).max(start);
        self.text.replace_range(range.clone(), replacement);
        let grown = replacement.len();
        let touching = |repair: &Range<usize>| repair.start < end && start < repair.end;
        match self.repairs.iter().position(|(repair, _)| touching(repair)) {
            Some(index) => {
                if let Some((repair, length)) = self.repairs.get_mut(index) {
                    *length = (*length + grown).saturating_sub(range.len());
                    *repair = repair.start.min(start)..repair.end.max(end);
                }
            }
            None => {
                let index = self.repairs.partition_point(|(repair, _)| repair.start <= start);
                self.repairs.insert(index, (start..end, grown));
            }
        }
    }

    /// The byte of the file that byte `at` of the text stems from.
    pub(crate) fn origin(&self, at: usize) -> usize {
        let mut text = 0;
        let mut part = 0;
        for (repair, length) in &self.repairs {
            let start = text + (repair.start - part);
            if at < start {
                break;
            }
            if at < start + length {
                return self.base + repair.start;
            }
            (text, part) = (start + length, repair.end);
        }
        self.base + part + at.saturating_sub(text)
    }

    /// Whether nothing was repaired.
    pub(crate) fn is_original(&self) -> bool {
        self.repairs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_survive_repairs() {
        let mut text = Patched::part("....let a = b && c || d", 4..23);
        text.replace(10..12, "and");
        text.replace(16..18, "or");
        assert_eq!(text.text, "let a = b and c or d");
        assert_eq!(text.origin(8), 12);
        assert_eq!(text.origin(14), 17);
        assert_eq!(text.origin(19), 22);
    }

    #[test]
    fn insertions_keep_their_place() {
        let mut text = Patched::part("f(a b c)", 0..8);
        text.replace(3..3, ",");
        text.replace(6..6, ",");
        assert_eq!(text.text, "f(a, b, c)");
        assert_eq!(text.origin(5), 4);
        assert_eq!(text.origin(8), 6);
        assert_eq!(text.origin(10), 8);
    }
}
