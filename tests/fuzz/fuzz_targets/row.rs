//! Any row function over any rows gives a column: batches equal single rows, and a second time gives the same bits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipe_row::Column;
use sample::{Choices, bind, collect, columns};

#[path = "../../../compiler/row/tests/sample/mod.rs"]
#[allow(dead_code, reason = "the tests of the crate use more of it")]
mod sample;

fuzz_target!(|bytes: &[u8]| {
    let choices: Vec<u16> =
        bytes.chunks(2).map(|pair| pair.iter().fold(0, |sum, byte| sum << 8 | u16::from(*byte))).collect();
    let (shape, data) = choices.split_at(choices.len() / 2);
    let function = sample::function(&mut Choices::new(shape));
    let rows = sample::rows(&mut Choices::new(data), 5);
    let bound = bind(&rows, &columns());
    let bound: Vec<&Column> = bound.iter().collect();
    let result = function.evaluate(&bound, rows.len()).expect("a typed function over its columns");
    let single = rows.iter().map(|row| function.evaluate_one(row).expect("a row of its columns"));
    assert!(result.identical(&collect(function.ty, single)));
    let again = function.evaluate(&bound, rows.len()).expect("a typed function over its columns");
    assert!(result.identical(&again));
});
