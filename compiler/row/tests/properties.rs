//! What holds for every row function and all data.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod sample;

use pipe_row::ir::{BinaryOp, Expr, RowFn, Scalar, Ty, UnaryOp};
use pipe_row::typing::{alike, binary_result};
use pipe_row::{BATCH, Column, Program, Values};
use proptest::prelude::*;
use sample::{Choices, bind, collect, columns};

fn choices() -> impl Strategy<Value = Vec<u16>> {
    proptest::collection::vec(any::<u16>(), 0..220)
}

fn evaluate(function: &RowFn, data: &[Column], rows: usize) -> Column {
    let data: Vec<&Column> = data.iter().collect();
    function.evaluate(&data, rows).unwrap()
}

proptest! {
    #[test]
    fn batches_equal_single_rows(shape in choices(), data in choices(), count in 1_usize..9) {
        let function = sample::function(&mut Choices::new(&shape));
        let rows = sample::rows(&mut Choices::new(&data), count);
        // The same few rows again and again, beyond one batch.
        let many: Vec<_> = rows.iter().cycle().take(BATCH + 3 * count + 1).cloned().collect();
        let result = evaluate(&function, &bind(&many, &columns()), many.len());
        let single = rows.iter().map(|row| function.evaluate_one(row).unwrap());
        let expected = collect(function.ty, single.cycle().take(many.len()));
        prop_assert!(result.identical(&expected), "{result:?}\n{expected:?}");
    }

    #[test]
    fn functions_run_together_give_what_each_gives_alone(
        shapes in proptest::collection::vec(choices(), 1..5),
        data in choices(),
    ) {
        let functions: Vec<RowFn> =
            shapes.iter().map(|shape| sample::function(&mut Choices::new(shape))).collect();
        let rows = sample::rows(&mut Choices::new(&data), 20);
        let all = bind(&rows, &columns());
        let program = Program::new(&functions.iter().collect::<Vec<_>>()).unwrap();
        let place = |name: &str| columns().iter().position(|c| c.name == name).unwrap();
        let bound: Vec<&Column> = program.columns().iter().map(|c| &all[place(&c.name)]).collect();
        let together = program.run(&bound, rows.len()).unwrap();
        prop_assert_eq!(together.len(), functions.len());
        for (function, column) in functions.iter().zip(&together) {
            prop_assert!(column.identical(&evaluate(function, &all, rows.len())));
        }
    }

    #[test]
    fn results_keep_the_column_rules(shape in choices(), data in choices()) {
        let function = sample::function(&mut Choices::new(&shape));
        let rows = sample::rows(&mut Choices::new(&data), 20);
        let result = evaluate(&function, &bind(&rows, &columns()), rows.len());
        prop_assert_eq!(result.ty(), function.ty);
        prop_assert_eq!(result.len(), rows.len());
        let (values, valid) = result.clone().into_parts();
        if let Values::Float(floats) = &values {
            for value in floats {
                prop_assert!(!value.is_nan() || value.to_bits() == f64::NAN.to_bits());
            }
        }
        prop_assert!(Column::new(values, valid).unwrap().identical(&result));
    }

    #[test]
    fn any_tree_is_refused_or_evaluated(shape in choices(), data in choices(), ty in 0_usize..7) {
        let body = sample::untyped(&mut Choices::new(&shape), 0);
        let function = RowFn { columns: columns(), body, ty: Ty::ALL[ty], optional: true };
        let rows = sample::rows(&mut Choices::new(&data), 3);
        let data = bind(&rows, &columns());
        let data: Vec<&Column> = data.iter().collect();
        prop_assert_eq!(function.evaluate(&data, 3).map(|_| ()), function.check());
    }

    #[test]
    fn canonical_form_computes_the_same(shape in choices(), data in choices(), turn in 0_usize..14) {
        let function = sample::function(&mut Choices::new(&shape));
        let rows = sample::rows(&mut Choices::new(&data), 12);
        let expected = evaluate(&function, &bind(&rows, &columns()), rows.len());
        let bytes = encode(&function);

        let turned = turned(&function, turn);
        prop_assert_eq!(&encode(&turned), &bytes, "the order of columns changed the encoding");

        let canonical = turned.canonical();
        prop_assert!(canonical.columns.is_sorted());
        prop_assert_eq!(&encode(&canonical), &bytes);
        let all = bind(&rows, &columns());
        let place = |name: &str| columns().iter().position(|c| c.name == name).unwrap();
        let used: Vec<&Column> = canonical.columns.iter().map(|c| &all[place(&c.name)]).collect();
        prop_assert!(canonical.evaluate(&used, rows.len()).unwrap().identical(&expected));
    }

    #[test]
    fn encodings_are_equal_only_for_equal_forms(
        a in proptest::collection::vec(0_u16..60, 0..7),
        b in proptest::collection::vec(0_u16..60, 0..7),
    ) {
        let a = sample::function(&mut Choices::new(&a));
        let b = sample::function(&mut Choices::new(&b));
        // Printed forms tell every float apart once NaN and zero are one.
        let equal = format!("{:?}", a.canonical()) == format!("{:?}", b.canonical());
        prop_assert_eq!(encode(&a) == encode(&b), equal);
    }

    #[test]
    fn kleene_logic_obeys_its_laws(a in 0..3, b in 0..3, c in 0..3) {
        let [a, b, c] = [a, b, c].map(|choice| Expr::Literal(match choice {
            0 => Scalar::Bool(false),
            1 => Scalar::Bool(true),
            _ => Scalar::None,
        }));
        let and = |a: &Expr, b: &Expr| binary(BinaryOp::And, a, b);
        let or = |a: &Expr, b: &Expr| binary(BinaryOp::Or, a, b);
        let not = |a: &Expr| Expr::Unary(UnaryOp::Not, Box::new(a.clone()));
        let same = |a: Expr, b: Expr| truth(a) == truth(b);
        prop_assert!(same(and(&a, &b), and(&b, &a)));
        prop_assert!(same(or(&a, &b), or(&b, &a)));
        prop_assert!(same(and(&a, &and(&b, &c)), and(&and(&a, &b), &c)));
        prop_assert!(same(or(&a, &or(&b, &c)), or(&or(&a, &b), &c)));
        prop_assert!(same(and(&a, &or(&b, &c)), or(&and(&a, &b), &and(&a, &c))));
        prop_assert!(same(or(&a, &and(&b, &c)), and(&or(&a, &b), &or(&a, &c))));
        prop_assert!(same(not(&and(&a, &b)), or(&not(&a), &not(&b))));
        prop_assert!(same(not(&or(&a, &b)), and(&not(&a), &not(&b))));
        prop_assert!(same(or(&a, &and(&a, &b)), a.clone()));
        prop_assert!(same(not(&not(&a)), a));
    }

    #[test]
    fn whole_numbers_enter_exactly_or_not_at_all(value in any::<i64>(), shift in 0_u32..63) {
        let value = value >> shift;
        let column = Column::bind_int(&[value]);
        prop_assert_eq!(column.is_ok(), value.unsigned_abs() <= 1 << 53);
        if let Ok(column) = column {
            prop_assert_eq!(column.get(0), Scalar::Int(value));
        }
    }

    #[test]
    fn printed_numbers_read_back_equal(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        let mut text = String::new();
        pipe_row::print::write_number(&mut text, value);
        let back: f64 = text.parse().unwrap();
        prop_assert!(back.to_bits() == bits || (back.is_nan() && value.is_nan()), "{text}");
    }
}

#[test]
fn the_type_table_is_symmetric_where_it_should_be() {
    for left in Ty::ALL {
        for right in Ty::ALL {
            assert_eq!(alike(left, right), alike(right, left));
            for op in [BinaryOp::Add, BinaryOp::Multiply, BinaryOp::Equal, BinaryOp::Less] {
                assert_eq!(binary_result(op, left, right), binary_result(op, right, left));
            }
        }
    }
}

fn encode(function: &RowFn) -> Vec<u8> {
    let mut bytes = Vec::new();
    function.encode(&mut bytes);
    bytes
}

fn binary(op: BinaryOp, left: &Expr, right: &Expr) -> Expr {
    Expr::Binary(op, Box::new(left.clone()), Box::new(right.clone()))
}

fn truth(body: Expr) -> Scalar {
    let function = RowFn { columns: vec![], body, ty: Ty::Bool, optional: true };
    function.evaluate_one(&[]).unwrap()
}

/// The same function with its columns listed in another order.
fn turned(function: &RowFn, turn: usize) -> RowFn {
    let mut turned = function.clone();
    let count = turned.columns.len();
    turned.columns.rotate_left(turn);
    let mut open = vec![&mut turned.body];
    while let Some(expr) = open.pop() {
        match expr {
            Expr::Column(number) => {
                let place = (*number as usize + count - turn) % count;
                *number = u32::try_from(place).unwrap();
            }
            Expr::Literal(_) => {}
            Expr::Unary(_, a) | Expr::IsNone(a) | Expr::In(a, _) | Expr::Window(_, a) => {
                open.push(a)
            }
            Expr::Binary(_, a, b) | Expr::Coalesce(a, b) => open.extend([&mut **a, b]),
            Expr::If(a, b, c) => open.extend([&mut **a, b, c]),
            Expr::Concat(list) | Expr::Call(_, list) => open.extend(list),
        }
    }
    turned
}

proptest! {
    #[test]
    fn serialised_functions_read_back_equal(shape in choices()) {
        let function = sample::function(&mut Choices::new(&shape)).canonical();
        let text = serde_json::to_string(&function).unwrap();
        let back: RowFn = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(encode(&back), encode(&function), "{}", text);
    }
}
