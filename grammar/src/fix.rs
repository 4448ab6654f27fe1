//! Applying the fixes that change only how a thing is spelled, until nothing is left to apply.

use crate::parse::parse;
use crate::problem::{Applicability, Edit, Problem};
use crate::source::SourceFile;
use std::collections::BTreeMap;

/// Rounds after which fixing ends; each leaves fewer errors than the one before.
const ROUNDS: usize = 64;

/// A program with its safe fixes applied.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// The text.
    pub text: String,
    /// How often problems of each code were fixed.
    pub fixed: BTreeMap<&'static str, usize>,
}

/// Applies every fix that is [`Applicability::Safe`]. The text that comes out has fewer errors, or is the text that came
/// in. Fixes have no line breaks, so those of the file stay as they are.
#[must_use]
pub fn fix(source: &SourceFile) -> Fixed {
    let mut out = Fixed { text: source.text.clone(), fixed: BTreeMap::new() };
    for _ in 0..ROUNDS {
        let file = SourceFile::new(source.id, source.name.as_str(), out.text.as_str());
        let problems = parse(&file).problems;
        let safe =
            problems.iter().filter(|problem| problem.applicability() == Some(Applicability::Safe));
        let safe: Vec<&Problem> = safe.collect();
        let errors = count(&problems);
        let better = [apart(&safe), safe.first().copied().into_iter().collect()]
            .into_iter()
            .filter(|chosen| !chosen.is_empty())
            .find_map(|chosen| {
                let text = applied(&out.text, &chosen)?;
                let file = SourceFile::new(source.id, source.name.as_str(), text.as_str());
                (count(&parse(&file).problems) < errors).then_some((chosen, text))
            });
        let Some((chosen, text)) = better else { break };
        for problem in chosen {
            *out.fixed.entry(problem.code).or_default() += 1;
        }
        out.text = text;
    }
    out
}

fn count(problems: &[Problem]) -> usize {
    problems.iter().filter(|problem| problem.is_error()).count()
}

/// The problems whose edits do not meet those of one before.
fn apart<'p>(problems: &[&'p Problem]) -> Vec<&'p Problem> {
    let mut taken: Vec<&Edit> = Vec::new();
    let mut chosen = Vec::new();
    for problem in problems {
        let meets = |edit: &Edit| {
            let meets = |other: &&Edit| {
                edit.span.start <= other.span.end && other.span.start <= edit.span.end
            };
            taken.iter().any(meets)
        };
        if !problem.edits.iter().any(meets) {
            taken.extend(&problem.edits);
            chosen.push(*problem);
        }
    }
    chosen
}

fn applied(text: &str, problems: &[&Problem]) -> Option<String> {
    let mut edits: Vec<&Edit> = problems.iter().flat_map(|problem| &problem.edits).collect();
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.span.start, edit.span.end)));
    let mut text = text.to_owned();
    for edit in edits {
        let range = edit.span.start as usize..edit.span.end as usize;
        text.get(range.clone())?;
        text.replace_range(range, &edit.replacement);
    }
    Some(text)
}
