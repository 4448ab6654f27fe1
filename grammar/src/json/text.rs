//! From JSON to the text of a program. Parentheses stand wherever they could be needed; the formatter takes them away.

use super::forms::{Part, Shape, Way, ways};
use crate::export::derives;
use crate::words::did_you_mean;
use serde_json::{Map, Value};
use std::fmt;

/// A value that is not what the schema wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Where: keys and positions from the outside in, `declarations[2].value`.
    pub at: String,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.at.is_empty() { "the program" } else { &self.at };
        write!(f, "{at}: {}", self.message)
    }
}

impl std::error::Error for Misfit {}

/// The text of a program that is written as JSON. It reads without a syntax error, but for the limits on numbers, nesting
/// and size, and it is not formatted.
///
/// # Errors
/// The first value that the schema refuses.
pub fn text(program: &Value) -> Result<String, Misfit> {
    let mut out = String::new();
    form("program", program, &mut Writer { at: Vec::new(), out: &mut out })?;
    Ok(out)
}

struct Writer<'o> {
    at: Vec<String>,
    out: &'o mut String,
}

type Done = Result<(), Misfit>;

impl Writer<'_> {
    fn misfit(&self, message: impl Into<String>) -> Misfit {
        let at = self.at.concat();
        Misfit { at: at.strip_prefix('.').unwrap_or(&at).to_owned(), message: message.into() }
    }

    fn inside(&mut self, step: String, write: impl FnOnce(&mut Self) -> Done) -> Done {
        self.at.push(step);
        write(self)?;
        self.at.pop();
        Ok(())
    }
}

/// Writes a form and says by which of its ways.
fn form(name: &str, value: &Value, writer: &mut Writer<'_>) -> Result<&'static Way, Misfit> {
    let what = name.replace('_', " ");
    if let Some((key, near)) = misspelt(name, value) {
        let message = format!("there is no `{key}` in a {what}; did you mean `{near}`?");
        return Err(writer.misfit(message));
    }
    for way in ways(name) {
        match (way, value) {
            (Way::Constant(wanted, text), _) if *value == Value::from(*wanted) => {
                writer.out.push_str(text);
                return Ok(way);
            }
            (Way::Bare(Shape::Form(other)), _) => return form(other, value, writer),
            (Way::Bare(written), Value::String(_)) => {
                shape(*written, value, &Map::new(), writer)?;
                return Ok(way);
            }
            (Way::Object { lead, parts, .. }, Value::Object(keys)) if keys.contains_key(*lead) => {
                object(parts, keys, writer)?;
                return Ok(way);
            }
            _ => {}
        }
    }
    let leads: Vec<String> = ways(name).iter().filter_map(lead).collect();
    let wanted = leads.join(", ");
    Err(writer.misfit(format!("this is no {what}, which has one of {wanted}")))
}

/// A key that no way of a form has, and the one that it is most like.
fn misspelt<'v>(name: &str, value: &'v Value) -> Option<(&'v str, &'static str)> {
    let parts = ways(name).iter().filter_map(|way| match way {
        Way::Object { parts, .. } => Some(parts),
        _ => None,
    });
    let known: Vec<&'static str> = parts.flat_map(|parts| parts.iter().map(|it| it.key)).collect();
    let key = value.as_object()?.keys().find(|key| !known.contains(&key.as_str()))?;
    Some((key, did_you_mean(key, known.iter().copied())?))
}

fn lead(way: &Way) -> Option<String> {
    let Way::Object { lead, .. } = way else { return None };
    Some(format!("`{lead}`"))
}

fn object(parts: &[Part], keys: &Map<String, Value>, writer: &mut Writer<'_>) -> Done {
    if let Some(key) = keys.keys().find(|key| parts.iter().all(|part| part.key != *key)) {
        let known: Vec<String> = parts.iter().map(|part| format!("`{}`", part.key)).collect();
        return Err(writer.misfit(format!("there is no `{key}` here, only {}", known.join(", "))));
    }
    for part in parts {
        let Some(value) = keys.get(part.key) else {
            if part.needed {
                return Err(writer.misfit(format!("`{}` is missing", part.key)));
            }
            continue;
        };
        writer.out.push_str(part.before);
        writer.inside(format!(".{}", part.key), |writer| shape(part.shape, value, keys, writer))?;
        writer.out.push_str(part.behind);
    }
    Ok(())
}

fn shape(shape: Shape, value: &Value, keys: &Map<String, Value>, writer: &mut Writer<'_>) -> Done {
    match shape {
        Shape::Form(name) => form(name, value, writer).map(drop),
        Shape::Operand(name) => {
            let start = writer.out.len();
            let way = form(name, value, writer)?;
            if matches!(way, Way::Object { whole: false, .. }) {
                enclosed(start, "(", ")", writer);
            }
            Ok(())
        }
        Shape::Braced => {
            let start = writer.out.len();
            let way = form("block", value, writer)?;
            if !matches!(way, Way::Object { lead: "lets", .. }) {
                enclosed(start, "{ ", " }", writer);
            }
            Ok(())
        }
        Shape::Many(item, least, between) => many(*item, least, between, value, writer),
        Shape::Joined(item, key) => {
            let sign = keys.get(key).and_then(Value::as_str).unwrap_or_default();
            many(*item, 2, &format!(" {sign} "), value, writer)
        }
        Shape::Set if *value == Value::Bool(true) => Ok(()),
        Shape::Set => Err(writer.misfit("this is `true`, or left out")),
        _ => match value.as_str() {
            Some(text) => word(shape, text, writer),
            None => Err(writer.misfit("this is a text")),
        },
    }
}

fn enclosed(start: usize, open: &str, close: &str, writer: &mut Writer<'_>) {
    writer.out.insert_str(start, open);
    writer.out.push_str(close);
}

fn many(item: Shape, least: usize, between: &str, value: &Value, writer: &mut Writer<'_>) -> Done {
    let Some(items) = value.as_array().filter(|items| items.len() >= least) else {
        return Err(writer.misfit(match least {
            0 => "this is a list".to_owned(),
            least => format!("this is a list with at least {least} in it"),
        }));
    };
    for (index, value) in items.iter().enumerate() {
        if index > 0 {
            writer.out.push_str(between);
        }
        writer.inside(format!("[{index}]"), |writer| shape(item, value, &Map::new(), writer))?;
    }
    Ok(())
}

fn word(shape: Shape, text: &str, writer: &mut Writer<'_>) -> Done {
    let fits = match shape {
        Shape::Word(rule) => derives(rule, text),
        Shape::Dotted => {
            let mut words = text.split('.');
            words.next().is_some_and(|first| derives("name", first))
                && words.all(|word| derives("word", word))
        }
        Shape::Sign(signs) | Shape::Between(signs) => signs.contains(&text),
        _ => true,
    };
    match shape {
        _ if !fits => return Err(misfit(shape, text, writer)),
        Shape::Quoted => quoted(text, writer.out),
        Shape::Inside => escaped(text, writer.out),
        Shape::Key if derives("word", text) => writer.out.push_str(text),
        Shape::Key => quoted(text, writer.out),
        Shape::Doc => {
            for line in text.split('\n') {
                let line = line.replace('\r', " ");
                writer.out.push_str(format!("## {line}").trim_end());
                writer.out.push('\n');
            }
        }
        Shape::Between(_) => {}
        _ => writer.out.push_str(text),
    }
    Ok(())
}

fn misfit(shape: Shape, text: &str, writer: &Writer<'_>) -> Misfit {
    writer.misfit(match shape {
        Shape::Sign(signs) | Shape::Between(signs) => {
            format!("`{text}` is none of {}", signs.join(" "))
        }
        Shape::Word("number") => format!("`{text}` is not a number, such as `1.5`, `3e-4` or `5m`"),
        Shape::Dotted => format!(
            "`{text}` is not a name, such as `rows` or `data.read`; a text is `{{\"text\": ...}}`"
        ),
        _ => format!("`{text}` is not a name, or it is reserved"),
    })
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    escaped(text, out);
    out.push('"');
}

fn escaped(text: &str, out: &mut String) {
    for sign in text.chars() {
        match sign {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' | '\\' | '$' => out.extend(['\\', sign]),
            _ => out.push(sign),
        }
    }
}
