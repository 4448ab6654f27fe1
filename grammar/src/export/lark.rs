//! The table as Lark, in the dialect of llguidance: words are terminals, everything else is a rule.

use super::form::Rule;
use super::print::{Around, Notation, ways};
use super::regex::{Regex, pattern};
use super::table;
use std::fmt::Write as _;

/// The language in Lark.
#[must_use]
pub fn lark() -> String {
    let mut out = String::from(
        "// The Pipewright language. Printed by `pipe grammar --lark`.\n\
         // Every text of it reads without a syntax error; everything that `pipe fmt` prints is in it.\n\n",
    );
    for Rule { name, form, word } in table() {
        let _ = if *word {
            writeln!(out, "{}: /{}/", name.to_uppercase(), pattern(form))
        } else {
            writeln!(out, "{name}: {}", ways(&Lark, form).join("\n  | "))
        };
    }
    out
}

struct Lark;

impl Notation for Lark {
    const THEN: &'static str = " ";
    const OR: &'static str = " | ";

    fn text(&self, text: &str) -> (String, bool) {
        (format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")), true)
    }

    fn sign(&self, sign: char) -> String {
        Regex.sign(sign)
    }

    fn class(&self, class: String) -> String {
        format!("/{class}/")
    }

    fn rule(&self, name: &str, _around: Around) -> String {
        let word = table().iter().any(|rule| rule.word && rule.name == name);
        if word { name.to_uppercase() } else { name.to_owned() }
    }
}
