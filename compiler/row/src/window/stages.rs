//! Functions with windows in stages: what a window reads is computed as a column, then the window over it, then what
//! reads the window.

use super::{Order, Window};
use crate::column::Column;
use crate::error::RowError;
use crate::graph::{operand_type, operands};
use crate::ir::{ColumnRef, Expr, RowFn, Scalar};
use crate::program::{Program, check_binding};

/// The windows of functions over one table, each computed once however many functions have it.
pub struct Windows<'o> {
    order: &'o Order,
    computed: Vec<(Vec<u8>, ColumnRef, Column)>,
}

impl<'o> Windows<'o> {
    /// No windows yet, over series of this order.
    #[must_use]
    pub fn new(order: &'o Order) -> Self {
        Self { order, computed: Vec::new() }
    }

    /// The function without windows, with the columns that it reads: those that it was given, then those of its windows.
    /// `columns` are in the order of [`RowFn::columns`].
    ///
    /// # Errors
    /// When the function is not well formed, does not fit its columns, or has a window that needs times where there are
    /// none.
    pub fn flatten(&mut self, function: &RowFn, columns: &[&Column]) -> Result<RowFn, RowError> {
        function.check()?;
        check_binding(&function.columns, columns, self.order.rows())?;
        let mut flat = function.clone();
        let mut body = std::mem::replace(&mut flat.body, Expr::Literal(Scalar::None));
        self.replace(&mut body, &mut flat.columns, columns)?;
        flat.body = body;
        Ok(flat)
    }

    /// A window's column by the name that [`Windows::flatten`] has given it.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.computed.iter().find(|(_, column, _)| column.name == name).map(|(_, _, column)| column)
    }

    /// Replaces every window by its column, inner ones first. The depth is bounded by the check before.
    fn replace(
        &mut self,
        expr: &mut Expr,
        reads: &mut Vec<ColumnRef>,
        columns: &[&Column],
    ) -> Result<(), RowError> {
        if let Expr::Window(window, operand) = expr {
            self.replace(operand, reads, columns)?;
            let operand = std::mem::replace(&mut **operand, Expr::Literal(Scalar::None));
            *expr = self.window(*window, operand, reads, columns)?;
            return Ok(());
        }
        match expr {
            Expr::Column(_) | Expr::Literal(_) | Expr::Window(..) => Ok(()),
            Expr::Unary(_, a) | Expr::IsNone(a) | Expr::In(a, _) => self.replace(a, reads, columns),
            Expr::Binary(_, a, b) | Expr::Coalesce(a, b) => {
                self.replace(a, reads, columns)?;
                self.replace(b, reads, columns)
            }
            Expr::If(a, b, c) => {
                self.replace(a, reads, columns)?;
                self.replace(b, reads, columns)?;
                self.replace(c, reads, columns)
            }
            Expr::Concat(items) | Expr::Call(_, items) => {
                items.iter_mut().try_for_each(|item| self.replace(item, reads, columns))
            }
        }
    }

    fn window(
        &mut self,
        window: Window,
        body: Expr,
        reads: &mut Vec<ColumnRef>,
        columns: &[&Column],
    ) -> Result<Expr, RowError> {
        let Some(ty) = operand_type(&body, reads)? else {
            return Ok(Expr::Literal(Scalar::None));
        };
        let operand = RowFn { columns: reads.clone(), body, ty, optional: true };
        let mut key = Vec::new();
        operand.encode(&mut key);
        window.encode(&mut key);
        let known = self.computed.iter().find(|(other, ..)| *other == key);
        let named = match known {
            Some((_, named, _)) => named.clone(),
            None => {
                let given = columns.iter().copied().map(Some);
                let earlier = reads.iter().skip(columns.len()).map(|read| self.column(&read.name));
                let given: Option<Vec<&Column>> = given.chain(earlier).collect();
                let given = given.ok_or(RowError::Unsound)?;
                let column = match &operand.body {
                    Expr::Column(at) => {
                        let values = given.get(*at as usize).ok_or(RowError::UnknownColumn(*at))?;
                        window.run(values, self.order)?
                    }
                    _ => window.run(&operand.evaluate(&given, self.order.rows())?, self.order)?,
                };
                // No column of a table is called so: names in files and programs hold no line break at the start.
                let name = format!("\n{} {}", window.path(), self.computed.len());
                let named = ColumnRef { name, ty: column.ty(), optional: true };
                self.computed.push((key, named.clone(), column));
                named
            }
        };
        let mut earlier = reads.iter().enumerate().skip(columns.len());
        let at = earlier.find(|(_, read)| read.name == named.name).map(|(at, _)| at);
        let at = at.unwrap_or_else(|| {
            reads.push(named);
            reads.len() - 1
        });
        u32::try_from(at).map(Expr::Column).map_err(|_| RowError::TooLarge)
    }
}

impl RowFn {
    /// Whether the function looks at other rows.
    #[must_use]
    pub fn has_windows(&self) -> bool {
        let mut open = vec![&self.body];
        while let Some(expr) = open.pop() {
            if matches!(expr, Expr::Window(..)) {
                return true;
            }
            open.extend(operands(expr));
        }
        false
    }

    /// Whether a window of the function needs the times of rows.
    #[must_use]
    pub fn needs_times(&self) -> bool {
        let mut open = vec![&self.body];
        while let Some(expr) = open.pop() {
            if matches!(expr, Expr::Window(window, _) if window.needs_times()) {
                return true;
            }
            open.extend(operands(expr));
        }
        false
    }

    /// Computes the function for all rows of `columns`, which are in the order of [`RowFn::columns`], with windows over
    /// the series of `order`.
    ///
    /// # Errors
    /// When the columns do not fit in count, length or type, the expression is not well formed, or a window needs times
    /// and the order has none.
    pub fn evaluate_over(&self, columns: &[&Column], order: &Order) -> Result<Column, RowError> {
        let mut results = evaluate(&[(self, columns)], order)?;
        results.pop().ok_or(RowError::Unsound)
    }
}

/// Computes several functions over one table, each given with its columns in the order of [`RowFn::columns`]: windows
/// that they share once, and all that is left in one pass. Gives one column for each function.
///
/// # Errors
/// When columns do not fit in count, length or type, an expression is not well formed, or a window needs times and the
/// order has none.
pub fn evaluate(
    functions: &[(&RowFn, &[&Column])],
    order: &Order,
) -> Result<Vec<Column>, RowError> {
    let mut windows = Windows::new(order);
    let flat: Vec<RowFn> = functions
        .iter()
        .map(|(function, columns)| windows.flatten(function, columns))
        .collect::<Result<_, _>>()?;
    let program = Program::new(&flat.iter().collect::<Vec<_>>())?;
    let given = |wanted: &ColumnRef| {
        let own = functions
            .iter()
            .flat_map(|(function, columns)| function.columns.iter().zip(columns.iter().copied()));
        let mut own = own.filter(|(reads, _)| *reads == wanted);
        own.next().map(|(_, column)| column).or_else(|| windows.column(&wanted.name))
    };
    let bound: Option<Vec<&Column>> = program.columns().iter().map(given).collect();
    program.run(&bound.ok_or(RowError::Unsound)?, order.rows())
}
