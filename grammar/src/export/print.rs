//! Forms as text: the same printer for every notation, which says how it writes texts, classes and names of rules.

use super::form::Form;

/// What differs between notations.
pub(super) trait Notation {
    /// What stands between two forms in a row.
    const THEN: &'static str;
    /// What stands between two ways.
    const OR: &'static str;

    /// A text, and whether a repetition behind it would take all of it.
    fn text(&self, text: &str) -> (String, bool);
    /// A character of a class.
    fn sign(&self, sign: char) -> String;
    /// `[...]`, with what goes around it.
    fn class(&self, class: String) -> String {
        class
    }
    /// What another rule derives, where `around` is what is around it.
    fn rule(&self, name: &str, around: Around) -> String;
}

/// What is around a form, the loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Around {
    Choice,
    Row,
    Repetition,
}

/// A form, in brackets where it would fall apart.
pub(super) fn print<N: Notation>(notation: &N, form: &Form, around: Around) -> String {
    let each = |forms: &[Form], around: Around, between: &str| {
        let parts: Vec<String> = forms.iter().map(|form| print(notation, form, around)).collect();
        parts.join(between)
    };
    let (loose, text) = match form {
        Form::Text(text) => {
            let (text, whole) = notation.text(text);
            (!whole && around == Around::Repetition, text)
        }
        Form::Class { not, ranges } => (false, notation.class(class(notation, *not, ranges))),
        Form::Rule(name) => (false, notation.rule(name, around)),
        Form::All(forms) => (around > Around::Row, each(forms, Around::Row, N::THEN)),
        Form::OneOf(forms) => (around > Around::Choice, each(forms, Around::Choice, N::OR)),
        Form::Maybe(form) => {
            (around > Around::Row, print(notation, form, Around::Repetition) + "?")
        }
        Form::Many(form) => (around > Around::Row, print(notation, form, Around::Repetition) + "*"),
    };
    if loose { format!("({text})") } else { text }
}

/// The ways of a rule, each on its own line where there are several.
pub(super) fn ways(notation: &impl Notation, form: &Form) -> Vec<String> {
    let ways = match form {
        Form::OneOf(ways) => ways.as_slice(),
        form => std::slice::from_ref(form),
    };
    ways.iter().map(|way| print(notation, way, Around::Row)).collect()
}

fn class(notation: &impl Notation, not: bool, ranges: &[(char, char)]) -> String {
    let mut out = String::from(if not { "[^" } else { "[" });
    for (first, last) in ranges {
        out.push_str(&notation.sign(*first));
        if last > first {
            out.push('-');
            out.push_str(&notation.sign(*last));
        }
    }
    out.push(']');
    out
}

/// The escapes that all notations share.
pub(super) fn control(sign: char) -> Option<String> {
    Some(match sign {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\0'..='\x1F' => format!("\\x{:02X}", sign as u32),
        _ => return None,
    })
}
