//! Parts of a value that are not there.

use super::finding::{Finding, HOLE};
use super::view::At;
use crate::problem::Problem;
use crate::scan::Kind;

/// A comma, a colon, `else`, `in`, a block.
pub(super) fn part(at: &At<'_>) -> Option<Finding> {
    tuple(at)
        .or_else(|| else_branch(at))
        .or_else(|| loop_in(at))
        .or_else(|| field_name(at))
        .or_else(|| entry_colon(at))
        .or_else(|| comma(at))
        .or_else(|| block(at))
}

/// `(a, b)` as a value.
fn tuple(at: &At<'_>) -> Option<Finding> {
    let (open, close) = if at.word() == "," && at.failure.wants_operator() && !at.failure.wants(",")
    {
        let (b'(', open) = at.bracket()? else { return None };
        let outside = at.view.open_before(open).len();
        let close = (at.index..at.view.tokens.len())
            .find(|index| at.view.open_before(index + 1).len() == outside)?;
        (open, close)
    } else if at.failure.wants("=>") && !at.failure.wants_operator() {
        let close = at.index.checked_sub(1)?;
        (at.view.open_before(close).last().copied()?, close)
    } else {
        return None;
    };
    let (open, close) = (at.view.token(open)?, at.view.token(close)?);
    if open.kind != Kind::Open(b'(') || close.kind != Kind::Close(b')') {
        return None;
    }
    let (first, last) = (at.view.span_of(open), at.view.span_of(close));
    let problem = Problem::error("syntax::tuple", first.to(last), "there are no tuples")
        .label("parentheses hold one value, or the parameters before `=>`")
        .help("write a list `[a, b]` or a record `{ x: a, y: b }`")
        .edit(first, "[")
        .edit(last, "]");
    let repairs =
        vec![(open.start..open.end, "[".to_owned()), (close.start..close.end, "]".to_owned())];
    Some(Finding { problem, repairs, guess: false })
}

fn else_branch(at: &At<'_>) -> Option<Finding> {
    if !at.failure.wants("else") || at.word_before() != "}" {
        return None;
    }
    let insertion = format!(" else {{ {HOLE} }}");
    let problem = Problem::error(
        "syntax::missing_else",
        at.gap(),
        "an `if` needs an `else`, because it is a value",
    )
    .label("expected `else` after this")
    .help("write `else { none }` when there is no other value")
    .edit(at.gap(), " else { none }");
    Some(Finding::repaired(problem, at.end_before()..at.end_before(), insertion))
}

fn loop_in(at: &At<'_>) -> Option<Finding> {
    if !at.failure.wants("in") || at.failure.wants_operator() {
        return None;
    }
    let end = at.end_before();
    let problem = Problem::error("syntax::missing_in", at.gap(), "`in` is missing in the `for`")
        .label("expected `in` here")
        .help("write `for x in xs { … }`");
    if at.word() == "=" {
        let token = at.token()?;
        let span = at.view.span_of(token);
        return Some(Finding::repaired(problem.edit(span, "in"), token.start..token.end, "in"));
    }
    Some(Finding::repaired(problem.edit(at.gap(), " in"), end..end, " in "))
}

/// `a.` without a name.
fn field_name(at: &At<'_>) -> Option<Finding> {
    let dot = at.before()?;
    if at.word_before() != "." || !at.failure.wants_name() {
        return None;
    }
    let problem =
        Problem::error("syntax::missing_name", at.view.span_of(dot), "a name is missing after `.`")
            .label("expected a name after this")
            .help("write `value.field`; the element of a list is `list[0]`");
    let number = at.token().filter(|token| token.kind == Kind::Number && token.start == dot.end);
    let end = number.map_or(dot.end, |number| number.end);
    // A field that nobody knows: what is made of it stays silent.
    Some(Finding::repaired(problem, dot.start..end, format!("[{HOLE}]")))
}

/// `{ x: 1, y }` and `{ a int }`.
fn entry_colon(at: &At<'_>) -> Option<Finding> {
    let name = at.before()?;
    let named = matches!(name.kind, Kind::Word | Kind::Str { .. });
    let braces = at.bracket().is_some_and(|(byte, _)| byte == b'{');
    if !at.failure.wants(":") || at.failure.wants_operator() || !named || !braces {
        return None;
    }
    let (gap, end, word) = (at.gap(), name.end, at.word_before());
    let in_type = at.keyword().is_some_and(|(keyword, _)| keyword == "type");
    let what = if in_type { "a type" } else { "a value" };
    if matches!(at.word(), "," | "}" | "") {
        let problem = Problem::error(
            "syntax::missing_value",
            at.view.span_of(name),
            format!("the field `{word}` has no {}", &what[2..]),
        )
        .label(format!("expected `:` and {what} after this"));
        if in_type {
            return Some(Finding::fatal(
                problem.help(format!("write `{word}: str`, or another type")),
            ));
        }
        let problem =
            problem.help(format!("write `{word}: {word}` to take the value of that name"));
        return Some(match name.kind {
            Kind::Word => Finding::repaired(
                problem.edit(gap, format!(": {word}")),
                end..end,
                format!(": {word}"),
            ),
            _ => Finding::repaired(problem, end..end, format!(": {HOLE}")),
        });
    }
    let problem = Problem::error("syntax::colon", gap, format!("`:` is missing after `{word}`"))
        .label("expected `:` here")
        .edit(gap, ":");
    Some(Finding::repaired(problem, end..end, ":"))
}

fn comma(at: &At<'_>) -> Option<Finding> {
    let starts = at.starts_value() || matches!(at.word(), ".." | "@");
    if !at.failure.wants(",") || !starts || !(at.ended_value() || at.word_before() == "?") {
        return None;
    }
    let (_, open) = at.bracket()?;
    let opener = at.view.token(open)?;
    let end = at.end_before();
    let problem = Problem::error(
        "syntax::missing_comma",
        at.gap(),
        format!("a comma is missing before {}", at.described()),
    )
    .label("expected `,` here")
    .also(at.view.span_of(opener), "in the list that starts here")
    .edit(at.gap(), ",");
    // Behind a line nothing else can be missing; on one line it may be an operator.
    let problem = if at.view.leads_line(at.index) { problem.certain() } else { problem };
    Some(Finding::repaired(problem, end..end, ","))
}

/// `if a b else c` without braces.
fn block(at: &At<'_>) -> Option<Finding> {
    if !at.failure.wants("{")
        || at.failure.wants_value()
        || at.failure.wants_type()
        || at.failure.wants_declaration()
    {
        return None;
    }
    let opener =
        (0..at.index).rev().find(|index| matches!(at.view.word(*index), "if" | "for" | "else"))?;
    let word = at.view.word(opener);
    let what = if word == "for" { "body of a `for`" } else { "branch of an `if`" };
    let problem =
        Problem::error("syntax::missing_block", at.here(), format!("the {what} stands in braces"))
            .label("expected `{` here")
            .also(at.view.span_of(at.view.token(opener)?), format!("belongs to this `{word}`"))
            .help("write `if condition { a } else { b }` and `for x in xs { … }`");
    Some(Finding::fatal(problem))
}

/// A value that is wanted and not there.
pub(super) fn value(at: &At<'_>) -> Option<Finding> {
    if at.failure.wants_type() && !at.starts_value() {
        return missing_type(at);
    }
    if !at.failure.wants_value() {
        return None;
    }
    let token = at.token();
    let word = at.word();
    if word == "," && matches!(at.word_before(), "," | "(" | "[" | "{") {
        let span = at.here();
        let problem =
            Problem::error("syntax::extra_comma", span, "nothing stands before the comma");
        let problem = problem.label("one comma too many").edit(span, "");
        return Some(Finding::repaired(problem, token?.start..token?.end, ""));
    }
    let ends = token.is_none_or(|token| matches!(token.kind, Kind::Close(_) | Kind::Symbol))
        || matches!(word, "and" | "or" | "in" | "else" | "where")
        || at.starts_declaration();
    if !ends || matches!(word, "@" | "!" | "&" | "->" | "=>" | "=" | "." | "?" | ":") {
        return None;
    }
    let before = at.before()?;
    let end = before.end;
    let message = match at.word_before() {
        "=" => match at.keyword() {
            Some((_, index)) if index + 2 < at.index => {
                format!("`{}` has no value", at.view.word(index + 1))
            }
            _ => "`=` has no value".to_owned(),
        },
        ":" => "a value is missing after `:`".to_owned(),
        "=>" => "the function has no value after `=>`".to_owned(),
        "(" => "there is no value between the parentheses".to_owned(),
        _ if word == "}" => "the block has no value".to_owned(),
        sign => format!("a value is missing after `{sign}`"),
    };
    let (gap, help) = match word {
        "}" => (at.gap(), "a block ends with the value it stands for"),
        _ => (at.gap(), "write a value"),
    };
    let span = if at.word_before().len() <= 3 { at.view.span_of(before) } else { gap };
    let problem =
        Problem::error("syntax::missing_value", span, message).label("expected a value after this");
    Some(Finding::repaired(problem.help(help), end..end, format!(" {HOLE} ")))
}

fn missing_type(at: &At<'_>) -> Option<Finding> {
    let before = at.before()?;
    let problem = Problem::error("syntax::missing_type", at.view.span_of(before), format!("a type is missing after `{}`", at.word_before()))
        .label("expected a type after this")
        .help("types are `bool int float str path time duration size`, `[T]`, `{ a: T }`, `T?`, `\"a\" | \"b\"` and the names of others");
    Some(Finding::fatal(problem))
}
