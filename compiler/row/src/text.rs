//! Text of many rows in one buffer.

/// Strings one after the other in one buffer, with the end of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    buffer: String,
    ends: Vec<usize>,
}

impl Text {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Makes room for `rows` more rows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.ends.reserve(rows);
    }

    /// Adds a row.
    pub fn push(&mut self, value: &str) {
        self.buffer.push_str(value);
        self.ends.push(self.buffer.len());
    }

    /// The text of a row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&str> {
        let end = *self.ends.get(row)?;
        let start = match row.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.buffer.get(start..end)
    }

    /// The rows in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|row| self.get(row))
    }
}

impl<S: AsRef<str>> FromIterator<S> for Text {
    fn from_iter<I: IntoIterator<Item = S>>(values: I) -> Self {
        let mut text = Self::default();
        for value in values {
            text.push(value.as_ref());
        }
        text
    }
}
