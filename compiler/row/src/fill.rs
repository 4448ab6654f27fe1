//! Values in place of columns: a function that also reads results of the run becomes a function of the row alone.

use crate::column::Column;
use crate::error::RowError;
use crate::ir::{Expr, RowFn, Scalar, Ty};

impl RowFn {
    /// The function with `values` as constants in place of its last columns. A missing value is [`Scalar::None`], and
    /// the result may be missing then.
    ///
    /// # Errors
    /// When there are more values than columns, a value has another type than its column, or a whole number is too
    /// large for a float column.
    pub fn fill(&self, values: &[Scalar]) -> Result<Self, RowError> {
        let Some(kept) = self.columns.len().checked_sub(values.len()) else {
            let (expected, found) = (self.columns.len(), values.len());
            return Err(RowError::ColumnCount { expected, found });
        };
        let mut columns = self.columns.clone();
        let filled = columns.split_off(kept);
        let mut literals = Vec::with_capacity(values.len());
        for (value, column) in values.iter().zip(&filled) {
            let literal = literal(value, column.ty).ok_or_else(|| match value {
                Scalar::Int(_) if column.ty == Ty::Float => RowError::NotExact { row: 0 },
                other => RowError::ColumnType {
                    column: column.name.clone(),
                    expected: column.ty,
                    found: other.ty().unwrap_or(column.ty),
                },
            })?;
            literals.push(literal);
        }
        let mut body = self.body.clone();
        put(&mut body, kept, &literals);
        let missing = literals.contains(&Scalar::None);
        Ok(Self { columns, body, ty: self.ty, optional: self.optional || missing })
    }
}

/// The value as a constant of this type.
fn literal(value: &Scalar, ty: Ty) -> Option<Scalar> {
    match value {
        Scalar::None => Some(Scalar::None),
        Scalar::Int(_) if ty == Ty::Float => match Column::one(value, ty).ok()?.get(0) {
            Scalar::None => None,
            float => Some(float),
        },
        other => (other.ty() == Some(ty)).then(|| other.clone()),
    }
}

/// Deep expressions are no danger: what is still to be looked at lies on the heap.
fn put(body: &mut Expr, kept: usize, literals: &[Scalar]) {
    let mut open = vec![body];
    while let Some(expr) = open.pop() {
        match expr {
            Expr::Column(at) => {
                let literal = (*at as usize).checked_sub(kept).and_then(|at| literals.get(at));
                if let Some(literal) = literal {
                    *expr = Expr::Literal(literal.clone());
                }
            }
            Expr::Literal(_) => {}
            Expr::Unary(_, a) | Expr::IsNone(a) | Expr::In(a, _) | Expr::Window(_, a) => {
                open.push(a)
            }
            Expr::Binary(_, a, b) | Expr::Coalesce(a, b) => open.extend([&mut **a, &mut **b]),
            Expr::If(a, b, c) => open.extend([&mut **a, &mut **b, &mut **c]),
            Expr::Concat(parts) | Expr::Call(_, parts) => open.extend(parts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{BinaryOp, ColumnRef, Function};

    fn column(name: &str, ty: Ty) -> ColumnRef {
        ColumnRef { name: name.to_owned(), ty, optional: false }
    }

    /// `row.score > limit`
    fn above() -> RowFn {
        let sides = [0, 1].map(|at| Box::new(Expr::Column(at)));
        let [score, limit] = sides;
        RowFn {
            columns: vec![column("score", Ty::Float), column("limit", Ty::Float)],
            body: Expr::Binary(BinaryOp::Greater, score, limit),
            ty: Ty::Bool,
            optional: false,
        }
    }

    #[test]
    fn a_filled_function_gives_what_the_open_one_gives() {
        let open = above();
        let scores = Column::float(vec![0.1, 0.9, f64::NAN]);
        for limit in [Scalar::Float(0.5), Scalar::Float(f64::INFINITY), Scalar::None] {
            let closed = open.fill(std::slice::from_ref(&limit)).unwrap();
            assert_eq!(closed.columns.len(), 1);
            let found = closed.evaluate(&[&scores], 3).unwrap();
            for (at, score) in [0.1, 0.9, f64::NAN].into_iter().enumerate() {
                let expected = open.evaluate_one(&[Scalar::Float(score), limit.clone()]).unwrap();
                assert_eq!(found.get(at), expected, "{score} > {limit:?}");
            }
        }
    }

    #[test]
    fn all_columns_may_be_filled() {
        let closed = above().fill(&[Scalar::Float(2.0), Scalar::Int(1)]).unwrap();
        assert_eq!(closed.evaluate_one(&[]).unwrap(), Scalar::Bool(true));
        assert!(!closed.optional);
    }

    #[test]
    fn every_place_is_filled() {
        let read = || Expr::Column(1);
        let function = RowFn {
            columns: vec![column("a", Ty::Float), column("b", Ty::Float)],
            body: Expr::If(
                Box::new(Expr::IsNone(Box::new(read()))),
                Box::new(Expr::Coalesce(Box::new(read()), Box::new(Expr::Column(0)))),
                Box::new(Expr::Call(Function::Max, vec![Expr::Column(0), read()])),
            ),
            ty: Ty::Float,
            optional: true,
        };
        let closed = function.fill(&[Scalar::Int(3)]).unwrap();
        assert_eq!(closed.evaluate_one(&[Scalar::Float(2.0)]).unwrap(), Scalar::Float(3.0));
        let missing = function.fill(&[Scalar::None]).unwrap();
        assert_eq!(missing.evaluate_one(&[Scalar::Float(2.0)]).unwrap(), Scalar::Float(2.0));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let text = above().fill(&[Scalar::Str("high".to_owned())]).unwrap_err();
        assert!(matches!(text, RowError::ColumnType { ref column, .. } if column == "limit"));
        let large = above().fill(&[Scalar::Int((1 << 53) + 1)]).unwrap_err();
        assert_eq!(large, RowError::NotExact { row: 0 });
        assert!(above().fill(&[Scalar::None, Scalar::None, Scalar::None]).is_err());
    }
}
