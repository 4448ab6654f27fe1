//! Random texts of the exported language: a walk over its table.

use pipe_grammar::export::{Form, Rule, table};
use std::collections::BTreeMap;

/// Where a walk starts to look for an end.
const LONG: usize = 300;

/// The table with the least depth of each rule, so that a walk can end.
pub(crate) struct Walk {
    rules: BTreeMap<&'static str, (&'static Rule, usize)>,
}

/// Choices, from any source of numbers.
pub(crate) struct Choices {
    numbers: Box<dyn FnMut() -> u32>,
}

impl Choices {
    /// The numbers of a small generator (xorshift).
    pub(crate) fn seeded(seed: u32) -> Self {
        let mut state = seed.wrapping_mul(0x9E37_79B9) | 1;
        let numbers = Box::new(move || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        });
        Self { numbers }
    }

    fn below(&mut self, end: usize) -> usize {
        (self.numbers)() as usize % end
    }
}

impl Walk {
    pub(crate) fn new() -> Self {
        let mut rules: BTreeMap<_, _> =
            table().iter().map(|rule| (rule.name.as_str(), (rule, usize::MAX))).collect();
        for rule in table() {
            for name in names(&rule.form) {
                assert!(
                    rules.contains_key(name.as_str()),
                    "{} leads to {name}, which is not there",
                    rule.name
                );
            }
        }
        loop {
            let mut changed = false;
            for rule in table() {
                let depth = least(&rule.form, &rules).map_or(usize::MAX, |depth| depth + 1);
                let known = rules.get_mut(rule.name.as_str()).unwrap();
                changed |= depth < known.1;
                known.1 = known.1.min(depth);
            }
            if !changed {
                break;
            }
        }
        assert!(rules.values().all(|(_, depth)| *depth < usize::MAX), "a rule derives nothing");
        Self { rules }
    }

    /// A text of at most about `depth` rules in each other.
    pub(crate) fn text(&self, depth: usize, choices: &mut Choices) -> String {
        let mut out = String::new();
        self.form(&Form::Rule("start".to_owned()), depth, choices, &mut out);
        out
    }

    fn form(&self, form: &Form, depth: usize, choices: &mut Choices, out: &mut String) {
        let depth = if out.len() > LONG { 0 } else { depth };
        match form {
            Form::Text(text) => out.push_str(text),
            Form::Class { not: false, ranges } => {
                let (first, last) = ranges[choices.below(ranges.len())];
                let count = last as usize - first as usize + 1;
                out.push(char::from_u32(first as u32 + choices.below(count) as u32).unwrap());
            }
            Form::Class { not: true, ranges } => {
                let signs = "ab {}#'\"$\\/.,(\u{e9}\u{1F600}\u{0}\u{1A}\t\r\n";
                let allowed = |sign: &char| !ranges.iter().any(|(a, z)| (*a..=*z).contains(sign));
                let signs: Vec<char> = signs.chars().filter(allowed).collect();
                out.push(signs[choices.below(signs.len())]);
            }
            Form::Rule(name) => {
                let (rule, _) = self.rules[name.as_str()];
                self.form(&rule.form, depth.saturating_sub(1), choices, out);
            }
            Form::All(forms) => forms.iter().for_each(|form| self.form(form, depth, choices, out)),
            Form::OneOf(forms) => {
                let possible: Vec<&Form> =
                    forms.iter().filter(|form| self.least(form) <= depth).collect();
                let chosen = match possible.as_slice() {
                    [] => forms.iter().min_by_key(|form| self.least(form)).unwrap(),
                    possible => possible[choices.below(possible.len())],
                };
                self.form(chosen, depth, choices, out);
            }
            Form::Maybe(form) => {
                if out.len() < 2 * LONG && self.least(form) <= depth && choices.below(2) == 0 {
                    self.form(form, depth, choices, out);
                }
            }
            Form::Many(form) => {
                while out.len() < 2 * LONG && self.least(form) <= depth && choices.below(5) < 2 {
                    self.form(form, depth, choices, out);
                }
            }
        }
    }

    fn least(&self, form: &Form) -> usize {
        least(form, &self.rules).unwrap_or(usize::MAX)
    }
}

/// The least depth that a form needs; none as long as it is not known.
fn least(form: &Form, rules: &BTreeMap<&str, (&Rule, usize)>) -> Option<usize> {
    match form {
        Form::Text(_) | Form::Class { .. } | Form::Maybe(_) | Form::Many(_) => Some(0),
        Form::Rule(name) => Some(rules[name.as_str()].1).filter(|depth| *depth < usize::MAX),
        Form::All(forms) => {
            forms.iter().try_fold(0, |most, form| Some(least(form, rules)?.max(most)))
        }
        Form::OneOf(forms) => forms.iter().filter_map(|form| least(form, rules)).min(),
    }
}

fn names(form: &Form) -> Vec<String> {
    match form {
        Form::Text(_) | Form::Class { .. } => Vec::new(),
        Form::Rule(name) => vec![name.clone()],
        Form::All(forms) | Form::OneOf(forms) => forms.iter().flat_map(names).collect(),
        Form::Maybe(form) | Form::Many(form) => names(form),
    }
}
