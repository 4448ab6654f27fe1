//! Nanoseconds per row of windows over a million rows, as JSON: `cargo run --release -p pipe-row --example window_speed`.

#![allow(clippy::print_stdout, reason = "its result")]

use pipe_row::ir::{ColumnRef, Expr, RowFn, Ty};
use pipe_row::window::{Decay, Fold, Order, Reach, Window};
use pipe_row::{Column, RowError};
use std::time::Instant;

const ROWS: i64 = 1_000_000;
/// Of which the fastest counts.
const ROUNDS: usize = 3;
const SECOND: i64 = 1_000_000_000;

fn main() -> Result<(), RowError> {
    // The same numbers on every machine: a linear congruential generator.
    let mut state = 7_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(state >> 40).unwrap_or(0)) / f64::from(1 << 24)
    };
    let values = Column::float((0..ROWS).map(|_| next()).collect());
    let times = Column::time((0..ROWS).map(|row| row * SECOND).collect());
    let hosts = Column::text((0..ROWS).map(|row| format!("host{}", row % 100)));
    let rows = values.len();
    let start = Instant::now();
    let by_host = Order::new(rows, &[&hosts], Some(&times))?;
    println!("{{\"order\": {}}}", per_row(start, rows));
    let one = Order::new(rows, &[], Some(&times))?;
    let fold = |fold, reach| Window::Fold { fold, reach, least: 1 };
    for (name, window) in [
        ("lag 1", Window::Lag(Reach::Rows(1))),
        ("sum 60", fold(Fold::Sum, Reach::Rows(60))),
        ("mean 5m", fold(Fold::Mean, Reach::Time(300 * SECOND))),
        ("mean 10000", fold(Fold::Mean, Reach::Rows(10_000))),
        ("std 5m", fold(Fold::Std, Reach::Time(300 * SECOND))),
        ("max 5m", fold(Fold::Max, Reach::Time(300 * SECOND))),
        ("median 60", fold(Fold::Quantile(0.5), Reach::Rows(60))),
        ("median 10000", fold(Fold::Quantile(0.5), Reach::Rows(10_000))),
        ("ewma", Window::Ewma(Decay::Alpha(0.1))),
        ("ewma by time", Window::Ewma(Decay::HalfLife(60 * SECOND))),
    ] {
        let columns = vec![ColumnRef { name: "x".to_owned(), ty: Ty::Float, optional: false }];
        let body = Expr::Window(window, Box::new(Expr::Column(0)));
        let function = RowFn { columns, body, ty: Ty::Float, optional: true };
        let mut figures = Vec::new();
        for order in [&one, &by_host] {
            let mut best = f64::INFINITY;
            for _ in 0..ROUNDS {
                let start = Instant::now();
                let result = function.evaluate_over(&[&values], order)?;
                best = best.min(per_row(start, rows));
                assert_eq!(result.len(), rows);
            }
            figures.push(best);
        }
        println!(
            "{{\"window\": \"{name}\", \"one series\": {}, \"100 series\": {}}}",
            figures[0], figures[1]
        );
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a figure")]
fn per_row(start: Instant, rows: usize) -> f64 {
    (start.elapsed().as_nanos() as f64 / rows as f64 * 10.0).round() / 10.0
}
