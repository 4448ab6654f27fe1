//! Words of the table as regular expressions, in what all engines agree on.

use super::form::Form;
use super::print::{Around, Notation, control, print};
use super::table;
use std::collections::BTreeSet;

/// The regular expression of a rule that is a word or made of words alone.
pub(crate) fn pattern_of(rule: &str) -> String {
    Regex.rule(rule, Around::Choice)
}

/// Whether such a rule derives a text.
pub(crate) fn derives(rule: &str, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    ends(&Form::Rule(rule.to_owned()), &text, &BTreeSet::from([0])).contains(&text.len())
}

/// Where a form may end that begins at one of `starts`.
fn ends(form: &Form, text: &[char], starts: &BTreeSet<usize>) -> BTreeSet<usize> {
    let after = |fits: &dyn Fn(&[char]) -> Option<usize>| {
        let rest = |at: &usize| text.get(*at..).and_then(fits).map(|length| at + length);
        starts.iter().filter_map(rest).collect()
    };
    match form {
        Form::Text(wanted) => after(&|rest| {
            let wanted: Vec<char> = wanted.chars().collect();
            rest.starts_with(&wanted).then_some(wanted.len())
        }),
        Form::Class { not, ranges } => after(&|rest| {
            let sign = rest.first()?;
            let inside = ranges.iter().any(|(first, last)| (first..=last).contains(&sign));
            (inside != *not).then_some(1)
        }),
        Form::Rule(name) => {
            let rule = table().iter().find(|rule| rule.name == *name);
            rule.map_or_else(BTreeSet::new, |rule| ends(&rule.form, text, starts))
        }
        Form::All(forms) => {
            forms.iter().fold(starts.clone(), |starts, form| ends(form, text, &starts))
        }
        Form::OneOf(forms) => forms.iter().flat_map(|form| ends(form, text, starts)).collect(),
        Form::Maybe(form) => &ends(form, text, starts) | starts,
        Form::Many(form) => {
            let mut known = starts.clone();
            let mut last = starts.clone();
            while !last.is_empty() {
                last = &ends(form, text, &last) - &known;
                known.extend(&last);
            }
            known
        }
    }
}

/// What a word derives, without anchors.
pub(super) fn pattern(form: &Form) -> String {
    print(&Regex, form, Around::Choice)
}

pub(super) struct Regex;

impl Notation for Regex {
    const THEN: &'static str = "";
    const OR: &'static str = "|";

    fn text(&self, text: &str) -> (String, bool) {
        (text.chars().map(|sign| self.sign(sign)).collect(), text.chars().count() == 1)
    }

    fn sign(&self, sign: char) -> String {
        match sign {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | ' ' => sign.to_string(),
            _ => control(sign).unwrap_or_else(|| format!("\\{sign}")),
        }
    }

    /// A word inside a word is written out.
    fn rule(&self, name: &str, around: Around) -> String {
        let inner = table().iter().find(|rule| rule.name == *name).map(|rule| &rule.form);
        inner.map_or_else(String::new, |form| print(self, form, around))
    }
}
