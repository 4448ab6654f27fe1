//! `data.values`: a list of what a column holds.

use super::derive::subject;
use crate::eval::{Evaluator, NativeCall};
use crate::types::Type;
use std::rc::Rc;

pub(super) fn result<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    let row = subject(evaluator, call)?;
    let name = call.values.get("column").and_then(|name| name.value.text().map(str::to_owned));
    let ty = name.and_then(|name| row.field(&name).cloned()).unwrap_or(Type::Error);
    Some(Type::List(Rc::new(ty.required().0.clone())))
}
