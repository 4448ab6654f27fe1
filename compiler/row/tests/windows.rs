//! Windows against a definition that looks at every row again for each row.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "the other test needs more of it")]
mod sample;

use pipe_row::Column;
use pipe_row::ir::{BinaryOp, ColumnRef, Expr, RowFn, Scalar, Ty};
use pipe_row::window::{Decay, Fold, Order, Reach, Window, Windows};
use proptest::prelude::*;
use sample::{Choices, bind, collect, columns};

const SECOND: i64 = 1_000_000_000;

fn reach() -> impl Strategy<Value = Reach> {
    prop_oneof![
        (1_u64..12).prop_map(Reach::Rows),
        Just(Reach::Rows(u64::MAX)),
        (1_i64..12).prop_map(|seconds| Reach::Time(seconds * SECOND)),
        Just(Reach::Time(i64::MAX)),
    ]
}

fn fold() -> impl Strategy<Value = Fold> {
    prop_oneof![
        Just(Fold::Mean),
        Just(Fold::Sum),
        Just(Fold::Min),
        Just(Fold::Max),
        Just(Fold::Std),
        (0_u32..=8).prop_map(|eighths| Fold::Quantile(f64::from(eighths) / 8.0)),
    ]
}

fn window() -> impl Strategy<Value = Window> {
    prop_oneof![
        reach().prop_map(Window::Lag),
        (fold(), reach(), 1_u64..4).prop_map(|(fold, reach, least)| Window::Fold {
            fold,
            reach,
            least
        }),
        (1_u32..=8).prop_map(|eighths| Window::Ewma(Decay::Alpha(f64::from(eighths) / 8.0))),
        (1_i64..5).prop_map(|seconds| Window::Ewma(Decay::HalfLife(seconds * SECOND))),
        reach().prop_map(Window::Any),
        reach().prop_map(Window::All),
        reach().prop_map(Window::Count),
        Just(Window::Held),
        Just(Window::Streak),
        Just(Window::Since),
    ]
}

/// Entity, time in seconds (missing now and then), and the operand's value of each row.
fn rows() -> impl Strategy<Value = Vec<(Option<u8>, Option<i64>, u16)>> {
    let entity = prop_oneof![4 => (0_u8..3).prop_map(Some), 1 => Just(None)];
    let time = prop_oneof![9 => (0_i64..30).prop_map(Some), 1 => Just(None)];
    proptest::collection::vec((entity, time, any::<u16>()), 0..60)
}

fn value(ty: Ty, choice: u16) -> Scalar {
    match choice % 5 {
        4 => Scalar::None,
        3 if ty == Ty::Float => Scalar::Float(f64::from(choice) / 7.0 - 3_000.0),
        _ => sample::scalar(&mut Choices::new(&[choice / 5]), ty),
    }
}

/// The definition: the rows of the same entity that come before `row` in time, or stand before it at the same time.
fn before(row: usize, rows: &[(Option<u8>, Option<i64>, u16)]) -> Option<Vec<usize>> {
    let (entity, time, _) = rows[row];
    let time = time?;
    let mut series: Vec<usize> = (0..rows.len())
        .filter(|other| rows[*other].0 == entity && rows[*other].1.is_some())
        .filter(|other| (rows[*other].1.unwrap(), *other) <= (time, row))
        .collect();
    series.sort_by_key(|other| (rows[*other].1, *other));
    Some(series)
}

fn naive(
    window: Window,
    values: &[Scalar],
    rows: &[(Option<u8>, Option<i64>, u16)],
    row: usize,
) -> Scalar {
    let Some(series) = before(row, rows) else { return Scalar::None };
    let time = |row: usize| rows[row].1.unwrap() * SECOND;
    let age = |other: usize| i128::from(time(row)) - i128::from(time(other));
    let within = |reach: Reach| -> Vec<usize> {
        match reach {
            Reach::Rows(count) => {
                let skipped = series.len().saturating_sub(usize::try_from(count).unwrap());
                series[skipped..].to_vec()
            }
            Reach::Time(nanos) => {
                series.iter().copied().filter(|other| age(*other) < i128::from(nanos)).collect()
            }
        }
    };
    let holds = |row: &usize| values[*row] == Scalar::Bool(true);
    match window {
        Window::Lag(Reach::Rows(count)) => {
            let place = (series.len() - 1).checked_sub(usize::try_from(count).unwrap());
            place.map_or(Scalar::None, |place| values[series[place]].clone())
        }
        Window::Lag(Reach::Time(nanos)) => {
            let old = series.iter().rev().find(|other| age(**other) >= i128::from(nanos));
            old.map_or(Scalar::None, |other| values[*other].clone())
        }
        Window::Fold { fold, reach, least } => {
            let held: Vec<Scalar> = within(reach)
                .into_iter()
                .map(|row| values[row].clone())
                .filter(|value| *value != Scalar::None)
                .collect();
            if (held.len() as u64) < least { Scalar::None } else { folded(fold, &held) }
        }
        Window::Ewma(decay) => {
            let mut average: Option<(f64, i64)> = None;
            for other in series {
                let value = match values[other] {
                    Scalar::Float(value) => value,
                    Scalar::Int(value) => value as f64,
                    _ => continue,
                };
                let share = |since: i64| match decay {
                    Decay::Alpha(alpha) => alpha,
                    Decay::HalfLife(half) => {
                        let halves = (time(other) - since) as f64 / half as f64;
                        -libm::expm1(-std::f64::consts::LN_2 * halves)
                    }
                };
                let next = match average {
                    Some((average, since)) if average.is_finite() => {
                        (1.0 - share(since)) * average + share(since) * value
                    }
                    _ => value,
                };
                average = Some((next, time(other)));
            }
            average.map_or(Scalar::None, |(value, _)| Scalar::Float(value))
        }
        Window::Any(reach) | Window::All(reach) => {
            let decides = matches!(window, Window::Any(_));
            let held = within(reach);
            let whole = match reach {
                Reach::Rows(count) => held.len() as u64 >= count,
                Reach::Time(_) => held.len() < series.len(),
            };
            if held.iter().any(|row| values[*row] == Scalar::Bool(decides)) {
                Scalar::Bool(decides)
            } else if whole && held.iter().all(|row| values[*row] != Scalar::None) {
                Scalar::Bool(!decides)
            } else {
                Scalar::None
            }
        }
        Window::Count(reach) => Scalar::Int(
            i64::try_from(within(reach).iter().filter(|row| holds(row)).count()).unwrap(),
        ),
        Window::Streak => {
            let run = series.iter().rev().take_while(|row| holds(row)).count();
            Scalar::Int(i64::try_from(run).unwrap())
        }
        Window::Held => {
            let run = series.iter().rev().take_while(|row| holds(row)).last();
            Scalar::Duration(run.map_or(0, |first| time(row) - time(*first)))
        }
        Window::Since => {
            let last = series.iter().rev().find(|row| holds(row));
            last.map_or(Scalar::None, |last| Scalar::Duration(time(row) - time(*last)))
        }
    }
}

fn folded(fold: Fold, held: &[Scalar]) -> Scalar {
    match (fold, &held[0]) {
        (Fold::Sum, Scalar::Duration(_)) => {
            let sum: i128 = held.iter().map(|value| i128::from(whole(value))).sum();
            let ends = i128::from(i64::MIN)..=i128::from(i64::MAX);
            Scalar::Duration(i64::try_from(sum.clamp(*ends.start(), *ends.end())).unwrap())
        }
        (Fold::Sum, Scalar::Int(_) | Scalar::Size(_)) => {
            let sum: i128 = held.iter().map(|value| i128::from(whole(value))).sum();
            let sum = i64::try_from(sum).ok().filter(|sum| sum.abs() < 1 << 53);
            let size = matches!(held[0], Scalar::Size(_));
            sum.map_or(Scalar::None, if size { Scalar::Size } else { Scalar::Int })
        }
        (Fold::Min | Fold::Max, Scalar::Float(_)) => {
            let floats = floats(held);
            if floats.iter().any(|value| value.is_nan()) {
                return Scalar::Float(f64::NAN);
            }
            let ordered = |a: &f64, b: &f64| a.total_cmp(b);
            let found = floats.iter().copied();
            Scalar::Float(
                if fold == Fold::Min { found.min_by(ordered) } else { found.max_by(ordered) }
                    .unwrap(),
            )
        }
        (Fold::Min | Fold::Max, first) => {
            let wholes = held.iter().map(whole);
            let found = if fold == Fold::Min { wholes.min() } else { wholes.max() }.unwrap();
            match first {
                Scalar::Int(_) => Scalar::Int(found),
                Scalar::Size(_) => Scalar::Size(found),
                Scalar::Time(_) => Scalar::Time(found),
                _ => Scalar::Duration(found),
            }
        }
        (Fold::Quantile(share), _) => {
            let mut floats: Vec<f64> = floats(held).iter().map(|value| value + 0.0).collect();
            if floats.iter().any(|value| value.is_nan()) {
                return Scalar::Float(f64::NAN);
            }
            floats.sort_by(f64::total_cmp);
            let at = share * (floats.len() - 1) as f64;
            let (low, part) = (floats[at as usize], at - at.floor());
            let between = |high: &f64| low + (high - low) * part;
            Scalar::Float(if part > 0.0 { between(&floats[at as usize + 1]) } else { low })
        }
        (Fold::Std, _) if held.len() < 2 => Scalar::None,
        (Fold::Std, _) => {
            let floats = floats(held);
            if floats.iter().any(|value| !value.is_finite()) {
                return Scalar::Float(f64::NAN);
            }
            Scalar::Float(std(&floats))
        }
        (Fold::Mean | Fold::Sum, _) => {
            let floats = floats(held);
            let sum = sum(&floats);
            let count = floats.len() as f64;
            Scalar::Float(if fold == Fold::Mean { sum / count } else { sum })
        }
    }
}

fn whole(value: &Scalar) -> i64 {
    match value {
        Scalar::Int(v) | Scalar::Size(v) | Scalar::Time(v) | Scalar::Duration(v) => *v,
        other => panic!("{other:?}"),
    }
}

fn floats(values: &[Scalar]) -> Vec<f64> {
    let float = |value: &Scalar| match value {
        Scalar::Float(value) => *value,
        other => whole(other) as f64,
    };
    values.iter().map(float).collect()
}

/// The exact sum by another way: halves of the sorted values meet again and again until nothing is lost.
fn sum(values: &[f64]) -> f64 {
    if values.iter().any(|value| !value.is_finite()) {
        return values.iter().sum();
    }
    let order = Order::as_it_stands(values.len());
    let column = Column::float(values.to_vec());
    let all = Window::Fold { fold: Fold::Sum, reach: Reach::Rows(u64::MAX), least: 1 };
    match over(all, Ty::Float, &column, &order).get(values.len() - 1) {
        Scalar::Float(sum) => sum,
        other => panic!("{other:?}"),
    }
}

fn std(values: &[f64]) -> f64 {
    let order = Order::as_it_stands(values.len());
    let column = Column::float(values.to_vec());
    let all = Window::Fold { fold: Fold::Std, reach: Reach::Rows(u64::MAX), least: 1 };
    match over(all, Ty::Float, &column, &order).get(values.len() - 1) {
        Scalar::Float(std) => std,
        other => panic!("{other:?}"),
    }
}

fn function(window: Window, ty: Ty) -> Option<RowFn> {
    let columns = vec![ColumnRef { name: "x".into(), ty, optional: true }];
    let body = Expr::Window(window, Box::new(Expr::Column(0)));
    Some(RowFn { columns, body, ty: window.result(ty)?, optional: true })
}

fn over(window: Window, ty: Ty, column: &Column, order: &Order) -> Column {
    function(window, ty).unwrap().evaluate_over(&[column], order).unwrap()
}

fn order(rows: &[(Option<u8>, Option<i64>, u16)]) -> Order {
    let entity = Column::optional_text(rows.iter().map(|row| row.0.map(|name| format!("h{name}"))));
    let time = Column::optional_time(rows.iter().map(|row| row.1.map(|time| time * SECOND)));
    Order::new(rows.len(), &[&entity], Some(&time)).unwrap()
}

proptest! {
    #[test]
    fn windows_are_what_they_say(window in window(), ty in 0_usize..7, rows in rows()) {
        let Some(ty) = (0..7).map(|step| Ty::ALL[(ty + step) % 7]).find(|ty| window.result(*ty).is_some())
        else {
            return Ok(());
        };
        let values: Vec<Scalar> = rows.iter().map(|row| value(ty, row.2)).collect();
        let found = over(window, ty, &collect(ty, values.iter().cloned()), &order(&rows));
        let expected = (0..rows.len()).map(|row| naive(window, &values, &rows, row));
        let expected = collect(window.result(ty).unwrap(), expected);
        prop_assert!(found.identical(&expected), "{window:?} of {values:?}\n{found:?}\n{expected:?}");
    }

    #[test]
    fn no_row_sees_what_comes_after_it(window in window(), rows in rows(), cut in 0_usize..60) {
        let ty = Ty::ALL.into_iter().find(|ty| window.result(*ty).is_some()).unwrap();
        let mut rows = rows;
        rows.iter_mut().for_each(|row| row.1 = row.1.or(Some(3)));
        rows.sort_by_key(|row| row.1);
        let all = collect(ty, rows.iter().map(|row| value(ty, row.2)));
        let all = over(window, ty, &all, &order(&rows));
        rows.truncate(cut);
        let some = collect(ty, rows.iter().map(|row| value(ty, row.2)));
        let some = over(window, ty, &some, &order(&rows));
        for row in 0..rows.len() {
            prop_assert_eq!(format!("{:?}", all.get(row)), format!("{:?}", some.get(row)));
        }
    }

    #[test]
    fn the_order_of_the_table_does_not_matter(window in window(), rows in rows(), turn in 0_usize..60) {
        let ty = Ty::ALL.into_iter().find(|ty| window.result(*ty).is_some()).unwrap();
        // Every time once, so that no two rows stand at the same.
        let rows: Vec<_> = (0..).zip(rows).map(|(time, row)| (row.0, Some(time), row.2)).collect();
        let mut turned = rows.clone();
        turned.reverse();
        let count = turned.len().max(1);
        turned.rotate_left(turn % count);
        let run = |rows: &[(Option<u8>, Option<i64>, u16)]| {
            let values = collect(ty, rows.iter().map(|row| value(ty, row.2)));
            let result = over(window, ty, &values, &order(rows));
            let mut by_time: Vec<_> =
                (0..rows.len()).map(|row| (rows[row].1, format!("{:?}", result.get(row)))).collect();
            by_time.sort();
            by_time
        };
        prop_assert_eq!(run(&rows), run(&turned));
    }

    #[test]
    fn windows_in_expressions(shape in proptest::collection::vec(any::<u16>(), 0..60), data in proptest::collection::vec(any::<u16>(), 0..200), window in window()) {
        // A window over any expression is the window over its column.
        let inner = sample::function(&mut Choices::new(&shape));
        if window.result(inner.ty).is_none() || window.needs_times() {
            return Ok(());
        }
        let rows = sample::rows(&mut Choices::new(&data), 15);
        let data = bind(&rows, &columns());
        let data: Vec<&Column> = data.iter().collect();
        let operand = inner.evaluate(&data, 15).unwrap();
        let order = Order::as_it_stands(15);
        let nested = RowFn {
            columns: inner.columns.clone(),
            body: Expr::Window(window, Box::new(inner.body.clone())),
            ty: window.result(inner.ty).unwrap(),
            optional: true,
        };
        let literal = matches!(inner.body, Expr::Literal(Scalar::None));
        if let Ok(found) = nested.evaluate(&data, 15)
            && !literal
            && nested.check().is_ok()
        {
            let expected = over(window, inner.ty, &operand, &order);
            let same = found.identical(&expected) || found.missing_count() == 15;
            prop_assert!(same, "{found:?}\n{expected:?}");
        }
    }
}

fn lag(rows: u64, operand: Expr) -> Expr {
    Expr::Window(Window::Lag(Reach::Rows(rows)), Box::new(operand))
}

#[test]
fn equal_windows_are_computed_once() {
    let column = ColumnRef { name: "x".into(), ty: Ty::Float, optional: false };
    let double = Expr::Binary(BinaryOp::Add, Box::new(Expr::Column(0)), Box::new(Expr::Column(0)));
    let body = |more: Expr| {
        Expr::Binary(BinaryOp::Add, Box::new(lag(1, lag(1, double.clone()))), Box::new(more))
    };
    let function = |more| RowFn {
        columns: vec![column.clone()],
        body: body(more),
        ty: Ty::Float,
        optional: true,
    };
    let x = Column::float(vec![1.0, 2.0, 3.0, 4.0]);
    let order = Order::as_it_stands(4);
    let mut windows = Windows::new(&order);
    let first = windows.flatten(&function(lag(1, double.clone())), &[&x]).unwrap();
    let second = windows.flatten(&function(lag(2, double.clone())), &[&x]).unwrap();
    assert_eq!((first.columns.len(), second.columns.len()), (3, 4));
    let names: std::collections::BTreeSet<_> =
        first.columns.iter().chain(&second.columns).map(|column| &column.name).collect();
    assert_eq!(names.len(), 4, "x, the lag, the lag of the lag, and the lag by two: {names:?}");
    assert!(!first.has_windows() && !second.has_windows());
    let result = function(lag(1, double.clone())).evaluate(&[&x], 4).unwrap();
    assert_eq!([2, 3].map(|row| result.get(row)), [6.0, 10.0].map(Scalar::Float));
    assert_eq!(result.missing_count(), 2);
}

#[test]
fn windows_that_make_no_sense_are_refused() {
    let refused = |window: Window, ty| {
        let columns = vec![ColumnRef { name: "x".into(), ty, optional: true }];
        let body = Expr::Window(window, Box::new(Expr::Column(0)));
        let result = window.result(ty).unwrap_or(Ty::Float);
        let function = RowFn { columns, body, ty: result, optional: true };
        let x = Column::missing(ty, 2);
        function.evaluate(&[&x], 2).unwrap_err().to_string()
    };
    for window in [
        Window::Lag(Reach::Rows(0)),
        Window::Any(Reach::Time(0)),
        Window::Ewma(Decay::Alpha(0.0)),
        Window::Ewma(Decay::Alpha(f64::NAN)),
        Window::Fold { fold: Fold::Quantile(1.5), reach: Reach::Rows(2), least: 1 },
        Window::Fold { fold: Fold::Mean, reach: Reach::Rows(2), least: 0 },
    ] {
        let message = refused(window, Ty::Bool);
        assert!(message.contains("without rows or time"), "{message}");
    }
    assert_eq!(
        refused(Window::Held, Ty::Bool),
        "`window.held` needs to know when each row was, and the rows have no times"
    );
    assert_eq!(
        refused(Window::Streak, Ty::Float),
        "`window.streak` takes `bool`, and this is float"
    );
}

#[test]
fn the_written_form_reads_back() {
    for window in [
        Window::Lag(Reach::Rows(1)),
        Window::Fold { fold: Fold::Quantile(0.5), reach: Reach::Time(5 * SECOND), least: 3 },
        Window::Ewma(Decay::Alpha(0.1)),
        Window::Held,
    ] {
        let body = Expr::Window(window, Box::new(Expr::Column(0)));
        let text = serde_json::to_string(&body).unwrap();
        assert_eq!(serde_json::from_str::<Expr>(&text).unwrap(), body, "{text}");
    }
}
