//! Brackets that nothing closes, that close nothing, or that close the wrong thing.

use super::finding::Finding;
use super::view::View;
use crate::problem::Problem;
use crate::scan::{Kind, Token, closer};

/// The first bracket that is wrong.
pub(super) fn first(view: &View<'_>) -> Option<Finding> {
    let mut open: Vec<(Token, u8)> = Vec::new();
    for token in &view.tokens {
        match token.kind {
            Kind::Open(byte) => open.push((*token, byte)),
            Kind::Close(byte) => match open.pop() {
                Some((_, opened)) if closer(opened) == byte => {}
                Some((opener, opened)) => {
                    let outer = open.last().is_some_and(|(_, outer)| closer(*outer) == byte);
                    return Some(mismatch(view, (opener, opened), (*token, byte), outer));
                }
                None => return Some(extra(view, *token, byte)),
            },
            _ => {}
        }
    }
    let (opener, byte) = open.pop()?;
    Some(unclosed(view, opener, byte))
}

fn unclosed(view: &View<'_>, opener: Token, byte: u8) -> Finding {
    let end = view.tokens.last().map_or(0, |token| token.end);
    let (sign, close) = (byte as char, closer(byte) as char);
    let problem = Problem::error(
        "syntax::unclosed",
        view.span_of(opener),
        format!("`{sign}` is never closed"),
    )
    .label(format!("`{sign}` opened here"))
    .also(view.span(end..end), "the declaration ends here")
    .edit(view.span(end..end), close);
    Finding::repaired(problem, end..end, close).guess()
}

fn mismatch(view: &View<'_>, opener: (Token, u8), token: (Token, u8), outer: bool) -> Finding {
    let (sign, close, found) = (opener.1 as char, closer(opener.1) as char, token.1 as char);
    let (place, opened) = (view.span_of(token.0), view.span_of(opener.0));
    if outer {
        let before = view
            .tokens
            .iter()
            .rev()
            .find(|known| known.end <= token.0.start)
            .map_or(token.0.start, |t| t.end);
        let problem =
            Problem::error("syntax::unclosed", opened, format!("`{sign}` is never closed"))
                .label(format!("`{sign}` opened here"))
                .also(place, format!("`{found}` closes an outer bracket before it"))
                .edit(view.span(before..before), close);
        return Finding::repaired(problem, before..before, close).guess();
    }
    let problem =
        Problem::error("syntax::mismatched", place, format!("`{found}` does not close `{sign}`"))
            .label(format!("expected `{close}`"))
            .also(opened, format!("`{sign}` opened here"))
            .edit(place, close);
    Finding::repaired(problem, token.0.start..token.0.end, close).guess()
}

fn extra(view: &View<'_>, token: Token, byte: u8) -> Finding {
    let place = view.span_of(token);
    let problem = Problem::error(
        "syntax::extra_bracket",
        place,
        format!("`{}` closes nothing", byte as char),
    )
    .label("no bracket is open here")
    .edit(place, "");
    Finding::repaired(problem, token.start..token.end, " ")
}
