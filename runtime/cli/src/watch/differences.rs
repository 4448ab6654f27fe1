//! What changed in a program, in words: the declarations, and short values before and after.

use pipe_grammar::ast::{Item, ItemKind};
use pipe_grammar::{FileId, SourceFile, parse};
use std::collections::BTreeMap;

/// Values longer than this are not shown.
const SHORT: usize = 24;

/// The declarations that differ between two texts of a program: `` `cutoff` 3.5 → 4.0 ``. Layout and comments do not count.
pub(crate) fn differences(before: &str, after: &str) -> Vec<String> {
    let (before, after) = (declarations(before), declarations(after));
    let mut found = Vec::new();
    for (name, now) in &after {
        match before.get(name) {
            Some(was) if was.text == now.text => {}
            Some(was) => found.push(match (was.value(), now.value()) {
                (Some(was), Some(now)) if was != now => format!("`{name}` {was} → {now}"),
                _ => format!("`{name}`"),
            }),
            None => found.push(format!("`{name}` is new")),
        }
    }
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    found.extend(gone.map(|name| format!("`{name}` is gone")));
    found
}

struct Declaration {
    /// Its words without layout.
    text: String,
    value: Option<String>,
}

impl Declaration {
    fn value(&self) -> Option<&str> {
        self.value.as_deref().filter(|value| value.chars().count() <= SHORT)
    }
}

fn declarations(text: &str) -> BTreeMap<String, Declaration> {
    let source = SourceFile::new(FileId(0), "", text);
    let parsed = parse(&source);
    let words = |from: u32, to: u32| {
        // Comments between the words of a declaration are no change of it.
        let mut words = String::new();
        let comments = parsed.trivia.comments.iter();
        let inside =
            comments.filter(|comment| comment.span.start >= from && comment.span.end <= to);
        let mut at = from;
        for comment in inside {
            words += text.get(at as usize..comment.span.start as usize).unwrap_or("");
            words.push('\n');
            at = comment.span.end;
        }
        words += text.get(at as usize..to as usize).unwrap_or("");
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let one = |item: &Item| {
        let (name, value) = named(&item.kind)?;
        let value = value.map(|(from, to)| words(from, to));
        Some((name, Declaration { text: words(item.span.start, item.span.end), value }))
    };
    parsed.module.items.iter().filter_map(|item| one(item)).collect()
}

/// The name of a declaration, and where its value stands.
fn named(kind: &ItemKind) -> Option<(String, Option<(u32, u32)>)> {
    let place = |expr: &pipe_grammar::ast::Expr| (expr.span.start, expr.span.end);
    match kind {
        ItemKind::Use { name, .. } | ItemKind::Type { name, .. } => Some((name.text.clone(), None)),
        ItemKind::Param { name, default, .. } => {
            Some((name.text.clone(), default.as_ref().map(place)))
        }
        ItemKind::Let(bound) => Some((bound.name.text.clone(), Some(place(&bound.value)))),
        ItemKind::Output(bound) => {
            Some((format!("output {}", bound.name.text), Some(place(&bound.value))))
        }
        ItemKind::Check(bound) => {
            Some((format!("check {}", bound.name.text), Some(place(&bound.value))))
        }
        ItemKind::Fn(function) => Some((function.name.text.clone(), None)),
        ItemKind::Broken { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::differences;

    #[test]
    fn declarations_are_told_and_layout_is_not() {
        let before =
            "let cutoff = 3.5\nlet rows = data.read(\"a.csv\")\noutput n = data.count(rows)\n";
        let after = "# higher\nlet cutoff =\n  4.0\nlet rows = data.read(\"a.csv\") |> data.sort([\"time\"])\nlet more = 1\n";
        assert_eq!(
            differences(before, after),
            ["`cutoff` 3.5 → 4.0", "`more` is new", "`rows`", "`output n` is gone"]
        );
        assert!(differences(before, &before.replace("= 3.5", "=   3.5 # why")).is_empty());
    }
}
