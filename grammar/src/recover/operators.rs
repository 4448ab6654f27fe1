//! Operators and punctuation of other languages, and ours in the wrong place.

use super::finding::Finding;
use super::view::At;
use crate::problem::Problem;
use crate::scan::Kind;
use crate::words;
use std::ops::Range;

/// A sign or word that stands for one of ours.
pub(super) fn slip(at: &At<'_>) -> Option<Finding> {
    equals_signs(at)
        .or_else(|| logic(at))
        .or_else(|| foreign(at))
        .or_else(|| arrow(at))
        .or_else(|| colon(at))
        .or_else(|| call_space(at))
        .or_else(|| word(at))
}

fn replace(
    at: &At<'_>,
    code: &'static str,
    message: String,
    range: Range<usize>,
    with: &str,
) -> Finding {
    let span = at.view.span(range.clone());
    let problem = Problem::error(code, span, message).label(format!("write `{with}`"));
    Finding::repaired(problem.edit(span, with), range, with)
}

/// `===`, `!==`, `=<`, `let x := 1`, `let x == 1`, `if a = b`.
fn equals_signs(at: &At<'_>) -> Option<Finding> {
    let token = at.token()?;
    let (word, before) = (at.word(), at.before());
    let touches = before.is_some_and(|before| before.end == token.start);
    let inside = at.failure.at == token.start + 1 && word.len() == 2;
    if matches!(word, ":=" | "==")
        && (inside || at.failure.wants("="))
        && !at.failure.wants_operator()
    {
        let message = format!("a value is bound with `=`, not with `{word}`");
        return Some(replace(at, "syntax::equals", message, token.start..token.end, "="));
    }
    let two = at.word_before();
    if word == "=" && touches && matches!(two, "==" | "!=") {
        let start = before?.start;
        let message = format!("there is no operator `{two}=`");
        return Some(replace(at, "syntax::unknown_operator", message, start..token.end, two));
    }
    if word == "=" && at.failure.wants_operator() && !colon_place(at) && !at.failure.wants("=") {
        let message = "`=` binds a name and does not compare".to_owned();
        return Some(replace(at, "syntax::equality", message, token.start..token.end, "=="));
    }
    if word == "<" && two == "=" && touches && at.failure.wants_value() {
        let message = "there is no operator `=<`".to_owned();
        return Some(replace(
            at,
            "syntax::unknown_operator",
            message,
            before?.start..token.end,
            "<=",
        ));
    }
    None
}

/// `&&`, `||`, `!a`, `&`, `|`.
fn logic(at: &At<'_>) -> Option<Finding> {
    let token = at.token()?;
    let meant = match at.word() {
        "&&" | "&" if at.failure.wants_operator() => "and",
        "||" | "|" if at.failure.wants_operator() => "or",
        "!" if at.failure.wants_value() => "not",
        _ => return None,
    };
    let message = format!("`{}` is written `{meant}`", at.word());
    let tail =
        at.view.text().as_bytes().get(token.end).is_some_and(|byte| !byte.is_ascii_whitespace());
    let head = token.start > 0
        && at.view.text().as_bytes().get(token.start - 1).is_some_and(u8::is_ascii_alphanumeric);
    let with = format!("{}{meant}{}", if head { " " } else { "" }, if tail { " " } else { "" });
    let span = at.view.span_of(token);
    let problem = Problem::error("syntax::logic", span, message).label(format!("write `{meant}`"));
    let problem = problem.help("logic is written `and`, `or`, `not`").edit(span, with.as_str());
    Some(Finding::repaired(problem, token.start..token.end, with))
}

/// `<>`, `**`, `a ? b : c`, `+=`.
fn foreign(at: &At<'_>) -> Option<Finding> {
    let token = at.token()?;
    let span = at.view.span_of(token);
    let range = token.start..token.end;
    match at.word() {
        "<>" if at.failure.wants_value() => {
            let message = "there is no operator `<>`".to_owned();
            Some(replace(at, "syntax::unknown_operator", message, range, "!="))
        }
        "**" => {
            let problem =
                Problem::error("syntax::unknown_operator", span, "there is no operator `**`")
                    .label("not an operator")
                    .help("write `math.pow(a, exponent: b)` for powers");
            Some(Finding::repaired(problem, range, "*"))
        }
        "?" if at.failure.wants_operator() => {
            let problem =
                Problem::error("syntax::ternary", span, "a choice is not written with `?` and `:`")
                    .label("not an operator")
                    .help("write `if condition { a } else { b }`");
            Some(Finding::fatal(problem))
        }
        _ => None,
    }
}

/// `row -> a` for `row => a`, and `=>` or `:` before a function's result type.
fn arrow(at: &At<'_>) -> Option<Finding> {
    let token = at.token()?;
    let word = at.word();
    if word == "->" && (at.failure.wants("=>") || at.failure.wants_value()) {
        let message = "the body of a function value follows `=>`".to_owned();
        return Some(replace(at, "syntax::arrow", message, token.start..token.end, "=>"));
    }
    let result = at.failure.wants("->") || (word == "=>" && at.failure.at == token.start + 1);
    if result && matches!(word, "=>" | ":") && at.word_before() == ")" {
        let message = "the type of a result follows `->`".to_owned();
        let glued = at.end_before() == token.start;
        let with = if glued { " ->" } else { "->" };
        return Some(replace(at, "syntax::arrow", message, token.start..token.end, with));
    }
    None
}

/// The place is behind the name of an argument or of a field.
fn colon_place(at: &At<'_>) -> bool {
    let named =
        at.before().is_some_and(|token| matches!(token.kind, Kind::Word | Kind::Str { .. }));
    let Some(second) = at.index.checked_sub(2) else { return false };
    let starts = matches!(at.view.word(second), "(" | "{" | ",");
    named && starts && at.bracket().is_some_and(|(byte, _)| matches!(byte, b'(' | b'{'))
}

/// `f(a = 1)` and `{ a = 1 }`.
fn colon(at: &At<'_>) -> Option<Finding> {
    let token = at.token()?;
    if !matches!(at.word(), "=" | "=>" | ":=") || !colon_place(at) || at.in_parameters() {
        return None;
    }
    let name = at.word_before();
    let kind =
        if at.bracket().is_some_and(|(byte, _)| byte == b'(') { "an argument" } else { "a field" };
    let range = at.end_before()..token.end;
    let span = at.view.span(range.clone());
    let place = at.view.span_of(token);
    let problem = Problem::error(
        "syntax::colon",
        place,
        format!("{kind} is given with `:`, not with `{}`", at.word()),
    )
    .label(format!("write `{name}: …`"))
    .edit(span, ":");
    Some(Finding::repaired(problem, range, ":"))
}

/// `f (x)` and `xs [0]` on one line.
fn call_space(at: &At<'_>) -> Option<Finding> {
    let (token, before) = (at.token()?, at.before()?);
    let blank = at.view.slice(before.end..token.start);
    let in_list = at.bracket().is_some_and(|(byte, _)| byte == b'[');
    let callable = match before.kind {
        Kind::Word => !words::is_reserved(at.word_before()),
        Kind::Close(byte) => byte != b'}',
        _ => false,
    };
    let opens = at.word() == "(" || (at.word() == "[" && !in_list);
    if !opens
        || !callable
        || !at.failure.wants_operator()
        || blank.is_empty()
        || blank.contains('\n')
    {
        return None;
    }
    let span = at.view.span(before.end..token.start);
    let sign = at.word();
    let problem = Problem::error(
        "syntax::call_space",
        at.view.span_of(token),
        format!("`{sign}` has to touch what it follows"),
    )
    .label("a blank stands before it")
    .edit(span, "");
    Some(Finding::repaired(problem, before.end..token.start, ""))
}

/// `elif`, `for x of xs`, `is`.
fn word(at: &At<'_>) -> Option<Finding> {
    let token = at.token()?;
    if token.kind != Kind::Word {
        return None;
    }
    let range = token.start..token.end;
    let word = at.word();
    if at.failure.wants("else") && matches!(word, "elif" | "elseif" | "elsif" | "elsf") {
        let message = format!("`{word}` is written `else if`");
        return Some(replace(at, "syntax::missing_else", message, range, "else if"));
    }
    if at.failure.wants("=")
        && matches!(word, "from" | "as" | "is" | "be")
        && !at.failure.wants_operator()
    {
        let message = format!("`=` is missing; `{word}` is not a word of this language");
        return Some(replace(at, "syntax::missing_equals", message, range, "="));
    }
    let unread = at.failure.wants("in") && !at.failure.wants_operator();
    if unread && matches!(word, "of" | "from" | "IN" | "over") {
        let message = format!("a loop is written `for x in xs`, not with `{word}`");
        return Some(replace(at, "syntax::missing_in", message, range, "in"));
    }
    if !at.failure.wants_operator() {
        return None;
    }
    let meant = match word {
        "is" | "eq" => "==",
        "AND" | "And" => "and",
        "OR" | "Or" => "or",
        "mod" => "%",
        _ => return None,
    };
    Some(replace(
        at,
        "syntax::unknown_operator",
        format!("there is no operator `{word}`"),
        range,
        meant,
    ))
}
