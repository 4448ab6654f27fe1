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
    /// For each byte of the text, and for its end, the byte of the part that it stems from. None until the first repair.
    origins: Option<Vec<u32>>,
}

impl Patched {
    /// The part `range` of `source`, unrepaired.
    pub(crate) fn part(source: &str, range: Range<usize>) -> Self {
        let text = source.get(range.clone()).unwrap_or("").to_owned();
        Self { text, base: range.start, origins: None }
    }

    /// Replaces `range` of the current text. What is inserted stems from the start of the range.
    pub(crate) fn replace(&mut self, range: Range<usize>, replacement: &str) {
        if self.text.get(range.clone()).is_none() {
            return;
        }
        let length = self.text.len() as u32;
        let origins = self.origins.get_or_insert_with(|| (0..=length).collect());
        let origin = origins.get(range.start).copied().unwrap_or(length);
        let inserted = std::iter::repeat_n(origin, replacement.len());
        origins.splice(range.clone(), inserted);
        self.text.replace_range(range, replacement);
    }

    /// The byte of the file that byte `at` of the text stems from.
    pub(crate) fn origin(&self, at: usize) -> usize {
        let origin = match &self.origins {
            None => at,
            Some(origins) => origins.get(at).or(origins.last()).copied().unwrap_or(0) as usize,
        };
        self.base + origin
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
