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
    /// The operand, as another type that it can stand for.
    OfType,
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

impl Node<'_> {
    /// Whether it may be missing; `known` tells that of the nodes before, `column` that of a column.
    pub(crate) fn may_miss(&self, known: &[bool], column: impl Fn(usize) -> bool) -> bool {
        let mut reads = self.reads.iter().map(|place| known.get(*place) != Some(&false));
        match &self.step {
            Step::Column(number) => column(*number),
            Step::Constant(value) => value.ty().is_none(),
            Step::IsNone => false,
            Step::In(members) if members.has_none() => false,
            Step::Coalesce => reads.all(|may| may),
            Step::Binary(None) | Step::Window => true,
            Step::Binary(Some(infix)) if infix.is_partial() => true,
            _ => reads.any(|may| may),
        }
    }
}

#[cfg(feature = "jit")]
impl Node<'_> {
    /// Whether it is an elementary function, which takes far longer than arithmetic.
    pub(crate) fn is_elementary(&self) -> bool {
        let Step::Call(function) = &self.step else { return false };
        matches!(
            function,
            Function::Exp
                | Function::Ln
                | Function::Log1p
                | Function::Log10
                | Function::Sin
                | Function::Cos
                | Function::Tanh
        )
    }

    /// Whether machine code calls a function for it.
    pub(crate) fn calls_outside(&self) -> bool {
        let remainder = matches!(
            self.step,
            Step::Binary(Some(Infix::Remainder | Infix::RemainderWhole | Infix::DivideNanosWhole))
        );
        remainder || self.is_elementary() || matches!(self.step, Step::Call(Function::Pow))
    }
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
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "kernels are kept by it"))]
    pub(crate) key: Vec<u8>,
}

impl<'a> Graph<'a> {
    /// Checks the functions and merges their common parts.
    ///
    /// # Errors
    /// Says what is wrong with the first function that is not well formed.
    pub(crate) fn new(functions: &[&'a RowFn]) -> Result<Self, RowError> {
        let mut making = Making::default();
        for function in functions {
            let reads: Vec<usize> =
                function.columns.iter().map(|column| making.column(column)).collect();
            let node = making.function(function, &reads)?;
            making.output(node, function.ty);
        }
        Ok(making.finish())
    }

    /// The type of a node.
    #[cfg(feature = "jit")]
    pub(crate) fn ty(&self, node: usize) -> Operand {
        self.nodes.get(node).and_then(|node| node.ty)
    }
}

/// A graph while functions are added.
#[derive(Default)]
pub(crate) struct Making<'a> {
    columns: Vec<ColumnRef>,
    nodes: Vec<Node<'a>>,
    outputs: Vec<Output>,
    key: Vec<u8>,
    /// The node of what has these bytes.
    known: BTreeMap<Vec<u8>, usize>,
}

impl<'a> Making<'a> {
    /// The node of a column.
    pub(crate) fn column(&mut self, column: &ColumnRef) -> usize {
        let number = self.columns.iter().position(|known| known == column).unwrap_or_else(|| {
            self.columns.push(column.clone());
            self.columns.len() - 1
        });
        let mut bytes = vec![0];
        bytes.extend(number.to_le_bytes());
        let node = Node { step: Step::Column(number), reads: Vec::new(), ty: Some(column.ty) };
        self.node(bytes, || Ok(node)).unwrap_or_default()
    }

    /// Adds a function whose columns are the nodes `reads`.
    ///
    /// # Errors
    /// Says what is wrong with the function.
    pub(crate) fn function(
        &mut self,
        function: &'a RowFn,
        reads: &[usize],
    ) -> Result<usize, RowError> {
        let mut stack: Vec<usize> = Vec::new();
        for expr in operands_first(&function.body)? {
            if let Expr::Column(number) = expr {
                let place = usize::try_from(*number).unwrap_or(usize::MAX);
                stack.push(*reads.get(place).ok_or(RowError::UnknownColumn(*number))?);
                continue;
            }
            let operands = stack.split_off(stack.len().saturating_sub(operands(expr).count()));
            let given = operands.iter().map(|node| self.ty(*node)).collect();
            let mut bytes = Vec::new();
            put_node(&mut bytes, expr, &[]);
            bytes.extend(operands.iter().flat_map(|node| node.to_le_bytes()));
            let node = self.node(bytes, || {
                let (step, ty) = step(expr, given, &[])?;
                Ok(Node { step, reads: operands, ty })
            })?;
            stack.push(node);
        }
        let node = stack.pop().ok_or(RowError::Unsound)?;
        if let Some(found) = self.ty(node)
            && alike(found, function.ty) != Some(function.ty)
        {
            return Err(TypeError::Different { left: function.ty, right: found }.into());
        }
        Ok(node)
    }

    /// The node as this type, which it has or can stand for.
    pub(crate) fn of_type(&mut self, node: usize, ty: Ty) -> usize {
        if self.ty(node) == Some(ty) {
            return node;
        }
        let mut bytes = vec![250, ty as u8];
        bytes.extend(node.to_le_bytes());
        let made = Node { step: Step::OfType, reads: vec![node], ty: Some(ty) };
        self.node(bytes, || Ok(made)).unwrap_or(node)
    }

    /// The node of an operator over nodes of truth values.
    pub(crate) fn truths(&mut self, step: Step<'a>, tag: u8, reads: Vec<usize>) -> usize {
        let mut bytes = vec![251, tag];
        bytes.extend(reads.iter().flat_map(|node| node.to_le_bytes()));
        let node = Node { step, reads, ty: Some(Ty::Bool) };
        self.node(bytes, || Ok(node)).unwrap_or_default()
    }

    pub(crate) fn ty(&self, node: usize) -> Operand {
        self.nodes.get(node).and_then(|node| node.ty)
    }

    /// Whether a node may be missing, columns where their types say so.
    pub(crate) fn may_miss(&self) -> Vec<bool> {
        let mut known = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let miss = node.may_miss(&known, |column| {
                self.columns.get(column).is_none_or(|column| column.optional)
            });
            known.push(miss);
        }
        known
    }

    /// Makes a node an output, and gives its number.
    pub(crate) fn output(&mut self, node: usize, ty: Ty) -> usize {
        self.outputs.push(Output { node, ty });
        self.outputs.len() - 1
    }

    /// The graph.
    pub(crate) fn finish(self) -> Graph<'a> {
        let Self { columns, nodes, outputs, mut key, .. } = self;
        key.push(u8::MAX);
        let places = outputs.iter().map(|output| (output.node, output.ty));
        let types = columns.iter().enumerate().map(|(place, column)| (place, column.ty));
        for (place, ty) in places.chain(types) {
            key.extend(place.to_le_bytes());
            key.push(ty as u8);
        }
        Graph { columns, nodes, outputs, key }
    }

    /// The node with these bytes, made where there is none yet.
    fn node(
        &mut self,
        bytes: Vec<u8>,
        make: impl FnOnce() -> Result<Node<'a>, RowError>,
    ) -> Result<usize, RowError> {
        if let Some(node) = self.known.get(&bytes) {
            return Ok(*node);
        }
        self.nodes.push(make()?);
        self.key.extend(&bytes);
        self.known.insert(bytes, self.nodes.len() - 1);
        Ok(self.nodes.len() - 1)
    }
}

/// The type of an expression over these columns; `None` when it is missing everywhere.
pub(crate) fn operand_type(expr: &Expr, columns: &[ColumnRef]) -> Result<Operand, RowError> {
    let mut types: Vec<Operand> = Vec::new();
    for expr in operands_first(expr)? {
        let given = types.split_off(types.len().saturating_sub(operands(expr).count()));
        let (_, ty) = step(expr, given, columns)?;
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
) -> Result<(Step<'a>, Operand), RowError> {
    let first = given.first().copied().flatten();
    let second = given.get(1).copied().flatten();
    Ok(match expr {
        Expr::Column(number) => {
            let place = usize::try_from(*number).unwrap_or(usize::MAX);
            let column = columns.get(place).ok_or(RowError::UnknownColumn(*number))?;
            (Step::Column(place), Some(column.ty))
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
