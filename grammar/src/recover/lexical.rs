//! Characters and strings that no program contains: foreign quotes, comments of other languages, stray signs.

use super::finding::{Finding, HOLE, unclosed_string};
use super::view::View;
use crate::problem::Problem;
use crate::scan::{Kind, Scanner, Token, interpolations};

/// The first such thing.
pub(super) fn first(view: &View<'_>) -> Option<Finding> {
    view.tokens.iter().enumerate().find_map(|(index, token)| match token.kind {
        Kind::Odd(_) if token.text(view.text()) == HOLE => None,
        Kind::Odd(odd) => Some(odd_character(view, index, *token, odd)),
        Kind::Str { closed: false, triple: true } => Some(unclosed_text(view, *token)),
        Kind::Str { closed: false, triple: false } => Some(unclosed(view, *token)),
        Kind::Symbol if token.text(view.text()) == "/" => foreign_comment(view, index, *token),
        _ => None,
    })
}

/// The characters in the file that stand for holes in repaired text. They have to go first.
pub(super) fn holes(view: &View<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, token) in view.tokens.iter().enumerate() {
        let mut written = Vec::new();
        holes_in(view.text(), *token, &mut written);
        let holes = written.into_iter().map(|hole| odd_character(view, index, hole, '\u{1A}'));
        found.extend(holes);
    }
    found
}

/// The holes that a token is, or that the interpolations of a string hold.
fn holes_in(text: &str, token: Token, found: &mut Vec<Token>) {
    if token.text(text) == HOLE {
        found.push(token);
    } else if matches!(token.kind, Kind::Str { .. }) && token.text(text).contains(HOLE) {
        for range in interpolations(text, token) {
            let inside =
                Scanner::from(text, range.start).take_while(|token| token.start < range.end);
            inside.for_each(|token| holes_in(text, token, found));
        }
    }
}

fn odd_character(view: &View<'_>, index: usize, token: Token, odd: char) -> Finding {
    if is_quote(odd) {
        return foreign_quote(view, token, odd);
    }
    let span = view.span_of(token);
    let range = token.start..token.end;
    if odd == ';' {
        let problem = Problem::error("syntax::semicolon", span, "declarations do not end in `;`")
            .label("not needed")
            .help("a new line, or nothing at all, separates declarations")
            .edit(span, "");
        return Finding::repaired(problem, range, " ");
    }
    if odd == '^' {
        let problem = Problem::error("syntax::unknown_operator", span, "there is no operator `^`")
            .label("not an operator")
            .help("write `math.pow(a, exponent: b)` for powers");
        return Finding::repaired(problem, range, "*");
    }
    if odd.is_alphanumeric() {
        return foreign_letter(view, index, token);
    }
    let problem =
        Problem::error("syntax::character", span, format!("unexpected character {}", shown(odd)));
    match look_alike(odd) {
        Some(meant) => {
            let problem = problem.label("looks like another one").edit(span, meant);
            let problem =
                if meant == " " { problem.help("replace it with a plain space") } else { problem };
            Finding::repaired(problem, range, meant)
        }
        None => {
            let problem = problem
                .label("not part of the language")
                .help("remove it, or put it into a string");
            Finding::repaired(problem.edit(span, ""), range, " ")
        }
    }
}

/// A name with letters beyond ASCII: read with `_` for each of them, so that it means the same everywhere.
fn foreign_letter(view: &View<'_>, index: usize, token: Token) -> Finding {
    let part = |token: &Token| {
        matches!(token.kind, Kind::Word | Kind::Number)
            || matches!(token.kind, Kind::Odd(c) if c.is_alphanumeric())
    };
    let (mut start, mut end) = (token.start, token.end);
    for before in view.tokens.iter().take(index).rev().take_while(|t| part(t)) {
        if before.end == start {
            start = before.start;
        }
    }
    for after in view.tokens.iter().skip(index + 1).take_while(|t| part(t)) {
        if after.start == end {
            end = after.end;
        }
    }
    let word = view.slice(start..end);
    let plain: String = word.chars().map(|c| if c.is_ascii() { c } else { '_' }).collect();
    let plain =
        if plain.starts_with(|c: char| c.is_ascii_digit()) { format!("_{plain}") } else { plain };
    let problem = Problem::error(
        "syntax::character",
        view.span(start..end),
        format!("`{word}` is not a name"),
    )
    .label("names are made of the letters a-z and A-Z, digits and `_`")
    .help(
        "choose a name without other letters; column names of any kind go in quotes: `row[\"…\"]`",
    );
    Finding::repaired(problem, start..end, plain)
}

fn is_quote(odd: char) -> bool {
    matches!(odd, '\'' | '`' | '“' | '”' | '„' | '‟' | '‘' | '’' | '‚' | '«' | '»' | '″')
}

/// Text in quotes of another kind: both quotes are replaced when the second is on the line.
fn foreign_quote(view: &View<'_>, token: Token, odd: char) -> Finding {
    let span = view.span_of(token);
    let line = view.slice(token.end..view.text().len());
    let line = line.split('\n').next().unwrap_or("");
    let closing = |c: char| {
        if matches!(odd, '\'' | '`') { c == odd } else { is_quote(c) && !matches!(c, '\'' | '`') }
    };
    let end = line.char_indices().find(|(_, c)| closing(*c) || *c == '"');
    let problem = Problem::error(
        "syntax::quotes",
        span,
        format!("strings are written in `\"`, not in `{odd}`"),
    );
    let Some((at, close)) = end.filter(|(_, c)| *c != '"') else {
        let problem = problem.label("not a quote of this language").edit(span, "\"");
        return Finding::repaired(problem, token.start..token.end, "\"").guess();
    };
    let close = token.end + at..token.end + at + close.len_utf8();
    let last = view.span(close.clone());
    let problem = problem
        .label("opened here")
        .also(last, "closed here")
        .help(format!("write `\"{}\"`", view.slice(token.end..close.start)))
        .edit(span, "\"")
        .edit(last, "\"");
    // What is inside means the same between our quotes, unless it holds a sign of ours.
    let plain = !view.slice(token.end..close.start).contains(['\\', '$']);
    let problem = if plain { problem.certain() } else { problem };
    let repairs = vec![(token.start..token.end, "\"".to_owned()), (close, "\"".to_owned())];
    Finding { problem, repairs, guess: false }
}

fn unclosed_text(view: &View<'_>, token: Token) -> Finding {
    let open = view.span(token.start..token.start + 3);
    let body = view.slice(token.start..token.end);
    let end = token.start + body.trim_end().len();
    let problem =
        Problem::error("syntax::unclosed_string", open, "the text after `\"\"\"` is never closed")
            .label("opened here")
            .also(view.span(end..end), "nothing closes it up to here")
            .help("close it with `\"\"\"`");
    Finding::repaired(problem, end..end, "\"\"\"").guess()
}

/// Closes a string at the end of its line, or before the brackets and commas there when that balances them.
fn unclosed(view: &View<'_>, token: Token) -> Finding {
    let line = view.slice(token.start..token.end);
    let trimmed = line.trim_end();
    let mut at = token.start + trimmed.len();
    let index = view.tokens.partition_point(|known| known.start < token.start);
    let mut open = view.open_before(index).len();
    for (offset, sign) in trimmed.char_indices().rev() {
        match sign {
            ')' | ']' | '}' if open > 0 => open -= 1,
            ',' => {}
            _ => break,
        }
        at = token.start + offset;
    }
    let end = view.span(token.end..token.end);
    let place = view.span(at..at);
    let head = view.slice(token.start..at);
    let closing =
        ["\"", "}\"", ")}\""].into_iter().find(|closing| closes(&format!("{head}{closing}")));
    let problem = unclosed_string(view.span(token.start..token.start + 1), end);
    match closing {
        Some(closing) => Finding::repaired(problem.edit(place, closing), at..at, closing).guess(),
        None => Finding::fatal(problem),
    }
}

fn closes(string: &str) -> bool {
    let token = Scanner::new(string).next();
    token.is_some_and(|token| {
        matches!(token.kind, Kind::Str { closed: true, .. }) && token.end == string.len()
    })
}

fn foreign_comment(view: &View<'_>, index: usize, token: Token) -> Option<Finding> {
    let next = view.token(index + 1)?;
    let sign = view.slice(token.start..next.end);
    if next.start != token.end || !(sign == "//" || sign.starts_with("/*")) {
        return None;
    }
    let rest = view.slice(token.start..view.text().len());
    let line = rest.split('\n').next().unwrap_or("").trim_end();
    let span = view.span(token.start..token.start + 2);
    let problem = Problem::error(
        "syntax::comment",
        span,
        format!("`{}` does not start a comment", sign.get(..2)?),
    );
    if sign == "//" {
        let problem = problem.label("comments start with `#`").edit(span, "#");
        return Some(Finding::repaired(problem, token.start..token.start + line.len(), " "));
    }
    let length = rest.find("*/").map_or(line.len(), |end| end + 2);
    let text = rest.get(2..length.saturating_sub(2)).unwrap_or("").trim();
    let whole = view.span(token.start..token.start + length);
    let ends_line = rest
        .get(length..)
        .is_some_and(|tail| tail.split('\n').next().unwrap_or("").trim().is_empty());
    let mut problem = problem
        .label("comments start with `#` and end with the line")
        .help("start each line of it with `#`");
    if ends_line && !text.contains('\n') {
        problem = problem.edit(whole, format!("# {text}"));
    }
    Some(Finding::repaired(problem, token.start..token.start + length, " "))
}

/// What a look-alike of another script or a word processor stands for.
fn look_alike(odd: char) -> Option<&'static str> {
    Some(match odd {
        '−' | '–' | '—' => "-",
        '×' | '·' => "*",
        '÷' => "/",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '→' => "->",
        '⇒' => "=>",
        '…' => "..",
        ',' | '、' => ",",
        ':' => ":",
        '(' => "(",
        ')' => ")",
        '=' => "=",
        c if c.is_whitespace() => " ",
        _ => return None,
    })
}

fn shown(odd: char) -> String {
    if odd.is_control()
        || odd.is_whitespace()
        || ('\u{200B}'..='\u{200F}').contains(&odd)
        || odd == '\u{FEFF}'
    {
        format!("U+{:04X}", odd as u32)
    } else {
        format!("`{odd}`")
    }
}
