//! What a rule is made of.

/// One rule of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Its name, in lower case with `_`.
    pub name: String,
    /// What it derives.
    pub form: Form,
    /// Read as one piece, without rules inside that are not.
    pub word: bool,
}

/// The forms that a rule is built from.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// This text.
    Text(String),
    /// One character in (or, with `not`, in none of) these ranges.
    Class {
        /// Whether the ranges are those that are refused.
        not: bool,
        /// First and last character of each range.
        ranges: Vec<(char, char)>,
    },
    /// What another rule derives.
    Rule(String),
    /// All of these in order.
    All(Vec<Form>),
    /// One of these.
    OneOf(Vec<Form>),
    /// This or nothing.
    Maybe(Box<Form>),
    /// This any number of times.
    Many(Box<Form>),
}

pub(super) fn text(text: impl Into<String>) -> Form {
    Form::Text(text.into())
}

pub(super) fn rule(name: impl Into<String>) -> Form {
    Form::Rule(name.into())
}

pub(super) fn all(forms: impl IntoIterator<Item = Form>) -> Form {
    Form::All(forms.into_iter().collect())
}

pub(super) fn one(forms: impl IntoIterator<Item = Form>) -> Form {
    Form::OneOf(forms.into_iter().collect())
}

pub(super) fn maybe(form: Form) -> Form {
    Form::Maybe(Box::new(form))
}

pub(super) fn many(form: Form) -> Form {
    Form::Many(Box::new(form))
}

/// Once or more.
pub(super) fn some(form: Form) -> Form {
    all([form.clone(), many(form)])
}

/// One of these characters; `a-z` is a range.
pub(super) fn of(ranges: &str) -> Form {
    Form::Class { not: false, ranges: ranges_of(ranges) }
}

/// Any character but these.
pub(super) fn but(ranges: &str) -> Form {
    Form::Class { not: true, ranges: ranges_of(ranges) }
}

fn ranges_of(text: &str) -> Vec<(char, char)> {
    let signs: Vec<char> = text.chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(first) = signs.get(at).copied() {
        match (signs.get(at + 1), signs.get(at + 2)) {
            (Some('-'), Some(last)) => {
                ranges.push((first, *last));
                at += 3;
            }
            _ => {
                ranges.push((first, first));
                at += 1;
            }
        }
    }
    ranges
}
