//! Scalars whose value is known only in the run: expressions over columns or over results of nodes.

use super::expr::TooLarge;
use super::{Evaluator, Leaf, LeafSource, Scalar, Typed, Value};
use crate::types::Type;
use crate::value::Const;
use pipe_grammar::{Problem, Span};
use pipe_row::RowError;
use pipe_row::ir::{BinaryOp, Expr, Function, RowFn, Scalar as Literal, Ty};
use std::rc::Rc;

/// Most bytes of a constant: its texts, and 64 for each element and field. What is shared counts as often as it is
/// written, since that is what the plan would hold.
pub(super) const MAX_WRITTEN: usize = 256 << 20;

/// Whether a constant would be larger than [`MAX_WRITTEN`]. It looks no further than that.
pub(super) fn is_huge(value: &Typed<'_>) -> bool {
    fn fits(value: &Typed<'_>, left: &mut usize) -> bool {
        let own = 64 + value.text().map_or(0, str::len);
        let Some(rest) = left.checked_sub(own) else { return false };
        *left = rest;
        match &value.value {
            Value::List(items) => items.iter().all(|item| fits(item, left)),
            Value::Record(fields) => fields.values().all(|field| fits(field, left)),
            _ => true,
        }
    }
    !fits(value, &mut MAX_WRITTEN.clone())
}

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
        if let Some(value) = arithmetic(&expr) {
            return Typed {
                value: Value::Const(constant(value, &ty)),
                ty: ty.required().0.clone(),
            };
        }
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
            let text: String =
                pieces.iter().filter_map(|(piece, _)| piece.as_const()).map(plain_text).collect();
            if text.len() > MAX_WRITTEN {
                return self.too_large(TooLarge::Constant, span);
            }
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

/// Largest whole number up to which all are exact as floats.
const EXACT: i64 = 1 << 53;

/// Arithmetic of two numbers as row expressions do it, where there is nothing to decide: finite, and exact when whole.
/// A loop computes much of it, and a program for the interpreter costs more than the operation.
fn arithmetic(expr: &Expr) -> Option<Literal> {
    let Expr::Binary(op, a, b) = expr else { return None };
    let (Expr::Literal(a), Expr::Literal(b)) = (&**a, &**b) else { return None };
    if let (Literal::Int(a), Literal::Int(b)) = (a, b)
        && *op != BinaryOp::Divide
    {
        let value = match op {
            BinaryOp::Add => a.checked_add(*b)?,
            BinaryOp::Subtract => a.checked_sub(*b)?,
            BinaryOp::Multiply => a.checked_mul(*b)?,
            _ => return None,
        };
        let exact = [*a, *b, value].iter().all(|whole| whole.unsigned_abs() < EXACT.unsigned_abs());
        return exact.then_some(Literal::Int(value));
    }
    let (a, b) = (as_number(a)?, as_number(b)?);
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide => a / b,
        _ => return None,
    };
    // The sign of a zero is the interpreter's to say.
    (value.is_finite() && value != 0.0).then_some(Literal::Float(value))
}

fn as_number(value: &Literal) -> Option<f64> {
    match value {
        Literal::Float(value) => Some(*value),
        Literal::Int(whole) => (whole.checked_abs()? < EXACT).then_some(*whole as f64),
        _ => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is computed at once is what the interpreter computes.
    #[test]
    fn arithmetic_is_that_of_rows() {
        let wholes = [0, 1, -1, 3, 7, EXACT - 1, EXACT, -EXACT, i64::MAX, i64::MIN];
        let floats = [0.0, -0.0, 0.1, -2.5, 1e300, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN];
        let mut values: Vec<Literal> = wholes.map(Literal::Int).into();
        values.extend(floats.map(Literal::Float));
        let ops = [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply, BinaryOp::Divide];
        let mut computed = 0;
        for (op, a, b) in ops.iter().flat_map(|op| {
            let pairs = values.iter().flat_map(|a| values.iter().map(move |b| (a, b)));
            pairs.map(move |(a, b)| (*op, a, b))
        }) {
            let literal = |value: &Literal| Box::new(Expr::Literal(value.clone()));
            let body = Expr::Binary(op, literal(a), literal(b));
            let Some(value) = arithmetic(&body) else { continue };
            computed += 1;
            let ty = if matches!(value, Literal::Int(_)) { Ty::Int } else { Ty::Float };
            let function = RowFn { columns: Vec::new(), body, ty, optional: true };
            let wanted = function.evaluate_one(&[]);
            let bits = |value: &Literal| match value {
                Literal::Float(value) => value.to_bits(),
                Literal::Int(value) => *value as u64,
                _ => 0,
            };
            assert_eq!(
                wanted.as_ref().map(bits),
                Ok(bits(&value)),
                "{op:?} {a:?} {b:?}: {wanted:?}"
            );
        }
        assert!(computed > 200, "{computed}");
    }
}
