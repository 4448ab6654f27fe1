//! Filling templates.

use crate::call::Call;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use serde::Serialize;
use std::collections::BTreeMap;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("cursor.js");

/// Fill a template and give it as a report.
pub(super) fn give<T: Serialize>(
    call: &Call,
    template: &str,
    title: &str,
    fields: &T,
) -> Result<Value, OpError> {
    let html = fill(template, title, fields).map_err(|error| {
        OpError::new("run::report", format!("The report cannot be written: {error:#}."))
    })?;
    let meta = BTreeMap::from([("title".to_owned(), Value::Str(title.to_owned()))]);
    call.give_file(html.as_bytes(), "report", "html", meta)
}

fn fill<T: Serialize>(template: &str, title: &str, fields: &T) -> Result<String, minijinja::Error> {
    let mut pages = Environment::new();
    pages.set_auto_escape_callback(|_| AutoEscape::Html);
    pages.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    pages.add_template("page", template)?;
    let parts = minijinja::context! { style => STYLE, script => SCRIPT, title => title };
    pages.get_template("page")?.render(minijinja::context! { ..Serde(fields), ..parts })
}
