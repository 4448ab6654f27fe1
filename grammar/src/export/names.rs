//! Names that are not reserved, as a form without look-ahead: the tree of the reserved words, left at every place where a
//! word stops being one of them.

use super::form::{Form, all, many, maybe, of, one};
use crate::words::RESERVED;
use std::collections::BTreeSet;

/// What may follow the first character of a word.
pub(super) const INNER: &str = "0-9A-Z_a-z";

/// Words of letters, digits and `_` that start with one of `first` and are not reserved.
pub(super) fn free(first: &str) -> Form {
    below("", first)
}

/// What makes `prefix` a word that is not reserved, where the next character is one of `allowed`.
fn below(prefix: &str, allowed: &str) -> Form {
    let longer = RESERVED.iter().filter_map(|word| word.strip_prefix(prefix)?.chars().next());
    let next: BTreeSet<char> = longer.collect();
    let mut ways = vec![all([without(allowed, &next), many(of(INNER))])];
    for sign in &next {
        let word = format!("{prefix}{sign}");
        let rest = below(&word, INNER);
        let ends = !RESERVED.contains(&word.as_str());
        ways.push(all([of(&sign.to_string()), if ends { maybe(rest) } else { rest }]));
    }
    if ways.len() == 1 { ways.remove(0) } else { one(ways) }
}

/// The characters of `ranges` that are not in `taken`.
fn without(ranges: &str, taken: &BTreeSet<char>) -> Form {
    let Form::Class { ranges, .. } = of(ranges) else { return of(ranges) };
    let mut left: Vec<(char, char)> = Vec::new();
    for sign in ranges.iter().flat_map(|(first, last)| *first..=*last) {
        if taken.contains(&sign) {
            continue;
        }
        match left.last_mut() {
            Some((_, last)) if *last as u32 + 1 == sign as u32 => *last = sign,
            _ => left.push((sign, sign)),
        }
    }
    Form::Class { not: false, ranges: left }
}
