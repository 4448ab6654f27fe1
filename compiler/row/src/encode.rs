//! Canonical form and its bytes, from which keys are made.
//!
//! Every part is tagged and every length written, so that two functions have equal bytes only when they
//! compute the same. Numbers are little-endian.

use crate::graph::operands;
use crate::ir::{ColumnRef, Expr, RowFn, Scalar, UnaryOp};
use crate::lane::constant;

/// The version of the encoding, its first byte.
pub const ENCODING: u8 = 1;

impl RowFn {
    /// The same function with the columns that it reads sorted by name, each once, and with one NaN and one
    /// zero among its constants.
    #[must_use]
    pub fn canonical(&self) -> Self {
        let (columns, numbers) = self.sorted_columns();
        let mut body = self.body.clone();
        let mut open = vec![&mut body];
        while let Some(expr) = open.pop() {
            match expr {
                Expr::Column(number) => *number = renumber(&numbers, *number),
                Expr::Literal(value) => normalise(value),
                Expr::Unary(_, a) | Expr::IsNone(a) | Expr::Window(_, a) => open.push(a),
                Expr::In(a, items) => {
                    items.iter_mut().for_each(normalise);
                    open.push(a);
                }
                Expr::Binary(_, a, b) | Expr::Coalesce(a, b) => open.extend([&mut **a, b]),
                Expr::If(a, b, c) => open.extend([&mut **a, b, c]),
                Expr::Concat(list) | Expr::Call(_, list) => open.extend(list),
            }
        }
        Self { columns, body, ty: self.ty, optional: self.optional }
    }

    /// Appends the bytes of the canonical form.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let (columns, numbers) = self.sorted_columns();
        out.push(ENCODING);
        put_text(out, self.ty.name());
        out.push(u8::from(self.optional));
        put_length(out, columns.len());
        for column in &columns {
            put_text(out, &column.name);
            put_text(out, column.ty.name());
            out.push(u8::from(column.optional));
        }
        let mut open = vec![&self.body];
        while let Some(expr) = open.pop() {
            put_node(out, expr, &numbers);
            open.extend(operands(expr).rev());
        }
    }

    /// The columns that the body reads in canonical order, and the new number of every old one.
    fn sorted_columns(&self) -> (Vec<ColumnRef>, Vec<Option<u32>>) {
        let mut read = vec![false; self.columns.len()];
        let mut open = vec![&self.body];
        while let Some(expr) = open.pop() {
            if let Expr::Column(number) = expr
                && let Some(read) = read.get_mut(*number as usize)
            {
                *read = true;
            }
            open.extend(operands(expr));
        }
        let kept = self.columns.iter().zip(&read).filter(|(_, read)| **read);
        let mut columns: Vec<ColumnRef> = kept.map(|(column, _)| column.clone()).collect();
        columns.sort();
        columns.dedup();
        let place =
            |column| columns.binary_search(column).ok().and_then(|place| u32::try_from(place).ok());
        let numbers = self.columns.iter().map(place).collect();
        (columns, numbers)
    }
}

/// A number that names no column stays one that names none.
fn renumber(numbers: &[Option<u32>], number: u32) -> u32 {
    numbers.get(number as usize).copied().flatten().unwrap_or(u32::MAX)
}

fn normalise(value: &mut Scalar) {
    if let Scalar::Float(value) = value {
        *value = constant(*value);
    }
}

/// Appends a node without its operands.
pub(crate) fn put_node(out: &mut Vec<u8>, expr: &Expr, numbers: &[Option<u32>]) {
    match expr {
        Expr::Column(number) => {
            out.push(0);
            out.extend(renumber(numbers, *number).to_le_bytes());
        }
        Expr::Literal(value) => {
            out.push(1);
            put_scalar(out, value);
        }
        Expr::Unary(op, _) => {
            out.push(2);
            put_text(out, if *op == UnaryOp::Negate { "-" } else { "not" });
        }
        Expr::Binary(op, ..) => {
            out.push(3);
            put_text(out, op.symbol());
        }
        Expr::If(..) => out.push(4),
        Expr::Coalesce(..) => out.push(5),
        Expr::IsNone(_) => out.push(6),
        Expr::In(_, items) => {
            out.push(7);
            put_length(out, items.len());
            items.iter().for_each(|item| put_scalar(out, item));
        }
        Expr::Concat(list) => {
            out.push(8);
            put_length(out, list.len());
        }
        Expr::Call(function, list) => {
            out.push(9);
            put_text(out, function.path());
            put_length(out, list.len());
        }
        Expr::Window(window, _) => {
            out.push(10);
            window.encode(out);
        }
    }
}

fn put_scalar(out: &mut Vec<u8>, value: &Scalar) {
    match value {
        Scalar::None => out.push(0),
        Scalar::Float(value) => {
            out.push(1);
            out.extend(constant(*value).to_bits().to_le_bytes());
        }
        Scalar::Int(value) => put_whole(out, 2, *value),
        Scalar::Bool(value) => out.extend([3, u8::from(*value)]),
        Scalar::Str(value) => {
            out.push(4);
            put_text(out, value);
        }
        Scalar::Time(value) => put_whole(out, 5, *value),
        Scalar::Duration(value) => put_whole(out, 6, *value),
        Scalar::Size(value) => put_whole(out, 7, *value),
    }
}

fn put_whole(out: &mut Vec<u8>, tag: u8, value: i64) {
    out.push(tag);
    out.extend(value.to_le_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_length(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn put_length(out: &mut Vec<u8>, length: usize) {
    out.extend((length as u64).to_le_bytes());
}
