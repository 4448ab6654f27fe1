//! A checked expression as steps for a stack machine: operands first, so that no depth is a danger.

use crate::error::{RowError, TypeError};
use crate::ir::{BinaryOp, Expr, Function, RowFn, Scalar, Ty, UnaryOp};
use crate::kernel::Kernel;
use crate::members::Members;
use crate::typing::{alike, binary, check_count, result_of, unary_result};

/// The most nodes of an expression, list items of `in` included.
pub const MAX_NODES: usize = 10_000;
/// The deepest nesting of an expression.
pub const MAX_DEPTH: usize = 1_000;

/// A step of the stack machine.
pub(crate) enum Step<'a> {
    /// Pushes a column.
    Column(usize),
    /// Pushes a constant.
    Constant(&'a Scalar),
    /// Replaces the top.
    Unary(UnaryOp, Option<Ty>),
    /// Replaces the top two; without a kernel an operand is missing everywhere.
    Binary(Option<Kernel>),
    /// Replaces condition, first and second branch.
    If,
    /// Replaces value and default.
    Coalesce,
    /// Replaces the top.
    IsNone,
    /// Replaces the top.
    In(Members<'a>),
    /// Replaces as many pieces of text as there are types.
    Concat(Vec<Option<Ty>>),
    /// Replaces as many arguments as the function takes.
    Call(Function),
}

/// The type of an operand; `None` when it is missing everywhere.
type Operand = Option<Ty>;

/// Checks the function and orders it into steps.
pub(crate) fn compile(function: &RowFn) -> Result<Vec<Step<'_>>, RowError> {
    let mut types: Vec<Operand> = Vec::new();
    let mut steps = Vec::new();
    for expr in operands_first(&function.body)? {
        let (step, ty) = compile_node(expr, function, &mut types)?;
        steps.push(step);
        types.push(ty);
    }
    if let Some(Some(found)) = types.pop()
        && alike(found, function.ty) != Some(function.ty)
    {
        return Err(TypeError::Different { left: function.ty, right: found }.into());
    }
    Ok(steps)
}

/// Every node after its operands, first operand first.
fn operands_first(root: &Expr) -> Result<Vec<&Expr>, RowError> {
    let mut ordered = Vec::new();
    let mut open = vec![(root, 1)];
    let mut nodes = 0;
    while let Some((expr, depth)) = open.pop() {
        nodes += weight(expr);
        if nodes > MAX_NODES || depth > MAX_DEPTH {
            return Err(RowError::TooLarge);
        }
        ordered.push(expr);
        open.extend(operands(expr).map(|operand| (operand, depth + 1)));
    }
    ordered.reverse();
    Ok(ordered)
}

fn weight(expr: &Expr) -> usize {
    match expr {
        Expr::In(_, items) => items.len().saturating_add(1),
        _ => 1,
    }
}

/// The direct operands, first to last.
pub(crate) fn operands(expr: &Expr) -> impl DoubleEndedIterator<Item = &Expr> {
    let (boxed, listed): ([Option<&Expr>; 3], &[Expr]) = match expr {
        Expr::Column(_) | Expr::Literal(_) => ([None; 3], &[]),
        Expr::Unary(_, a) | Expr::IsNone(a) | Expr::In(a, _) => ([Some(a), None, None], &[]),
        Expr::Binary(_, a, b) | Expr::Coalesce(a, b) => ([Some(a), Some(b), None], &[]),
        Expr::If(a, b, c) => ([Some(a), Some(b), Some(c)], &[]),
        Expr::Concat(list) | Expr::Call(_, list) => ([None; 3], list),
    };
    boxed.into_iter().flatten().chain(listed)
}

fn compile_node<'a>(
    expr: &'a Expr,
    function: &RowFn,
    types: &mut Vec<Operand>,
) -> Result<(Step<'a>, Operand), RowError> {
    let count = operands(expr).count();
    let given = types.split_off(types.len().saturating_sub(count));
    let first = given.first().copied().flatten();
    let second = given.get(1).copied().flatten();
    Ok(match expr {
        Expr::Column(number) => {
            let place = usize::try_from(*number).unwrap_or(usize::MAX);
            let column = function.columns.get(place).ok_or(RowError::UnknownColumn(*number))?;
            (Step::Column(place), Some(column.ty))
        }
        Expr::Literal(value) => {
            check_exact(value)?;
            (Step::Constant(value), value.ty())
        }
        Expr::Unary(op, _) => (Step::Unary(*op, first), unary_type(*op, first)?),
        Expr::Binary(op, ..) => {
            let (kernel, ty) = binary_step(*op, first, second)?;
            (Step::Binary(kernel), ty)
        }
        Expr::If(..) => {
            expect_bool("if", first)?;
            (Step::If, join(second, given.get(2).copied().flatten())?)
        }
        Expr::Coalesce(..) => (Step::Coalesce, join(first, second)?),
        Expr::IsNone(_) => (Step::IsNone, Some(Ty::Bool)),
        Expr::In(_, items) => {
            for item in items {
                check_exact(item)?;
                join(first, item.ty())?;
            }
            (Step::In(Members::of(items)), Some(Ty::Bool))
        }
        Expr::Concat(_) => (Step::Concat(given), Some(Ty::Str)),
        Expr::Call(called, _) => {
            check_count(*called, given.len())?;
            let known: Option<Vec<Ty>> = given.into_iter().collect();
            let ty = known.map(|known| result_of(*called, &known)).transpose()?;
            (Step::Call(*called), ty)
        }
    })
}

fn unary_type(op: UnaryOp, operand: Operand) -> Result<Operand, TypeError> {
    let Some(ty) = operand else { return Ok(None) };
    let operator = match op {
        UnaryOp::Negate => "-",
        UnaryOp::Not => "not",
    };
    match unary_result(op, ty) {
        Some(result) => Ok(Some(result)),
        None => Err(TypeError::Operands { operator, found: vec![ty] }),
    }
}

fn binary_step(
    op: BinaryOp,
    left: Operand,
    right: Operand,
) -> Result<(Option<Kernel>, Operand), TypeError> {
    let logical = matches!(op, BinaryOp::And | BinaryOp::Or);
    let pair = match (left, right) {
        (Some(left), Some(right)) => Some((left, right)),
        (Some(one), None) | (None, Some(one)) if logical => Some((one, Ty::Bool)),
        _ => None,
    };
    let Some((left, right)) = pair else { return Ok((None, None)) };
    match binary(op, left, right) {
        Some((kernel, ty)) => Ok((Some(kernel), Some(ty))),
        None => Err(TypeError::Operands { operator: op.symbol(), found: vec![left, right] }),
    }
}

fn expect_bool(operator: &'static str, operand: Operand) -> Result<(), TypeError> {
    match operand {
        None | Some(Ty::Bool) => Ok(()),
        Some(ty) => Err(TypeError::Operands { operator, found: vec![ty] }),
    }
}

fn join(left: Operand, right: Operand) -> Result<Operand, TypeError> {
    match (left, right) {
        (Some(left), Some(right)) => match alike(left, right) {
            Some(ty) => Ok(Some(ty)),
            None => Err(TypeError::Different { left, right }),
        },
        (one, None) | (None, one) => Ok(one),
    }
}

fn check_exact(value: &Scalar) -> Result<(), RowError> {
    match value {
        Scalar::Int(value) | Scalar::Size(value)
            if value.unsigned_abs() > crate::column::MAX_EXACT.unsigned_abs() =>
        {
            Err(RowError::NotExact { row: 0 })
        }
        _ => Ok(()),
    }
}
