//! Steps in one pass give what they give one by one, bit for bit, and nothing where one of them fails.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

mod sample;

use pipe_row::chain::{Chain, Step};
use pipe_row::ir::{BinaryOp, ColumnRef, Expr, RowFn, Scalar, Ty};
use pipe_row::{Column, Engine};
use proptest::prelude::*;
use sample::{Choices, bind, collect, columns};

type Table = Vec<(String, Column)>;

/// One step as it is defined: over whole tables. `None` where it fails.
fn stepwise(table: &Table, step: &Step<'_>) -> Option<Table> {
    let find = |name: &str| table.iter().find(|(known, _)| known == name);
    let compute = |function: &RowFn| {
        let mut given = Vec::new();
        for reads in &function.columns {
            let (_, column) = find(&reads.name)?;
            if column.ty() != reads.ty || !reads.optional && column.first_missing().is_some() {
                return None;
            }
            given.push(column);
        }
        let rows = table.first().map_or(0, |(_, column)| column.len());
        function.evaluate(&given, rows).ok()
    };
    match step {
        Step::Filter(function) => {
            let keep = compute(function)?.keep()?.to_vec();
            Some(table.iter().map(|(name, column)| (name.clone(), kept(column, &keep))).collect())
        }
        Step::Derive(columns) => {
            let mut made = table.clone();
            for (name, function) in columns {
                let column = compute(function)?;
                if !function.optional && column.first_missing().is_some() {
                    return None;
                }
                match made.iter_mut().find(|(known, _)| known == name) {
                    Some((_, old)) => *old = column,
                    None => made.push(((*name).to_owned(), column)),
                }
            }
            Some(made)
        }
        Step::Select(names) => names.iter().map(|name| find(name).cloned()).collect(),
    }
}

fn kept(column: &Column, keep: &[bool]) -> Column {
    let rows = (0..column.len()).filter(|row| keep[*row]);
    collect(column.ty(), rows.map(|row| column.get(row)))
}

fn one_pass(table: &Table, steps: &[Step<'_>], engine: Engine) -> Option<Option<Table>> {
    let reference = |(name, column): &(String, Column)| ColumnRef {
        name: name.clone(),
        ty: column.ty(),
        optional: true,
    };
    let chain = Chain::new(&table.iter().map(reference).collect::<Vec<_>>(), steps)?;
    let find = |name: &str| &table.iter().find(|(known, _)| known == name).unwrap().1;
    let bound: Vec<&Column> = chain.columns().iter().map(|reads| find(&reads.name)).collect();
    let rows = table.first().map_or(0, |(_, column)| column.len());
    let Some(passed) = chain.run_by(engine, &bound, rows).unwrap() else { return Some(None) };
    let all = vec![true; rows];
    let keep = passed.keep.unwrap_or(all);
    let part = |(name, made): (String, Option<Column>)| {
        let column = kept(made.as_ref().unwrap_or_else(|| find(&name)), &keep);
        (name, column)
    };
    Some(Some(passed.columns.into_iter().map(part).collect()))
}

/// Random steps: functions over the columns of the sample, under names that are new or have the same type.
fn steps<'a>(
    choices: &mut Choices<'_>,
    functions: &'a [RowFn],
    names: &'a [String],
) -> Vec<Step<'a>> {
    let mut steps = Vec::new();
    for function in functions {
        steps.push(match (function.ty, choices.next() % 4) {
            (Ty::Bool, 0 | 1) => Step::Filter(function),
            (ty, place) => {
                let same =
                    [format!("z.{ty}"), format!("a.{ty}"), "new".to_owned(), "z.bool".to_owned()];
                let name = &same[if place == 3 && ty != Ty::Bool { 2 } else { place % 3 }];
                let name = names.iter().find(|known| *known == name).unwrap();
                Step::Derive(vec![(name.as_str(), function)])
            }
        });
    }
    if choices.next().is_multiple_of(3) {
        let chosen = names.iter().filter(|name| *name != "new" && name.as_str() != "a.str");
        steps.push(Step::Select(chosen.map(String::as_str).rev().collect()));
    }
    steps
}

fn choices(most: usize) -> impl Strategy<Value = Vec<u16>> {
    proptest::collection::vec(any::<u16>(), 0..most)
}

proptest! {
    #[test]
    fn one_pass_equals_the_steps(
        shapes in proptest::collection::vec(choices(60), 1..5),
        order in choices(20),
        strict in choices(6),
        data in choices(300),
        count in 0_usize..20,
    ) {
        let mut strict = Choices::new(&strict);
        let functions: Vec<RowFn> = shapes
            .iter()
            .map(|shape| {
                let mut function = sample::function(&mut Choices::new(shape));
                function.optional = strict.next() % 4 != 1;
                if let Some(column) = function.columns.get_mut(strict.next() % 40) {
                    column.optional = false;
                }
                function
            })
            .collect();
        let mut names: Vec<String> = columns().into_iter().map(|column| column.name).collect();
        names.push("new".to_owned());
        let steps = steps(&mut Choices::new(&order), &functions, &names);
        let rows = sample::rows(&mut Choices::new(&data), count);
        let names = columns().into_iter().map(|column| column.name);
        let table: Table = names.zip(bind(&rows, &columns())).collect();
        let expected = steps.iter().try_fold(table.clone(), |table, step| stepwise(&table, step));
        for engine in [Engine::Interpreter, Engine::Kernel] {
            let Some(found) = one_pass(&table, &steps, engine) else {
                // The only reason of these steps to run one by one.
                let text = functions.iter().any(|function| function.ty == Ty::Str);
                prop_assert!(text && functions.iter().any(|function| function.ty == Ty::Bool));
                continue;
            };
            // What a function needs may be missing in rows that a step before leaves out: then the steps run one by one.
            let Some(found) = found else {
                let strict = functions.iter().any(|f| f.columns.iter().any(|c| !c.optional));
                prop_assert!(expected.is_none() || strict);
                continue;
            };
            let Some(expected) = &expected else {
                prop_assert!(false, "a step of {functions:#?} fails, and the pass does not");
                continue;
            };
            prop_assert_eq!(found.len(), expected.len());
            for ((name, column), (other, wanted)) in found.iter().zip(expected) {
                prop_assert_eq!(name, other);
                prop_assert!(column.identical(wanted), "{}: {:?} is not {:?}", name, column, wanted);
            }
        }
    }
}

fn reads(ty: Ty, gives: Ty, optional: bool, body: Expr) -> RowFn {
    let column = ColumnRef { name: "x".into(), ty, optional: true };
    RowFn { columns: vec![column], body, ty: gives, optional }
}

fn above(limit: i64) -> RowFn {
    let limit = Box::new(Expr::Literal(Scalar::Int(limit)));
    let body = Expr::Binary(BinaryOp::Greater, Box::new(Expr::Column(0)), limit);
    reads(Ty::Int, Ty::Bool, true, body)
}

#[test]
fn a_row_that_does_not_stay_fails_nothing() {
    let remainder = Expr::Binary(
        BinaryOp::Remainder,
        Box::new(Expr::Literal(Scalar::Int(7))),
        Box::new(Expr::Column(0)),
    );
    let rest = reads(Ty::Int, Ty::Int, false, remainder);
    let table = vec![("x".to_owned(), Column::bind_int(&[3, 0, 5]).unwrap())];
    let positive = above(0);
    let steps = [Step::Filter(&positive), Step::Derive(vec![("rest", &rest)])];
    let found = one_pass(&table, &steps, Engine::Interpreter).unwrap().unwrap();
    assert_eq!(found[1].1, Column::bind_int(&[1, 2]).unwrap());
    // In the other order there is a row without a value.
    let steps = [Step::Derive(vec![("rest", &rest)]), Step::Filter(&positive)];
    assert!(one_pass(&table, &steps, Engine::Interpreter).unwrap().is_none());
}

#[test]
fn a_whole_number_becomes_the_float_that_it_is_stored_as() {
    // `none` as float, then `-(y ?? 0)`: of floats that is -0.0.
    let none = reads(Ty::Int, Ty::Float, true, Expr::Literal(Scalar::None));
    let column = ColumnRef { name: "y".into(), ty: Ty::Float, optional: true };
    let zero = Box::new(Expr::Literal(Scalar::Int(0)));
    let body = Expr::Coalesce(Box::new(Expr::Column(0)), zero);
    let body = Expr::Unary(pipe_row::ir::UnaryOp::Negate, Box::new(body));
    let negative = RowFn { columns: vec![column], body, ty: Ty::Float, optional: true };
    let table = vec![("x".to_owned(), Column::bind_int(&[1, 2]).unwrap())];
    let steps = [Step::Derive(vec![("y", &none)]), Step::Derive(vec![("z", &negative)])];
    for engine in [Engine::Interpreter, Engine::Kernel] {
        let found = one_pass(&table, &steps, engine).unwrap().unwrap();
        assert_eq!(found[1].1, Column::optional_float([None, None]));
        assert_eq!(format!("{:?}", found[2].1.get(0)), "Float(-0.0)");
    }
}

#[test]
fn what_has_to_run_step_by_step_is_no_chain() {
    let table = [ColumnRef { name: "x".into(), ty: Ty::Int, optional: true }];
    let positive = above(0);
    let text = reads(Ty::Int, Ty::Str, true, Expr::Concat(vec![Expr::Column(0)]));
    let window = pipe_row::window::Window::Lag(pipe_row::window::Reach::Rows(1));
    let before = reads(Ty::Int, Ty::Int, true, Expr::Window(window, Box::new(Expr::Column(0))));
    let other = reads(Ty::Float, Ty::Float, true, Expr::Column(0));
    assert!(
        Chain::new(&table, &[Step::Derive(vec![("t", &text)]), Step::Filter(&positive)]).is_some()
    );
    for steps in [
        vec![Step::Filter(&positive), Step::Derive(vec![("t", &text)])],
        vec![Step::Derive(vec![("b", &before)])],
        vec![Step::Derive(vec![("o", &other)])],
        vec![Step::Select(vec!["y"])],
        vec![Step::Select(vec!["x", "x"])],
        vec![Step::Select(vec![])],
    ] {
        assert!(Chain::new(&table, &steps).is_none());
    }
}
