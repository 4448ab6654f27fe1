//! Scalars whose value is known only in the run: expressions over columns or over results of nodes.

use super::{Evaluator, Leaf, LeafSource, Scalar, Typed, Value};
use crate::types::Type;
use crate::value::Const;
use pipe_grammar::{Problem, Span};
use pipe_row::RowError;
use pipe_row::ir::{Expr, Function, RowFn, Scalar as Literal, Ty};
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    /// A value that reads one column or one result.
    pub(super) fn leaf(
        &mut self,
        source: LeafSource,
        ty: Ty,
        optional: bool,
        shown: Type,
    ) -> Typed<'a> {
        let leaf = Leaf { source, ty, optional };
        let number = match self.leaves.iter().rev().take(64).position(|known| *known == leaf) {
            Some(back) => self.leaves.len() - 1 - back,
            None => {
                self.leaves.push(leaf);
                self.leaves.len() - 1
            }
        };
        let expr = Expr::Column(u32::try_from(number).unwrap_or(u32::MAX));
        Typed { ty: shown, value: Value::Scalar(Rc::new(Scalar { expr, size: 1, depth: 1 })) }
    }

    /// The operand of a scalar operation: an expression, or nothing when the value is not known.
    pub(super) fn operand(&mut self, value: &Typed<'a>) -> Option<Scalar> {
        match &value.value {
            Value::Const(constant) => {
                Some(Scalar { expr: Expr::Literal(literal(constant)?), size: 1, depth: 1 })
            }
            Value::Scalar(scalar) => Some((**scalar).clone()),
            Value::Node(node) => {
                let (ty, optional) = value.ty.scalar()?;
                let source = LeafSource::Node(Rc::clone(node));
                match self.leaf(source, ty, optional, value.ty.clone()).value {
                    Value::Scalar(scalar) => Some((*scalar).clone()),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A scalar expression of these operands, computed at once when all of them are constants.
    pub(super) fn computed(
        &mut self,
        operands: &[&Typed<'a>],
        ty: Type,
        span: Span,
        make: impl FnOnce(Vec<Expr>) -> Expr,
    ) -> Typed<'a> {
        let mut exprs = Vec::with_capacity(operands.len());
        let (mut size, mut depth) = (1, 1);
        let constant = operands.iter().all(|operand| operand.as_const().is_some());
        for operand in operands {
            let Some(scalar) = self.operand(operand) else { return Typed::unknown(ty) };
            size += scalar.size;
            depth = depth.max(scalar.depth + 1);
            exprs.push(scalar.expr);
        }
        if size > pipe_row::MAX_NODES || depth > pipe_row::MAX_DEPTH {
            let message =
                format!("this expression unfolds into more than {} steps", pipe_row::MAX_NODES);
            let problem = Problem::error("plan::too_large", span, message);
            return self.fail(
                problem.help("compute a part of it as a column of its own, with `data.derive`"),
            );
        }
        let expr = make(exprs);
        if constant {
            return self.evaluated(expr, ty, span);
        }
        Typed { ty, value: Value::Scalar(Rc::new(Scalar { expr, size, depth })) }
    }

    fn evaluated(&mut self, expr: Expr, ty: Type, span: Span) -> Typed<'a> {
        let Some((scalar_ty, _)) = ty.scalar() else { return Typed::unknown(ty) };
        let function = RowFn { columns: Vec::new(), body: expr, ty: scalar_ty, optional: true };
        match function.evaluate_one(&[]) {
            Ok(value) => {
                let value = constant(value, &ty);
                let ty = if value == Const::None { Type::None } else { ty.required().0.clone() };
                Typed { ty, value: Value::Const(value) }
            }
            Err(error) => {
                let why = match error {
                    RowError::NotExact { .. } => {
                        "a whole number in it lies beyond 2^53, where it cannot be held exactly"
                            .into()
                    }
                    other => other.to_string(),
                };
                let message = format!("this cannot be computed: {why}");
                let problem = Problem::error("plan::constant", span, message);
                self.fail(problem)
            }
        }
    }

    /// Text made of pieces.
    pub(super) fn concat(&mut self, pieces: Vec<(Typed<'a>, Span)>, span: Span) -> Typed<'a> {
        let mut optional = false;
        let mut unknown = false;
        for (piece, at) in &pieces {
            match piece.ty.scalar() {
                Some((_, missing)) => optional |= missing,
                None if piece.ty.is_error() => unknown = true,
                None => {
                    let message = format!("`{}` cannot be put into a text", piece.ty);
                    let problem = Problem::error("types::interpolation", *at, message);
                    self.report(problem.help("texts, numbers, durations, sizes and times can"));
                    unknown = true;
                }
            }
        }
        let ty = if optional { Type::Str.optional() } else { Type::Str };
        if unknown {
            return Typed::unknown(ty);
        }
        if pieces.iter().all(|(piece, _)| piece.as_const().is_some()) {
            let text =
                pieces.iter().filter_map(|(piece, _)| piece.as_const()).map(plain_text).collect();
            return Typed::constant(Const::Str(text));
        }
        let operands: Vec<&Typed<'a>> = pieces.iter().map(|(piece, _)| piece).collect();
        self.computed(&operands, ty, span, Expr::Concat)
    }

    /// The value as a float, where an int is given.
    pub(super) fn as_float(&mut self, value: Typed<'a>, span: Span) -> Typed<'a> {
        let (required, optional) = value.ty.required();
        if *required != Type::Int {
            return value;
        }
        let ty = if optional { Type::Float.optional() } else { Type::Float };
        match &value.value {
            Value::Const(Const::Int(number)) => Typed::constant(Const::Float(*number as f64)),
            Value::Const(_) => value,
            Value::Scalar(_) => self
                .computed(&[&value], ty, span, |operands| Expr::Call(Function::ToFloat, operands)),
            _ => Typed { ty, value: value.value },
        }
    }
}

/// A constant as a literal of row expressions.
pub(crate) fn literal(value: &Const) -> Option<Literal> {
    Some(match value {
        Const::None => Literal::None,
        Const::Bool(value) => Literal::Bool(*value),
        Const::Int(value) => Literal::Int(*value),
        Const::Float(value) => Literal::Float(*value),
        Const::Str(text) | Const::Path(text) => Literal::Str(text.clone()),
        Const::Time(nanos) => Literal::Time(*nanos),
        Const::Duration(nanos) => Literal::Duration(*nanos),
        Const::Size(bytes) => Literal::Size(*bytes),
        Const::List(_) | Const::Record(_) => return None,
    })
}

fn constant(value: Literal, ty: &Type) -> Const {
    match (value, ty.required().0) {
        (Literal::None, _) => Const::None,
        (Literal::Bool(value), _) => Const::Bool(value),
        (Literal::Int(value), Type::Float) => Const::Float(value as f64),
        (Literal::Int(value), _) => Const::Int(value),
        (Literal::Float(value), Type::Int) if value.fract() == 0.0 => Const::Int(value as i64),
        (Literal::Float(value), _) => Const::Float(value),
        (Literal::Str(text), Type::Path) => Const::Path(text),
        (Literal::Str(text), _) => Const::Str(text),
        (Literal::Time(nanos), _) => Const::Time(nanos),
        (Literal::Duration(nanos), _) => Const::Duration(nanos),
        (Literal::Size(bytes), _) => Const::Size(bytes),
    }
}

/// A constant inside a text: without quotes.
pub(crate) fn plain_text(value: &Const) -> String {
    match value {
        Const::Str(text) | Const::Path(text) => text.clone(),
        Const::Float(value) => {
            let mut text = String::new();
            pipe_row::print::write_number(&mut text, *value);
            text
        }
        other => other.to_string(),
    }
}
