//! The table as GBNF, as llama.cpp and the servers around it read it.

use super::form::Rule;
use super::print::{Around, Notation, control, ways};
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
        let _ = writeln!(out, "{} ::= {}", named(name), ways(&Gbnf, form).join(" |\n  "));
    }
    out
}

fn named(name: &str) -> String {
    if name == "start" { "root".to_owned() } else { name.replace('_', "-") }
}

struct Gbnf;

impl Notation for Gbnf {
    const THEN: &'static str = " ";
    const OR: &'static str = " | ";

    fn text(&self, text: &str) -> (String, bool) {
        (format!("\"{}\"", text.chars().map(sign).collect::<String>()), true)
    }

    /// Two more signs mean something in a class.
    fn sign(&self, one: char) -> String {
        if matches!(one, '^' | '-') { format!("\\x{:02X}", one as u32) } else { sign(one) }
    }

    fn rule(&self, name: &str, _around: Around) -> String {
        named(name)
    }
}

fn sign(sign: char) -> String {
    match sign {
        '"' | '\\' | '[' | ']' => format!("\\{sign}"),
        _ => control(sign).unwrap_or_else(|| sign.to_string()),
    }
}
