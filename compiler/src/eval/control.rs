//! `if`, `for`, blocks and lambdas. What is known before the run decides; nothing else can.

use super::value::Function;
use super::{Evaluator, Scope, Typed, Value};
use crate::types::{FunctionType, Type, brief, join};
use crate::value::Const;
use pipe_grammar::ast::{Binder, Block, Expr, ItemKind, Name};
use pipe_grammar::{Problem, Span};
use pipe_row::ir::Expr as RowExpr;
use std::collections::BTreeSet;
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    /// A lambda is a value; it is looked into when it is called.
    pub(super) fn lambda(params: &'a [Name], body: &'a Block, scope: &Scope<'a>) -> Typed<'a> {
        let function = Function::Lambda { params, body, scope: scope.clone() };
        let ty = FunctionType { params: vec![Type::Error; params.len()], result: Type::Error };
        Typed { ty: Type::Function(Rc::new(ty)), value: Value::Function(Rc::new(function)) }
    }

    /// `{ let a = 1  a + 1 }`.
    pub(super) fn block(&mut self, block: &'a Block, scope: &Scope<'a>) -> Typed<'a> {
        let mut inner = scope.clone();
        for item in &block.lets {
            let ItemKind::Let(binding) = &item.kind else { continue };
            let value = self.inner_let(item, binding, &inner);
            inner = inner.with(&binding.name.text, value);
        }
        self.expr(&block.value, &inner)
    }

    pub(super) fn if_else(
        &mut self,
        condition: &'a Expr,
        then: &'a Block,
        otherwise: &'a Block,
        span: Span,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        let test = self.expr(condition, scope);
        if !matches!(test.ty.required().0, Type::Bool | Type::Error) {
            let message = format!("a condition is `bool`, and this is `{}`", test.ty);
            self.report(Problem::error("types::condition", condition.span, message));
            let branches = (
                self.quietly(|it| it.block(then, scope)),
                self.quietly(|it| it.block(otherwise, scope)),
            );
            return Typed::unknown(join(&branches.0.ty, &branches.1.ty).unwrap_or(Type::Error));
        }
        if let Some(Const::Bool(known)) = test.as_const() {
            return self.decided(*known, then, otherwise, span, scope);
        }
        let scalar = matches!(test.value, Value::Scalar(_) | Value::Node(_));
        let (a, b) = if scalar {
            let drafted = self.drafts.len();
            let a = self.block(then, scope);
            let b = self.block(otherwise, scope);
            let rows = self.in_row > 0;
            let plain =
                a.ty.scalar().is_some() && b.ty.scalar().is_some() && self.drafts.len() == drafted;
            if !plain && !rows && !a.ty.is_error() && !b.ty.is_error() {
                return self.run_time_choice(condition.span);
            }
            (a, b)
        } else {
            (
                self.quietly(|it| it.block(then, scope)),
                self.quietly(|it| it.block(otherwise, scope)),
            )
        };
        let Some(ty) = self.branch_type(&a, &b, then, otherwise, span) else {
            return Typed::error();
        };
        if !scalar {
            return Typed::unknown(ty);
        }
        self.scalar_if(&test, a, b, ty, (then.value.span, otherwise.value.span, span))
    }

    fn scalar_if(
        &mut self,
        test: &Typed<'a>,
        mut a: Typed<'a>,
        mut b: Typed<'a>,
        ty: Type,
        spans: (Span, Span, Span),
    ) -> Typed<'a> {
        if *ty.required().0 == Type::Float {
            a = self.as_float(a, spans.0);
            b = self.as_float(b, spans.1);
        }
        let optional = matches!(test.ty, Type::Optional(_));
        let ty = if optional { ty.optional() } else { ty };
        self.computed(&[test, &a, &b], ty, spans.2, |operands| {
            let none = || Box::new(RowExpr::Literal(pipe_row::ir::Scalar::None));
            let mut operands = operands.into_iter().map(Box::new);
            let test = operands.next().unwrap_or_else(none);
            let a = operands.next().unwrap_or_else(none);
            let b = operands.next().unwrap_or_else(none);
            RowExpr::If(test, a, b)
        })
    }

    /// The condition is known: one branch counts, the other is only checked.
    fn decided(
        &mut self,
        condition: bool,
        then: &'a Block,
        otherwise: &'a Block,
        span: Span,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        let (taken, other) = if condition { (then, otherwise) } else { (otherwise, then) };
        let value = self.block(taken, scope);
        let ignored = self.quietly(|it| it.block(other, scope));
        match self.branch_type(&value, &ignored, taken, other, span) {
            Some(_) => value,
            None => Typed::error(),
        }
    }

    fn branch_type(
        &mut self,
        a: &Typed<'a>,
        b: &Typed<'a>,
        then: &Block,
        otherwise: &Block,
        span: Span,
    ) -> Option<Type> {
        if let (Type::Str, Type::Str, Some(a), Some(b)) = (&a.ty, &b.ty, a.text(), b.text()) {
            return Some(Type::Enum(Rc::new(BTreeSet::from([a.to_owned(), b.to_owned()]))));
        }
        if let (Type::Str, Type::Enum(values), Some(text)) = (&a.ty, &b.ty, a.text()) {
            let mut values = (**values).clone();
            values.insert(text.to_owned());
            return Some(Type::Enum(Rc::new(values)));
        }
        let ty = join(&a.ty, &b.ty);
        if ty.is_none() {
            let message = format!(
                "both branches have one type; these are `{}` and `{}`",
                brief(&a.ty),
                brief(&b.ty)
            );
            let problem = Problem::error("types::branches", span, message)
                .also(then.value.span, format!("`{}`", a.ty))
                .also(otherwise.value.span, format!("`{}`", b.ty));
            self.report(problem);
        }
        ty
    }

    fn run_time_choice(&mut self, condition: Span) -> Typed<'a> {
        let problem = Problem::error(
            "plan::runtime_choice",
            condition,
            "which branch is taken is known only in the run, and the branches are not plain numbers, texts or truths",
        )
        .label("depends on the result of an op")
        .help("decide by a `param`, compute both and choose between scalars, or make the condition a `check`");
        self.fail(problem)
    }

    /// `for a in xs, b in ys if c { .. }`: the list of the body's values, unfolded.
    pub(super) fn for_each(
        &mut self,
        binders: &'a [Binder],
        condition: Option<&'a Expr>,
        body: &'a Block,
        span: Span,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        if self.in_row > 0 {
            let message = "a function of rows computes one value and cannot repeat";
            return self.fail(Problem::error("types::op_in_row", span, message));
        }
        let mut loops = Loop {
            binders,
            condition,
            body,
            found: Vec::new(),
            sample: None,
            unknown: false,
            probing: false,
        };
        self.walk(&mut loops, 0, scope, &mut Vec::new());
        let mut item = loops.sample.unwrap_or(Type::Error);
        for value in &loops.found {
            match join(&item, &value.ty) {
                Some(ty) => item = ty,
                None => {
                    let message = format!(
                        "the items of a list have one type; these are `{item}` and `{}`",
                        value.ty
                    );
                    return self.fail(Problem::error(
                        "types::mixed_list",
                        body.value.span,
                        message,
                    ));
                }
            }
        }
        let ty = Type::List(Rc::new(item));
        if loops.unknown {
            return Typed::unknown(ty);
        }
        Typed { ty, value: Value::List(Rc::new(loops.found)) }
    }

    fn walk(
        &mut self,
        loops: &mut Loop<'a>,
        at: usize,
        scope: &Scope<'a>,
        labels: &mut Vec<String>,
    ) {
        let Some(binder) = loops.binders.get(at) else {
            return self.turn(loops, scope, labels);
        };
        let list = self.expr(&binder.list, scope);
        let item = match &list.ty {
            Type::List(item) => (**item).clone(),
            Type::Error => Type::Error,
            other => {
                let message = format!("`for` walks a list, and this is `{}`", brief(other));
                self.report(Problem::error("types::not_a_list", binder.list.span, message));
                Type::Error
            }
        };
        match &list.value {
            Value::List(items) if !items.is_empty() => {
                for (index, value) in items.iter().enumerate() {
                    if self.exhausted {
                        return;
                    }
                    let (inner, label) = self.bind(binder, value, index, scope);
                    labels.push(label);
                    self.walk(loops, at + 1, &inner, labels);
                    labels.pop();
                }
            }
            other => {
                if let (Value::Node(_), Type::List(_)) = (other, &list.ty) {
                    let problem = Problem::error(
                        "plan::runtime_choice",
                        binder.list.span,
                        "how many items this list has is known only in the run",
                    );
                    self.report(problem.help("walk a list that the program or a `param` gives"));
                }
                loops.unknown |= !matches!(other, Value::List(_));
                let (inner, _) = self.bind(binder, &Typed::unknown(item), 0, scope);
                let probing = std::mem::replace(&mut loops.probing, true);
                self.quietly(|it| it.walk(loops, at + 1, &inner, &mut Vec::new()));
                loops.probing = probing;
            }
        }
    }

    /// One turn of the body.
    fn turn(&mut self, loops: &mut Loop<'a>, scope: &Scope<'a>, labels: &[String]) {
        if let Some(condition) = loops.condition {
            let test = self.expr(condition, scope);
            if !matches!(test.ty.required().0, Type::Bool | Type::Error) {
                let message = format!("a condition is `bool`, and this is `{}`", test.ty);
                self.report(Problem::error("types::condition", condition.span, message));
            }
            match test.value {
                Value::Const(Const::Bool(true)) | Value::Unknown => {}
                Value::Const(_) => {
                    let sample = self.quietly(|it| it.block(loops.body, scope));
                    loops.sample = loops
                        .sample
                        .take()
                        .and_then(|ty| join(&ty, &sample.ty))
                        .or(Some(sample.ty));
                    return;
                }
                _ => {
                    let message = "which items take part is known only in the run";
                    self.report(Problem::error("plan::runtime_choice", condition.span, message));
                    return;
                }
            }
        }
        let label: Vec<&str> = labels.iter().map(String::as_str).collect();
        let label = format!("[{}]", label.join(", "));
        let body = loops.body;
        let value = self.at_place(&label, |it| it.block(body, scope));
        if !loops.probing {
            return loops.found.push(value);
        }
        loops.sample = Some(match loops.sample.take() {
            Some(ty) => join(&ty, &value.ty).unwrap_or(Type::Error),
            None => value.ty,
        });
    }

    /// Bind the names of one turn; the label says what they stand for.
    fn bind(
        &mut self,
        binder: &'a Binder,
        value: &Typed<'a>,
        index: usize,
        scope: &Scope<'a>,
    ) -> (Scope<'a>, String) {
        if let [only] = binder.names.as_slice() {
            let label = label(&only.text, value, index);
            return (scope.with(&only.text, value.clone()), label);
        }
        let mut inner = scope.clone();
        let mut labels = Vec::new();
        for (at, name) in binder.names.iter().enumerate() {
            let part = self.part_of(value, at, binder);
            if part.to_const().is_some() {
                labels.push(label(&name.text, &part, index));
            }
            inner = inner.with(&name.text, part);
        }
        (inner, if labels.is_empty() { index.to_string() } else { labels.join(", ") })
    }

    /// The `at`-th component of a pair or record.
    fn part_of(&mut self, value: &Typed<'a>, at: usize, binder: &'a Binder) -> Typed<'a> {
        match (&value.ty, &value.value) {
            (Type::Error, _) => Typed::error(),
            (Type::List(_), Value::List(items)) if items.len() == binder.names.len() => {
                items.get(at).cloned().unwrap_or_else(Typed::error)
            }
            (Type::Record(record), _) if record.fields.len() == binder.names.len() => {
                let name =
                    record.fields.get(at).map(|(name, _)| name.to_string()).unwrap_or_default();
                self.member(value, &name, binder.list.span)
            }
            (Type::List(item), Value::Unknown) => Typed::unknown((**item).clone()),
            (other, _) => {
                let message =
                    format!("`{other}` cannot be taken apart into {} names", binder.names.len());
                let span = binder.names.first().map_or(binder.list.span, |name| name.span);
                self.fail(Problem::error("types::take_apart", span, message))
            }
        }
    }
}

struct Loop<'a> {
    binders: &'a [Binder],
    condition: Option<&'a Expr>,
    body: &'a Block,
    found: Vec<Typed<'a>>,
    sample: Option<Type>,
    unknown: bool,
    /// Only the type of the body is wanted.
    probing: bool,
}

fn label(name: &str, value: &Typed<'_>, index: usize) -> String {
    const LONGEST: usize = 24;
    match value.to_const() {
        Some(Const::List(_) | Const::Record(_)) | None => format!("{name}={index}"),
        Some(constant) => {
            let text = super::scalar::plain_text(&constant);
            if text.chars().count() <= LONGEST {
                format!("{name}={text}")
            } else {
                format!("{name}={index}")
            }
        }
    }
}
