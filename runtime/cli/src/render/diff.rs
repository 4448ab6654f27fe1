//! Two runs side by side: only what differs is shown, the rest is counted.

use super::record::{figure, git, outcome, short, widest};
use super::style::{Look, count, cut, cut_front, pad, seconds};
use crate::commands::diff::{ChangedNode, Difference, Side, check_pairs, times};
use pipe_runtime::store::RootRow;
use std::fmt::Write;

/// Lines of one section.
const MANY: usize = 12;

/// Times that differ by less are not worth a line.
const LEAST: f64 = 0.01;

/// What two runs differ by.
pub(crate) fn text(old: &Side, new: &Side, found: &Difference, look: &Look) -> String {
    let (before, after) = (&old.run.row, &new.run.row);
    let mut out =
        format!("{}\n\n", look.strong(&format!("run {} → run {}", before.run, after.run)));
    let mut pair = |name: &str, old: &str, new: &str| {
        let text = if old == new { format!("{new}, both") } else { format!("{old}  →  {new}") };
        let _ = writeln!(out, "  {}  {text}", look.quiet(&pad(name, 7)));
    };
    pair("program", &before.file, &after.file);
    pair("outcome", &outcome(before), &outcome(after));
    let nodes = |side: &Side| format!("{} ran, {} cached", side.run.row.ran, side.run.row.cached);
    pair("nodes", &nodes(old), &nodes(new));
    let state = |side: &Side| side.run.git.as_ref().map_or_else(|| "not known".to_owned(), git);
    if old.run.git.is_some() || new.run.git.is_some() {
        pair("git", &state(old), &state(new));
    }
    let took = |side: &Side| side.run.row.seconds.map_or_else(|| "-".to_owned(), seconds);
    let _ = writeln!(out, "  {}  {}  →  {}", look.quiet("took   "), took(old), took(new));
    texts(&mut out, found, look);
    changes(&mut out, "params", &found.params, look);
    keys(&mut out, before.run, after.run, found, look);
    checks(&mut out, old, new, found, look);
    numbers(&mut out, old, new, found, look);
    durations(&mut out, old, new, look);
    out
}

fn heading(out: &mut String, text: &str, look: &Look) {
    let _ = writeln!(out, "\n{}", look.strong(text));
}

fn texts(out: &mut String, found: &Difference, look: &Look) {
    if found.sources.is_empty() {
        let _ = writeln!(out, "  {}  the same in both", look.quiet(&pad("text", 7)));
        return;
    }
    for (file, old, new) in &found.sources {
        let part = |digest: &Option<String>| digest.as_deref().map_or("none", short).to_owned();
        let text = format!("{file}: {}  →  {}", part(old), part(new));
        let _ = writeln!(out, "  {}  {text}", look.quiet(&pad("text", 7)));
    }
}

fn changes(
    out: &mut String,
    title: &str,
    pairs: &[(String, Option<String>, Option<String>)],
    look: &Look,
) {
    if pairs.is_empty() {
        return;
    }
    heading(out, title, look);
    let width = widest(pairs.iter().map(|(name, _, _)| name.as_str()), look);
    for (name, old, new) in pairs {
        let value = |value: &Option<String>| brief(value.as_deref().unwrap_or("nothing"));
        let _ = writeln!(
            out,
            "  {}  {}  →  {}",
            pad(&cut(name, width), width),
            value(old),
            look.strong(&value(new))
        );
    }
}

fn keys(out: &mut String, old: i64, new: i64, found: &Difference, look: &Look) {
    let other = found.changed.len() + found.added.len() + found.removed.len();
    if other + found.renamed.len() == 0 {
        heading(out, &format!("keys: all {} the same", count(found.same, "node")), look);
        return;
    }
    heading(out, &format!("keys: {} the same, {other} not", count(found.same, "node")), look);
    let (own, through): (Vec<&ChangedNode>, Vec<&ChangedNode>) =
        found.changed.iter().partition(|node| !node.changes.is_empty());
    let width = widest(own.iter().map(|node| node.name.as_str()), look);
    for node in own.iter().take(MANY) {
        for (at, change) in node.changes.iter().enumerate() {
            let name = if at == 0 { node.name.as_str() } else { "" };
            let value = |value: &Option<String>| brief(value.as_deref().unwrap_or("nothing"));
            let _ = writeln!(
                out,
                "  {}  {}  {}  →  {}",
                pad(&cut(name, width), width),
                change.field,
                value(&change.old),
                look.strong(&value(&change.new))
            );
        }
    }
    if own.len() > MANY {
        let _ = writeln!(out, "  and {} more with fields of their own: --json", own.len() - MANY);
    }
    let mut names = |what: &str, names: Vec<String>| {
        if !names.is_empty() {
            let line = format!("  {what}: {}", names.join(", "));
            let _ = writeln!(out, "{}", cut(&line, look.width));
        }
    };
    let listed = through.iter().map(|node| node.name.clone()).collect();
    names(&format!("{} more only by what they read", through.len()), listed);
    names("renamed", found.renamed.iter().map(|(old, new)| format!("{old} → {new}")).collect());
    names(&format!("only in run {old}"), found.removed.clone());
    names(&format!("only in run {new}"), found.added.clone());
}

fn checks(out: &mut String, old: &Side, new: &Side, found: &Difference, look: &Look) {
    let pairs = check_pairs(old, new);
    if pairs.is_empty() {
        return;
    }
    heading(out, "checks", look);
    let width = widest(pairs.iter().map(|(name, _, _)| name.as_str()), look);
    for (name, before, after) in pairs {
        let state = |root: Option<&RootRow>| match root {
            None => "none".to_owned(),
            Some(root) => {
                let holds = if root.passed == Some(true) { "✓" } else { "✗" };
                format!("{holds} {}", root.shown)
            }
        };
        let (before, after) = (state(before), state(after));
        let text = if before == after {
            format!("{after}, both")
        } else {
            format!("{before}  →  {after}")
        };
        let number = found.numbers.iter().find(|(place, _, _)| *place == name);
        let apart = number.and_then(|(_, old, new)| apart((*old)?, (*new)?)).unwrap_or_default();
        let line = format!("  {}  {text}{apart}", pad(&cut(&name, width), width));
        let _ = writeln!(out, "{line}");
    }
}

fn numbers(out: &mut String, old: &Side, new: &Side, found: &Difference, look: &Look) {
    let checks = check_pairs(old, new);
    let of_check = |place: &str| checks.iter().any(|(name, _, _)| name == place);
    let all = found.numbers.iter().filter(|(place, _, _)| !of_check(place));
    let equal = |old: &Option<f64>, new: &Option<f64>| match (old, new) {
        (Some(old), Some(new)) => old.total_cmp(new).is_eq(),
        _ => false,
    };
    let (same, other): (Vec<_>, Vec<_>) = all.partition(|(_, old, new)| equal(old, new));
    if same.is_empty() && other.is_empty() {
        return;
    }
    heading(out, &format!("numbers: {} the same, {} not", same.len(), other.len()), look);
    let names = other.iter().take(MANY).map(|(place, _, _)| place.chars().count());
    let width = names.max().unwrap_or(0).min(look.width.saturating_sub(40));
    for (place, old, new) in other.iter().take(MANY) {
        let value = |value: &Option<f64>| value.map_or_else(|| "none".to_owned(), figure);
        let apart = old.zip(*new).and_then(|(old, new)| apart(old, new)).unwrap_or_default();
        let place = pad(&cut_front(place, width), width);
        let _ = writeln!(out, "  {place}  {}  →  {}{apart}", value(old), look.strong(&value(new)));
    }
    if other.len() > MANY {
        let _ = writeln!(out, "  and {} more: --json", other.len() - MANY);
    }
}

/// `   +0.0909`; nothing when there is no difference that could be written.
fn apart(old: f64, new: f64) -> Option<String> {
    let difference = new - old;
    let sign = if difference > 0.0 { "+" } else { "" };
    (difference.is_finite() && difference != 0.0)
        .then(|| format!("   {sign}{}", figure(difference)))
}

fn durations(out: &mut String, old: &Side, new: &Side, look: &Look) {
    let all = times(old, new);
    let took = |node: Option<&pipe_runtime::store::NodeSeen>| node.map_or(0.0, |node| node.seconds);
    let other: Vec<_> =
        all.iter().filter(|(_, old, new)| (took(*old) - took(*new)).abs() >= LEAST).collect();
    if other.is_empty() {
        return;
    }
    heading(out, "times that differ most", look);
    let width = widest(other.iter().take(MANY).map(|(name, _, _)| name.as_str()), look);
    for (name, old, new) in other.iter().take(MANY) {
        let time = |node: &Option<&pipe_runtime::store::NodeSeen>| match node {
            None => "none".to_owned(),
            Some(node) if node.state == "ran" || node.state == "failed" => seconds(node.seconds),
            Some(node) => node.state.clone(),
        };
        let _ =
            writeln!(out, "  {}  {}  →  {}", pad(&cut(name, width), width), time(old), time(new));
    }
}

/// A digest by its first letters, other values cut to what a line can hold.
fn brief(text: &str) -> String {
    let is_digest = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let bare = text.trim_matches(['[', ']']);
    let digests = bare
        .split(", ")
        .all(|part| part.len() == 64 && part.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if is_digest {
        short(text).to_owned()
    } else if digests {
        bare.split(", ").map(short).collect::<Vec<_>>().join(", ")
    } else {
        cut(text, 40)
    }
}
