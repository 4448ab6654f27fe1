//! The table of forms as a JSON Schema.

use super::forms::{FORMS, Form, Shape, Way};
use crate::export::pattern_of;
use serde_json::{Map, Value, json};

/// The schema of programs as JSON.
#[must_use]
pub fn schema() -> Value {
    let forms = FORMS.iter().map(|Form { name, ways, .. }| {
        let ways: Vec<Value> = ways.iter().map(way).collect();
        let form = match <[Value; 1]>::try_from(ways) {
            Ok([only]) => only,
            Err(ways) => json!({ "anyOf": ways }),
        };
        ((*name).to_owned(), form)
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Pipewright program",
        "description": "Printed by `pipe grammar --json-schema`. `pipe fmt --from-json` writes the program; a text alone names a value, such as `row.cpu`, and its own words are `{\"text\": ...}`.",
        "$ref": "#/$defs/program",
        "$defs": forms.collect::<Map<_, _>>(),
    })
}

fn way(way: &Way) -> Value {
    let Way::Object { parts, .. } = way else {
        return match way {
            Way::Constant(value, _) => json!({ "const": value }),
            Way::Bare(shape) => self::shape(*shape),
            Way::Object { .. } => Value::Null,
        };
    };
    let keys = parts.iter().map(|part| (part.key.to_owned(), shape(part.shape)));
    let needed: Vec<&str> = parts.iter().filter(|part| part.needed).map(|it| it.key).collect();
    json!({
        "type": "object",
        "properties": keys.collect::<Map<_, _>>(),
        "required": needed,
        "additionalProperties": false,
    })
}

fn shape(shape: Shape) -> Value {
    let form = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let matching =
        |pattern: String| json!({ "type": "string", "pattern": format!("^({pattern})$") });
    match shape {
        Shape::Word(rule) => matching(pattern_of(rule)),
        Shape::Dotted => matching(dotted()),
        Shape::Quoted | Shape::Inside | Shape::Key | Shape::Doc => json!({ "type": "string" }),
        Shape::Sign(signs) | Shape::Between(signs) => json!({ "enum": signs }),
        Shape::Set => json!({ "const": true }),
        Shape::Form(name) | Shape::Operand(name) => form(name),
        Shape::Braced => form("block"),
        Shape::Many(item, least, _) => {
            json!({ "type": "array", "items": self::shape(*item), "minItems": least })
        }
        Shape::Joined(item, _) => {
            json!({ "type": "array", "items": self::shape(*item), "minItems": 2 })
        }
    }
}

/// A name, and words behind dots.
fn dotted() -> String {
    format!("({})(\\.({}))*", pattern_of("name"), pattern_of("word"))
}
