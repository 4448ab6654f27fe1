//! The table as GBNF, as llama.cpp and the servers around it read it.

use super::form::{Form, Rule};
use super::table;
use std::fmt::Write as _;

/// The language in GBNF.
#[must_use]
pub fn gbnf() -> String {
    let mut out = String::from(
        "# The Pipewright language. Printed by `pipe grammar --gbnf`.\n\
         # Every text of it reads without a syntax error; everything that `pipe fmt` prints is in it.\n\n",
    );
    for Rule { name, form, .. } in table() {
        let name = named(name);
        let ways = match form {
            Form::OneOf(ways) => ways.as_slice(),
            form => std::slice::from_ref(form),
        };
        let ways: Vec<String> = ways.iter().map(|way| print(way, 1)).collect();
        let _ = writeln!(out, "{name} ::= {}", ways.join(" |\n  "));
    }
    out
}

fn named(name: &str) -> String {
    if name == "start" { "root".to_owned() } else { name.replace('_', "-") }
}

/// A form; `level` says what is around it: 0 a choice, 1 a sequence, 2 a repetition.
fn print(form: &Form, level: u8) -> String {
    let (own, text) = match form {
        Form::Text(text) => (3, format!("\"{}\"", text.chars().map(sign).collect::<String>())),
        Form::Class { not, ranges } => (3, class(*not, ranges)),
        Form::Rule(name) => (3, named(name)),
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

fn class(not: bool, ranges: &[(char, char)]) -> String {
    let mut out = String::from(if not { "[^" } else { "[" });
    for (first, last) in ranges {
        out.push_str(&inside(*first));
        if last > first {
            out.push('-');
            out.push_str(&inside(*last));
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
        '"' | '\\' | '[' | ']' => format!("\\{sign}"),
        '\0'..='\x1F' => format!("\\x{:02X}", sign as u32),
        _ => sign.to_string(),
    }
}

/// A character of a class, where two more signs mean something.
fn inside(one: char) -> String {
    if matches!(one, '^' | '-') { format!("\\x{:02X}", one as u32) } else { sign(one) }
}
