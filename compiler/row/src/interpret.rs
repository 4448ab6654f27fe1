//! The batch interpreter: every step runs over 1,024 rows before the next, so that the cost of walking
//! the tree is shared. It is the definition of what a row expression means.

use crate::column::{Column, Values};
use crate::error::RowError;
use crate::functions;
use crate::ir::{RowFn, Scalar, Ty, UnaryOp};
use crate::lane::{Data, Lane, Strings};
use crate::number::map;
use crate::print;
use crate::program::{Step, compile};
use std::borrow::Cow;

/// Rows that one step handles at a time.
pub const BATCH: usize = 1_024;

/// Rows that room is made for before they are computed.
const MOST_RESERVED: usize = 1 << 24;

impl RowFn {
    /// Checks types, sizes and column numbers, as [`RowFn::evaluate`] does before it starts.
    ///
    /// # Errors
    /// Says what is wrong with the expression.
    pub fn check(&self) -> Result<(), RowError> {
        compile(self).map(|_| ())
    }

    /// Computes the function for `rows` rows of `columns`, which are in the order of
    /// [`RowFn::columns`].
    ///
    /// # Errors
    /// Only when the columns do not fit in count, length or type, or the expression is not well formed.
    pub fn evaluate(&self, columns: &[&Column], rows: usize) -> Result<Column, RowError> {
        self.check_binding(columns, rows)?;
        let steps = compile(self)?;
        let mut result = Output::new(self.ty, rows);
        let mut start = 0;
        while start < rows {
            let end = rows.min(start + BATCH);
            let lane = run(&steps, columns, start, end).ok_or(RowError::Unsound)?;
            result.append(lane, end - start);
            start = end;
        }
        result.finish()
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

    fn check_binding(&self, columns: &[&Column], rows: usize) -> Result<(), RowError> {
        if columns.len() != self.columns.len() {
            return Err(RowError::ColumnCount {
                expected: self.columns.len(),
                found: columns.len(),
            });
        }
        for (column, reads) in columns.iter().zip(&self.columns) {
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
}

fn run<'a>(
    steps: &[Step<'a>],
    columns: &[&'a Column],
    start: usize,
    end: usize,
) -> Option<Lane<'a>> {
    let count = end - start;
    let mut stack: Vec<Lane<'a>> = Vec::new();
    for step in steps {
        let lane = match step {
            Step::Column(number) => Lane::of_column(columns.get(*number)?, start..end),
            Step::Constant(value) => Lane::of_scalar(value, count),
            Step::Unary(op, ty) => unary(*op, *ty, stack.pop()?)?,
            Step::Binary(kernel) => {
                let (right, left) = (stack.pop()?, stack.pop()?);
                match kernel {
                    Some(kernel) => kernel.run(left, right)?,
                    None => Lane::nothing(),
                }
            }
            Step::If => {
                let (second, first, condition) = (stack.pop()?, stack.pop()?, stack.pop()?);
                choose_by(condition, first, second, count)?
            }
            Step::Coalesce => {
                let (second, first) = (stack.pop()?, stack.pop()?);
                coalesce(first, second, count)?
            }
            Step::IsNone => {
                let missing = stack.pop()?.presence(count).into_iter().map(|here| !here).collect();
                Lane { data: Data::truth(missing), valid: None }
            }
            Step::In(members) => members.test(stack.pop()?, count),
            Step::Concat(types) => {
                let pieces = stack.split_off(stack.len().checked_sub(types.len())?);
                print::concat(pieces, types, count)
            }
            Step::Call(function) => {
                let takes = function.signature().count;
                let arguments = stack.split_off(stack.len().checked_sub(takes)?);
                functions::call(*function, arguments)?
            }
        };
        stack.push(lane);
    }
    stack.pop()
}

fn unary<'a>(op: UnaryOp, ty: Option<Ty>, operand: Lane<'a>) -> Option<Lane<'a>> {
    let data = match (op, operand.data) {
        (_, Data::Nothing) => Data::Nothing,
        // Whole numbers have one zero: 0.0 - 0.0 = 0.0, while the negative of 0.0 is -0.0.
        (UnaryOp::Negate, Data::Number(values)) if ty == Some(Ty::Int) => {
            Data::number(map(values, |value| 0.0 - value))
        }
        (UnaryOp::Negate, Data::Number(values)) => Data::number(map(values, |value| -value)),
        (UnaryOp::Negate, Data::Nanos(values)) => {
            Data::nanos(values.iter().map(|value| value.saturating_neg()).collect())
        }
        (UnaryOp::Not, Data::Truth(values)) => {
            Data::truth(values.iter().map(|value| !value).collect())
        }
        _ => return None,
    };
    Some(Lane { data, valid: operand.valid })
}

fn choose_by<'a>(
    condition: Lane<'a>,
    first: Lane<'a>,
    second: Lane<'a>,
    count: usize,
) -> Option<Lane<'a>> {
    let sure = condition.is_whole();
    let decided = condition.presence(count);
    let takes: Cow<'_, [bool]> = match condition.data {
        Data::Nothing => return Some(Lane::nothing()),
        Data::Truth(values) => values,
        _ => return None,
    };
    let valid = if sure && first.is_whole() && second.is_whole() {
        None
    } else {
        let mut valid = select(&takes, &first.presence(count), &second.presence(count));
        valid.iter_mut().zip(decided).for_each(|(valid, decided)| *valid &= decided);
        Some(Cow::Owned(valid))
    };
    let data = choose(&takes, first.data, second.data)?;
    Some(Lane { data, valid })
}

fn coalesce<'a>(first: Lane<'a>, second: Lane<'a>, count: usize) -> Option<Lane<'a>> {
    match (&first.data, &first.valid) {
        (Data::Nothing, _) => return Some(second),
        (_, None) => return Some(first),
        _ => {}
    }
    let here = first.presence(count);
    let valid = (!second.is_whole()).then(|| {
        let there = second.presence(count);
        Cow::Owned(here.iter().zip(there).map(|(here, there)| here | there).collect())
    });
    let data = choose(&here, first.data, second.data)?;
    Some(Lane { data, valid })
}

fn choose<'a>(takes: &[bool], first: Data<'a>, second: Data<'a>) -> Option<Data<'a>> {
    Some(match (first, second) {
        (Data::Nothing, data) | (data, Data::Nothing) => data,
        (Data::Number(a), Data::Number(b)) => Data::number(select(takes, &a, &b)),
        (Data::Truth(a), Data::Truth(b)) => Data::truth(select(takes, &a, &b)),
        (Data::Nanos(a), Data::Nanos(b)) => Data::nanos(select(takes, &a, &b)),
        (Data::Text(a), Data::Text(b)) => Data::owned_text(select_text(takes, a, b)),
        _ => return None,
    })
}

fn select<T: Copy>(takes: &[bool], first: &[T], second: &[T]) -> Vec<T> {
    let pairs = first.iter().zip(second);
    takes.iter().zip(pairs).map(|(first, (a, b))| if *first { *a } else { *b }).collect()
}

fn select_text<'a>(
    takes: &[bool],
    mut first: Strings<'a>,
    mut second: Strings<'a>,
) -> Vec<Cow<'a, str>> {
    let pick = |(place, takes): (usize, &bool)| {
        if *takes { first.share(place) } else { second.share(place) }
    };
    takes.iter().enumerate().map(pick).collect()
}

/// The result while batches arrive.
struct Output {
    values: Values,
    valid: Vec<bool>,
    missing: bool,
}

impl Output {
    fn new(ty: Ty, rows: usize) -> Self {
        let mut values = Values::empty(ty);
        values.reserve(rows.min(MOST_RESERVED));
        Self { values, valid: Vec::new(), missing: false }
    }

    fn append(&mut self, lane: Lane<'_>, count: usize) {
        let absent = matches!(lane.data, Data::Nothing) || lane.valid.is_some();
        if absent && !self.missing {
            self.missing = true;
            self.valid = vec![true; self.values.len()];
        }
        if self.missing {
            self.valid.extend(lane.presence(count));
        }
        match (&mut self.values, lane.data) {
            (Values::Float(out) | Values::Int(out) | Values::Size(out), Data::Number(values)) => {
                out.extend_from_slice(&values)
            }
            (Values::Bool(out), Data::Truth(values)) => out.extend_from_slice(&values),
            (Values::Time(out) | Values::Duration(out), Data::Nanos(values)) => {
                out.extend_from_slice(&values);
            }
            (Values::Str(out), Data::Text(values)) => {
                values.iter().for_each(|value| out.push(value));
            }
            (out, _) => pad(out, count),
        }
    }

    fn finish(self) -> Result<Column, RowError> {
        Column::new(self.values, self.missing.then_some(self.valid))
    }
}

fn pad(values: &mut Values, count: usize) {
    match values {
        Values::Float(out) | Values::Int(out) | Values::Size(out) => {
            out.resize(out.len() + count, 0.0);
        }
        Values::Bool(out) => out.resize(out.len() + count, false),
        Values::Time(out) | Values::Duration(out) => out.resize(out.len() + count, 0),
        Values::Str(out) => (0..count).for_each(|_| out.push("")),
    }
}
