//! `list.*`: lists are known before the run, their items need not be.

use super::{Evaluator, NativeCall, Typed, Value};
use crate::types::{Type, join};
use crate::value::Const;
use pipe_grammar::ast::BinaryOp;
use pipe_grammar::{Problem, Span};
use pipe_row::ir::{BinaryOp as RowOp, Expr, Function};
use pipe_row::typing::result_of;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    pub(super) fn list_function(&mut self, name: &str, call: &NativeCall<'a>) -> Typed<'a> {
        let plain = call.bound.apply(&call.native.result);
        if call.broken {
            return Typed::unknown(plain);
        }
        let subject =
            call.native.params.first().map(|param| param.name.clone()).unwrap_or_default();
        let Some(items) = self.items(call, &subject) else { return Typed::unknown(plain) };
        let span = call.site.span;
        match name {
            "length" => Typed::constant(Const::Int(i64::try_from(items.len()).unwrap_or(i64::MAX))),
            "first" => self.end_of(&items, items.first(), &plain, span),
            "last" => self.end_of(&items, items.last(), &plain, span),
            "sum" => self.sum(&items, span),
            "mean" => {
                let sum = self.sum(&items, span);
                self.divided(sum, items.len(), span)
            }
            "min" | "max" => self.extreme(name, &items, span),
            "sort" => self.sorted(&items, plain, span),
            "reverse" => {
                let items = items.iter().rev().cloned().collect();
                Typed { ty: plain, value: Value::List(Rc::new(items)) }
            }
            "enumerate" => self.enumerated(&items),
            "zip" => self.zipped(&items, call, plain),
            "concat" => self.joined(&items, call, plain),
            "min_by" | "max_by" => self.best(name, &items, call, plain),
            other => {
                let message = format!("the compiler does not know how to compute `list.{other}`");
                self.fail(Problem::error("resolve::native", call.declared, message))
            }
        }
    }

    fn end_of(
        &mut self,
        items: &[Typed<'a>],
        item: Option<&Typed<'a>>,
        plain: &Type,
        span: Span,
    ) -> Typed<'a> {
        let _ = items;
        match item {
            Some(item) => item.clone(),
            None if plain.is_error() => Typed::error(),
            None => self.empty(span),
        }
    }

    fn empty(&mut self, span: Span) -> Typed<'a> {
        self.fail(
            Problem::error("types::empty_list", span, "this list is empty")
                .help("check what `for ... if` leaves"),
        )
    }

    fn sum(&mut self, items: &[Typed<'a>], span: Span) -> Typed<'a> {
        let mut items = items.iter();
        let Some(mut sum) = items.next().cloned() else { return self.empty(span) };
        for item in items {
            let operands = super::operator::Operands {
                a: sum,
                b: item.clone(),
                a_span: span,
                b_span: span,
                op_span: span,
                span,
            };
            sum = self.infix(BinaryOp::Add, operands);
        }
        sum
    }

    fn divided(&mut self, sum: Typed<'a>, count: usize, span: Span) -> Typed<'a> {
        if sum.ty.is_error() || count == 0 {
            return sum;
        }
        let ty =
            if sum.ty.required().0.is_number() { Type::Float } else { sum.ty.required().0.clone() };
        let ty = if matches!(sum.ty, Type::Optional(_)) { ty.optional() } else { ty };
        let by = Typed::constant(Const::Int(i64::try_from(count).unwrap_or(i64::MAX)));
        self.computed(&[&sum, &by], ty, span, |operands| {
            let mut operands = operands.into_iter().map(Box::new);
            let none = || Box::new(Expr::Literal(pipe_row::ir::Scalar::None));
            let a = operands.next().unwrap_or_else(none);
            let b = operands.next().unwrap_or_else(none);
            Expr::Binary(RowOp::Divide, a, b)
        })
    }

    fn extreme(&mut self, name: &str, items: &[Typed<'a>], span: Span) -> Typed<'a> {
        let function = if name == "min" { Function::Min } else { Function::Max };
        let mut items = items.iter();
        let Some(mut best) = items.next().cloned() else { return self.empty(span) };
        for item in items {
            let (Some((a, a_missing)), Some((b, b_missing))) = (best.ty.scalar(), item.ty.scalar())
            else {
                return Typed::error();
            };
            match result_of(function, &[a, b]) {
                Ok(ty) => {
                    let ty = Type::of_scalar(ty, a_missing || b_missing);
                    best = self.computed(&[&best, item], ty, span, |operands| {
                        Expr::Call(function, operands)
                    });
                }
                Err(error) => {
                    return self.fail(Problem::error("types::mismatch", span, error.to_string()));
                }
            }
        }
        best
    }

    fn sorted(&mut self, items: &[Typed<'a>], plain: Type, span: Span) -> Typed<'a> {
        let constants: Option<Vec<Const>> = items.iter().map(Typed::to_const).collect();
        let Some(mut constants) = constants else {
            return self.order_unknown(span);
        };
        constants.sort_by(compare);
        let items = constants.into_iter().map(Typed::constant).collect();
        Typed { ty: plain, value: Value::List(Rc::new(items)) }
    }

    fn order_unknown(&mut self, span: Span) -> Typed<'a> {
        let message = "the order of these items is known only in the run";
        self.fail(Problem::error("plan::runtime_choice", span, message).help(
            "choose among values that the program gives, or compare two results in a `check`",
        ))
    }

    fn enumerated(&mut self, items: &[Typed<'a>]) -> Typed<'a> {
        let pairs = items.iter().enumerate().map(|(at, item)| {
            let index = Typed::constant(Const::Int(i64::try_from(at).unwrap_or(i64::MAX)));
            pair("index", index, "item", item.clone())
        });
        Typed::list(pairs.collect())
    }

    fn zipped(&mut self, items: &[Typed<'a>], call: &NativeCall<'a>, plain: Type) -> Typed<'a> {
        let other = call.native.params.get(1).map(|param| param.name.clone()).unwrap_or_default();
        let Some(others) = self.items(call, &other) else { return Typed::unknown(plain) };
        if items.len() != others.len() {
            let message = format!("these lists have {} and {} items", items.len(), others.len());
            return self.fail(Problem::error("types::list_lengths", call.site.span, message));
        }
        let pairs = items.iter().zip(others.iter());
        Typed::list(pairs.map(|(a, b)| pair("first", a.clone(), "second", b.clone())).collect())
    }

    fn joined(&mut self, items: &[Typed<'a>], call: &NativeCall<'a>, plain: Type) -> Typed<'a> {
        let other = call.native.params.get(1).map(|param| param.name.clone()).unwrap_or_default();
        let Some(others) = self.items(call, &other) else { return Typed::unknown(plain) };
        Typed::list(items.iter().chain(others.iter()).cloned().collect())
    }

    fn best(
        &mut self,
        name: &str,
        items: &[Typed<'a>],
        call: &NativeCall<'a>,
        plain: Type,
    ) -> Typed<'a> {
        let span = call.site.span;
        let Some(key) = call.values.get("key") else { return Typed::unknown(plain) };
        let Value::Function(function) = &key.value.value else { return Typed::unknown(plain) };
        let mut best: Option<(Const, &Typed<'a>)> = None;
        let mut unknown = false;
        for item in items {
            let value = self.apply_values(&Rc::clone(function), vec![item.clone()], key.span);
            let Some(value) = value.to_const() else {
                unknown = true;
                if !value.is_unknown() {
                    return self.order_unknown(span);
                }
                continue;
            };
            let better = best.as_ref().is_none_or(|(known, _)| {
                let wanted = if name == "min_by" { Ordering::Less } else { Ordering::Greater };
                compare(&value, known) == wanted
            });
            if better {
                best = Some((value, item));
            }
        }
        match best {
            Some((_, item)) if !unknown => item.clone(),
            _ if unknown => Typed::unknown(
                items
                    .iter()
                    .fold(Type::Error, |ty, item| join(&ty, &item.ty).unwrap_or(Type::Error)),
            ),
            _ => self.empty(span),
        }
    }
}

fn pair<'a>(first: &str, a: Typed<'a>, second: &str, b: Typed<'a>) -> Typed<'a> {
    let types = vec![(first.into(), a.ty.clone()), (second.into(), b.ty.clone())];
    let fields: BTreeMap<Rc<str>, Typed<'a>> = [(first.into(), a), (second.into(), b)].into();
    Typed { ty: Type::record(types), value: Value::Record(Rc::new(fields)) }
}

/// A total order: numbers by size (NaN last), texts by code points, everything else by its written form.
fn compare(a: &Const, b: &Const) -> Ordering {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => match (a, b) {
            (Const::Str(a) | Const::Path(a), Const::Str(b) | Const::Path(b)) => a.cmp(b),
            _ => a.to_string().cmp(&b.to_string()),
        },
    }
}

fn number(value: &Const) -> Option<f64> {
    match value {
        Const::Int(value) | Const::Time(value) | Const::Duration(value) | Const::Size(value) => {
            Some(*value as f64)
        }
        Const::Float(value) => Some(*value),
        Const::Bool(value) => Some(f64::from(u8::from(*value))),
        _ => None,
    }
}
