//! Ops that the compiler computes itself: `math.*` and `text.*` on scalars, `list.*` on lists.

use super::arguments::Given;
use super::{Evaluator, NativeCall, Typed, Value};
use crate::types::Type;
use pipe_grammar::Problem;
use pipe_row::ir::{Expr, Function};
use pipe_row::typing::result_of;
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    /// The value of a call that makes no node.
    pub(super) fn folded(&mut self, call: &mut NativeCall<'a>) -> Typed<'a> {
        let op = Rc::clone(&call.native);
        if let Some(function) = Function::from_path(&op.op) {
            return self.scalar_function(function, call);
        }
        if let Some(name) = op.op.strip_prefix("window.") {
            return self.window_function(name, call);
        }
        if let Some(name) = op.op.strip_prefix("list.") {
            return self.list_function(name, call);
        }
        if let Some(method) = op.op.strip_prefix("stat.") {
            return self.group_function(method, call);
        }
        let message = format!("the compiler does not know how to compute `{}`", op.op);
        self.fail(Problem::error("resolve::native", call.declared, message))
    }

    fn scalar_function(&mut self, function: Function, call: &NativeCall<'a>) -> Typed<'a> {
        let native = Rc::clone(&call.native);
        let given: Vec<Given<'a>> = native
            .params
            .iter()
            .filter_map(|param| call.values.get(&param.name).cloned())
            .collect();
        if call.broken || given.iter().any(|given| given.value.ty.is_error()) {
            let plain = call.bound.apply(&native.result);
            return Typed::unknown(plain);
        }
        let mut types = Vec::new();
        let mut optional = false;
        for each in &given {
            let Some((ty, missing)) = each.value.ty.scalar() else {
                let message =
                    format!("`{}` works on scalars, and this is `{}`", native.op, each.value.ty);
                return self.fail(Problem::error("types::mismatch", each.span, message));
            };
            optional |= missing;
            types.push(ty);
        }
        match result_of(function, &types) {
            Ok(ty) => {
                let operands: Vec<&Typed<'a>> = given.iter().map(|given| &given.value).collect();
                let optional = optional && function != Function::IsNan;
                self.computed(
                    &operands,
                    Type::of_scalar(ty, optional),
                    call.site.span,
                    |operands| Expr::Call(function, operands),
                )
            }
            Err(error) => {
                let span = match &error {
                    pipe_row::TypeError::Argument { position, .. } => {
                        given.get(*position).map(|given| given.span)
                    }
                    _ => None,
                };
                let span = span.unwrap_or(call.site.span);
                self.fail(Problem::error("types::mismatch", span, error.to_string()))
            }
        }
    }

    /// The items of a list argument; `None` when they are not known (silently) or made by an op (reported).
    pub(super) fn items(
        &mut self,
        call: &NativeCall<'a>,
        name: &str,
    ) -> Option<Rc<Vec<Typed<'a>>>> {
        let given = call.values.get(name)?.clone();
        match given.value.value {
            Value::List(items) => Some(items),
            Value::Node(_) => {
                let message = "the items of this list are known only in the run";
                self.report(Problem::error("plan::runtime_choice", given.span, message));
                None
            }
            _ => None,
        }
    }
}
