//! The table as Lark, in the dialect of llguidance: words are terminals, everything else is a rule.

use super::form::{Form, Rule};
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
        if *word {
            let _ = writeln!(out, "{}: /{}/", name.to_uppercase(), pattern(form, 0));
            continue;
        }
        let ways = match form {
            Form::OneOf(ways) => ways.as_slice(),
            form => std::slice::from_ref(form),
        };
        let ways: Vec<String> = ways.iter().map(|way| print(way, 1)).collect();
        let _ = writeln!(out, "{name}: {}", ways.join("\n  | "));
    }
    out
}

/// A form of a rule; `level` says what is around it: 0 a choice, 1 a sequence, 2 a repetition.
fn print(form: &Form, level: u8) -> String {
    let (own, text) = match form {
        Form::Text(text) => (3, format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))),
        Form::Class { .. } => (3, format!("/{}/", pattern(form, 0))),
        Form::Rule(name) => (3, reference(name)),
        Form::All(forms) => {
            let parts: Vec<String> = forms.iter().map(|form| print(form, 2)).collect();
            (1, parts.join(" "))
        }
        Form::OneOf(forms) => {
            let parts: Vec<String> = forms.iter().map(|form| print(form, 1)).collect();
            (0, parts.join(" | "))
        }
        Form::Maybe(form) => (3, format!("{}?", print(form, 3))),
        Form::Many(form) => (3, format!("{}*", print(form, 3))),
    };
    if own < level { format!("({text})") } else { text }
}

fn reference(name: &str) -> String {
    let word = table().iter().any(|rule| rule.word && rule.name == name);
    if word { name.to_uppercase() } else { name.to_owned() }
}

/// A form of a word as a regular expression.
fn pattern(form: &Form, level: u8) -> String {
    let (own, text) = match form {
        Form::Text(text) => {
            let text: String = text.chars().map(sign).collect();
            (if text.chars().count() == 1 { 3 } else { 2 }, text)
        }
        Form::Class { not, ranges } => (3, class(*not, ranges)),
        Form::Rule(name) => {
            let rules = table();
            let inner = rules.iter().find(|rule| rule.name == *name).map(|rule| &rule.form);
            return inner.map_or_else(String::new, |form| pattern(form, level));
        }
        Form::All(forms) => {
            let parts: Vec<String> = forms.iter().map(|form| pattern(form, 1)).collect();
            (1, parts.concat())
        }
        Form::OneOf(forms) => {
            let parts: Vec<String> = forms.iter().map(|form| pattern(form, 0)).collect();
            (0, parts.join("|"))
        }
        Form::Maybe(form) => (2, format!("{}?", pattern(form, 3))),
        Form::Many(form) => (2, format!("{}*", pattern(form, 3))),
    };
    if own < level { format!("({text})") } else { text }
}

fn class(not: bool, ranges: &[(char, char)]) -> String {
    let mut out = String::from(if not { "[^" } else { "[" });
    for (first, last) in ranges {
        out.push_str(&sign(*first));
        if last > first {
            out.push('-');
            out.push_str(&sign(*last));
        }
    }
    out.push(']');
    out
}

fn sign(sign: char) -> String {
    match sign {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\0'..='\x1F' => format!("\\x{:02X}", sign as u32),
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | ' ' => sign.to_string(),
        _ => format!("\\{sign}"),
    }
}
