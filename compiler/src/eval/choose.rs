//! `if`: what is known before the run decides at once, scalars are computed, and between anything else the run chooses.

use super::arguments::Given;
use super::frame::Frame;
use super::{Evaluator, Scope, Typed, Value};
use crate::plan::Arg;
use crate::types::{Type, brief, join};
use crate::value::Const;
use pipe_grammar::ast::{BinaryOp, Block, Expr, ExprKind};
use pipe_grammar::{Problem, Span};
use pipe_row::ir::Expr as RowExpr;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// One branch of a choice in the run.
pub(super) struct Branch<'a> {
    pub(super) frame: Frame,
    pub(super) value: Typed<'a>,
    pub(super) span: Span,
}

impl<'a> Evaluator<'a> {
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
        let scopes = self.narrowed(condition, scope);
        if let Some(Const::Bool(known)) = test.as_const() {
            return self.decided(*known, (then, otherwise), span, &scopes);
        }
        let in_run = matches!(test.value, Value::Scalar(_) | Value::Node(_));
        if in_run && self.drafting() && self.in_row == 0 {
            return self.choice(test, condition.span, (then, otherwise), span, &scopes);
        }
        let (a, b) = if in_run {
            (self.block(then, &scopes.0), self.block(otherwise, &scopes.1))
        } else {
            let then = self.quietly(|it| it.block(then, &scopes.0));
            (then, self.quietly(|it| it.block(otherwise, &scopes.1)))
        };
        let Some(ty) = self.branch_type(&a, &b, then, otherwise, span) else {
            return Typed::error();
        };
        if !in_run || (self.in_row == 0 && ty.scalar().is_none()) {
            return Typed::unknown(ty);
        }
        self.scalar_if(&test, a, b, ty, (then.value.span, otherwise.value.span, span))
    }

    /// The condition is a result: both branches are drafted apart, and nothing of the other one runs.
    fn choice(
        &mut self,
        test: Typed<'a>,
        test_span: Span,
        (then, otherwise): (&'a Block, &'a Block),
        span: Span,
        scopes: &(Scope<'a>, Scope<'a>),
    ) -> Typed<'a> {
        let then_branch = self.branch(then, &scopes.0);
        let other_branch = self.branch(otherwise, &scopes.1);
        let (a, b) = (&then_branch.value, &other_branch.value);
        let Some(ty) = self.branch_type(a, b, then, otherwise, span) else {
            return Typed::error();
        };
        let plain = a.ty.scalar().is_some() && b.ty.scalar().is_some();
        if plain && !self.is_drafted(&then_branch.frame) && !self.is_drafted(&other_branch.frame) {
            let spans = (then.value.span, otherwise.value.span, span);
            return self.scalar_if(&test, then_branch.value, other_branch.value, ty, spans);
        }
        self.chosen(Given { value: test, span: test_span }, then_branch, other_branch, ty, span)
    }

    fn branch(&mut self, block: &'a Block, scope: &Scope<'a>) -> Branch<'a> {
        let (frame, _) = self.open(Vec::new());
        let value = self.inside(&frame, |it| it.block(block, scope));
        Branch { frame, value, span: block.value.span }
    }

    /// The value of the branch that the run takes.
    pub(super) fn chosen(
        &mut self,
        test: Given<'a>,
        then: Branch<'a>,
        otherwise: Branch<'a>,
        ty: Type,
        span: Span,
    ) -> Typed<'a> {
        if ty.is_error() || then.value.is_unknown() || otherwise.value.is_unknown() {
            return Typed::unknown(ty);
        }
        if let Type::Optional(_) = test.value.ty {
            let message = "this condition may be missing, and then neither branch is meant";
            let problem = Problem::error("types::optional", test.span, message)
                .label(format!("`{}` here", test.value.ty));
            let text = self.source_of(test.span);
            let help = format!("say what a missing one means: `({text}) ?? false`");
            return self.fail(problem.help(help));
        }
        for branch in [&then, &otherwise] {
            if let Value::Function(_) | Value::Type(_) = branch.value.value {
                let message = "which function this is would be known only in the run";
                let problem = Problem::error("plan::runtime_choice", branch.span, message);
                let help = "choose between values: call the function inside of the branch";
                return self.fail(problem.help(help));
            }
        }
        let a = self.result_in(&then.frame, then.value, &ty, then.span);
        let b = self.result_in(&otherwise.frame, otherwise.value, &ty, otherwise.span);
        let (Some((a, then_arg)), Some((b, other_arg))) = (a, b) else {
            return Typed::unknown(ty);
        };
        let Some(condition) = self.arg(&test) else { return Typed::unknown(ty) };
        let mut closed = self.close(&[(&then.frame, &then_arg), (&otherwise.frame, &other_arg)]);
        let mut args = BTreeMap::from([("condition".to_owned(), condition)]);
        let bodies = std::mem::take(&mut closed.bodies).into_iter().map(Box::new);
        for (name, body) in ["then", "otherwise"].into_iter().zip(bodies) {
            args.insert(name.to_owned(), Arg::Body(body));
        }
        match self.drive("flow.choose", closed, args, ty.clone(), span) {
            Some(node) => self.driven(node, ty, &[&a, &b]),
            None => Typed::unknown(ty),
        }
    }

    /// `value ?? other` of something that is no scalar: the other is made only when the value is missing.
    pub(super) fn coalesced(
        &mut self,
        value: Given<'a>,
        other: &'a Expr,
        span: Span,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        let inner = value.value.ty.required().0.clone();
        let (frame, _) = self.open(Vec::new());
        let found = Typed { ty: inner.clone(), value: value.value.value.clone() };
        let then = Branch { frame, value: found, span: value.span };
        let (frame, _) = self.open(Vec::new());
        let result = self.inside(&frame, |it| it.expr(other, scope));
        let otherwise = Branch { frame, value: result, span: other.span };
        let Some(ty) = join(&inner, &otherwise.value.ty) else {
            let other_type = &otherwise.value.ty;
            let message = format!(
                "both sides of `??` have one type; these are `{}` and `{}`",
                brief(&inner),
                brief(other_type)
            );
            let problem = Problem::error("types::operands", span, message)
                .also(value.span, format!("`{}`", value.value.ty))
                .also(other.span, format!("`{other_type}`"));
            return self.fail(problem);
        };
        let test = self.missing_in_run(value.value, false, value.span);
        let test = Given { value: test, span: value.span };
        self.chosen(test, then, otherwise, ty, span)
    }

    /// The scopes of both branches: where `name != none` holds, `name` is not missing.
    fn narrowed(&mut self, condition: &'a Expr, scope: &Scope<'a>) -> (Scope<'a>, Scope<'a>) {
        let plain = (scope.clone(), scope.clone());
        let ExprKind::Binary { op, left, right, .. } = &condition.kind else { return plain };
        let name = match (&left.kind, &right.kind) {
            (ExprKind::Name(name), ExprKind::None) | (ExprKind::None, ExprKind::Name(name)) => name,
            _ => return plain,
        };
        if !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
            return plain;
        }
        let value = self.quietly(|it| {
            it.expr(if matches!(left.kind, ExprKind::None) { right } else { left }, scope)
        });
        let present = match &value.ty {
            Type::None => Typed::error(),
            Type::Optional(inner) if inner.scalar().is_none() => {
                Typed { ty: (**inner).clone(), value: value.value }
            }
            _ => return plain,
        };
        let there = scope.with(name, present);
        if *op == BinaryOp::NotEqual { (there, scope.clone()) } else { (scope.clone(), there) }
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
        (then, otherwise): (&'a Block, &'a Block),
        span: Span,
        scopes: &(Scope<'a>, Scope<'a>),
    ) -> Typed<'a> {
        let branches = [(then, &scopes.0), (otherwise, &scopes.1)];
        let [(taken, scope), (other, other_scope)] =
            if condition { branches } else { [branches[1], branches[0]] };
        let value = self.block(taken, scope);
        let ignored = self.quietly(|it| it.block(other, other_scope));
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
}
