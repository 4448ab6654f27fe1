//! Parts of splits: where rows come from, what an artifact has been fitted on, and the mistakes that this shows.

use super::value::{Origin, Part, Seen};
use super::{Evaluator, Native, NativeCall, Typed, Value};
use crate::plan::Arg;
use crate::types::Type;
use crate::value::Const;
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
            origin.told.add(&found.told);
            origin.selected.extend(found.selected);
        }
        for (_, given) in &call.rest {
            origin.add(&origin_in(&given.value));
        }
        call.rows.values().for_each(|row| origin.read(&row.origin));
        self.check_mixing(call, &origin);
        if let Some(given) = native.fits.as_ref().and_then(|name| call.values.get(name)) {
            let found = origin_in(&given.value);
            let span = given.span;
            self.check_fit(call, &found, span);
            origin.fitted.add(&found.rows);
        }
        if native.fits.is_some() && makes_artifact(&native) {
            origin.rows = Seen::default();
        }
        if let Some(given) = native.scores.as_ref().and_then(|name| call.values.get(name)) {
            let scored = origin_in(&given.value).rows;
            let span = given.span;
            self.check_score(call, &scored, span);
            self.check_selection(call, &scored, span);
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
        Rc::new(Origin { rows, ..Origin::default() })
    }

    fn check_fit(&mut self, call: &NativeCall<'a>, seen: &Origin, span: Span) {
        let told = seen.told.parts.iter();
        if let Some(test) = seen.rows.parts.iter().chain(told).find(|part| &*part.name == "test") {
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
        if let Some((part, seen)) = self.seen_part(scored, &fitted) {
            let message = if part == seen {
                format!(
                    "`{}` scores the part `{part}`, on which it has been fitted",
                    call.native.op
                )
            } else {
                format!(
                    "`{}` scores `{part}`, and has been fitted on `{seen}`, which has some of these rows",
                    call.native.op
                )
            };
            let problem = Problem::error("parts::scored_on_fitted", span, message)
                .label(format!("rows of `{part}` here"))
                .also(subject_span, format!("has been fitted on `{seen}`"))
                .also(self.split_span(part), "the split that makes it")
                .help(match part.fold {
                    None => "score another part, such as `test`",
                    Some(_) => "score `valid` of the fold that it was fitted on",
                });
            self.report(problem);
            return;
        }
        if on_the_whole(&fitted, scored) {
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
            return self.report(problem);
        }
        self.check_prepared(call, scored, span);
    }

    /// Rows to score whose columns were made with something that has been fitted on them.
    fn check_prepared(&mut self, call: &NativeCall<'a>, scored: &Seen, span: Span) {
        let given = call.native.scores.as_ref().and_then(|name| call.values.get(name));
        let Some(given) = given else { return };
        let fitted = origin_in(&given.value).fitted;
        let op = &call.native.op;
        if let Some((part, seen)) = self.seen_part(scored, &fitted) {
            let rows = if part == seen { "these rows" } else { "some of these rows" };
            let message = format!(
                "`{op}` scores `{part}`, and its columns were made with what has been fitted on `{seen}`, which has {rows}"
            );
            let problem = Problem::error("parts::scored_on_fitted", span, message)
                .label(format!("rows of `{part}` here"))
                .also(self.split_span(part), "the split that makes it")
                .help(
                    "fit encoders on the rows that the model is trained on, and use them on both",
                );
            self.report(problem);
        } else if on_the_whole(&fitted, scored) && !scored.parts.is_empty() {
            let message = format!(
                "`{op}` scores a part of a table, and its columns were made with what has been fitted on all of it"
            );
            let problem = Problem::warning("parts::scored_on_whole", span, message)
                .help("split first, fit encoders on the part `train`, and use them on all parts");
            self.report(problem);
        }
    }

    /// An encoder that has been fitted on a whole table, and is used on a part of it.
    pub(crate) fn check_encoder(&mut self, call: &NativeCall<'a>) {
        let (Some(table), Some(with)) = (call.values.get("table"), call.values.get("with")) else {
            return;
        };
        let rows = origin_in(&table.value).rows;
        let fitted = origin_in(&with.value).fitted;
        if on_the_whole(&fitted, &rows) && !rows.parts.is_empty() {
            let message = format!(
                "`{}` is given a part of the rows on which the encoder has been fitted",
                call.native.op
            );
            let problem = Problem::warning("parts::scored_on_whole", table.span, message)
                .also(with.span, "has been fitted on the whole table")
                .help("fit it on the part `train` of the same split, and use it on all parts");
            self.report(problem);
        }
    }

    /// Windows that have rows in common are not taken apart row by row: neighbours would lie in different parts.
    pub(crate) fn check_overlap(&mut self, call: &mut NativeCall<'a>) {
        let text = |name: &str| call.values.get(name).and_then(|given| given.value.text());
        let by = text("by").unwrap_or_default().to_owned();
        let keyed = by == "hash" && call.rows.contains_key("key");
        if keyed || !matches!(by.as_str(), "hash" | "random") {
            return;
        }
        let Some(given) = call.values.get("table") else { return };
        let Value::Node(node) = &given.value.value else { return };
        let Some(windows) = self.overlapping(node.node) else { return };
        let message =
            format!("the windows overlap, and `{by}` puts neighbours into different parts");
        let span = call.values.get("by").map_or(call.site.callee, |by| by.span);
        let problem = Problem::error("parts::overlapping", span, message)
            .label("rows of one part would lie in another")
            .also(windows, "windows that have rows in common")
            .help("split by time (`by: \"time\"`), split before the windows are made, or make them as far apart as they are long");
        self.report(problem);
        call.broken = true;
    }

    /// Where the overlapping windows that a table holds are made.
    fn overlapping(&self, node: usize) -> Option<Span> {
        const LONGEST: usize = 1_000;
        let mut at = node;
        for _ in 0..LONGEST {
            let draft = self.drafts.get(at)?;
            let constant = |name: &str| match draft.args.get(name) {
                Some(Arg::Const(value)) => Some(value),
                _ => None,
            };
            if draft.op == "data.window" {
                let overlap = crate::typefn::overlap(constant("length"), constant("step"));
                return overlap.then_some(draft.span);
            }
            if draft.op == "data.group" {
                return None;
            }
            let table = draft.args.get("table")?;
            let mut inputs = Vec::new();
            table.inputs(&mut inputs);
            at = inputs.first()?.node.0 as usize;
        }
        None
    }

    /// A part among those scored whose rows, or some of them, the subject has been fitted on, and the part that shows it.
    ///
    /// What was fitted on several folds and is scored on all of them has been made fold by fold, each on its own rows: then
    /// only parts of one fold are compared.
    fn seen_part<'s>(&self, scored: &'s Seen, fitted: &'s Seen) -> Option<(&'s Part, &'s Part)> {
        let fold_of = |part: &Part| (part.split, part.fold);
        scored.parts.iter().find_map(|part| {
            let own = fitted.parts.iter().any(|seen| fold_of(seen) == fold_of(part));
            let seen = fitted.parts.iter().find(|seen| {
                *seen == part
                    || (!own && seen.split == part.split && self.folds_overlap(seen, part))
            });
            Some((part, seen?))
        })
    }

    /// Whether parts of two folds have rows in common.
    fn folds_overlap(&self, a: &Part, b: &Part) -> bool {
        let (Some(first), Some(second)) = (a.fold, b.fold) else { return false };
        let by = self.drafts.get(a.split).and_then(|draft| draft.args.get("by"));
        let by_time = by == Some(&Arg::Const(Const::Str("time".into())));
        match (&*a.name, &*b.name) {
            ("train", "train") => true,
            ("train", _) => !by_time || second < first,
            (_, "train") => !by_time || first < second,
            _ => first == second,
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
pub(super) fn part_origin(
    origin: &Origin,
    split: usize,
    name: &Rc<str>,
    fold: Option<u32>,
) -> Origin {
    let mut part = origin.clone();
    let rows = Part { split, name: Rc::clone(name), fold };
    part.rows.parts = std::collections::BTreeSet::from([rows]);
    part
}

/// What a value holds and was fitted on, through lists and records.
pub(super) fn origin_in(value: &Typed<'_>) -> Origin {
    let mut origin = Origin::default();
    gather(value, &mut origin);
    origin
}

/// What a value holds and was fitted on, each field of a record apart; the items of a list are taken together.
pub(super) fn origin_by_field(value: &Typed<'_>) -> Origin {
    match &value.value {
        Value::Node(node) => (*node.origin).clone(),
        Value::List(items) => origin_of_all(items.iter()),
        Value::Record(fields) => {
            let mut whole = origin_in(value);
            let fields = fields.iter();
            whole.fields =
                fields.map(|(name, field)| (Rc::clone(name), origin_by_field(field))).collect();
            whole
        }
        _ => Origin::default(),
    }
}

/// What a value holds that is one of these, or has them as items.
pub(super) fn origin_of_all<'v, 'a: 'v>(values: impl Iterator<Item = &'v Typed<'a>>) -> Origin {
    let mut all = Origin::default();
    values.for_each(|value| all.join(&origin_by_field(value)));
    all
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

/// Whether something has been fitted on a whole table, and these rows are of it.
fn on_the_whole(fitted: &Seen, rows: &Seen) -> bool {
    let same_source = rows.sources.iter().any(|source| fitted.sources.contains(source));
    fitted.parts.is_empty() && same_source
}

/// Whether the result is something learned instead of rows.
fn makes_artifact(native: &Native) -> bool {
    !matches!(native.result, Type::Table(_))
}
