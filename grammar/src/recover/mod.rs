//! What happens to a file that does not parse as a whole: diagnose, repair, parse again.
//!
//! The file is split into declarations. In each declaration that does not parse, the furthest point that the parser
//! reached is diagnosed; the finding carries a repair of the text, and parsing is tried again with it. So one
//! declaration can have several separate problems, a repaired declaration still has its whole tree (later stages see
//! no hole that was not reported), and an edit that is offered is known to read. Where no repair helps, the declaration
//! stays in the tree as broken, with its name. A problem that could stem from a repair's guess is not reported.

mod blocks;
mod brackets;
mod declarations;
mod failure;
mod finding;
mod lexical;
mod missing;
mod operators;
mod split;
mod unexpected;
mod uses;
mod view;

use crate::ast::{Item, ItemKind};
use crate::limits;
use crate::lower::Lower;
use crate::parse::Part;
use crate::patch::Patched;
use crate::problem::Problem;
use crate::scan::{Kind, Scanner};
use crate::source::{SourceFile, Span};
use crate::syntax::{Grammar, Rule};
use crate::trivia::Trivia;
use failure::Failure;
use finding::Finding;
use pest::Parser;
use std::ops::Range;
use view::View;

pub(crate) use finding::{HOLE, reserved_word, unclosed_string};

/// Repairs tried in one declaration.
const MAX_REPAIRS: usize = 24;

/// Declarations that are tried together when brackets or strings reach across them.
const MAX_MERGED: usize = 16;

/// Reads the declarations of a file one by one.
pub(crate) fn items(
    source: &SourceFile,
    start: usize,
    trivia: &Trivia,
) -> (Vec<Item>, Vec<Problem>, Vec<Part>) {
    let mut reader =
        Reader { source, trivia, items: Vec::new(), problems: Vec::new(), parts: Vec::new() };
    let chunks = split::split(&source.text, start);
    let mut rest = chunks.as_slice();
    while let Some(taken) = reader.next(rest) {
        rest = rest.get(taken..).unwrap_or_default();
    }
    (reader.items, reader.problems, reader.parts)
}

struct Reader<'a> {
    source: &'a SourceFile,
    trivia: &'a Trivia,
    items: Vec<Item>,
    problems: Vec<Problem>,
    parts: Vec<Part>,
}

/// What reading one part of the file gave.
struct Outcome {
    items: Vec<Item>,
    problems: Vec<Problem>,
    /// The bytes from the first token to the last.
    range: Range<usize>,
    /// The part has a whole tree, if need be after repairs.
    whole: bool,
}

impl Reader<'_> {
    /// Reads the first declaration, with its neighbours where that reads better. Gives how many chunks were taken.
    fn next(&mut self, chunks: &[Range<usize>]) -> Option<usize> {
        let first = chunks.first()?.clone();
        let alone = self.read(first.clone());
        if alone.problems.is_empty() {
            self.take(alone);
            return Some(1);
        }
        let reaches = split::reaches(
            &self.source.text,
            chunks.get(..MAX_MERGED.min(chunks.len())).unwrap_or(chunks),
        );
        for count in reaches {
            let Some(last) = chunks.get(count - 1) else { continue };
            let merged = self.read(first.start..last.end);
            if merged.whole
                && (merged.problems.is_empty()
                    || self.better(&merged, &alone, chunks.get(1..count)))
            {
                self.take(merged);
                return Some(count);
            }
        }
        self.take(alone);
        Some(1)
    }

    /// Whether one tree with its problems says less than the parts would say by themselves.
    fn better(&self, merged: &Outcome, alone: &Outcome, others: Option<&[Range<usize>]>) -> bool {
        let others = others.unwrap_or_default().iter().map(|chunk| self.read(chunk.clone()));
        let apart =
            others.map(|outcome| outcome.problems.len()).sum::<usize>() + alone.problems.len();
        merged.problems.len() < apart
    }

    fn take(&mut self, outcome: Outcome) {
        if outcome.problems.is_empty() {
            let first = self.items.len();
            self.parts.extend((first..first + outcome.items.len()).map(Part::Item));
        } else {
            self.parts.push(Part::Unread(outcome.range));
        }
        self.items.extend(outcome.items);
        self.problems.extend(outcome.problems);
    }

    fn read(&self, range: Range<usize>) -> Outcome {
        let part = self.source.text.get(range.clone()).unwrap_or("");
        let tokens = Scanner::new(part).filter(|token| token.kind != Kind::Comment);
        let length = tokens.last().map_or(0, |token| token.end);
        let range = range.start..range.start + length;
        let mut text = Patched::part(&self.source.text, range.clone());
        if let Some(at) = limits::nesting(&text.text) {
            let place = View::new(self.source.id, &text).span(at..at + 1);
            let items = vec![self.broken(&text)];
            return Outcome { items, problems: vec![limits::too_deep(place)], range, whole: false };
        }
        if !text.text.contains(finding::HOLE) && Grammar::parse(Rule::file, &text.text).is_ok() {
            return self.lower(&text, range, Vec::new());
        }
        let mut problems = Vec::new();
        for finding in lexical::holes(&View::new(self.source.id, &text)).into_iter().rev() {
            problems.push(finding.problem);
            for (range, replacement) in finding.repairs {
                text.replace(range, &replacement);
            }
        }
        // Where a repair was a guess: what fails from there on may be its fault.
        let mut guessed = usize::MAX;
        let mut reached = 0;
        for _ in 0..MAX_REPAIRS {
            let repaired = text.clone();
            let view = View::new(self.source.id, &repaired);
            let finding = match lexical::first(&view).or_else(|| brackets::first(&view)) {
                Some(finding) => finding,
                None => match Failure::of(&text.text) {
                    None => return self.lower(&text, range, problems),
                    Some(failure) if failure.stack => {
                        problems.push(limits::too_deep(view.span(0..0)));
                        break;
                    }
                    Some(failure) if failure.at >= guessed || failure.at < reached => break,
                    Some(failure) => {
                        reached = failure.at;
                        let view = view.opened(failure.at);
                        let failure = failure.before_reserved(view.text());
                        find(&view.at(&failure))
                    }
                },
            };
            let Finding { problem, repairs, guess } = finding;
            if speaks_of_repair(&problem) {
                break;
            }
            problems.push(problem);
            if repairs.is_empty() {
                break;
            }
            for (range, replacement) in repairs.into_iter().rev() {
                if guess {
                    guessed = guessed.min(range.start);
                } else if guessed != usize::MAX && range.start <= guessed {
                    guessed = (guessed + replacement.len()).saturating_sub(range.len());
                }
                text.replace(range, &replacement);
            }
        }
        let broken = self.broken(&text);
        Outcome { items: vec![broken], problems, range, whole: false }
    }

    fn lower(&self, text: &Patched, range: Range<usize>, mut problems: Vec<Problem>) -> Outcome {
        let mut lower = Lower::new(self.source.id, &self.source.text, self.trivia, text);
        let pairs = Grammar::parse(Rule::file, &text.text).ok();
        let file = pairs.and_then(|mut pairs| pairs.next());
        let items = file.map(|file| lower.items(file)).unwrap_or_default();
        problems.append(&mut lower.problems);
        Outcome { items, problems, range, whole: true }
    }

    fn broken(&self, text: &Patched) -> Item {
        let view = View::new(self.source.id, text);
        let name = declarations::bound_name(&view);
        let start = view.tokens.first().map_or(0, |token| token.start);
        let end = view.tokens.last().map_or(start, |token| token.end);
        let span: Span = view.span(start..end);
        Item { doc: None, attrs: Vec::new(), kind: ItemKind::Broken { name }, span }
    }
}

/// A problem that names invented text is caused by its repair.
fn speaks_of_repair(problem: &Problem) -> bool {
    let words = [Some(&problem.message), Some(&problem.label), problem.help.as_ref()];
    words.into_iter().flatten().any(|words| words.contains(finding::HOLE))
}

/// The one best explanation of a failure. The rules go from the particular to the general.
fn find(view: &view::At<'_>) -> Finding {
    let rules: [fn(&view::At<'_>) -> Option<Finding>; 9] = [
        uses::import,
        declarations::unknown,
        blocks::misplaced,
        declarations::reserved,
        operators::slip,
        declarations::header,
        missing::part,
        missing::value,
        unexpected::trailing,
    ];
    rules.iter().find_map(|rule| rule(view)).unwrap_or_else(|| unexpected::token(view))
}
