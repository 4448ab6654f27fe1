//! Parts of splits: where rows come from, what an artifact has been fitted on, and the mistakes that this shows.

use super::value::{Origin, Part, Seen};
use super::{Evaluator, Native, NativeCall, Typed, Value};
use crate::types::Type;
use pipe_grammar::{Problem, Span};
use std::collections::BTreeMap;
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    /// The origin of a call's result, from those of its arguments; reports fitting and scoring on wrong parts.
    pub(super) fn origin_of(&mut self, call: &mut NativeCall<'a>) -> Rc<Origin> {
        let native = Rc::clone(&call.native);
        let mut origin = Origin::default();
        for param in &native.params {
            let Some(given) = call.values.get(&param.name) else { continue };
            let found = origin_in(&given.value);
            if native.fits.as_deref() != Some(param.name.as_str()) || !makes_artifact(&native) {
                origin.rows.add(&found.rows);
            }
            origin.fitted.add(&found.fitted);
        }
        for (_, given) in &call.rest {
            origin.add(&origin_in(&given.value));
        }
        call.rows.values().for_each(|row| origin.add(&row.origin));
        self.check_mixing(call, &origin);
        if let Some(given) = native.fits.as_ref().and_then(|name| call.values.get(name)) {
            let seen = origin_in(&given.value).rows;
            let span = given.span;
            self.check_fit(call, &seen, span);
            origin.fitted.add(&seen);
        }
        if native.fits.is_some() && makes_artifact(&native) {
            origin.rows = Seen::default();
        }
        if let Some(given) = native.scores.as_ref().and_then(|name| call.values.get(name)) {
            let scored = origin_in(&given.value).rows;
            let span = given.span;
            self.check_score(call, &scored, span);
        }
        Rc::new(origin)
    }

    /// A node without inputs is a source of its own.
    pub(super) fn own_origin(
        &self,
        node: usize,
        origin: Rc<Origin>,
        native: &Native,
    ) -> Rc<Origin> {
        if !origin.rows.is_empty() || !origin.fitted.is_empty() || native.fits.is_some() {
            return origin;
        }
        let rows = Seen { sources: [node].into(), ..Seen::default() };
        Rc::new(Origin { rows, fitted: Seen::default() })
    }

    fn check_fit(&mut self, call: &NativeCall<'a>, seen: &Seen, span: Span) {
        if let Some(test) = seen.parts.iter().find(|part| &*part.name == "test") {
            let message = format!(
                "`{}` is fitted on the part `test`, which is kept for judging",
                call.native.op
            );
            let problem = Problem::error("parts::fit_on_test", span, message)
                .label("rows of `test` here")
                .also(self.split_span(test), "the split that makes it")
                .help("fit on `train`, choose settings on `valid` or `calib`, and judge on `test`");
            self.report(problem);
        }
    }

    fn check_score(&mut self, call: &NativeCall<'a>, scored: &Seen, span: Span) {
        let subject = call.native.params.first().and_then(|param| call.values.get(&param.name));
        let Some(subject) = subject else { return };
        let fitted = origin_in(&subject.value).fitted;
        let subject_span = subject.span;
        if let Some(part) = scored.parts.iter().find(|part| fitted.parts.contains(*part)) {
            let message = format!(
                "`{}` scores the part `{}`, on which it has been fitted",
                call.native.op, part.name
            );
            let problem = Problem::error("parts::scored_on_fitted", span, message)
                .label(format!("rows of `{}` here", part.name))
                .also(subject_span, format!("has been fitted on `{}`", part.name))
                .also(self.split_span(part), "the split that makes it")
                .help("score another part, such as `test`");
            self.report(problem);
            return;
        }
        let whole = fitted.parts.is_empty() && !fitted.sources.is_empty();
        let same_source = scored.sources.iter().any(|source| fitted.sources.contains(source));
        if whole && same_source {
            let (what, help) = if scored.parts.is_empty() {
                (
                    "the rows on which it has been fitted",
                    "split the table: `data.split(by: \"time\", train: 0.7, test: 0.3)`",
                )
            } else {
                (
                    "a part of the rows on which it has been fitted",
                    "fit on the part `train` of the same split",
                )
            };
            let message = format!("`{}` scores {what}", call.native.op);
            let problem = Problem::warning("parts::scored_on_whole", span, message)
                .also(subject_span, "has been fitted on the whole table")
                .help(help);
            self.report(problem);
        }
    }

    fn check_mixing(&mut self, call: &mut NativeCall<'a>, origin: &Origin) {
        let mut splits: BTreeMap<usize, &Part> = BTreeMap::new();
        for part in &origin.rows.parts {
            splits.entry(part.split).or_insert(part);
        }
        let parts: Vec<&Part> = splits.values().copied().collect();
        let [first, second, ..] = parts.as_slice() else { return };
        let sources = |part: &Part| self.split_sources(part.split);
        if sources(first).is_disjoint(&sources(second)) {
            return;
        }
        let message = format!("`{}` mixes parts of two splits of the same rows", call.native.op);
        let problem = Problem::error("parts::mixed", call.site.span, message)
            .also(self.split_span(first), format!("one split, of which it takes `{}`", first.name))
            .also(self.split_span(second), format!("another split, of which it takes `{}`", second.name))
            .help("split once, and take all parts from it; a row of one part may lie in another part of the other split");
        self.report(problem);
        call.broken = true;
    }

    fn split_span(&self, part: &Part) -> Span {
        self.drafts.get(part.split).map(|draft| draft.span).unwrap_or_default()
    }

    /// The nodes that read what a split takes apart.
    fn split_sources(&self, split: usize) -> std::collections::BTreeSet<usize> {
        let mut sources = std::collections::BTreeSet::new();
        let mut open = vec![split];
        let mut seen = std::collections::BTreeSet::new();
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            let Some(draft) = self.drafts.get(node) else { continue };
            let mut inputs = Vec::new();
            draft.args.values().for_each(|arg| arg.inputs(&mut inputs));
            if inputs.is_empty() {
                sources.insert(node);
            }
            open.extend(inputs.iter().map(|input| input.node.0 as usize));
        }
        sources
    }
}

/// The origin of a part that a split makes.
pub(super) fn part_origin(origin: &Origin, split: usize, name: &Rc<str>) -> Origin {
    let mut part = origin.clone();
    part.rows.parts = std::collections::BTreeSet::from([Part { split, name: Rc::clone(name) }]);
    part
}

/// What a value holds and was fitted on, through lists and records.
pub(super) fn origin_in(value: &Typed<'_>) -> Origin {
    let mut origin = Origin::default();
    gather(value, &mut origin);
    origin
}

fn gather(value: &Typed<'_>, origin: &mut Origin) {
    match &value.value {
        Value::Node(node) => {
            origin.add(&node.origin);
        }
        Value::List(items) => items.iter().for_each(|item| gather(item, origin)),
        Value::Record(fields) => fields.values().for_each(|field| gather(field, origin)),
        _ => {}
    }
}

/// Whether the result is something learned instead of rows.
fn makes_artifact(native: &Native) -> bool {
    !matches!(native.result, Type::Table(_))
}
