//! Reading declaration by declaration; what does not parse is diagnosed, repaired and parsed again.
//!
//! The file is split into declarations, and each is parsed by itself. In each that does not parse, the furthest point that the parser
//! reached is diagnosed; the finding carries a repair of the text, and parsing is tried again with it. So one
//! declaration can have several separate problems, a repaired declaration still has its whole tree (later stages see
//! no hole that was not reported), and an edit that is offered is known to read. Where no repair helps, the declaration
//! stays in the tree as broken, with its name. A problem that could stem from a repair's guess is not reported.

mod blocks;
mod brackets;
mod cut;
mod declarations;
mod failure;
mod finding;
mod habits;
mod lexical;
mod missing;
mod operators;
mod split;
mod unexpected;
mod uses;
mod view;

use crate::ast::{Item, ItemKind};
use crate::earlier::{Earlier, Written};
use crate::limits;
use crate::lower::Lower;
use crate::parse::Part;
use crate::patch::Patched;
use crate::problem::Problem;
use crate::source::{SourceFile, Span};
use crate::syntax::{Grammar, Rule};
use crate::trivia::Trivia;
use failure::Failure;
use finding::Finding;
use pest::Parser;
use pest::iterators::Pairs;
use split::Chunk;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use view::View;

pub(crate) use finding::{HOLE, reserved_word, unclosed_string};

/// Repairs tried in one declaration.
const MAX_REPAIRS: usize = 24;

/// Declarations that are tried together when brackets or strings reach across them.
const MAX_MERGED: usize = 16;

/// Reads the declarations of a file one by one; those that `earlier` knows are taken from there.
pub(crate) fn items(
    source: &SourceFile,
    start: usize,
    trivia: &Trivia,
    mut earlier: Option<&mut Earlier>,
) -> (Vec<Arc<Item>>, Vec<Problem>, Vec<Part>) {
    let mut reader =
        Reader { source, trivia, items: Vec::new(), problems: Vec::new(), parts: Vec::new() };
    let mut chunks = VecDeque::from(split::split(&source.text, start..source.text.len()));
    // Comments between two declarations may document the second.
    let mut from = start;
    while let Some(first) = chunks.front() {
        let part = from..first.end;
        from = first.end;
        let written = earlier.as_ref().map(|_| Written::new(source, trivia, part));
        let known = earlier.as_mut().zip(written.as_ref());
        if let Some(items) = known.and_then(|(earlier, written)| earlier.take(written)) {
            reader.take_items(items);
            chunks.pop_front();
            continue;
        }
        let (outcome, taken) = reader.next(chunks.make_contiguous());
        let end = outcome.range.end;
        if let Some((earlier, written)) = earlier.as_mut().zip(written)
            && end == from
            && outcome.straight
            && outcome.problems.is_empty()
        {
            earlier.keep(written, &outcome.items);
        }
        from = end;
        reader.take(outcome);
        let last = chunks.drain(..taken).next_back();
        // Where a string hid the start of a declaration, the rest of its chunk is still to be read.
        if let Some(last) = last.filter(|last| last.end > end) {
            let rest = split::split(&source.text, end..last.range.end);
            rest.into_iter().rev().for_each(|chunk| chunks.push_front(chunk));
        }
    }
    (reader.items, reader.problems, reader.parts)
}

struct Reader<'a> {
    source: &'a SourceFile,
    trivia: &'a Trivia,
    items: Vec<Arc<Item>>,
    problems: Vec<Problem>,
    parts: Vec<Part>,
}

/// What reading one part of the file gave.
struct Outcome {
    items: Vec<Arc<Item>>,
    problems: Vec<Problem>,
    /// The bytes from the first token to the last.
    range: Range<usize>,
    /// The part has a whole tree, if need be after repairs.
    whole: bool,
    /// It was read without repairs.
    straight: bool,
}

impl Reader<'_> {
    /// Reads the first declaration, with its neighbours where that reads better. Says how many chunks were taken.
    fn next(&self, chunks: &[Chunk]) -> (Outcome, usize) {
        let Some(first) = chunks.first() else { return (self.read(0..0), 0) };
        let alone = self.read(first.range.start..first.end);
        if alone.straight {
            return (alone, 1);
        }
        if let Some((end, count)) = cut::mended(&self.source.text, chunks) {
            return (self.read(first.range.start..end), count);
        }
        let chunks = chunks.get(..MAX_MERGED.min(chunks.len())).unwrap_or(chunks);
        for count in split::reaches(&self.source.text, chunks) {
            let Some(last) = chunks.get(count - 1) else { continue };
            let merged = self.read(first.range.start..last.end);
            if merged.whole
                && (merged.problems.is_empty()
                    || self.better(&merged, &alone, chunks.get(1..count)))
            {
                return (merged, count);
            }
        }
        (alone, 1)
    }

    /// Whether one tree with its problems says less than the parts would say by themselves.
    fn better(&self, merged: &Outcome, alone: &Outcome, others: Option<&[Chunk]>) -> bool {
        let others = others.unwrap_or_default().iter();
        let others = others.map(|chunk| self.read(chunk.range.start..chunk.end));
        let apart =
            others.map(|outcome| outcome.problems.len()).sum::<usize>() + alone.problems.len();
        merged.problems.len() < apart
    }

    fn take(&mut self, outcome: Outcome) {
        self.problems.extend(outcome.problems);
        if outcome.straight {
            self.take_items(outcome.items);
        } else {
            self.parts.push(Part::Unread(outcome.range));
            self.items.extend(outcome.items);
        }
    }

    fn take_items(&mut self, items: Vec<Arc<Item>>) {
        let first = self.items.len();
        self.parts.extend((first..first + items.len()).map(Part::Item));
        self.items.extend(items);
    }

    fn read(&self, range: Range<usize>) -> Outcome {
        let mut text = Patched::part(&self.source.text, range.clone());
        if let Some(at) = limits::nesting(&text.text) {
            let place = View::new(self.source.id, &text).span(at..at + 1);
            let items = vec![self.broken(&text)];
            let problems = vec![limits::too_deep(place)];
            return Outcome { items, problems, range, whole: false, straight: false };
        }
        let written = |pairs: &Pairs<'_, Rule>| {
            text.text.contains(HOLE) && pairs.clone().flatten().any(|it| it.as_rule() == Rule::hole)
        };
        if let Some(pairs) = Grammar::parse(Rule::file, &text.text).ok().filter(|it| !written(it)) {
            return self.lower(&text, Some(pairs), range, None);
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
                    None => {
                        let pairs = Grammar::parse(Rule::file, &text.text).ok();
                        return self.lower(&text, pairs, range, Some(problems));
                    }
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
        Outcome { items: vec![broken], problems, range, whole: false, straight: false }
    }

    /// A text that reads; `repaired` are the problems that were mended in it first.
    fn lower(
        &self,
        text: &Patched,
        pairs: Option<Pairs<'_, Rule>>,
        range: Range<usize>,
        repaired: Option<Vec<Problem>>,
    ) -> Outcome {
        let mut lower = Lower::new(self.source.id, &self.source.text, self.trivia, text);
        let file = pairs.and_then(|mut pairs| pairs.next());
        let items = file.map(|file| lower.items(file)).unwrap_or_default();
        let items = items.into_iter().map(Arc::new).collect();
        let straight = repaired.is_none();
        let mut problems = repaired.unwrap_or_default();
        problems.append(&mut lower.problems);
        Outcome { items, problems, range, whole: true, straight }
    }

    fn broken(&self, text: &Patched) -> Arc<Item> {
        let view = View::new(self.source.id, text);
        let name = declarations::bound_name(&view);
        let start = view.tokens.first().map_or(0, |token| token.start);
        let end = view.tokens.last().map_or(start, |token| token.end);
        let span: Span = view.span(start..end);
        Arc::new(Item { doc: None, attrs: Vec::new(), kind: ItemKind::Broken { name }, span })
    }
}

/// A problem that names invented text is caused by its repair.
fn speaks_of_repair(problem: &Problem) -> bool {
    let words = [Some(&problem.message), Some(&problem.label), problem.help.as_ref()];
    words.into_iter().flatten().any(|words| words.contains(finding::HOLE))
}

/// The one best explanation of a failure. The rules go from the particular to the general.
fn find(view: &view::At<'_>) -> Finding {
    let rules: [fn(&view::At<'_>) -> Option<Finding>; 10] = [
        uses::import,
        declarations::unknown,
        blocks::misplaced,
        habits::sentence,
        declarations::reserved,
        operators::slip,
        declarations::header,
        missing::part,
        missing::value,
        unexpected::trailing,
    ];
    rules.iter().find_map(|rule| rule(view)).unwrap_or_else(|| unexpected::token(view))
}
