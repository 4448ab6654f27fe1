//! Sentences of other languages: choices behind their value, comprehensions, `lambda`, `return`, `f"..."`.

use super::finding::Finding;
use super::view::At;
use crate::problem::Problem;
use crate::scan::Kind;

/// A sentence that is written otherwise here.
pub(super) fn sentence(at: &At<'_>) -> Option<Finding> {
    choice(at)
        .or_else(|| comprehension(at))
        .or_else(|| lambda(at))
        .or_else(|| returned(at))
        .or_else(|| formatted(at))
        .or_else(|| statement(at))
}

/// `a if c else b`.
fn choice(at: &At<'_>) -> Option<Finding> {
    if at.word() != "if" || !at.failure.wants_operator() || !at.ended_value() {
        return None;
    }
    let word = at.token()?;
    let level = at.view.open_before(at.index).len();
    let beside = |index: &usize| at.view.open_before(*index).len() == level;
    let otherwise = (at.index + 1..at.view.tokens.len())
        .take_while(|index| at.view.open_before(*index).len() >= level)
        .find(|index| beside(index) && at.view.word(*index) == "else")?;
    let start = value_start(at, level)?;
    let end = (otherwise + 1..at.view.tokens.len())
        .take_while(|index| !ends_value(at, *index, level))
        .last()
        .and_then(|last| at.view.token(last))?
        .end;
    let part = |from: usize, to: usize| at.view.slice(from..to).trim();
    let last = at.view.token(otherwise)?;
    let (value, condition) = (part(start, word.start), part(word.end, last.start));
    let text = format!("if {condition} {{ {value} }} else {{ {} }}", part(last.end, end));
    let problem = Problem::error(
        "syntax::ternary",
        at.here(),
        "a choice is written `if condition { a } else { b }`",
    )
    .label("the condition comes first")
    .help(format!("write `{}`", one_line(&text)))
    .edit(at.view.span(start..end), text.clone());
    Some(Finding::repaired(problem, start..end, text))
}

/// `[a for x in xs if c]`.
fn comprehension(at: &At<'_>) -> Option<Finding> {
    if at.word() != "for" || !at.failure.wants_operator() || !at.ended_value() {
        return None;
    }
    let (b'[', open) = at.bracket()? else { return None };
    let outside = at.view.open_before(open).len();
    let close = (at.index..at.view.tokens.len())
        .find(|index| at.view.open_before(index + 1).len() == outside)?;
    let (first, word, last) = (at.view.token(open)?, at.token()?, at.view.token(close)?);
    let value = at.view.slice(first.end..word.start).trim();
    let walk = at.view.slice(word.start..last.start).trim();
    let text = format!("{walk} {{ {value} }}");
    let problem = Problem::error(
        "syntax::missing_block",
        at.here(),
        "a list of results is written `for x in xs { value }`",
    )
    .label("the value comes last, in braces")
    .help(format!("write `{}`", one_line(&text)))
    .edit(at.view.span(first.start..last.end), text.clone());
    Some(Finding::repaired(problem, first.start..last.end, text))
}

/// `lambda row: row.x`.
fn lambda(at: &At<'_>) -> Option<Finding> {
    let word = at.before().filter(|_| at.word_before() == "lambda")?;
    let mut names = Vec::new();
    let mut index = at.index;
    while at.view.token(index)?.kind == Kind::Word {
        names.push(at.view.word(index));
        index += 1;
        if at.view.word(index) != "," {
            break;
        }
        index += 1;
    }
    let colon = at.view.token(index).filter(|_| at.view.word(index) == ":")?;
    let head = match names.as_slice() {
        [name] => format!("{name} =>"),
        names => format!("({}) =>", names.join(", ")),
    };
    let range = word.start..colon.end;
    let problem = Problem::error(
        "syntax::arrow",
        at.view.span_of(word),
        format!("a function value is written `{head} …`"),
    )
    .label("not a word of this language")
    .edit(at.view.span(range.clone()), head.as_str());
    Some(Finding::repaired(problem, range, head))
}

/// `return x` at the end of a body.
fn returned(at: &At<'_>) -> Option<Finding> {
    let word = at.before().filter(|_| at.word_before() == "return")?;
    let value = at.token().filter(|_| at.starts_value() || matches!(at.word(), "-" | "not"))?;
    let range = word.start..value.start;
    let problem = Problem::error(
        "syntax::block",
        at.view.span_of(word),
        "a body needs no `return`: its value stands last",
    )
    .label("not a word of this language")
    .edit(at.view.span(range.clone()), "");
    Some(Finding::repaired(problem, range, ""))
}

/// `f"value {x}"`.
fn formatted(at: &At<'_>) -> Option<Finding> {
    let letter = at.before().filter(|_| matches!(at.word_before(), "f" | "F" | "r" | "b"))?;
    let string = at.token().filter(|token| matches!(token.kind, Kind::Str { .. }))?;
    if letter.end != string.start {
        return None;
    }
    let span = at.view.span_of(letter);
    let problem = Problem::error(
        "syntax::quotes",
        span,
        format!("a string needs no `{}` before it", at.word_before()),
    )
    .label("not part of a string")
    .help("a value inside a string stands in `${...}`: `\"value ${x}\"`")
    .edit(span, "");
    Some(Finding::repaired(problem, letter.start..letter.end, ""))
}

/// A `for` or an `if` on a line of its own.
fn statement(at: &At<'_>) -> Option<Finding> {
    let complete = at.failure.wants_declaration() && at.view.open_before(at.index).is_empty();
    let word = at.word();
    if !complete || !matches!(word, "for" | "if") || !at.view.leads_line(at.index) {
        return None;
    }
    let token = at.token()?;
    let end = at.view.tokens.last().map_or(token.end, |last| last.end);
    let place = at.view.span(token.start..token.start);
    let problem = Problem::error(
        "syntax::bare_value",
        at.here(),
        format!("`{word}` gives a value, and nothing takes this one"),
    )
    .label("expected a declaration")
    .help(format!("give it a name: `let all = {word} …`"))
    .edit(place, "let all = ");
    Some(Finding::repaired(problem, token.start..end, ""))
}

/// Where the value begins that ends before the point.
fn value_start(at: &At<'_>, level: usize) -> Option<usize> {
    let before = (0..at.index).rev().find(|index| {
        let opens = at.view.open_before(index + 1).len() == level
            && at.view.open_before(*index).len() < level;
        let parts = matches!(at.view.word(*index), "," | ":" | "=" | "=>");
        opens || (parts && at.view.open_before(*index).len() == level)
    })?;
    Some(at.view.token(before + 1)?.start)
}

/// Whether the value that reaches to a token ends before it.
fn ends_value(at: &At<'_>, index: usize, level: usize) -> bool {
    let inside = at.view.open_before(index + 1).len();
    let comma = inside == level && matches!(at.view.word(index), ",");
    inside < level || comma || (inside == level && at.view.leads_line(index))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
