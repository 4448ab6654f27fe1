//! Arguments that name columns of the subject.

use super::{Evaluator, NativeCall, Typed, Value};
use crate::types::{Record, Type};
use pipe_grammar::Span;
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    /// Check every argument whose parameter is marked `@column`.
    pub(super) fn check_columns(&mut self, call: &mut NativeCall<'a>) {
        let native = Rc::clone(&call.native);
        for param in native.params.iter().filter(|param| param.column) {
            let Some(given) = call.values.get(&param.name).cloned() else { continue };
            self.known_columns(call, &given.value, given.span);
        }
    }

    /// Whether every text in `names` is a column of the call's first table.
    pub(crate) fn known_columns(
        &mut self,
        call: &mut NativeCall<'a>,
        names: &Typed<'a>,
        span: Span,
    ) -> bool {
        let Some((row, table, source)) = self.subject_row(call) else { return true };
        if row.open || row.spread.is_some() {
            return true;
        }
        let names: Vec<String> = match &names.value {
            Value::List(items) => {
                items.iter().filter_map(|item| item.text().map(str::to_owned)).collect()
            }
            _ => names.text().map(str::to_owned).into_iter().collect(),
        };
        let mut known = true;
        for name in names {
            if row.field(&name).is_none() {
                known = false;
                call.broken = true;
                let at = self.text_in(span, &name);
                self.unknown_column(table.as_deref(), Some(source), &row, &name, at);
            }
        }
        known
    }

    /// The row, name and place of the first table among the arguments.
    pub(crate) fn subject_row(
        &self,
        call: &NativeCall<'a>,
    ) -> Option<(Rc<Record>, Option<String>, Span)> {
        call.native.params.iter().find_map(|param| {
            let given = call.values.get(&param.name)?;
            let Type::Table(table) = given.value.ty.required().0 else { return None };
            let Type::Record(row) = &table.row else { return None };
            let text = self.sources.slice(given.span);
            let word = !text.is_empty()
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
            Some((Rc::clone(row), word.then(|| text.to_owned()), given.span))
        })
    }

    /// Where a text literal stands inside an argument, so that the message points at it and not at the whole list.
    pub(crate) fn text_in(&self, span: Span, text: &str) -> Span {
        let quoted = crate::value::Quoted(text).to_string();
        let Some(at) = self.sources.slice(span).find(&quoted) else { return span };
        let start = span.start + u32::try_from(at).unwrap_or(0);
        Span::new(span.file, start, start + u32::try_from(quoted.len()).unwrap_or(0))
    }
}
