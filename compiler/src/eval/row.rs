//! Functions of rows and computed scalars in the form that the runtime executes.

use super::{Evaluator, LeafSource, NodeValue, Scalar, Typed, Value};
use crate::types::Type;
use pipe_grammar::{Problem, Span};
use pipe_row::ir::{ColumnRef, Expr, RowFn, Ty};
use std::collections::BTreeMap;
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    /// The row function that computes `value`; columns in the order of their names.
    pub(super) fn row_fn(&mut self, value: &Typed<'a>, span: Span) -> Option<RowFn> {
        let (ty, optional) = value.ty.scalar()?;
        let scalar = self.operand(value)?;
        let mut used = Vec::new();
        collect(&scalar.expr, &mut used);
        let mut columns: BTreeMap<Rc<str>, ColumnRef> = BTreeMap::new();
        let mut names = BTreeMap::new();
        for number in used {
            let leaf = self.leaves.get(number as usize)?;
            match &leaf.source {
                LeafSource::Column(name) => {
                    let column =
                        ColumnRef { name: name.to_string(), ty: leaf.ty, optional: leaf.optional };
                    columns.insert(Rc::clone(name), column);
                    names.insert(number, Rc::clone(name));
                }
                LeafSource::Node(_) => {
                    self.report(
                        Problem::error(
                            "types::run_time_in_row",
                            span,
                            "a function of rows cannot read the result of an op",
                        )
                        .label("it is not known when the rows are")
                        .help("join the result to the table, or give it to an op as an argument"),
                    );
                    return None;
                }
            }
        }
        let order: BTreeMap<&Rc<str>, u32> =
            (0..).zip(columns.keys()).map(|(at, name)| (name, at)).collect();
        let numbers =
            names.iter().map(|(number, name)| (*number, order.get(name).copied().unwrap_or(0)));
        let body = renumber(scalar.expr, &numbers.collect());
        Some(RowFn { columns: columns.into_values().collect(), body, ty, optional })
    }
}

/// What the columns of a computed scalar read.
type Reads = Vec<(String, Rc<NodeValue>)>;

/// A computed scalar: the function over `a`, `b`, .. and what each of them reads, in order of first appearance.
pub(crate) fn run_scalar(
    evaluator: &Evaluator<'_>,
    scalar: &Scalar,
    ty: (Ty, bool),
) -> Option<(RowFn, Reads)> {
    let mut used = Vec::new();
    collect(&scalar.expr, &mut used);
    let mut numbers = BTreeMap::new();
    let mut inputs: Reads = Vec::new();
    let mut columns = Vec::new();
    for number in used {
        let leaf = evaluator.leaves.get(number as usize)?;
        let LeafSource::Node(node) = &leaf.source else { return None };
        let same =
            inputs.iter().position(|(_, known)| known.node == node.node && known.path == node.path);
        let at = same.unwrap_or_else(|| {
            let name = letters(inputs.len());
            columns.push(ColumnRef { name: name.clone(), ty: leaf.ty, optional: leaf.optional });
            inputs.push((name, Rc::clone(node)));
            inputs.len() - 1
        });
        numbers.insert(number, u32::try_from(at).ok()?);
    }
    let body = renumber(scalar.expr.clone(), &numbers);
    Some((RowFn { columns, body, ty: ty.0, optional: ty.1 }, inputs))
}

/// `a`, `b`, .. `z`, `aa`, ..
fn letters(mut number: usize) -> String {
    let mut name = String::new();
    loop {
        name.insert(0, char::from(b'a' + (number % 26) as u8));
        if number < 26 {
            return name;
        }
        number = number / 26 - 1;
    }
}

/// The numbers of the columns in an expression, each once, in order of first appearance.
fn collect(expr: &Expr, used: &mut Vec<u32>) {
    match expr {
        Expr::Column(number) => {
            if !used.contains(number) {
                used.push(*number);
            }
        }
        Expr::Literal(_) => {}
        Expr::Unary(_, a) | Expr::IsNone(a) | Expr::In(a, _) => collect(a, used),
        Expr::Binary(_, a, b) | Expr::Coalesce(a, b) => {
            collect(a, used);
            collect(b, used);
        }
        Expr::If(a, b, c) => {
            collect(a, used);
            collect(b, used);
            collect(c, used);
        }
        Expr::Concat(items) | Expr::Call(_, items) => {
            items.iter().for_each(|item| collect(item, used))
        }
    }
}

fn renumber(expr: Expr, numbers: &BTreeMap<u32, u32>) -> Expr {
    let again = |expr: Box<Expr>| Box::new(renumber(*expr, numbers));
    let all = |items: Vec<Expr>| items.into_iter().map(|item| renumber(item, numbers)).collect();
    match expr {
        Expr::Column(number) => Expr::Column(numbers.get(&number).copied().unwrap_or(number)),
        Expr::Literal(value) => Expr::Literal(value),
        Expr::Unary(op, a) => Expr::Unary(op, again(a)),
        Expr::Binary(op, a, b) => Expr::Binary(op, again(a), again(b)),
        Expr::If(a, b, c) => Expr::If(again(a), again(b), again(c)),
        Expr::Coalesce(a, b) => Expr::Coalesce(again(a), again(b)),
        Expr::IsNone(a) => Expr::IsNone(again(a)),
        Expr::In(a, items) => Expr::In(again(a), items),
        Expr::Concat(items) => Expr::Concat(all(items)),
        Expr::Call(function, items) => Expr::Call(function, all(items)),
    }
}

/// Whether the value is known only in the run.
pub(crate) fn is_run_time(value: &Typed<'_>) -> bool {
    match &value.value {
        Value::Node(_) | Value::Scalar(_) | Value::Row(_) => true,
        Value::Unknown => !value.ty.is_error() && value.ty != Type::Error,
        _ => false,
    }
}
