//! Imports of other languages. Modules of the library need none, and a file is used under a name.

use super::declarations::head;
use super::finding::Finding;
use super::view::At;
use crate::problem::Problem;
use crate::scan::Kind;
use crate::words;

/// `import data`, `from data import read`, `use data`, `import "shop.pipe"`, `import shop from "shop.pipe"`.
pub(super) fn import(at: &At<'_>) -> Option<Finding> {
    let index = head(at.view);
    let first = at.view.token(index)?;
    let word = at.view.word(index);
    let foreign = words::meant_word(word) == Some("use");
    if !foreign && word != "use" {
        return None;
    }
    let second = at.view.token(index + 1)?;
    let named = at.view.word(index + 1);
    match (second.kind, at.view.token(index + 2).map(|third| third.kind)) {
        (Kind::Str { .. }, _) => Some(nameless(at, index, foreign)?),
        (Kind::Word, _) if matches!(at.view.word(index + 2), "=" | ":=" | ":") => None,
        (Kind::Word, Some(Kind::Str { .. })) => None,
        (Kind::Word, _) if matches!(named, "let" | "param" | "output" | "check") => None,
        (Kind::Word, Some(Kind::Word))
            if at.view.token(index + 3).is_some_and(|t| matches!(t.kind, Kind::Str { .. })) =>
        {
            let third = at.view.token(index + 2).filter(|_| foreign)?;
            let path = at.view.word(index + 3);
            let problem = told(at, index, foreign)
                .help(format!("write `use {named} = {path}`"))
                .edit(at.view.span_of(first), "use")
                .edit(at.view.span_of(third), "=");
            let repairs = vec![
                (first.start..first.end, "use".to_owned()),
                (third.start..third.end, "=".to_owned()),
            ];
            Some(Finding { problem, repairs, guess: false })
        }
        (Kind::Word, _) => {
            let problem = told(at, index, foreign).help(format!(
                "leave it out for a module of the library, such as `data`; a file is used with `use {named} = \"{named}.pipe\"`"
            ));
            Some(Finding::fatal(problem))
        }
        _ => None,
    }
}

/// A file without a name for it: the name is that of the file.
fn nameless(at: &At<'_>, index: usize, foreign: bool) -> Option<Finding> {
    let (first, path) = (at.view.token(index)?, at.view.token(index + 1)?);
    let text = at.view.word(index + 1).trim_matches('"');
    let stem = text.rsplit('/').next().unwrap_or("").trim_end_matches(".pipe");
    let name_like = !words::is_reserved(stem)
        && stem.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let problem = told(at, index, foreign);
    if !name_like || at.view.token(index + 2).is_some() {
        return Some(Finding::fatal(problem.help("write `use name = \"file.pipe\"`")));
    }
    let range = first.start..path.start;
    let text = format!("use {stem} = ");
    Some(Finding::repaired(problem.edit(at.view.span(range.clone()), text.as_str()), range, text))
}

fn told(at: &At<'_>, index: usize, foreign: bool) -> Problem {
    let word = at.view.word(index);
    let span = at.view.token(index).map_or_else(|| at.here(), |token| at.view.span_of(token));
    if foreign {
        let message = format!("`{word}` does not start a declaration");
        let problem = Problem::error("syntax::unknown_declaration", span, message);
        return problem.label("modules of the library need no import; files have a name");
    }
    Problem::error(
        "syntax::missing_equals",
        span,
        "`use` gives a file a name: `use name = \"file.pipe\"`",
    )
    .label("modules of the library need no `use`")
}
