//! Checked functions over one table as one graph: every step once, after the steps that it reads, so that
//! what several functions share is computed once and no depth is a danger.

use crate::encode::put_node;
use crate::error::{RowError, TypeError};
use crate::infix::Infix;
use crate::ir::{BinaryOp, ColumnRef, Expr, Function, RowFn, Scalar, Ty, UnaryOp};
use crate::members::Members;
use crate::typing::{alike, binary, check_count, result_of, unary_result};
use std::collections::BTreeMap;

/// The most nodes of an expression, list items of `in` included.
pub const MAX_NODES: usize = 10_000;
/// The deepest nesting of an expression.
pub const MAX_DEPTH: usize = 1_000;

/// What a node does with the nodes that it reads.
pub(crate) enum Step<'a> {
    /// A column of the graph.
    Column(usize),
    /// A constant.
    Constant(&'a Scalar),
    /// A prefix operator, with the type of its operand.
    Unary(UnaryOp, Operand),
    /// An infix operator; none where an operand is missing everywhere.
    Binary(Option<Infix>),
    /// Condition, first and second branch.
    If,
    /// Value and default.
    Coalesce,
    /// Whether the operand is missing.
    IsNone,
    /// Whether the operand is in a list.
    In(Members<'a>),
    /// Pieces of text of these types.
    Concat(Vec<Operand>),
    /// A function.
    Call(Function),
    /// A window. Never runs: windows are columns before steps run ([`crate::window::Windows`]).
    Window,
}

/// The type of an operand; `None` when it is missing everywhere.
pub(crate) type Operand = Option<Ty>;

/// A step and the nodes that it reads, all of them earlier ones.
pub(crate) struct Node<'a> {
    pub(crate) step: Step<'a>,
    pub(crate) reads: Vec<usize>,
    pub(crate) ty: Operand,
}

/// What a function gives: a node, as this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) node: usize,
    pub(crate) ty: Ty,
}

/// Functions over one table.
pub(crate) struct Graph<'a> {
    /// The columns that the functions read, each once.
    pub(crate) columns: Vec<ColumnRef>,
    pub(crate) nodes: Vec<Node<'a>>,
    /// One for each function.
    pub(crate) outputs: Vec<Output>,
    /// Bytes that are equal only for graphs that compute the same from columns of the same types.
    pub(crate) key: Vec<u8>,
}

impl<'a> Graph<'a> {
    /// Checks the functions and merges their common parts.
    ///
    /// # Errors
    /// Says what is wrong with the first function that is not well formed.
    pub(crate) fn new(functions: &[&'a RowFn]) -> Result<Self, RowError> {
        let mut graph =
            Self { columns: Vec::new(), nodes: Vec::new(), outputs: Vec::new(), key: Vec::new() };
        let mut known = BTreeMap::new();
        for function in functions {
            let numbers = graph.add_columns(&function.columns);
            graph.add(function, &numbers, &mut known)?;
        }
        graph.key.push(u8::MAX);
        let outputs = graph.outputs.iter().map(|output| (output.node, output.ty));
        let columns = graph.columns.iter().enumerate().map(|(place, column)| (place, column.ty));
        for (place, ty) in outputs.chain(columns) {
            graph.key.extend(place.to_le_bytes());
            graph.key.push(ty as u8);
        }
        Ok(graph)
    }

    /// Adds the columns that are new, and gives the number of every one.
    fn add_columns(&mut self, columns: &[ColumnRef]) -> Vec<Option<u32>> {
        let place = |column: &ColumnRef| {
            let known = self.columns.iter().position(|known| known == column);
            let place = known.unwrap_or_else(|| {
                self.columns.push(column.clone());
                self.columns.len() - 1
            });
            u32::try_from(place).ok()
        };
        columns.iter().map(place).collect()
    }

    fn add(
        &mut self,
        function: &'a RowFn,
        numbers: &[Option<u32>],
        known: &mut BTreeMap<Vec<u8>, usize>,
    ) -> Result<(), RowError> {
        let mut stack: Vec<usize> = Vec::new();
        for expr in operands_first(&function.body)? {
            let reads = stack.split_off(stack.len().saturating_sub(operands(expr).count()));
            let mut bytes = Vec::new();
            put_node(&mut bytes, expr, numbers);
            bytes.extend(reads.iter().flat_map(|node| node.to_le_bytes()));
            let node = match known.get(&bytes) {
                Some(node) => *node,
                None => {
                    let node = self.node(expr, reads, function, numbers)?;
                    self.nodes.push(node);
                    self.key.extend(&bytes);
                    known.insert(bytes, self.nodes.len() - 1);
                    self.nodes.len() - 1
                }
            };
            stack.push(node);
        }
        let node = stack.pop().ok_or(RowError::Unsound)?;
        if let Some(found) = self.ty(node)
            && alike(found, function.ty) != Some(function.ty)
        {
            return Err(TypeError::Different { left: function.ty, right: found }.into());
        }
        self.outputs.push(Output { node, ty: function.ty });
        Ok(())
    }

    /// The type of a node.
    pub(crate) fn ty(&self, node: usize) -> Operand {
        self.nodes.get(node).and_then(|node| node.ty)
    }

    fn node(
        &self,
        expr: &'a Expr,
        reads: Vec<usize>,
        function: &RowFn,
        numbers: &[Option<u32>],
    ) -> Result<Node<'a>, RowError> {
        let given: Vec<Operand> = reads.iter().map(|node| self.ty(*node)).collect();
        let (step, ty) = step(expr, given, &function.columns, numbers)?;
        Ok(Node { step, reads, ty })
    }
}

/// The type of an expression over these columns; `None` when it is missing everywhere.
pub(crate) fn operand_type(expr: &Expr, columns: &[ColumnRef]) -> Result<Operand, RowError> {
    let numbers: Vec<Option<u32>> = (0..).map(Some).take(columns.len()).collect();
    let mut types: Vec<Operand> = Vec::new();
    for expr in operands_first(expr)? {
        let given = types.split_off(types.len().saturating_sub(operands(expr).count()));
        let (_, ty) = step(expr, given, columns, &numbers)?;
        types.push(ty);
    }
    Ok(types.pop().flatten())
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
        Expr::Unary(_, a) | Expr::IsNone(a) | Expr::In(a, _) | Expr::Window(_, a) => {
            ([Some(a), None, None], &[])
        }
        Expr::Binary(_, a, b) | Expr::Coalesce(a, b) => ([Some(a), Some(b), None], &[]),
        Expr::If(a, b, c) => ([Some(a), Some(b), Some(c)], &[]),
        Expr::Concat(list) | Expr::Call(_, list) => ([None; 3], list),
    };
    boxed.into_iter().flatten().chain(listed)
}

/// The step of an expression whose operands have the types `given`, and the type of its result.
fn step<'a>(
    expr: &'a Expr,
    given: Vec<Operand>,
    columns: &[ColumnRef],
    numbers: &[Option<u32>],
) -> Result<(Step<'a>, Operand), RowError> {
    let first = given.first().copied().flatten();
    let second = given.get(1).copied().flatten();
    Ok(match expr {
        Expr::Column(number) => {
            let place = usize::try_from(*number).unwrap_or(usize::MAX);
            let column = columns.get(place).ok_or(RowError::UnknownColumn(*number))?;
            let merged = numbers.get(place).copied().flatten().ok_or(RowError::TooLarge)?;
            (Step::Column(merged as usize), Some(column.ty))
        }
        Expr::Literal(value) => {
            check_exact(value)?;
            (Step::Constant(value), value.ty())
        }
        Expr::Unary(op, _) => (Step::Unary(*op, first), unary_type(*op, first)?),
        Expr::Binary(op, ..) => {
            let (infix, ty) = infix_step(*op, first, second)?;
            (Step::Binary(infix), ty)
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
        Expr::Window(window, _) => {
            if !window.is_well_formed() {
                return Err(TypeError::Window(window.path()).into());
            }
            let result = |found| {
                window.result(found).ok_or(TypeError::WindowOperand { window: *window, found })
            };
            (Step::Window, first.map(result).transpose()?)
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

fn infix_step(
    op: BinaryOp,
    left: Operand,
    right: Operand,
) -> Result<(Option<Infix>, Operand), TypeError> {
    let logical = matches!(op, BinaryOp::And | BinaryOp::Or);
    let pair = match (left, right) {
        (Some(left), Some(right)) => Some((left, right)),
        (Some(one), None) | (None, Some(one)) if logical => Some((one, Ty::Bool)),
        _ => None,
    };
    let Some((left, right)) = pair else { return Ok((None, None)) };
    match binary(op, left, right) {
        Some((infix, ty)) => Ok((Some(infix), Some(ty))),
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
