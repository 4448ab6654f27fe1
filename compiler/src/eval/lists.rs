//! `list.*`: a list that is known is computed before the run, its items need not be known. For one that the run makes,
//! and for an order by results, there are the ops `value.*`.

use super::arguments::Given;
use super::expr::TooLarge;
use super::scalar::MAX_WRITTEN;
use super::{Evaluator, NativeCall, Typed, Value};
use crate::plan::Arg;
use crate::types::{Type, join};
use crate::value::Const;
use pipe_grammar::ast::BinaryOp;
use pipe_grammar::{Problem, Span};
use pipe_row::ir::{BinaryOp as RowOp, Expr, Function};
use pipe_row::typing::{binary_result, result_of};
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
        let span = call.site.span;
        let is_result = |given: &Given<'a>| matches!(given.value.value, Value::Node(_));
        let other = call.values.get("other").filter(|_| name == "zip").is_some_and(is_result);
        let given = call.values.get(&subject).cloned();
        if let Some(list) = given.filter(|given| other || is_result(given)) {
            return self.list_in_run(name, call, list, plain);
        }
        let Some(items) = self.items(call, &subject) else { return Typed::unknown(plain) };
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
            "min_by" | "max_by" | "sort_by" => self.by_key(name, &items, call, plain),
            other => self.no_list_function(other, call),
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
        if items.iter().any(super::known::in_run) {
            let list = Typed { ty: plain.clone(), value: Value::List(Rc::new(items.to_vec())) };
            return self.ordered("value.sort", list.clone(), list, None, plain, span);
        }
        let constants: Option<Vec<Const>> = items.iter().map(Typed::to_const).collect();
        let Some(mut constants) = constants else { return Typed::unknown(plain) };
        constants.sort_by(compare);
        let items = constants.into_iter().map(Typed::constant).collect();
        Typed { ty: plain, value: Value::List(Rc::new(items)) }
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
        let Some(other) = call.values.get(&other).cloned() else { return Typed::unknown(plain) };
        match &other.value.value {
            Value::List(others) if items.len() + others.len() > MAX_WRITTEN / 64 => {
                self.too_large(TooLarge::Constant, call.site.span)
            }
            Value::List(others) => {
                Typed::list(items.iter().chain(others.iter()).cloned().collect())
            }
            Value::Node(_) if self.drafting() => {
                let list = Value::List(Rc::new(items.to_vec()));
                let list = Typed { ty: plain.clone(), value: list };
                self.concatenated(vec![list, other.value], plain, call.site.span)
            }
            _ => Typed::unknown(plain),
        }
    }

    /// `min_by`, `max_by` and `sort_by` of a list whose length is known.
    fn by_key(
        &mut self,
        name: &str,
        items: &[Typed<'a>],
        call: &NativeCall<'a>,
        plain: Type,
    ) -> Typed<'a> {
        let span = call.site.span;
        let Some(key) = call.values.get("key").cloned() else { return Typed::unknown(plain) };
        let Value::Function(function) = key.value.value else { return Typed::unknown(plain) };
        let item = items.iter().fold(Type::Error, |ty, item| join(&ty, &item.ty).unwrap_or(ty));
        let result = if name == "sort_by" { Type::List(Rc::new(item.clone())) } else { item };
        let mut keys = Vec::with_capacity(items.len());
        for item in items {
            let value = self.apply_values(&function, vec![item.clone()], key.span);
            if !self.orders(&value, key.span) {
                return Typed::unknown(result);
            }
            keys.push(value);
        }
        if keys.iter().any(super::known::in_run) {
            let list = Typed { ty: plain, value: Value::List(Rc::new(items.to_vec())) };
            let keys = Typed::list(keys);
            return match name {
                "sort_by" => self.ordered("value.sort", list, keys, None, result, span),
                _ => self.ordered("value.pick", list, keys, Some(name == "max_by"), result, span),
            };
        }
        let keys: Option<Vec<Const>> = keys.iter().map(Typed::to_const).collect();
        let Some(keys) = keys else { return Typed::unknown(result) };
        let mut order: Vec<(&Const, &Typed<'a>)> = keys.iter().zip(items).collect();
        match name {
            "max_by" => order.sort_by(|(a, _), (b, _)| compare(b, a)),
            _ => order.sort_by(|(a, _), (b, _)| compare(a, b)),
        }
        if name == "sort_by" {
            return Typed::list(order.into_iter().map(|(_, item)| item.clone()).collect());
        }
        match order.first() {
            Some((_, item)) => (*item).clone(),
            None => self.empty(span),
        }
    }

    /// Whether a key is something that has an order; reports one that has none.
    fn orders(&mut self, key: &Typed<'a>, span: Span) -> bool {
        if key.ty.is_error() || key.ty.scalar().is_some() {
            return !key.ty.is_error();
        }
        let message =
            format!("a key is a number, a text or another scalar, and this is `{}`", key.ty);
        self.report(Problem::error("types::mismatch", span, message));
        false
    }

    /// An op over a list and its keys. What is chosen depends on the keys too, so it carries what they have seen.
    fn ordered(
        &mut self,
        op: &str,
        list: Typed<'a>,
        keys: Typed<'a>,
        largest: Option<bool>,
        ty: Type,
        span: Span,
    ) -> Typed<'a> {
        if !self.drafting() || self.in_row > 0 {
            return Typed::unknown(ty);
        }
        let mut origin = super::parts::origin_by_field(&list);
        if op == "value.pick" {
            origin.selected.extend(self.selection(&keys, span));
        }
        let args = [list, keys].map(|value| self.arg(&Given { value, span }));
        let [Some(list), Some(keys)] = args else { return Typed::unknown(ty) };
        let mut args = BTreeMap::from([("list".to_owned(), list), ("keys".to_owned(), keys)]);
        args.extend(
            largest.map(|largest| ("largest".to_owned(), Arg::Const(Const::Bool(largest)))),
        );
        self.own_call(op, args, ty, origin, span)
    }

    /// `list.*` of a list that the run makes.
    fn list_in_run(
        &mut self,
        name: &str,
        call: &NativeCall<'a>,
        list: Given<'a>,
        plain: Type,
    ) -> Typed<'a> {
        let span = call.site.span;
        let Type::List(item) = list.value.ty.clone() else { return Typed::unknown(plain) };
        let item = (*item).clone();
        match name {
            "length" => self.summary("length", &list, Type::Int, span),
            "first" => self.item_in_run(&list, item, 0, span),
            "last" => self.item_in_run(&list, item, -1, span),
            "sum" | "mean" | "min" | "max" => match summary_type(name, &item) {
                Some(ty) => self.summary(name, &list, ty, span),
                None => {
                    let message = format!(
                        "`list.{name}` works on numbers, durations and sizes, and this list holds `{item}`"
                    );
                    self.fail(Problem::error("types::mismatch", list.span, message))
                }
            },
            "sort" => {
                let list = list.value;
                self.ordered("value.sort", list.clone(), list, None, plain, span)
            }
            "reverse" => {
                let origin = super::parts::origin_by_field(&list.value);
                self.relisted("value.reverse", vec![("list", list)], plain, origin, span)
            }
            "enumerate" => {
                let origin = by_name([("index", None), ("item", Some(&list))]);
                self.relisted("value.enumerate", vec![("list", list)], plain, origin, span)
            }
            "zip" => {
                let Some(other) = call.values.get("other").cloned() else {
                    return Typed::unknown(plain);
                };
                let origin = by_name([("first", Some(&list)), ("second", Some(&other))]);
                let lists = vec![("list", list), ("other", other)];
                self.relisted("value.zip", lists, plain, origin, span)
            }
            "concat" => {
                let other =
                    call.native.params.get(1).and_then(|param| call.values.get(&param.name));
                match other.cloned().filter(|_| self.drafting()) {
                    Some(other) => self.concatenated(vec![list.value, other.value], plain, span),
                    None => Typed::unknown(plain),
                }
            }
            "min_by" | "max_by" | "sort_by" => self.by_key_in_run(name, call, list, item),
            other => self.no_list_function(other, call),
        }
    }

    fn no_list_function(&mut self, name: &str, call: &NativeCall<'a>) -> Typed<'a> {
        let message = format!("the compiler does not know how to compute `list.{name}`");
        self.fail(Problem::error("resolve::native", call.declared, message))
    }

    /// A list that is another one in a new form.
    fn relisted(
        &mut self,
        op: &str,
        lists: Vec<(&str, Given<'a>)>,
        ty: Type,
        origin: super::Origin,
        span: Span,
    ) -> Typed<'a> {
        if !self.drafting() || self.in_row > 0 {
            return Typed::unknown(ty);
        }
        let mut args = BTreeMap::new();
        for (name, list) in lists {
            let Some(arg) = self.arg(&list) else { return Typed::unknown(ty) };
            args.insert(name.to_owned(), arg);
        }
        self.own_call(op, args, ty, origin, span)
    }

    fn summary(&mut self, by: &str, list: &Given<'a>, ty: Type, span: Span) -> Typed<'a> {
        if !self.drafting() || self.in_row > 0 {
            return Typed::unknown(ty);
        }
        let origin = super::parts::origin_in(&list.value);
        let Some(arg) = self.arg(list) else { return Typed::unknown(ty) };
        let by = Arg::Const(Const::Str(by.to_owned()));
        let args = BTreeMap::from([("list".to_owned(), arg), ("by".to_owned(), by)]);
        self.own_call("value.summary", args, ty, origin, span)
    }

    /// One item of a list that the run makes.
    pub(super) fn item_in_run(
        &mut self,
        list: &Given<'a>,
        item: Type,
        at: i64,
        span: Span,
    ) -> Typed<'a> {
        if !self.drafting() || self.in_row > 0 {
            return Typed::unknown(item);
        }
        let origin = super::parts::origin_by_field(&list.value);
        let Some(arg) = self.arg(list) else { return Typed::unknown(item) };
        let at = Arg::Const(Const::Int(at));
        let args = BTreeMap::from([("list".to_owned(), arg), ("at".to_owned(), at)]);
        self.own_call("value.item", args, item, origin, span)
    }

    /// The keys of a list that the run makes are the results of a driver.
    fn by_key_in_run(
        &mut self,
        name: &str,
        call: &NativeCall<'a>,
        list: Given<'a>,
        item: Type,
    ) -> Typed<'a> {
        let span = call.site.span;
        let result =
            if name == "sort_by" { Type::List(Rc::new(item.clone())) } else { item.clone() };
        let Some(key) = call.values.get("key").cloned() else { return Typed::unknown(result) };
        let Value::Function(function) = key.value.value else { return Typed::unknown(result) };
        if !self.drafting() || self.in_row > 0 {
            return Typed::unknown(result);
        }
        let keys = self.mapped(&list, item, "item", key.span, |it, value| {
            it.apply_values(&function, vec![value], key.span)
        });
        let Some(keys) = keys else { return Typed::unknown(result) };
        let Type::List(key_type) = &keys.ty else { return Typed::unknown(result) };
        if !self.orders(&Typed::unknown((**key_type).clone()), key.span) {
            return Typed::unknown(result);
        }
        match name {
            "sort_by" => self.ordered("value.sort", list.value, keys, None, result, span),
            _ => self.ordered("value.pick", list.value, keys, Some(name == "max_by"), result, span),
        }
    }
}

/// The type of one number of many items of type `item`.
fn summary_type(name: &str, item: &Type) -> Option<Type> {
    let (required, optional) = item.required();
    let (scalar, _) = item.scalar()?;
    let ty = match name {
        "sum" | "mean" => binary_result(RowOp::Add, scalar, scalar)?,
        _ => {
            let function = if name == "min" { Function::Min } else { Function::Max };
            result_of(function, &[scalar, scalar]).ok()?
        }
    };
    let ty = if name == "mean" && required.is_number() {
        Type::Float
    } else {
        Type::of_scalar(ty, false)
    };
    Some(if optional { ty.optional() } else { ty })
}

/// What the records of a list hold whose fields are items of other lists.
fn by_name<const N: usize>(fields: [(&str, Option<&Given<'_>>); N]) -> super::Origin {
    let mut whole = super::Origin::default();
    for (name, list) in fields {
        let field = list.map(|list| super::parts::origin_by_field(&list.value)).unwrap_or_default();
        whole.add(&field);
        whole.fields.insert(name.into(), field);
    }
    whole
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
