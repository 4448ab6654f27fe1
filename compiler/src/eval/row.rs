//! Functions of rows and computed scalars in the form that the runtime executes.

use super::{Evaluator, LeafSource, NodeValue, Origin, Scalar, Typed, Value};
use crate::plan::Arg;
use crate::types::Type;
use pipe_grammar::{Problem, Span};
use pipe_row::ir::{ColumnRef, Expr, RowFn, Ty};
use std::collections::BTreeMap;
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    /// The function of rows that computes `value`, as an argument, with what it reads beside its row. Columns come in the
    /// order of their names, then one for each result that is read, in the order of its first appearance.
    pub(super) fn row_function(&mut self, value: &Typed<'a>, span: Span) -> Option<(Arg, Origin)> {
        let (ty, optional) = value.ty.scalar()?;
        let scalar = self.operand(value)?;
        let mut used = Vec::new();
        collect(&scalar.expr, &mut used);
        let mut columns: BTreeMap<Rc<str>, ColumnRef> = BTreeMap::new();
        let mut reads: Vec<(Rc<NodeValue>, Ty, bool)> = Vec::new();
        let mut places = BTreeMap::new();
        for number in used {
            let leaf = self.leaves.get(number as usize)?;
            let place = match &leaf.source {
                LeafSource::Column(name) => {
                    let column =
                        ColumnRef { name: name.to_string(), ty: leaf.ty, optional: leaf.optional };
                    columns.insert(Rc::clone(name), column);
                    Place::Column(Rc::clone(name))
                }
                LeafSource::Node(node) => {
                    let same = |(known, ..): &(Rc<NodeValue>, Ty, bool)| {
                        known.node == node.node && known.path == node.path
                    };
                    Place::Read(reads.iter().position(same).unwrap_or_else(|| {
                        reads.push((Rc::clone(node), leaf.ty, leaf.optional));
                        reads.len() - 1
                    }))
                }
                LeafSource::Group(_) => {
                    let message = "one value of many rows cannot be read in a function of one row";
                    self.report(Problem::error("types::group_in_row", span, message).help(
                        "compute it with `data.group(by: [..], ..)`, then join it to the rows by the same columns",
                    ));
                    return None;
                }
            };
            places.insert(number, place);
        }
        let names: Vec<Rc<str>> = columns.keys().cloned().collect();
        let numbers = places.into_iter().map(|(number, place)| {
            let at = match place {
                Place::Column(name) => names.iter().position(|known| *known == name),
                Place::Read(at) => Some(names.len() + at),
            };
            (number, at.and_then(|at| u32::try_from(at).ok()).unwrap_or(0))
        });
        let body = renumber(scalar.expr, &numbers.collect());
        let mut columns: Vec<ColumnRef> = columns.into_values().collect();
        let mut origin = Origin::default();
        let mut inputs = Vec::with_capacity(reads.len());
        for (at, (node, ty, optional)) in reads.into_iter().enumerate() {
            columns.push(ColumnRef { name: read_name(at, &names), ty, optional });
            origin.add(&node.origin);
            inputs.push(Arg::Input(super::draft::input(&node)));
        }
        let function = RowFn { columns, body, ty, optional };
        let arg = if inputs.is_empty() {
            Arg::Row(function)
        } else {
            Arg::Reading { function, reads: inputs }
        };
        Some((arg, origin))
    }
}

/// What a leaf becomes in a function of rows.
enum Place {
    Column(Rc<str>),
    Read(usize),
}

/// The column that stands for the result that is read as number `at`: a name that no column of the table has.
pub(super) fn read_name(at: usize, columns: &[Rc<str>]) -> String {
    let mut name = format!("result {at}");
    while columns.iter().any(|column| **column == *name) {
        name.push('\'');
    }
    name
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
pub(super) fn letters(mut number: usize) -> String {
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
pub(super) fn collect(expr: &Expr, used: &mut Vec<u32>) {
    match expr {
        Expr::Column(number) => {
            if !used.contains(number) {
                used.push(*number);
            }
        }
        Expr::Literal(_) => {}
        Expr::Unary(_, a) | Expr::IsNone(a) | Expr::In(a, _) | Expr::Window(_, a) => {
            collect(a, used);
        }
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

pub(super) fn renumber(expr: Expr, numbers: &BTreeMap<u32, u32>) -> Expr {
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
        Expr::Window(window, a) => Expr::Window(window, again(a)),
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
