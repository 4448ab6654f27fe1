//! What no particular rule explains.

use super::finding::Finding;
use super::view::At;
use crate::problem::Problem;

/// Something stands behind a declaration that is complete.
pub(super) fn trailing(at: &At<'_>) -> Option<Finding> {
    let complete = at.failure.wants_declaration() && at.view.open_before(at.index).is_empty();
    let token = at.token().filter(|_| complete)?;
    let end = at.view.tokens.last().map_or(token.end, |last| last.end);
    let mut problem =
        Problem::error("syntax::trailing", at.here(), format!("unexpected {}", at.described()));
    problem =
        problem.label("the declaration is complete before this").also(at.gap(), "complete here");
    problem = match at.word() {
        "where" => {
            problem.help("only a `param` has a condition; write `check name = …` for others")
        }
        "else" => problem.help("`else` follows the `}` of an `if`"),
        _ => problem.help("connect it with an operator, or remove it"),
    };
    Some(Finding::repaired(problem, token.start..end, ""))
}

/// The last resort: what stands here and what would do.
pub(super) fn token(at: &At<'_>) -> Finding {
    let failure = at.failure;
    let mut wanted: Vec<String> = Vec::new();
    if failure.wants_value() {
        wanted.push("a value".to_owned());
    } else if failure.wants_type() {
        wanted.push("a type".to_owned());
    } else if failure.wants_name() {
        wanted.push("a name".to_owned());
    }
    let signs = [",", ")", "]", "}", ":", "=", "->", "=>", "in", "else"];
    if wanted.is_empty() {
        wanted.extend(
            signs.iter().filter(|sign| failure.wants(sign)).map(|sign| format!("`{sign}`")),
        );
    }
    if failure.wants_operator() {
        wanted.push("an operator".to_owned());
    }
    if wanted.is_empty() {
        wanted.push("the end of the declaration".to_owned());
    }
    let label = format!("expected {}", wanted.join(" or "));
    let problem =
        Problem::error("syntax::unexpected", at.here(), format!("unexpected {}", at.described()))
            .label(label);
    Finding::fatal(problem)
}
