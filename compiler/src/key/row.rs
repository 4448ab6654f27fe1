//! Row functions as canonical text: what a key holds of them, and what people read.

use super::{Field, column_text};
use crate::plan::Column;
use crate::value::{Const, FieldName, Quoted, float};
use pipe_row::ir::{Expr, RowFn, Scalar, UnaryOp};
use pipe_row::window::{Decay, Fold, Reach, Window};
use std::collections::BTreeMap;

/// A row function as canonical text: names of lambda parameters and layout are gone, every operator is bracketed.
#[must_use]
pub fn row_field(function: &RowFn) -> Field {
    let mut text = String::new();
    row_text(&function.body, function, &mut text);
    let columns = function.columns.iter().map(|column| {
        let column = Column { name: column.name.clone(), ty: column.ty, optional: column.optional };
        Field::Text(column_text(&column))
    });
    let optional = if function.optional { "?" } else { "" };
    Field::Record(BTreeMap::from([
        ("row".to_owned(), Field::Text(text)),
        ("reads".to_owned(), Field::List(columns.collect())),
        ("gives".to_owned(), Field::Text(format!("{}{optional}", function.ty.name()))),
    ]))
}

/// A row function as text that people read: `row => (row.cpu > 0.9)`.
#[must_use]
pub fn row_display(function: &RowFn) -> String {
    let mut text = "row => ".to_owned();
    row_text(&function.body, function, &mut text);
    text
}

fn row_text(expr: &Expr, function: &RowFn, out: &mut String) {
    match expr {
        Expr::Column(number) => {
            let name =
                function.columns.get(*number as usize).map_or("?", |column| column.name.as_str());
            match FieldName(name).to_string() {
                quoted if quoted.starts_with('"') => out.push_str(&format!("row[{quoted}]")),
                word => out.push_str(&format!("row.{word}")),
            }
        }
        Expr::Literal(value) => out.push_str(&scalar_text(value)),
        Expr::Unary(op, operand) => {
            let sign = if *op == UnaryOp::Not { "not " } else { "-" };
            out.push('(');
            out.push_str(sign);
            row_text(operand, function, out);
            out.push(')');
        }
        Expr::Binary(op, a, b) => infix(a, op.symbol(), b, function, out),
        Expr::Coalesce(a, b) => infix(a, "??", b, function, out),
        Expr::If(test, a, b) => {
            out.push_str("(if ");
            row_text(test, function, out);
            out.push_str(" { ");
            row_text(a, function, out);
            out.push_str(" } else { ");
            row_text(b, function, out);
            out.push_str(" })");
        }
        Expr::IsNone(operand) => {
            out.push('(');
            row_text(operand, function, out);
            out.push_str(" == none)");
        }
        Expr::In(operand, items) => {
            out.push('(');
            row_text(operand, function, out);
            let items: Vec<String> = items.iter().map(scalar_text).collect();
            out.push_str(&format!(" in [{}])", items.join(", ")));
        }
        Expr::Concat(items) => call("concat", items, function, out),
        Expr::Call(called, items) => call(called.path(), items, function, out),
        Expr::Window(window, operand) => {
            out.push_str(window.path());
            out.push('(');
            row_text(operand, function, out);
            window_text(*window, out);
            out.push(')');
        }
    }
}

/// What stands in a window behind its operand, defaults written out.
fn window_text(window: Window, out: &mut String) {
    let reach = |reach: Reach| match reach {
        Reach::Rows(rows) => rows.to_string(),
        Reach::Time(nanos) => Const::Duration(nanos).to_string(),
    };
    let text = match window {
        Window::Lag(far) | Window::Any(far) | Window::All(far) | Window::Count(far) => {
            format!(", {}", reach(far))
        }
        Window::Fold { fold, reach: far, least } => {
            let share = match fold {
                Fold::Quantile(share) => format!(", q: {}", float(share)),
                _ => String::new(),
            };
            format!(", {}{share}, min_rows: {least}", reach(far))
        }
        Window::Ewma(Decay::Alpha(alpha)) => format!(", alpha: {}", float(alpha)),
        Window::Ewma(Decay::HalfLife(nanos)) => {
            format!(", half_life: {}", Const::Duration(nanos))
        }
        Window::Held | Window::Streak | Window::Since => String::new(),
    };
    out.push_str(&text);
}

fn infix(a: &Expr, sign: &str, b: &Expr, function: &RowFn, out: &mut String) {
    out.push('(');
    row_text(a, function, out);
    out.push_str(&format!(" {sign} "));
    row_text(b, function, out);
    out.push(')');
}

fn call(name: &str, items: &[Expr], function: &RowFn, out: &mut String) {
    out.push_str(name);
    out.push('(');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        row_text(item, function, out);
    }
    out.push(')');
}

fn scalar_text(value: &Scalar) -> String {
    match value {
        Scalar::None => "none".into(),
        Scalar::Float(value) => float(*value),
        Scalar::Int(value) => value.to_string(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Str(text) => Quoted(text).to_string(),
        Scalar::Time(nanos) => Const::Time(*nanos).to_string(),
        Scalar::Duration(nanos) => Const::Duration(*nanos).to_string(),
        Scalar::Size(bytes) => Const::Size(*bytes).to_string(),
    }
}
