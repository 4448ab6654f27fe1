//! Values for params: `--params FILE` (TOML or JSON), then `--set NAME=VALUE`, the later winning.
//!
//! Relative paths in a file are relative to it, those on the command line to the current folder.

use crate::commands::Failure;
use pipe_compiler::host::ParamText;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Collect the values.
pub(crate) fn collect(
    set: &[String],
    file: Option<&Path>,
) -> Result<BTreeMap<String, ParamText>, Failure> {
    let mut values = BTreeMap::new();
    if let Some(path) = file {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder =
            Some(folder.map_or_else(String::new, |folder| format!("{}/", folder.display())));
        for (name, value) in read(path)? {
            let text = literal(&value, true).ok_or_else(|| {
                Failure::usage(format!(
                    "`{name}` in {} has a value that no param can take",
                    path.display()
                ))
            })?;
            values.insert(
                name,
                ParamText { text, origin: path.display().to_string(), folder: folder.clone() },
            );
        }
    }
    for word in set {
        let Some((name, text)) = word.split_once('=') else {
            return Err(Failure::usage(format!("`--set {word}` has no value"))
                .help(format!("write `--set {word}=VALUE`")));
        };
        let origin = format!("--set {name}");
        values.insert(
            name.trim().to_owned(),
            ParamText { text: text.to_owned(), origin, folder: Some(String::new()) },
        );
    }
    Ok(values)
}

fn read(path: &Path) -> Result<serde_json::Map<String, Value>, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
    let parsed: Result<Value, String> =
        if path.extension().is_some_and(|extension| extension == "json") {
            serde_json::from_str(&text).map_err(|error| error.to_string())
        } else {
            toml::from_str(&text).map_err(|error| error.to_string())
        };
    match parsed {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Failure::usage(format!("{shown} holds no names with values"))),
        Err(error) => Err(Failure::usage(format!("cannot read {shown}: {}", error.trim()))),
    }
}

/// A JSON value as a `.pipe` literal; text stands bare at the top, as on the command line.
fn literal(value: &Value, top: bool) -> Option<String> {
    Some(match value {
        Value::Null => "none".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::String(text) if top => text.clone(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Option<Vec<String>> =
                items.iter().map(|item| literal(item, false)).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Object(fields) => {
            let fields: Option<Vec<String>> = fields
                .iter()
                .map(|(name, value)| Some(format!("{}: {}", quoted(name), literal(value, false)?)))
                .collect();
            format!("{{ {} }}", fields?.join(", "))
        }
    })
}

fn quoted(text: &str) -> String {
    let escaped =
        text.replace('\\', "\\\\").replace('"', "\\\"").replace("${", "\\${").replace('\n', "\\n");
    format!("\"{}\"", escaped.replace('\t', "\\t"))
}

#[cfg(test)]
mod tests {
    use super::{collect, literal};
    use serde_json::json;

    #[test]
    fn json_becomes_literals() {
        let shown = literal(&json!([1, 2.5, "a\"b", {"k": true}, null]), true).unwrap();
        assert_eq!(shown, r#"[1, 2.5, "a\"b", { "k": true }, none]"#);
        assert_eq!(literal(&json!("plain text"), true).unwrap(), "plain text");
    }

    #[test]
    fn set_wins_over_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.toml");
        std::fs::write(&path, "rate = 0.5\nnames = [\"a\"]\n").unwrap();
        let values = collect(&["rate=1e-3".into()], Some(&path)).unwrap();
        assert_eq!(
            (values["rate"].text.as_str(), values["names"].text.as_str()),
            ("1e-3", "[\"a\"]")
        );
        assert!(collect(&["rate".into()], None).is_err());
    }
}
