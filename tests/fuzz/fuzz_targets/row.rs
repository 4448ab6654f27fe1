//! Any row functions over any rows give columns: batches equal single rows, and a kernel gives the interpreter's bits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipe_row::ir::RowFn;
use pipe_row::{Column, Engine, Program, forget_kernels};
use sample::{Choices, bind, collect, columns};

#[path = "../../../compiler/row/tests/sample/mod.rs"]
#[allow(dead_code, reason = "the tests of the crate use more of it")]
mod sample;

fuzz_target!(|bytes: &[u8]| {
    let choices: Vec<u16> =
        bytes.chunks(2).map(|pair| pair.iter().fold(0, |sum, byte| sum << 8 | u16::from(*byte))).collect();
    let (shape, data) = choices.split_at(choices.len() / 2);
    // A second function shares parts with the first.
    let half = shape.get(shape.len() / 2..).unwrap_or_default();
    let functions = [shape, half].map(|shape| sample::function(&mut Choices::new(shape)));
    let rows = sample::rows(&mut Choices::new(data), 5);
    let all = bind(&rows, &columns());
    alone(&functions[0], &rows, &all);
    let program = Program::new(&functions.iter().collect::<Vec<_>>()).expect("typed functions");
    let place = |name: &str| columns().iter().position(|column| column.name == name).expect("a column of the sample");
    let bound: Vec<&Column> = program.columns().iter().map(|reads| &all[place(&reads.name)]).collect();
    let (expected, _) = program.run_by(Engine::Interpreter, &bound, rows.len()).expect("functions over their columns");
    forget_kernels();
    let (found, _) = program.run_by(Engine::Kernel, &bound, rows.len()).expect("functions over their columns");
    for (found, expected) in found.iter().zip(&expected) {
        assert!(found.identical(expected), "{functions:?}\n{found:?}\n{expected:?}");
    }
});

fn alone(function: &RowFn, rows: &[Vec<pipe_row::ir::Scalar>], bound: &[Column]) {
    let bound: Vec<&Column> = bound.iter().collect();
    let result = function.evaluate(&bound, rows.len()).expect("a typed function over its columns");
    let single = rows.iter().map(|row| function.evaluate_one(row).expect("a row of its columns"));
    assert!(result.identical(&collect(function.ty, single)));
    let again = function.evaluate(&bound, rows.len()).expect("a typed function over its columns");
    assert!(result.identical(&again));
}
