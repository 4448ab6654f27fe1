//! Strings: as written, and text between `"""` moved to the indentation around it.

use super::Printer;
use super::doc::{Doc, concat, exact, hard, nest, text};
use crate::ast::Expr;

impl Printer<'_> {
    /// A string. Its interpolations stay as written.
    pub(super) fn string(&mut self, expr: &Expr) -> Doc {
        let words = bare(self.slice(expr.span.start, expr.span.end)).replace("\r\n", "\n");
        match indented(&words) {
            Some(lines) => {
                let body = lines.into_iter().flat_map(|line| [hard(), exact(line)]);
                concat([text("\"\"\""), nest(concat(body)), hard(), text("\"\"\"")])
            }
            None => text(words),
        }
    }
}

/// A string without the parentheses around it.
pub(super) fn bare(words: &str) -> &str {
    let mut words = words.trim();
    while let Some(inner) = words.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        words = inner.trim();
    }
    words
}

/// The lines of a `"""` string without their common indentation, when it has the form that can be moved: nothing but
/// blanks behind the first quotes and before the last, and every interpolation on one line.
fn indented(words: &str) -> Option<Vec<String>> {
    let inner = words.strip_prefix("\"\"\"")?.strip_suffix("\"\"\"")?;
    let (first, rest) = inner.split_once('\n')?;
    let (body, last) = rest.rsplit_once('\n')?;
    let broken =
        body.split('\n').any(|line| line.matches("${").count() > line.matches('}').count());
    if !first.trim().is_empty() || !last.trim().is_empty() || broken || body.contains("\"\"\"") {
        return None;
    }
    let lines = || body.split('\n').filter(|line| !line.trim().is_empty());
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let margin = lines().map(indent).min()?;
    let known = lines().next()?.get(..margin)?.to_owned();
    if !lines().all(|line| line.starts_with(&known)) {
        return None;
    }
    let strip = |line: &str| {
        if line.trim().is_empty() {
            String::new()
        } else {
            line.get(margin..).unwrap_or("").to_owned()
        }
    };
    Some(body.split('\n').map(strip).collect())
}
