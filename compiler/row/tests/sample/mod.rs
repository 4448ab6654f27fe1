//! Random row functions and data, drawn from a list of choices so that failures shrink.

use pipe_row::Column;
use pipe_row::ir::{BinaryOp, ColumnRef, Expr, Function, RowFn, Scalar, Ty, UnaryOp};
use pipe_row::typing::{Gives, binary_result, result_of, unary_result};

/// Choices in order; zero when they run out, which every draw answers with something small.
#[derive(Clone)]
pub(crate) struct Choices<'a> {
    list: &'a [u16],
    at: usize,
}

impl<'a> Choices<'a> {
    pub(crate) fn new(list: &'a [u16]) -> Self {
        Self { list, at: 0 }
    }

    pub(crate) fn next(&mut self) -> usize {
        let choice = self.list.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(choice)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.next() % bound.max(1)
    }

    fn of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    fn is_spent(&self) -> bool {
        self.at >= self.list.len()
    }
}

/// Two columns of every type, in an order of their own.
pub(crate) fn columns() -> Vec<ColumnRef> {
    let column = |name: String, ty| ColumnRef { name, ty, optional: true };
    let named = |ty: Ty| ["z", "a"].map(|name| column(format!("{name}.{ty}"), ty));
    Ty::ALL.into_iter().flat_map(named).collect()
}

/// A well-typed function over [`columns`].
pub(crate) fn function(choices: &mut Choices<'_>) -> RowFn {
    let ty = choices.of(&Ty::ALL);
    let body = typed(choices, ty, 0);
    RowFn { columns: columns(), body, ty, optional: true }
}

/// An expression of type `ty`, or of a type that stands for it.
fn typed(choices: &mut Choices<'_>, ty: Ty, depth: usize) -> Expr {
    if depth > 6 || choices.is_spent() {
        return leaf(choices, ty);
    }
    let sub = |choices: &mut Choices<'_>, ty| Box::new(typed(choices, ty, depth + 1));
    match choices.below(8) {
        0 | 1 => leaf(choices, ty),
        2 => {
            let condition = sub(choices, Ty::Bool);
            Expr::If(condition, sub(choices, ty), sub(choices, ty))
        }
        3 => Expr::Coalesce(sub(choices, ty), sub(choices, ty)),
        4 => call(choices, ty, depth),
        _ => match ty {
            Ty::Str => {
                let pieces = choices.below(4);
                let piece = |_| {
                    let ty = choices.of(&Ty::ALL);
                    typed(choices, ty, depth + 1)
                };
                Expr::Concat((0..pieces).map(piece).collect())
            }
            Ty::Bool if choices.below(3) == 0 => {
                let over = choices.of(&Ty::ALL);
                let operand = sub(choices, over);
                if choices.below(2) == 0 {
                    return Expr::IsNone(operand);
                }
                let items = choices.below(4);
                Expr::In(operand, (0..items).map(|_| scalar(choices, over)).collect())
            }
            _ => operator(choices, ty, depth),
        },
    }
}

fn operator(choices: &mut Choices<'_>, ty: Ty, depth: usize) -> Expr {
    let unary = [UnaryOp::Negate, UnaryOp::Not]
        .into_iter()
        .filter(|op| unary_result(*op, ty) == Some(ty))
        .collect::<Vec<_>>();
    if !unary.is_empty() && choices.below(4) == 0 {
        return Expr::Unary(choices.of(&unary), Box::new(typed(choices, ty, depth + 1)));
    }
    let mut forms = Vec::new();
    for op in BinaryOp::ALL {
        for left in Ty::ALL {
            for right in Ty::ALL {
                if binary_result(op, left, right) == Some(ty) {
                    forms.push((op, left, right));
                }
            }
        }
    }
    if forms.is_empty() {
        return leaf(choices, ty);
    }
    let (op, left, right) = choices.of(&forms);
    let left = Box::new(typed(choices, left, depth + 1));
    Expr::Binary(op, left, Box::new(typed(choices, right, depth + 1)))
}

fn call(choices: &mut Choices<'_>, ty: Ty, depth: usize) -> Expr {
    let mut forms = Vec::new();
    for function in Function::ALL {
        for argument in Ty::ALL {
            let arguments = vec![argument; function.signature().count];
            if result_of(function, &arguments) == Ok(ty) {
                forms.push((function, arguments));
            }
        }
    }
    if forms.is_empty() {
        return leaf(choices, ty);
    }
    let (function, mut arguments) = choices.of(&forms);
    // Where floats are expected, a whole number may stand.
    if function.signature().gives == Gives::Same && ty == Ty::Float && choices.below(4) == 0 {
        arguments[0] = Ty::Int;
        arguments.rotate_left(1);
    }
    if arguments.iter().all(|argument| *argument == Ty::Int) && ty == Ty::Float {
        arguments[0] = Ty::Float;
    }
    let arguments = arguments.into_iter().map(|ty| typed(choices, ty, depth + 1)).collect();
    Expr::Call(function, arguments)
}

fn leaf(choices: &mut Choices<'_>, ty: Ty) -> Expr {
    match choices.below(4) {
        0 | 1 => {
            let first = Ty::ALL.iter().position(|other| *other == ty).unwrap() * 2;
            Expr::Column(u32::try_from(first + choices.below(2)).unwrap())
        }
        2 => Expr::Literal(scalar(choices, ty)),
        _ if choices.below(4) == 0 => Expr::Literal(Scalar::None),
        _ if ty == Ty::Float => Expr::Literal(scalar(choices, Ty::Int)),
        _ => Expr::Literal(scalar(choices, ty)),
    }
}

/// An expression that need not be well typed.
#[allow(dead_code, reason = "each test program uses a part of this module")]
pub(crate) fn untyped(choices: &mut Choices<'_>, depth: usize) -> Expr {
    if depth > 5 || choices.is_spent() {
        let ty = choices.of(&Ty::ALL);
        return leaf(choices, ty);
    }
    let sub = |choices: &mut Choices<'_>| Box::new(untyped(choices, depth + 1));
    let list = |choices: &mut Choices<'_>| {
        let count = choices.below(4);
        (0..count).map(|_| untyped(choices, depth + 1)).collect::<Vec<_>>()
    };
    match choices.below(9) {
        0 => Expr::Column(u32::try_from(choices.next()).unwrap() % 20),
        1 => Expr::Unary(choices.of(&[UnaryOp::Negate, UnaryOp::Not]), sub(choices)),
        2 => Expr::Binary(choices.of(&BinaryOp::ALL), sub(choices), sub(choices)),
        3 => Expr::If(sub(choices), sub(choices), sub(choices)),
        4 => Expr::Coalesce(sub(choices), sub(choices)),
        5 => Expr::IsNone(sub(choices)),
        6 => {
            let ty = choices.of(&Ty::ALL);
            Expr::In(sub(choices), vec![scalar(choices, ty), Scalar::None])
        }
        7 => Expr::Concat(list(choices)),
        _ => Expr::Call(choices.of(&Function::ALL), list(choices)),
    }
}

/// A value of this type where rules tend to break; never missing.
pub(crate) fn scalar(choices: &mut Choices<'_>, ty: Ty) -> Scalar {
    const EDGE: i64 = 1 << 53;
    const SECOND: i64 = 1_000_000_000;
    let wholes = [0, 1, 2, -1, 7, -3, 1 << 52, EDGE - 1, EDGE, -EDGE, 1_024];
    let nanos = [0, 1, SECOND, -1, 90 * SECOND, 1_764_571_508 * SECOND, i64::MAX, i64::MIN];
    match ty {
        Ty::Float => Scalar::Float(choices.of(&[
            0.0,
            1.0,
            -0.0,
            0.5,
            -2.5,
            0.1,
            7.25,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1e300,
            5e-324,
            9_007_199_254_740_993.0,
        ])),
        Ty::Int => Scalar::Int(choices.of(&wholes)),
        Ty::Size => Scalar::Size(choices.of(&wholes)),
        Ty::Bool => Scalar::Bool(choices.of(&[false, true])),
        Ty::Str => {
            let texts = ["", "a", "Ä", "ab", "STRASSE", "straße", "İstanbul", "5xx", "日本語"];
            Scalar::Str(choices.of(&texts).to_owned())
        }
        Ty::Time => Scalar::Time(choices.of(&nanos)),
        Ty::Duration => Scalar::Duration(choices.of(&nanos)),
    }
}

/// Rows for [`columns`]; about one value in four is missing.
pub(crate) fn rows(choices: &mut Choices<'_>, count: usize) -> Vec<Vec<Scalar>> {
    let row = |choices: &mut Choices<'_>| {
        let value = |column: ColumnRef| match choices.below(4) {
            3 => Scalar::None,
            _ => scalar(choices, column.ty),
        };
        columns().into_iter().map(value).collect()
    };
    (0..count).map(|_| row(choices)).collect()
}

/// The rows as columns of the given types.
pub(crate) fn bind(rows: &[Vec<Scalar>], types: &[ColumnRef]) -> Vec<Column> {
    let column = |(place, column): (usize, &ColumnRef)| {
        collect(column.ty, rows.iter().map(|row| row[place].clone()))
    };
    types.iter().enumerate().map(column).collect()
}

/// A column of scalars.
pub(crate) fn collect(ty: Ty, values: impl Iterator<Item = Scalar>) -> Column {
    let values: Vec<Scalar> = values.collect();
    let whole = |value: &Scalar| match value {
        Scalar::Int(v) | Scalar::Size(v) | Scalar::Time(v) | Scalar::Duration(v) => Some(*v),
        _ => None,
    };
    let wholes = values.iter().map(whole);
    match ty {
        Ty::Float => Column::optional_float(values.iter().map(|value| match value {
            Scalar::Float(value) => Some(*value),
            _ => None,
        })),
        Ty::Bool => Column::optional_boolean(values.iter().map(|value| match value {
            Scalar::Bool(value) => Some(*value),
            _ => None,
        })),
        Ty::Str => Column::optional_text(values.iter().map(|value| match value {
            Scalar::Str(value) => Some(value),
            _ => None,
        })),
        Ty::Int => Column::optional_int(wholes).unwrap(),
        Ty::Size => Column::optional_size(wholes).unwrap(),
        Ty::Time => Column::optional_time(wholes),
        Ty::Duration => Column::optional_duration(wholes),
    }
}
