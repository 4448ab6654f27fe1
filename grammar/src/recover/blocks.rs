//! Braces around a value where no block stands: there they hold the fields of a record.

use super::finding::{Finding, HOLE};
use super::view::{At, View};
use crate::problem::Problem;
use crate::scan::Kind;

/// `let a = { let b = 1  b }`, `let a = { f(x) }` and `fn f(x: int) -> int = { … }`.
pub(super) fn misplaced(at: &At<'_>) -> Option<Finding> {
    let (b'{', open) = at.bracket()? else { return None };
    let (keyword, head) = at.keyword().filter(|(keyword, _)| *keyword != "type")?;
    let close = closing(at.view, open)?;
    let binds = starts_let(at, open);
    let value = starts_value(at, open) && holds_one(at.view, open, close);
    if !binds && !value {
        return None;
    }
    let (first, last) = (at.view.token(open)?, at.view.token(close)?);
    let (opened, closed) = (at.view.span_of(first), at.view.span_of(last));
    let problem = Problem::error(
        "syntax::block",
        opened,
        "a block stands only after `=>`, `if`, `else`, `for` and the head of a function",
    );
    let equals = open.checked_sub(1).and_then(|before| at.view.token(before));
    let body = keyword == "fn" && at.view.open_before(open).is_empty();
    if let Some(equals) =
        equals.filter(|equals| body && at.view.slice(equals.start..equals.end) == "=")
    {
        let before = (head..open - 1).last().and_then(|index| at.view.token(index))?;
        let range = before.end..equals.end;
        let problem = problem
            .label("here a block has no `=` before it")
            .edit(at.view.span(range.clone()), "");
        return Some(Finding::repaired(problem, range, ""));
    }
    let problem = problem.label("braces hold the fields of a record here");
    if binds {
        let problem = problem.help(
            "put its `let` in front of the declaration, or make it the body of a function: `fn name() -> float { … }`",
        );
        return Some(Finding::repaired(problem, first.start..last.end, HOLE));
    }
    let problem = problem
        .help("leave the braces out, or write parentheses")
        .edit(opened, "(")
        .edit(closed, ")");
    let repairs =
        vec![(first.start..first.end, "(".to_owned()), (last.start..last.end, ")".to_owned())];
    Some(Finding { problem, repairs, guess: false })
}

/// `{ let name`, read up to the name; attributes may stand before it.
fn starts_let(at: &At<'_>, open: usize) -> bool {
    let word = at.view.word(open + 1);
    let binds =
        word == "let" && at.view.token(open + 2).is_some_and(|next| next.kind == Kind::Word);
    let read = at.index == open + 1 || (at.index == open + 2 && at.failure.wants(":"));
    (binds && read) || (word == "@" && at.index == open + 1)
}

/// `{` and a value that no field starts with, read up to where it stops being one.
fn starts_value(at: &At<'_>, open: usize) -> bool {
    let Some(token) = at.view.token(open + 1) else { return false };
    let next = at.view.word(open + 2);
    match token.kind {
        Kind::Word | Kind::Str { .. } => {
            let operator = matches!(
                next,
                "." | "("
                    | "["
                    | "+"
                    | "-"
                    | "*"
                    | "/"
                    | "%"
                    | "|>"
                    | "??"
                    | "=="
                    | "!="
                    | "<"
                    | "<="
                    | ">"
                    | ">="
                    | "and"
                    | "or"
            );
            let leads = matches!(at.view.word(open + 1), "if" | "for" | "not");
            at.index == open + 2 && (operator || (leads && !matches!(next, "," | "}" | "=" | "")))
        }
        Kind::Number | Kind::Open(_) => {
            at.index == open + 1 && !matches!(next, ":" | "=" | "=>" | ",")
        }
        _ => false,
    }
}

/// Neither a comma nor a colon stands directly between the braces.
fn holds_one(view: &View<'_>, open: usize, close: usize) -> bool {
    let inside = view.open_before(open + 1).len();
    (open + 1..close).all(|index| {
        !matches!(view.word(index), "," | ":") || view.open_before(index).len() != inside
    })
}

/// The bracket that closes the one at `open`.
fn closing(view: &View<'_>, open: usize) -> Option<usize> {
    let outside = view.open_before(open).len();
    (open + 1..view.tokens.len()).find(|index| view.open_before(index + 1).len() == outside)
}
