//! The heads of declarations: their keyword, their name, their type.

use super::finding::{Finding, HOLE, reserved_word};
use super::view::{At, View};
use crate::ast::Name;
use crate::problem::Problem;
use crate::scan::Kind;
use crate::words;

/// The name that a declaration binds, when that much can be read.
pub(super) fn bound_name(view: &View<'_>) -> Option<Name> {
    let mut indices = 0..view.tokens.len();
    let keyword = indices.find(|index| words::DECLARATIONS.contains(&view.word(*index)));
    let index = keyword.map_or(1, |keyword| keyword + 1);
    let token = view.token(index)?;
    let first = view.token(0)?;
    (token.kind == Kind::Word && (keyword.is_some() || first.kind == Kind::Word))
        .then(|| Name { text: token.text(view.text()).to_owned(), span: view.span_of(token) })
}

/// Where a declaration should start stands something else.
pub(super) fn unknown(at: &At<'_>) -> Option<Finding> {
    let index = head(at.view);
    let Some(token) = at.view.token(index) else {
        let problem = Problem::error(
            "syntax::lone_attribute",
            at.gap(),
            "no declaration follows the attribute",
        )
        .label("expected a declaration after this")
        .help("put the attribute directly above the declaration it belongs to");
        return Some(Finding::fatal(problem));
    };
    let (word, span) = (at.view.word(index), at.view.span_of(token));
    let value = matches!(word, "if" | "for" | "not" | "true" | "false" | "none");
    if words::DECLARATIONS.contains(&word) || at.failure.rule_at > token.start {
        return None;
    }
    let keywords = format!("a declaration starts with one of {}", words::DECLARATIONS.join(", "));
    let problem = Problem::error(
        "syntax::unknown_declaration",
        span,
        format!("`{word}` does not start a declaration"),
    );
    if token.kind != Kind::Word {
        return Some(Finding::fatal(problem.label("expected a declaration").help(keywords)));
    }
    let named = at.view.token(index + 1).is_some_and(|next| next.kind == Kind::Word);
    if !named && matches!(at.view.word(index + 1), "=" | ":" | ":=") {
        let place = at.view.span(token.start..token.start);
        let problem = problem.label("a name alone binds nothing");
        return Some(Finding::repaired(
            problem.edit(place, "let "),
            token.start..token.start,
            "let ",
        ));
    }
    let meant = words::did_you_mean(word, words::DECLARATIONS)
        .or_else(|| words::meant_word(word).filter(|word| words::DECLARATIONS.contains(word)));
    match meant {
        Some(meant) if named && !value => {
            let problem = problem.label(format!("did you mean `{meant}`?")).edit(span, meant);
            Some(Finding::repaired(problem, token.start..token.end, meant))
        }
        _ if named && !value => {
            Some(Finding::fatal(problem.label("unknown keyword").help(keywords)))
        }
        _ => {
            let place = at.view.span(token.start..token.start);
            let problem = Problem::error("syntax::bare_value", span, "a value alone does nothing")
                .label("expected a declaration")
                .help("give it a name with `let name = …`, or write it out with `output name = …`")
                .edit(place, "let value = ");
            Some(Finding::fatal(problem))
        }
    }
}

/// The first token behind the attributes.
pub(super) fn head(view: &View<'_>) -> usize {
    let mut index = 0;
    while view.word(index) == "@" {
        index += 2;
        let touches = |i: usize| {
            view.token(i).zip(view.token(i - 1)).is_some_and(|(open, name)| open.start == name.end)
        };
        if view.word(index) == "(" && touches(index) {
            let inside = view.open_before(index).len();
            index += 1;
            while index < view.tokens.len() && view.open_before(index).len() > inside {
                index += 1;
            }
        }
    }
    index
}

/// A reserved word where a name is bound or a value is wanted.
pub(super) fn reserved(at: &At<'_>) -> Option<Finding> {
    let index = at.view.tokens.partition_point(|token| token.start < at.failure.rule_at);
    let token = at.view.token(index)?;
    let word = at.view.word(index);
    let near = index == at.index || index + 1 == at.index;
    let literal = matches!(word, "true" | "false" | "none");
    let before = index.checked_sub(1).map_or("", |before| at.view.word(before));
    if !near || !words::is_reserved(word) || token.start != at.failure.rule_at || before == "." {
        return None;
    }
    let next = at.view.word(index + 1);
    let binds =
        words::DECLARATIONS.contains(&before) || before == "for" || (literal && next == "=>");
    let leads =
        at.view.leads_line(index) && at.view.token(index + 1).is_some_and(|t| t.kind == Kind::Word);
    if binds && !leads {
        let span = at.view.span_of(token);
        let new = format!("{word}_");
        return Some(Finding::repaired(
            reserved_word(word, span).edit(span, new.as_str()),
            token.start..token.end,
            new,
        ));
    }
    if word == "fn" && next == "(" {
        let problem = Problem::error(
            "syntax::arrow",
            at.view.span_of(token),
            "a function value has no keyword",
        )
        .label("`fn` only starts a declaration")
        .help("write `x => value` or `(a, b) => value`");
        return Some(Finding::fatal(problem));
    }
    let operand = matches!(word, "and" | "or" | "in" | "else" | "where" | "if" | "for" | "not");
    let declares = words::DECLARATIONS.contains(&word) && leads;
    let ends = matches!(next, "," | ")" | "]" | "}" | "." | "(" | "") || !at.failure.wants_value();
    if operand || declares || literal || !ends || index > at.index {
        return None;
    }
    let problem = Problem::error(
        "syntax::reserved_word",
        at.view.span_of(token),
        format!("`{word}` is a reserved word"),
    )
    .label("a value is expected here")
    .help("use the name of a value; reserved words are names only behind `.` and before `:`");
    Some(Finding::repaired(problem, token.start..token.end, HOLE))
}

/// `check good: bool = …` and `check good: …`.
fn typed_check(at: &At<'_>) -> Option<Finding> {
    let colon = at.token()?;
    let inside = at.view.open_before(at.index).len();
    let mut rest = at.index..at.view.tokens.len();
    let equals = rest.find(|i| at.view.word(*i) == "=" && at.view.open_before(*i).len() == inside);
    let end = equals.and_then(|index| at.view.token(index)).map_or(colon.end, |token| token.end);
    let span = at.view.span(colon.start..end);
    let problem = Problem::error(
        "syntax::equals",
        at.here(),
        "a check has no type; its condition follows `=`",
    )
    .label("write `=`")
    .help("write `check name = condition`")
    .edit(span, " =");
    Some(Finding::repaired(problem, colon.start..end, " ="))
}

/// What is missing or wrong between the keyword and the value.
pub(super) fn header(at: &At<'_>) -> Option<Finding> {
    missing_name(at).or_else(|| missing_type(at)).or_else(|| missing_equals(at))
}

fn missing_name(at: &At<'_>) -> Option<Finding> {
    let before = at.word_before();
    let declares = words::DECLARATIONS.contains(&before)
        && at.index.checked_sub(2).is_none_or(|i| at.view.word(i) != ".");
    let wants = at.failure.wants_name() || at.failure.at <= at.end_before();
    if !declares
        || !wants
        || at.token().is_some_and(|token| token.kind == Kind::Word && !at.starts_declaration())
    {
        return None;
    }
    let problem = Problem::error(
        "syntax::missing_name",
        at.here(),
        format!("`{before}` needs a name"),
    )
    .label(format!("expected a name, found {}", at.described()))
    .help(format!(
        "write `{before} name …`; names are letters, digits and `_`, and do not start with a digit"
    ));
    Some(Finding::fatal(problem))
}

/// `param x = 1` and `fn f(x)`.
fn missing_type(at: &At<'_>) -> Option<Finding> {
    let parameter = at.in_parameters();
    let declared = matches!(at.keyword(), Some(("param", index)) if index + 2 == at.index);
    if !at.failure.wants(":") || at.failure.wants_operator() || !(parameter || declared) {
        return None;
    }
    let name = at.word_before();
    let before = at.before()?;
    let guess = if at.word() == "=" { literal_type(at, at.index + 1) } else { None };
    let problem = Problem::error(
        "syntax::missing_type",
        at.view.span_of(before),
        format!("`{name}` needs a type"),
    );
    let gap = at.gap();
    match guess {
        Some(ty) => {
            let problem = problem.label("no type is given");
            Some(Finding::repaired(
                problem.edit(gap, format!(": {ty}")),
                before.end..before.end,
                format!(": {ty}"),
            ))
        }
        None => {
            let problem = problem.label("no type is given");
            Some(Finding::fatal(problem.help(format!("write `{name}: float`, or another type"))))
        }
    }
}

/// The type of a literal.
fn literal_type(at: &At<'_>, index: usize) -> Option<String> {
    let token = at.view.token(index)?;
    let word = at.view.word(index);
    match token.kind {
        Kind::Str { .. } => Some("str".to_owned()),
        Kind::Word if matches!(word, "true" | "false") => Some("bool".to_owned()),
        Kind::Number => {
            let unit =
                word.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_'));
            match words::unit(unit) {
                Some(crate::ast::Unit::Duration(..)) => Some("duration".to_owned()),
                Some(crate::ast::Unit::Size(..)) => Some("size".to_owned()),
                None if word.contains(['.', 'e', 'E']) => Some("float".to_owned()),
                None => Some("int".to_owned()),
            }
        }
        Kind::Open(b'[') => literal_type(at, index + 1).map(|item| format!("[{item}]")),
        _ => None,
    }
}

/// `let x 1`, `let x: 0.5`, `type A { … }`, `let x`.
fn missing_equals(at: &At<'_>) -> Option<Finding> {
    let (keyword, index) = at.keyword()?;
    let head = index + 2 >= at.index || at.failure.wants("=");
    if at.word_before() == ":"
        && index + 3 == at.index
        && at.failure.wants_type()
        && keyword != "param"
    {
        let token = at.token()?;
        let value = matches!(token.kind, Kind::Number)
            || matches!(at.word(), "true" | "false" | "none" | "-");
        let colon = at.before()?;
        if value {
            let span = at.view.span_of(colon);
            let problem =
                Problem::error("syntax::equals", span, "a value is bound with `=`, not with `:`")
                    .label("a type follows `:`")
                    .edit(span, " =");
            return Some(Finding::repaired(problem, colon.start..colon.end, " ="));
        }
    }
    if !at.failure.wants("=")
        || !head
        || at.failure.wants_operator()
        || keyword == "param" && !at.starts_value()
    {
        return None;
    }
    let before = at.before()?;
    let name = at.view.word(index + 1);
    let function = at.failure.wants("->") || (keyword == "fn" && at.word_before() != name);
    if at.word() == ":" && keyword == "check" {
        return typed_check(at);
    }
    let value = at.starts_value() || matches!(at.word(), "-" | "not");
    if value && !function {
        let problem = Problem::error(
            "syntax::missing_equals",
            at.gap(),
            format!("`=` is missing after `{}`", at.word_before()),
        )
        .label("expected `=` here")
        .edit(at.gap(), " =");
        return Some(Finding::repaired(problem, before.end..before.end, " ="));
    }
    if at.token().is_none() || at.starts_declaration() {
        let problem =
            Problem::error("syntax::missing_value", at.gap(), format!("`{name}` has no value"))
                .label("expected `=` and a value after this")
                .help(format!("write `{keyword} {name} = …`"));
        return Some(Finding::fatal(problem));
    }
    None
}
