//! Functions of one table, run together: one pass over the columns computes them all, and what they share
//! once.

use crate::builder::Builder;
use crate::column::Column;
use crate::error::RowError;
use crate::graph::{Graph, Step};
use crate::interpret::{BATCH, Schedule};
use crate::ir::{ColumnRef, RowFn, Scalar};
use crate::window::Order;

/// What computes a program. Both give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The batch interpreter, which is the definition.
    Interpreter,
    /// Machine code, compiled for the program.
    Kernel,
}

/// Checked functions over one table.
pub struct Program<'a> {
    graph: Graph<'a>,
}

impl<'a> Program<'a> {
    /// Checks types, sizes and column numbers of every function.
    ///
    /// # Errors
    /// Says what is wrong with the first function that is not well formed.
    pub fn new(functions: &[&'a RowFn]) -> Result<Self, RowError> {
        Ok(Self { graph: Graph::new(functions)? })
    }

    /// A program of a graph that was checked when it was made.
    pub(crate) fn of(graph: Graph<'a>) -> Self {
        Self { graph }
    }

    /// The columns that the functions read, each once: what [`Program::run`] takes, in this order.
    #[must_use]
    pub fn columns(&self) -> &[ColumnRef] {
        &self.graph.columns
    }

    /// Computes every function for `rows` rows of `columns`, which are in the order of
    /// [`Program::columns`]. Gives one column of `rows` rows for each function.
    ///
    /// # Errors
    /// Only when the columns do not fit in count, length or type, or when a function has windows, which
    /// [`crate::window::evaluate`] computes.
    pub fn run(&self, columns: &[&Column], rows: usize) -> Result<Vec<Column>, RowError> {
        check_binding(&self.graph.columns, columns, rows)?;
        if self.graph.nodes.iter().any(|node| matches!(node.step, Step::Window)) {
            return Err(RowError::NoOrder);
        }
        #[cfg(feature = "jit")]
        if let Some(kernel) = crate::choose::kernel(&self.graph, columns, rows) {
            return kernel.run(&self.graph, columns, rows).ok_or(RowError::Unsound);
        }
        self.interpret(columns, rows)
    }

    /// As [`Program::run`], by the engine that is asked for; says which one it was, since the interpreter
    /// serves where a kernel cannot be made or there are fewer than two rows.
    ///
    /// # Errors
    /// As [`Program::run`].
    pub fn run_by(
        &self,
        engine: Engine,
        columns: &[&Column],
        rows: usize,
    ) -> Result<(Vec<Column>, Engine), RowError> {
        check_binding(&self.graph.columns, columns, rows)?;
        #[cfg(feature = "jit")]
        if engine == Engine::Kernel
            && let Some(kernel) = crate::choose::made(&self.graph, columns, rows)
        {
            let results = kernel.run(&self.graph, columns, rows).ok_or(RowError::Unsound)?;
            return Ok((results, Engine::Kernel));
        }
        let _ = engine;
        Ok((self.interpret(columns, rows)?, Engine::Interpreter))
    }

    fn interpret(&self, columns: &[&Column], rows: usize) -> Result<Vec<Column>, RowError> {
        let outputs = &self.graph.outputs;
        let schedule =
            Schedule::of(&self.graph, outputs.iter().map(|output| output.node).collect());
        let mut results: Vec<Builder> =
            outputs.iter().map(|output| Builder::new(output.ty, rows)).collect();
        let mut start = 0;
        while start < rows {
            let end = rows.min(start + BATCH);
            let lanes = schedule.run(&self.graph, columns, start, end).ok_or(RowError::Unsound)?;
            for (result, lane) in results.iter_mut().zip(lanes) {
                result.append(lane, end - start);
            }
            start = end;
        }
        Ok(results.into_iter().map(Builder::finish).collect())
    }
}

impl RowFn {
    /// Checks types, sizes and column numbers, as [`RowFn::evaluate`] does before it starts.
    ///
    /// # Errors
    /// Says what is wrong with the expression.
    pub fn check(&self) -> Result<(), RowError> {
        Program::new(&[self]).map(|_| ())
    }

    /// Computes the function for `rows` rows of `columns`, which are in the order of
    /// [`RowFn::columns`]. For windows the rows are one series as they stand, without times.
    ///
    /// # Errors
    /// Only when the columns do not fit in count, length or type, the expression is not well formed, or a
    /// window needs times.
    pub fn evaluate(&self, columns: &[&Column], rows: usize) -> Result<Column, RowError> {
        check_binding(&self.columns, columns, rows)?;
        if self.has_windows() {
            return self.evaluate_over(columns, &Order::as_it_stands(rows));
        }
        let program = Program::new(&[self])?;
        let place = |reads| self.columns.iter().position(|column| column == reads);
        let bound: Option<Vec<&Column>> = program
            .columns()
            .iter()
            .map(|reads| place(reads).and_then(|place| columns.get(place)).copied())
            .collect();
        let results = program.run(&bound.ok_or(RowError::Unsound)?, rows)?;
        results.into_iter().next().ok_or(RowError::Unsound)
    }

    /// Computes the function for one row of `values`, which are in the order of [`RowFn::columns`].
    ///
    /// # Errors
    /// Only when the values do not fit in count or type, or the expression is not well formed.
    pub fn evaluate_one(&self, values: &[Scalar]) -> Result<Scalar, RowError> {
        if values.len() != self.columns.len() {
            return Err(RowError::ColumnCount {
                expected: self.columns.len(),
                found: values.len(),
            });
        }
        let mut columns = Vec::with_capacity(values.len());
        for (value, reads) in values.iter().zip(&self.columns) {
            columns.push(Column::one(value, reads.ty).map_err(|error| match error {
                RowError::ColumnType { expected, found, .. } => {
                    RowError::ColumnType { column: reads.name.clone(), expected, found }
                }
                other => other,
            })?);
        }
        let columns: Vec<&Column> = columns.iter().collect();
        Ok(self.evaluate(&columns, 1)?.get(0))
    }
}

/// Whether the columns are those that are expected.
pub(crate) fn check_binding(
    expected: &[ColumnRef],
    columns: &[&Column],
    rows: usize,
) -> Result<(), RowError> {
    if columns.len() != expected.len() {
        return Err(RowError::ColumnCount { expected: expected.len(), found: columns.len() });
    }
    for (column, reads) in columns.iter().zip(expected) {
        if column.len() != rows {
            return Err(RowError::ColumnLength {
                column: reads.name.clone(),
                expected: rows,
                found: column.len(),
            });
        }
        if column.ty() != reads.ty {
            return Err(RowError::ColumnType {
                column: reads.name.clone(),
                expected: reads.ty,
                found: column.ty(),
            });
        }
    }
    Ok(())
}
