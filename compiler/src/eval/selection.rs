//! Choosing and judging on the same rows: the best of many by its score on `valid` looks better there than it is, so
//! it is judged on another part (Cawley and Talbot 2010, section 5).

use super::value::{Part, Seen};
use super::{Evaluator, LeafSource, NativeCall, NodeValue, Typed, Value};
use pipe_grammar::{Problem, Span};
use std::collections::BTreeMap;
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    /// The parts whose scores decide a choice, with the place of the choice.
    pub(super) fn selection(&self, keys: &Typed<'a>, span: Span) -> BTreeMap<Part, Span> {
        let mut nodes = Vec::new();
        self.read_by(keys, &mut nodes);
        let parts = nodes.iter().flat_map(|node| node.origin.rows.parts.iter().cloned());
        parts.map(|part| (part, span)).collect()
    }

    /// The results that a value is made of, those of its computed scalars too.
    fn read_by(&self, value: &Typed<'a>, found: &mut Vec<Rc<NodeValue>>) {
        match &value.value {
            Value::Node(node) => found.push(Rc::clone(node)),
            Value::List(items) => items.iter().for_each(|item| self.read_by(item, found)),
            Value::Record(fields) => fields.values().for_each(|field| self.read_by(field, found)),
            Value::Scalar(scalar) => {
                let mut leaves = Vec::new();
                super::row::collect(&scalar.expr, &mut leaves);
                for leaf in leaves {
                    let leaf = self.leaves.get(leaf as usize).map(|leaf| &leaf.source);
                    if let Some(LeafSource::Node(node)) = leaf {
                        found.push(Rc::clone(node));
                    }
                }
            }
            _ => {}
        }
    }

    /// A call that scores something on the part by which it was chosen.
    pub(super) fn check_selection(&mut self, call: &NativeCall<'a>, scored: &Seen, span: Span) {
        let subject = call.native.params.first().and_then(|param| call.values.get(&param.name));
        let Some(subject) = subject else { return };
        let chosen = super::parts::origin_in(&subject.value).selected;
        let both = scored.parts.iter().find_map(|part| Some((part, chosen.get(part)?)));
        if let Some((part, place)) = both {
            let message = format!(
                "`{}` judges on the part `{}`, by which its subject was chosen",
                call.native.op, part.name
            );
            self.report(selected(message, span, part, *place));
        }
    }

    /// A check of the very score by which something was chosen.
    pub(super) fn check_chosen(&mut self, side: &Typed<'a>, span: Span) {
        let mut nodes = Vec::new();
        self.read_by(side, &mut nodes);
        for node in nodes {
            let picks = |op: &str| op == "value.pick" || op.starts_with("tune.");
            let picked = self.drafts.get(node.node).is_some_and(|draft| picks(&draft.op));
            let chosen = node.origin.selected.iter().next().filter(|_| picked);
            if let Some((part, place)) = chosen {
                let message = format!(
                    "this is a score on the part `{}`, by which it was chosen as the best",
                    part.name
                );
                return self.report(selected(message, span, part, *place));
            }
        }
    }
}

fn selected(message: String, span: Span, part: &Part, place: Span) -> Problem {
    Problem::warning("parts::selected_and_reported", span, message)
        .label(format!("judged on `{}`", part.name))
        .also(place, format!("chosen by scores on `{}`", part.name))
        .help("the best of many looks better there than it is: judge the chosen one on `test`")
}
