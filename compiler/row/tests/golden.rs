//! The rules of `spec/rows.md`, value by value.

use pipe_row::ir::{BinaryOp, ColumnRef, Expr, RowFn, Scalar, Ty};
use pipe_row::{Column, RowError};

fn column(number: u32) -> Expr {
    Expr::Column(number)
}

fn literal(value: Scalar) -> Expr {
    Expr::Literal(value)
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

fn function(body: Expr, ty: Ty, columns: &[(&str, Ty)]) -> RowFn {
    let columns = columns
        .iter()
        .map(|(name, ty)| ColumnRef { name: (*name).to_owned(), ty: *ty, optional: true })
        .collect();
    RowFn { columns, body, ty, optional: true }
}

/// The value of an expression without columns.
fn value(body: Expr, ty: Ty) -> Scalar {
    function(body, ty, &[]).evaluate_one(&[]).unwrap()
}

#[test]
fn a_derived_column_over_several_batches() {
    let rows = 3 * pipe_row::BATCH + 7;
    let a: Vec<f64> = (0..rows).map(|row| row as f64).collect();
    let body = binary(
        BinaryOp::Add,
        binary(BinaryOp::Multiply, column(0), literal(Scalar::Float(0.5))),
        column(1),
    );
    let f = function(body, Ty::Float, &[("a", Ty::Float), ("b", Ty::Float)]);
    let b = Column::optional_float((0..rows).map(|row| (row % 5 != 0).then_some(1.0)));
    let result = f.evaluate(&[&Column::float(a), &b], rows).unwrap();
    assert_eq!(result.len(), rows);
    assert_eq!(result.get(0), Scalar::None);
    assert_eq!(result.get(2049), Scalar::Float(1025.5));
    assert_eq!(result.missing_count(), rows.div_ceil(5));
}

#[test]
fn binding_mistakes_are_named() {
    let f = function(column(0), Ty::Float, &[("a", Ty::Float)]);
    let floats = Column::float(vec![1.0, 2.0]);
    assert_eq!(f.evaluate(&[], 2), Err(RowError::ColumnCount { expected: 1, found: 0 }));
    assert!(matches!(f.evaluate(&[&floats], 3), Err(RowError::ColumnLength { .. })));
    let texts = Column::text(["x", "y"]);
    assert!(matches!(f.evaluate(&[&texts], 2), Err(RowError::ColumnType { .. })));
}
