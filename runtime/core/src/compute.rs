//! `value.compute`: arithmetic over results, such as `score.f1 >= 0.8`.

use crate::op::{Args, Context, Op, OpError};
use crate::value::Value;
use pipe_row::ir::{RowFn, Scalar};

/// The op. Its argument `expr` is a row function whose columns are the names of the other arguments.
pub struct Compute;

impl Op for Compute {
    fn name(&self) -> &'static str {
        "value.compute"
    }

    fn version(&self) -> u32 {
        1
    }

    fn run(&self, args: &Args, _: &dyn Context) -> Result<Value, OpError> {
        let function = args.row_fn("expr")?;
        let operand =
            |column: &pipe_row::ir::ColumnRef| scalar(&column.name, args.value(&column.name)?);
        let operands = function.columns.iter().map(operand).collect::<Result<Vec<_>, _>>()?;
        let result = function.evaluate_one(&operands).map_err(|error| {
            OpError::new("run::value", format!("The values do not fit the expression: {error}."))
        })?;
        if result == Scalar::None && !function.optional {
            return Err(undefined(function, &operands));
        }
        Ok(value(result))
    }
}

/// Whole numbers that leave the exact range, or are divided by zero, have no result.
fn undefined(function: &RowFn, operands: &[Scalar]) -> OpError {
    let shown = function.columns.iter().zip(operands).map(|(column, operand)| {
        format!("{} = {}", column.name, value(operand.clone()).describe())
    });
    let shown: Vec<String> = shown.collect();
    OpError::new(
        "run::arithmetic",
        format!("The arithmetic has no result for {}: a whole number is divided by zero or leaves \u{b1}2^53.", shown.join(", ")),
    )
    .help("Use `math.float(x)` where whole numbers are not needed.")
}

/// A value as an operand.
pub(crate) fn scalar(name: &str, value: &Value) -> Result<Scalar, OpError> {
    Ok(match value {
        Value::None => Scalar::None,
        Value::Bool(value) => Scalar::Bool(*value),
        Value::Int(value) => Scalar::Int(*value),
        Value::Float(value) => Scalar::Float(*value),
        Value::Str(value) => Scalar::Str(value.clone()),
        Value::Time(value) => Scalar::Time(*value),
        Value::Duration(value) => Scalar::Duration(*value),
        Value::Size(value) => Scalar::Size(*value),
        other => {
            let found = other.type_name();
            return Err(OpError::new(
                "run::argument",
                format!("`{name}` must be a scalar and is {found}."),
            ));
        }
    })
}

/// A result as a value.
pub(crate) fn value(scalar: Scalar) -> Value {
    match scalar {
        Scalar::None => Value::None,
        Scalar::Float(value) => Value::Float(value),
        Scalar::Int(value) => Value::Int(value),
        Scalar::Bool(value) => Value::Bool(value),
        Scalar::Str(value) => Value::Str(value),
        Scalar::Time(value) => Value::Time(value),
        Scalar::Duration(value) => Value::Duration(value),
        Scalar::Size(value) => Value::Size(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::ArgValue;
    use crate::standalone::Standalone;
    use pipe_row::ir::{BinaryOp, ColumnRef, Expr, Ty};

    fn compute(op: BinaryOp, ty: Ty, a: Value, b: Value) -> Result<Value, OpError> {
        let side = |at| Box::new(Expr::Column(at));
        let number = if ty == Ty::Bool { Ty::Float } else { ty };
        let column = |name: &str| ColumnRef { name: name.to_owned(), ty: number, optional: false };
        let function = RowFn {
            columns: vec![column("a"), column("b")],
            body: Expr::Binary(op, side(0), side(1)),
            ty,
            optional: false,
        };
        let args = Args::of([("a", a), ("b", b)]).with("expr", ArgValue::Row(function));
        Compute.run(&args, &Standalone::new("."))
    }

    #[test]
    fn results_are_compared_and_computed_with() {
        let float = |value| Value::Float(value);
        let at_least = compute(BinaryOp::GreaterEqual, Ty::Bool, float(0.74), float(0.8));
        assert_eq!(at_least, Ok(Value::Bool(false)));
        assert_eq!(
            compute(BinaryOp::Add, Ty::Int, Value::Int(2), Value::Int(3)),
            Ok(Value::Int(5))
        );
        let error =
            compute(BinaryOp::Remainder, Ty::Int, Value::Int(2), Value::Int(0)).unwrap_err();
        assert_eq!(error.code, "run::arithmetic");
        assert!(error.message.contains("b = 0"), "{error}");
    }
}
