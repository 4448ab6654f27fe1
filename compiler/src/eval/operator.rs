//! Prefix and infix operators.

use super::arguments::Given;
use super::{Evaluator, Scope, Typed, Value};
use crate::types::Type;
use crate::value::Const;
use pipe_grammar::ast::{BinaryOp, Expr, UnaryOp};
use pipe_grammar::{Problem, Span, did_you_mean};
use pipe_row::ir::{BinaryOp as RowOp, Expr as RowExpr, Ty, UnaryOp as RowUnary};
use pipe_row::typing::{binary_result, unary_result};
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    pub(super) fn unary(
        &mut self,
        op: UnaryOp,
        operand: &'a Expr,
        span: Span,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        let value = self.expr(operand, scope);
        if value.ty.is_error() {
            return Typed::error();
        }
        if let (UnaryOp::Negate, Some(Const::Int(number))) = (op, value.as_const()) {
            return match number.checked_neg() {
                Some(number) => Typed::constant(Const::Int(number)),
                None => self.overflow(span),
            };
        }
        if let (UnaryOp::Negate, Some(Const::Size(bytes))) = (op, value.as_const()) {
            return Typed::constant(Const::Size(bytes.wrapping_neg()));
        }
        let row_op = if op == UnaryOp::Not { RowUnary::Not } else { RowUnary::Negate };
        let result = value
            .ty
            .scalar()
            .and_then(|(ty, optional)| Some((unary_result(row_op, ty)?, optional)));
        let Some((ty, optional)) = result else {
            let (sign, wants) = match op {
                UnaryOp::Not => ("not", "`bool`"),
                UnaryOp::Negate => ("-", "a number or a duration"),
            };
            let message = format!("`{sign}` wants {wants}, and this is `{}`", value.ty);
            return self.fail(Problem::error("types::operands", operand.span, message));
        };
        self.computed(&[&value], Type::of_scalar(ty, optional), span, |mut operands| {
            let operand = operands.pop().unwrap_or(RowExpr::Literal(pipe_row::ir::Scalar::None));
            RowExpr::Unary(row_op, Box::new(operand))
        })
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        op_span: Span,
        left: &'a Expr,
        right: &'a Expr,
        span: Span,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        let a = self.expr(left, scope);
        if op == BinaryOp::Coalesce && self.in_row == 0 && self.drafting() && is_chosen(&a) {
            let given = Given { value: a, span: left.span };
            return self.coalesced(given, right, span, scope);
        }
        let b = self.expr(right, scope);
        let operands = Operands { a, b, a_span: left.span, b_span: right.span, op_span, span };
        self.infix(op, operands)
    }

    /// An infix operator on two values.
    pub(super) fn infix(&mut self, op: BinaryOp, it: Operands<'a>) -> Typed<'a> {
        match op {
            BinaryOp::Coalesce => return self.coalesce(it),
            BinaryOp::In => return self.contained(it),
            BinaryOp::Range => return self.range(it),
            _ => {}
        }
        if it.a.ty.is_error() || it.b.ty.is_error() {
            let bool = !matches!(
                op,
                BinaryOp::Add
                    | BinaryOp::Subtract
                    | BinaryOp::Multiply
                    | BinaryOp::Divide
                    | BinaryOp::Remainder
            );
            return if bool { Typed::unknown(Type::Bool) } else { Typed::error() };
        }
        if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual)
            && (it.a.ty == Type::None || it.b.ty == Type::None)
        {
            return self.is_none(op, it);
        }
        if let (Some(Const::Int(a)), Some(Const::Int(b))) = (it.a.as_const(), it.b.as_const())
            && let Some(result) = whole(op, *a, *b)
        {
            return match result {
                Some(value) => Typed::constant(Const::Int(value)),
                None => self.overflow(it.span),
            };
        }
        if let (Some(Const::Int(a)), Some(Const::Int(b))) = (it.a.as_const(), it.b.as_const())
            && let Some(truth) = ordered(op, *a, *b)
        {
            return Typed::constant(Const::Bool(truth));
        }
        let Some(row_op) = row_operator(op) else { return Typed::error() };
        let types = (it.a.ty.scalar(), it.b.ty.scalar());
        let (Some((a_ty, a_optional)), Some((b_ty, b_optional))) = types else {
            return self.no_such_operation(op, &it);
        };
        let (it, a_ty, b_ty) = self.literals_meet(it, a_ty, b_ty);
        let Some(ty) = binary_result(row_op, a_ty, b_ty) else {
            return self.no_such_operation(op, &it);
        };
        self.check_enum(&it);
        let ty = Type::of_scalar(ty, a_optional || b_optional);
        self.computed(&[&it.a, &it.b], ty, it.span, |operands| {
            pair(operands, |a, b| RowExpr::Binary(row_op, a, b))
        })
    }

    /// `row.start > "2024-01-01"`: a constant text beside a time is a time.
    fn literals_meet(&mut self, mut it: Operands<'a>, a: Ty, b: Ty) -> (Operands<'a>, Ty, Ty) {
        let time = |value: &Typed<'a>| value.text().and_then(crate::time::parse);
        if a == Ty::Time
            && b == Ty::Str
            && let Some(nanos) = time(&it.b)
        {
            it.b = Typed::constant(Const::Time(nanos));
            return (it, a, Ty::Time);
        }
        if b == Ty::Time
            && a == Ty::Str
            && let Some(nanos) = time(&it.a)
        {
            it.a = Typed::constant(Const::Time(nanos));
            return (it, Ty::Time, b);
        }
        (it, a, b)
    }

    /// Comparing an enumeration with a text that is none of its values is a mistake.
    fn check_enum(&mut self, it: &Operands<'a>) {
        for (one, other, span) in [(&it.a, &it.b, it.b_span), (&it.b, &it.a, it.a_span)] {
            if let (Type::Enum(values), Some(text)) = (one.ty.required().0, other.text())
                && !values.contains(text)
            {
                let problem = unknown_value(text, &one.ty, span);
                self.report(problem);
            }
        }
    }

    fn is_none(&mut self, op: BinaryOp, it: Operands<'a>) -> Typed<'a> {
        let value = if it.a.ty == Type::None { it.b } else { it.a };
        let equal = op == BinaryOp::Equal;
        if value.ty == Type::None {
            return Typed::constant(Const::Bool(equal));
        }
        if !matches!(value.ty, Type::Optional(_)) && value.ty.scalar().is_some() {
            let message = "this is never `none`";
            self.report(
                Problem::warning("types::never_none", it.span, message)
                    .label(format!("the value is `{}`", value.ty)),
            );
        }
        if value.ty.scalar().is_none() {
            return match value.value {
                _ if value.is_unknown() => Typed::unknown(Type::Bool),
                Value::Node(_) if matches!(value.ty, Type::Optional(_)) => {
                    self.missing_in_run(value, equal, it.span)
                }
                _ => Typed::constant(Const::Bool(!equal)),
            };
        }
        self.computed(&[&value], Type::Bool, it.span, |mut operands| {
            let operand = operands.pop().unwrap_or(RowExpr::Literal(pipe_row::ir::Scalar::None));
            let test = RowExpr::IsNone(Box::new(operand));
            if equal { test } else { RowExpr::Unary(RowUnary::Not, Box::new(test)) }
        })
    }

    /// Whether an artifact, a list or a record is there, by a node of its own.
    pub(super) fn missing_in_run(
        &mut self,
        value: Typed<'a>,
        equal: bool,
        span: Span,
    ) -> Typed<'a> {
        if !self.drafting() {
            return Typed::unknown(Type::Bool);
        }
        let origin = super::parts::origin_in(&value);
        let Some(arg) = self.arg(&Given { value, span }) else { return Typed::unknown(Type::Bool) };
        let args = std::collections::BTreeMap::from([("value".to_owned(), arg)]);
        let present = self.own_call("value.present", args, Type::Bool, origin, span);
        if !equal {
            return present;
        }
        self.computed(&[&present], Type::Bool, span, |mut operands| {
            let operand = operands.pop().unwrap_or(RowExpr::Literal(pipe_row::ir::Scalar::None));
            RowExpr::Unary(RowUnary::Not, Box::new(operand))
        })
    }

    fn coalesce(&mut self, it: Operands<'a>) -> Typed<'a> {
        if it.a.ty.is_error() {
            return it.b;
        }
        if it.a.ty == Type::None {
            return it.b;
        }
        let Type::Optional(inner) = it.a.ty.clone() else {
            let problem = Problem::warning(
                "types::never_none",
                it.a_span,
                "the left side of `??` is never missing",
            )
            .label(format!("the value is `{}`", it.a.ty))
            .help("leave `??` and its right side out");
            self.report(problem);
            return it.a;
        };
        let Some(ty) = crate::types::join(&inner, &it.b.ty) else {
            let message =
                format!("both sides of `??` have one type; these are `{inner}` and `{}`", it.b.ty);
            let problem = Problem::error("types::operands", it.op_span, message)
                .also(it.a_span, format!("`{}`", it.a.ty))
                .also(it.b_span, format!("`{}`", it.b.ty));
            return self.fail(problem);
        };
        if it.a.as_const().is_some() {
            return it.a;
        }
        let (mut a, mut b) = (it.a, it.b);
        if *ty.required().0 == Type::Float {
            a = self.as_float(a, it.a_span);
            b = self.as_float(b, it.b_span);
        }
        if ty.scalar().is_none() {
            return Typed::unknown(ty);
        }
        self.computed(&[&a, &b], ty, it.span, |operands| pair(operands, RowExpr::Coalesce))
    }

    fn contained(&mut self, it: Operands<'a>) -> Typed<'a> {
        if it.a.ty.is_error() || it.b.ty.is_error() {
            return Typed::unknown(Type::Bool);
        }
        let Type::List(item) = &it.b.ty else {
            let message = format!("`in` looks in a list, and this is `{}`", it.b.ty);
            let problem = Problem::error("types::operands", it.b_span, message);
            return self.fail(if it.b.ty == Type::Str {
                problem.help("for texts use `text.contains(whole, part)`")
            } else {
                problem.help("write the values in brackets: `x in [1, 2]`")
            });
        };
        if crate::types::join(it.a.ty.required().0, item).is_none() {
            let message = format!("this list holds `{item}`, never `{}`", it.a.ty);
            return self.fail(
                Problem::error("types::operands", it.span, message)
                    .also(it.a_span, format!("`{}`", it.a.ty)),
            );
        }
        let optional = matches!(it.a.ty, Type::Optional(_));
        let ty = if optional { Type::Bool.optional() } else { Type::Bool };
        let items = match &it.b.value {
            Value::List(items) => items,
            Value::Node(_) => return self.list_not_known(&it),
            _ => return Typed::unknown(ty),
        };
        if let Type::Enum(_) = it.a.ty.required().0 {
            for text in items.iter().filter_map(Typed::text) {
                if let Type::Enum(values) = it.a.ty.required().0
                    && !values.contains(text)
                {
                    let problem = unknown_value(text, &it.a.ty, it.b_span);
                    self.report(problem);
                }
            }
        }
        let literals: Option<Vec<_>> =
            items.iter().map(|item| item.as_const().and_then(super::scalar::literal)).collect();
        let Some(literals) = literals else {
            if items.iter().any(Typed::is_unknown) {
                return Typed::unknown(ty);
            }
            return self.list_not_known(&it);
        };
        self.computed(&[&it.a], ty, it.span, |mut operands| {
            let operand = operands.pop().unwrap_or(RowExpr::Literal(pipe_row::ir::Scalar::None));
            RowExpr::In(Box::new(operand), literals)
        })
    }

    fn list_not_known(&mut self, it: &Operands<'a>) -> Typed<'a> {
        if self.in_row > 0 {
            let message = "a function of rows reads single results, and this is a list";
            let problem = Problem::error("types::run_time_in_row", it.b_span, message)
                .label("known only in the run")
                .help("join the values to the table as a column, or compare with one result: `row.x == best.x`");
            return self.fail(problem);
        }
        let message = "the list of `in` is known before the run";
        let problem = Problem::error("plan::runtime_choice", it.b_span, message);
        self.fail(problem.help("compare with each result: `x == a.value or x == b.value`"))
    }

    fn range(&mut self, it: Operands<'a>) -> Typed<'a> {
        const LONGEST: i64 = 1_000_000;
        let ty = Type::List(Rc::new(Type::Int));
        for (value, span) in [(&it.a, it.a_span), (&it.b, it.b_span)] {
            if value.ty != Type::Int && !value.ty.is_error() {
                let message = format!(
                    "a range goes from one whole number to another, and this is `{}`",
                    value.ty
                );
                return self.fail(Problem::error("types::operands", span, message));
            }
        }
        let (Some(Const::Int(from)), Some(Const::Int(to))) = (it.a.as_const(), it.b.as_const())
        else {
            if super::row::is_run_time(&it.a) || super::row::is_run_time(&it.b) {
                if it.a.is_unknown() || it.b.is_unknown() {
                    return Typed::unknown(ty);
                }
                let message = "the ends of a range are known before the run";
                let problem = Problem::error("plan::runtime_choice", it.span, message);
                return self.fail(problem.help(
                    "walk a list that a result holds, repeat with `iterate`, or take the number from a `param`",
                ));
            }
            return Typed::unknown(ty);
        };
        if to.saturating_sub(*from) > LONGEST {
            let message = format!("a range has at most {LONGEST} numbers");
            return self.fail(Problem::error("plan::too_large", it.span, message));
        }
        let items = (*from..*to).map(|number| Typed::constant(Const::Int(number))).collect();
        Typed { ty, value: Value::List(Rc::new(items)) }
    }

    fn overflow(&mut self, span: Span) -> Typed<'a> {
        let message = "this whole number is too large";
        let problem = Problem::error("types::number_range", span, message);
        self.fail(
            problem
                .label("beyond 9223372036854775807")
                .help("compute with floats: write `1.0 *` before it"),
        )
    }

    fn no_such_operation(&mut self, op: BinaryOp, it: &Operands<'a>) -> Typed<'a> {
        let (a, b) = (&it.a.ty, &it.b.ty);
        let sign = sign(op);
        let (plain_a, plain_b) = (a.required().0, b.required().0);
        let meets = |of: &str, other: &str| match ordered(op, 0, 0) {
            Some(_) => format!("`{sign}` cannot compare {of} with {other}"),
            None => format!("`{sign}` cannot join {of} and {other}"),
        };
        let (message, help) = match (plain_a, plain_b) {
            (Type::Duration, Type::Size) | (Type::Size, Type::Duration) => (
                meets("a duration", "a size: one is time, the other is bytes"),
                Some("divide one of them by its unit first, for example `window / 1s`".to_owned()),
            ),
            (Type::Duration | Type::Size, number) | (number, Type::Duration | Type::Size)
                if number.is_number() =>
            {
                let (unit, of) =
                    if matches!(plain_a, Type::Duration) || matches!(plain_b, Type::Duration) {
                        ("s", "a duration")
                    } else {
                        ("MiB", "a size")
                    };
                (
                    meets(of, "a number without a unit"),
                    Some(format!(
                        "give the number a unit, for example `5{unit}`, or divide by `1{unit}`"
                    )),
                )
            }
            (Type::Str, _) | (_, Type::Str) if op == BinaryOp::Add => (
                format!("`+` adds numbers; this is `{a}` and `{b}`"),
                Some("put texts together in one text: `\"${first}${second}\"`".to_owned()),
            ),
            _ => {
                let help = matches!(op, BinaryOp::And | BinaryOp::Or)
                    .then(|| format!("`{sign}` wants `bool` on both sides"));
                (format!("`{sign}` does not work on `{a}` and `{b}`"), help)
            }
        };
        let mut problem = Problem::error("types::operands", it.op_span, message)
            .also(it.a_span, format!("`{a}`"))
            .also(it.b_span, format!("`{b}`"));
        if let Some(help) = help {
            problem = problem.help(help);
        }
        self.report(problem);
        if matches!(
            op,
            BinaryOp::Add
                | BinaryOp::Subtract
                | BinaryOp::Multiply
                | BinaryOp::Divide
                | BinaryOp::Remainder
        ) {
            Typed::error()
        } else {
            Typed::unknown(Type::Bool)
        }
    }
}

/// Whether the run has to choose between the value and another: a result that is no scalar and may be missing.
fn is_chosen(value: &Typed<'_>) -> bool {
    matches!(value.value, Value::Node(_))
        && matches!(&value.ty, Type::Optional(_))
        && value.ty.scalar().is_none()
}

/// The operands of an infix operator with their places.
#[derive(Clone)]
pub(crate) struct Operands<'a> {
    pub(crate) a: Typed<'a>,
    pub(crate) b: Typed<'a>,
    pub(crate) a_span: Span,
    pub(crate) b_span: Span,
    pub(crate) op_span: Span,
    pub(crate) span: Span,
}

/// The error of a text that is not a value of an enumeration.
pub(crate) fn unknown_value(text: &str, ty: &Type, span: Span) -> Problem {
    let message = format!("`{text}` is none of {}", ty.required().0);
    let problem = Problem::error("types::unknown_value", span, message);
    let Type::Enum(values) = ty.required().0 else { return problem };
    match did_you_mean(text, values.iter().map(String::as_str)) {
        Some(near) => problem
            .label(format!("did you mean \"{near}\"?"))
            .edit(span, crate::value::Quoted(near).to_string()),
        None => problem.help(format!("use one of {ty}")),
    }
}

fn pair(
    operands: Vec<RowExpr>,
    make: impl FnOnce(Box<RowExpr>, Box<RowExpr>) -> RowExpr,
) -> RowExpr {
    let none = || RowExpr::Literal(pipe_row::ir::Scalar::None);
    let mut operands = operands.into_iter();
    let a = operands.next().unwrap_or_else(none);
    let b = operands.next().unwrap_or_else(none);
    make(Box::new(a), Box::new(b))
}

/// Whole-number arithmetic, exact; the outer `None` leaves the operator to the row interpreter.
fn whole(op: BinaryOp, a: i64, b: i64) -> Option<Option<i64>> {
    match op {
        BinaryOp::Add => Some(a.checked_add(b)),
        BinaryOp::Subtract => Some(a.checked_sub(b)),
        BinaryOp::Multiply => Some(a.checked_mul(b)),
        _ => None,
    }
}

fn ordered(op: BinaryOp, a: i64, b: i64) -> Option<bool> {
    Some(match op {
        BinaryOp::Equal => a == b,
        BinaryOp::NotEqual => a != b,
        BinaryOp::Less => a < b,
        BinaryOp::LessEqual => a <= b,
        BinaryOp::Greater => a > b,
        BinaryOp::GreaterEqual => a >= b,
        _ => return None,
    })
}

fn row_operator(op: BinaryOp) -> Option<RowOp> {
    Some(match op {
        BinaryOp::Or => RowOp::Or,
        BinaryOp::And => RowOp::And,
        BinaryOp::Equal => RowOp::Equal,
        BinaryOp::NotEqual => RowOp::NotEqual,
        BinaryOp::Less => RowOp::Less,
        BinaryOp::LessEqual => RowOp::LessEqual,
        BinaryOp::Greater => RowOp::Greater,
        BinaryOp::GreaterEqual => RowOp::GreaterEqual,
        BinaryOp::Add => RowOp::Add,
        BinaryOp::Subtract => RowOp::Subtract,
        BinaryOp::Multiply => RowOp::Multiply,
        BinaryOp::Divide => RowOp::Divide,
        BinaryOp::Remainder => RowOp::Remainder,
        BinaryOp::Coalesce | BinaryOp::In | BinaryOp::Range => return None,
    })
}

/// The operator as it is written.
pub(crate) fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Coalesce => "??",
        BinaryOp::Or => "or",
        BinaryOp::And => "and",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::In => "in",
        BinaryOp::Range => "..",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
    }
}
