//! Kernels give the bits that the interpreter gives.

#![cfg(feature = "jit")]
#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

mod sample;

use pipe_row::ir::RowFn;
use pipe_row::{BATCH, Column, Engine, Program};
use proptest::prelude::*;
use sample::{Choices, bind, columns};

fn choices(most: usize) -> impl Strategy<Value = Vec<u16>> {
    proptest::collection::vec(any::<u16>(), 0..most)
}

/// Both engines over the same rows.
fn compare(functions: &[RowFn], rows: &[Vec<pipe_row::ir::Scalar>]) -> Result<(), TestCaseError> {
    let all = bind(rows, &columns());
    let program = Program::new(&functions.iter().collect::<Vec<_>>()).unwrap();
    let place = |name: &str| columns().iter().position(|c| c.name == name).unwrap();
    let bound: Vec<&Column> = program.columns().iter().map(|c| &all[place(&c.name)]).collect();
    let (expected, _) = program.run_by(Engine::Interpreter, &bound, rows.len()).unwrap();
    let (found, engine) = program.run_by(Engine::Kernel, &bound, rows.len()).unwrap();
    let refused = engine == Engine::Interpreter && rows.len() > 1;
    prop_assert!(
        !refused || functions.iter().all(touches_text),
        "no kernel: {:?}",
        functions.iter().map(|f| &f.body).collect::<Vec<_>>()
    );
    for ((found, expected), function) in found.iter().zip(&expected).zip(functions) {
        prop_assert!(
            found.identical(expected),
            "{:?}\n{function:?}\n{found:?}\n{expected:?}",
            first_difference(found, expected)
        );
    }
    Ok(())
}

/// Whether text occurs in it: then there may be nothing for a kernel to do.
fn touches_text(function: &RowFn) -> bool {
    let printed = format!("{:?} {:?}", function.ty, function.body);
    ["Str", "Concat(", "Text", "Column(6)", "Column(7)"].iter().any(|text| printed.contains(text))
}

fn first_difference(found: &Column, expected: &Column) -> Option<String> {
    let differs =
        |row: &usize| format!("{:?}", found.get(*row)) != format!("{:?}", expected.get(*row));
    let row = (0..found.len()).find(differs)?;
    Some(format!("row {row}: {:?}, not {:?}", found.get(row), expected.get(row)))
}

proptest! {
    #[test]
    fn a_kernel_equals_the_interpreter(
        shapes in proptest::collection::vec(choices(120), 1..4),
        data in choices(400),
        count in 0_usize..24,
        missing in any::<bool>(),
    ) {
        let functions: Vec<RowFn> =
            shapes.iter().map(|shape| sample::function(&mut Choices::new(shape))).collect();
        let mut rows = sample::rows(&mut Choices::new(&data), count);
        if !missing {
            rows.retain(|row| row.iter().all(|value| *value != pipe_row::ir::Scalar::None));
        }
        compare(&functions, &rows)?;
    }

    #[test]
    fn over_many_batches(shape in choices(100), data in choices(100), more in 0_usize..3) {
        let functions = [sample::function(&mut Choices::new(&shape))];
        let rows = sample::rows(&mut Choices::new(&data), 7);
        let many: Vec<_> = rows.iter().cycle().take(4 * BATCH - 1 + more).cloned().collect();
        compare(&functions, &many)?;
    }
}
