//! Steps over one table, one after the other, as one program: what a step adds is never a table, later steps read it
//! where it is computed, and rows are left out once, at the end.
//!
//! The steps one by one are the definition. A chain gives what they give, or nothing where one of them would fail, so
//! that they say why.

use crate::column::Column;
use crate::error::RowError;
use crate::graph::{Making, Step as NodeStep};
use crate::infix::Infix;
use crate::ir::{ColumnRef, RowFn, Ty};
use crate::program::{Engine, Program};
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of a table.
pub enum Step<'a> {
    /// Rows stay where the function is true.
    Filter(&'a RowFn),
    /// Columns are added, or replaced where one has the name, all computed from the table before the step.
    Derive(Vec<(&'a str, &'a RowFn)>),
    /// These columns stay, in this order.
    Select(Vec<&'a str>),
}

/// Steps as one program.
pub struct Chain<'a> {
    program: Program<'a>,
    /// The output that tells which rows stay; all do where there is none.
    keep: Option<usize>,
    /// The output that is true where a step would fail.
    fails: Option<usize>,
    /// Names, and the outputs of columns that are computed.
    columns: Vec<(String, Option<usize>)>,
}

/// What steps make of a table.
#[derive(Debug)]
pub struct Passed {
    /// Which rows stay; all do where there is none.
    pub keep: Option<Vec<bool>>,
    /// The columns in order: of the table where there is none, else computed, for all rows of the table.
    pub columns: Vec<(String, Option<Column>)>,
}

/// A column while the steps are put together.
#[derive(Clone)]
struct Part {
    name: String,
    node: usize,
    /// Whether it is the table's own.
    own: bool,
}

impl<'a> Chain<'a> {
    /// Puts steps over a table of these columns together; whether a column may be missing is not looked at.
    ///
    /// `None` where they have to run one by one: windows look at rows that earlier steps left out or made, text behind
    /// a filter is dear to compute for rows that do not stay, and steps that cannot run say so themselves.
    #[must_use]
    pub fn new(table: &[ColumnRef], steps: &[Step<'a>]) -> Option<Self> {
        let mut making = Making::default();
        let needed = needed(steps);
        let mut parts = Vec::with_capacity(table.len());
        for column in table {
            let optional = !needed.contains(column.name.as_str());
            let node = making.column(&ColumnRef { optional, ..column.clone() });
            parts.push(Part { name: column.name.clone(), node, own: true });
        }
        let mut joined = Joined { making, keep: None, fails: None };
        for step in steps {
            match step {
                Step::Filter(function) => {
                    let node = joined.add(function, &parts, Ty::Bool)?;
                    joined.keep = Some(joined.kept(node));
                }
                Step::Derive(columns) => {
                    let before = parts.clone();
                    for (name, function) in columns {
                        if function.ty == Ty::Str && joined.keep.is_some() {
                            return None;
                        }
                        let node = joined.add(function, &before, function.ty)?;
                        if !function.optional {
                            joined.guard(node);
                        }
                        set(&mut parts, name, node);
                    }
                }
                Step::Select(names) => parts = selected(&parts, names)?,
            }
        }
        let Joined { mut making, keep, fails } = joined;
        let mut output = |node, ty| making.output(node, ty);
        let keep = keep.map(|node| output(node, Ty::Bool));
        let fails = fails.map(|node| output(node, Ty::Bool));
        let mut columns = Vec::with_capacity(parts.len());
        for part in parts {
            let number = match (part.own, making.ty(part.node)) {
                (true, _) => None,
                (false, ty) => Some(making.output(part.node, ty?)),
            };
            columns.push((part.name, number));
        }
        Some(Self { program: Program::of(making.finish()), keep, fails, columns })
    }

    /// The columns of the table that are read: what [`Chain::run`] takes, in this order.
    #[must_use]
    pub fn columns(&self) -> &[ColumnRef] {
        self.program.columns()
    }

    /// Computes `rows` rows of `columns`, which are in the order of [`Chain::columns`]. `None` where a step would fail.
    ///
    /// # Errors
    /// When the columns do not fit in count, length or type.
    pub fn run(&self, columns: &[&Column], rows: usize) -> Result<Option<Passed>, RowError> {
        if self.lacks(columns) {
            return Ok(None);
        }
        self.passed(self.program.run(columns, rows)?)
    }

    /// As [`Chain::run`], by the engine that is asked for, where it can serve.
    ///
    /// # Errors
    /// As [`Chain::run`].
    pub fn run_by(
        &self,
        engine: Engine,
        columns: &[&Column],
        rows: usize,
    ) -> Result<Option<Passed>, RowError> {
        if self.lacks(columns) {
            return Ok(None);
        }
        self.passed(self.program.run_by(engine, columns, rows)?.0)
    }

    /// Whether a value is missing that a function needs.
    fn lacks(&self, columns: &[&Column]) -> bool {
        let mut bound = self.program.columns().iter().zip(columns);
        bound.any(|(reads, column)| !reads.optional && column.first_missing().is_some())
    }

    fn passed(&self, results: Vec<Column>) -> Result<Option<Passed>, RowError> {
        let mut results: Vec<Option<Column>> = results.into_iter().map(Some).collect();
        let mut take = |number: usize| results.get_mut(number).and_then(Option::take);
        let fails = self.fails.and_then(&mut take);
        if fails.is_some_and(|fails| fails.keep().is_none_or(|fails| fails.contains(&true))) {
            return Ok(None);
        }
        let keep = self.keep.and_then(&mut take);
        let keep = keep.map(|keep| keep.keep().map(<[bool]>::to_vec).ok_or(RowError::Unsound));
        let mut made = Vec::with_capacity(self.columns.len());
        for (name, number) in &self.columns {
            let column = number.map(|number| take(number).ok_or(RowError::Unsound)).transpose()?;
            made.push((name.clone(), column));
        }
        Ok(Some(Passed { keep: keep.transpose()?, columns: made }))
    }
}

/// Names of columns that some function needs in every row.
fn needed<'a>(steps: &[Step<'a>]) -> BTreeSet<&'a str> {
    let functions = steps.iter().flat_map(|step| match step {
        Step::Filter(function) => vec![*function],
        Step::Derive(columns) => columns.iter().map(|(_, function)| *function).collect(),
        Step::Select(_) => Vec::new(),
    });
    let columns = functions.flat_map(|function| &function.columns);
    columns.filter(|column| !column.optional).map(|column| column.name.as_str()).collect()
}

/// Steps so far.
struct Joined<'a> {
    making: Making<'a>,
    /// Which rows are still there; all are where there is none.
    keep: Option<usize>,
    /// Where a step fails; none does where there is none.
    fails: Option<usize>,
}

impl<'a> Joined<'a> {
    /// Adds a function that reads these parts.
    fn add(&mut self, function: &'a RowFn, parts: &[Part], ty: Ty) -> Option<usize> {
        if function.has_windows() || function.ty != ty {
            return None;
        }
        let known: BTreeMap<&str, usize> =
            parts.iter().map(|part| (part.name.as_str(), part.node)).collect();
        let mut reads = Vec::with_capacity(function.columns.len());
        for column in &function.columns {
            let node = *known.get(column.name.as_str())?;
            if self.making.ty(node) != Some(column.ty) {
                return None;
            }
            if !column.optional {
                self.guard(node);
            }
            reads.push(node);
        }
        let node = self.making.function(function, &reads).ok()?;
        Some(self.making.of_type(node, ty))
    }

    /// The rows that are still there and for which a condition is true.
    fn kept(&mut self, condition: usize) -> usize {
        match self.keep {
            Some(keep) => self.operator(Infix::And, keep, condition),
            None => condition,
        }
    }

    /// A step fails where a row that is still there has no value.
    fn guard(&mut self, node: usize) {
        if self.making.may_miss().get(node) == Some(&false) {
            return;
        }
        let missing = self.making.truths(NodeStep::IsNone, 0, vec![node]);
        let missing = self.kept(missing);
        self.fails = Some(match self.fails {
            Some(fails) => self.operator(Infix::Or, fails, missing),
            None => missing,
        });
    }

    fn operator(&mut self, infix: Infix, first: usize, second: usize) -> usize {
        let tag = if infix == Infix::And { 1 } else { 2 };
        self.making.truths(NodeStep::Binary(Some(infix)), tag, vec![first, second])
    }
}

/// Puts a computed column in the place of its name, or last.
fn set(parts: &mut Vec<Part>, name: &str, node: usize) {
    let part = Part { name: name.to_owned(), node, own: false };
    match parts.iter_mut().find(|known| known.name == name) {
        Some(known) => *known = part,
        None => parts.push(part),
    }
}

/// The parts with these names; none where one is not there, or twice.
fn selected(parts: &[Part], names: &[&str]) -> Option<Vec<Part>> {
    let different: BTreeSet<&&str> = names.iter().collect();
    if names.is_empty() || different.len() < names.len() {
        return None;
    }
    let part = |name: &&str| parts.iter().find(|part| part.name == *name).cloned();
    names.iter().map(part).collect()
}
