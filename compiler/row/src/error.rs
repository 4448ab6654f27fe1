//! Why an expression cannot be bound to columns. Evaluation itself never fails.

use crate::ir::{Function, Ty};
use crate::window::Window;
use std::fmt;

/// What keeps a row function from running.
#[derive(Clone, Debug, PartialEq)]
pub enum RowError {
    /// The function reads another number of columns than it was given.
    ColumnCount {
        /// Columns that the function reads.
        expected: usize,
        /// Columns that it was given.
        found: usize,
    },
    /// A column has another number of rows than asked for.
    ColumnLength {
        /// The column, or `values` where it has no name.
        column: String,
        /// Rows asked for.
        expected: usize,
        /// Rows that the column has.
        found: usize,
    },
    /// A column or value has another type than the function reads.
    ColumnType {
        /// The column.
        column: String,
        /// The type that the function reads.
        expected: Ty,
        /// The type that it was given.
        found: Ty,
    },
    /// A whole number is too large to be held exactly.
    NotExact {
        /// The first row where it happens, counted from zero.
        row: usize,
    },
    /// The expression has more nodes or nests deeper than is allowed.
    TooLarge,
    /// The expression is not well typed.
    Type(TypeError),
    /// The expression reads a column that it does not list.
    UnknownColumn(u32),
    /// A function with windows runs where rows have no order.
    NoOrder,
    /// A window needs the times of rows, and there are none.
    NoTimes(&'static str),
    /// A checked expression met operands that the check never lets through.
    Unsound,
}

/// Why an operator or a function does not accept its operands.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeError {
    /// A function got another number of arguments than it takes.
    ArgumentCount {
        /// The function.
        function: Function,
        /// Arguments that it takes.
        expected: usize,
        /// Arguments that it got.
        found: usize,
    },
    /// A function does not accept an argument.
    Argument {
        /// The function.
        function: Function,
        /// Which argument, counted from zero.
        position: usize,
        /// What it accepts, in words.
        expected: &'static str,
        /// What it got.
        found: Ty,
    },
    /// An operator does not accept its operands.
    Operands {
        /// The operator as written.
        operator: &'static str,
        /// Types of the operands.
        found: Vec<Ty>,
    },
    /// Two places that need one type have two.
    Different {
        /// The type of the first.
        left: Ty,
        /// The type of the second.
        right: Ty,
    },
    /// A window does not accept its operand.
    WindowOperand {
        /// The window.
        window: Window,
        /// What it got.
        found: Ty,
    },
    /// The numbers in a window make no sense: no rows, no time, a share beyond 0 to 1.
    Window(&'static str),
}

impl RowError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::ColumnCount { .. } => "row::column_count",
            Self::ColumnLength { .. } => "row::column_length",
            Self::ColumnType { .. } => "row::column_type",
            Self::NotExact { .. } => "row::not_exact",
            Self::TooLarge => "row::too_large",
            Self::Type(_) => "row::type",
            Self::UnknownColumn(_) => "row::unknown_column",
            Self::NoOrder => "row::no_order",
            Self::NoTimes(_) => "row::no_times",
            Self::Unsound => "row::unsound",
        }
    }
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ColumnCount { expected, found } => {
                write!(f, "the expression reads {expected} columns and was given {found}")
            }
            Self::ColumnLength { column, expected, found } => {
                write!(f, "`{column}` has {found} rows where {expected} are needed")
            }
            Self::ColumnType { column, expected, found } => {
                write!(f, "`{column}` is {found} and the expression reads {expected}")
            }
            Self::NotExact { row } => write!(
                f,
                "the whole number in row {row} lies beyond 2^53 and cannot be held exactly; \
                 read the column as `str` or `float`"
            ),
            Self::TooLarge => write!(
                f,
                "the expression is too large (at most {} nodes, nested {} deep); \
                 compute a part of it as a column of its own",
                crate::MAX_NODES,
                crate::MAX_DEPTH
            ),
            Self::Type(error) => error.fmt(f),
            Self::UnknownColumn(number) => {
                write!(f, "the expression reads column number {number}, which it does not list")
            }
            Self::NoOrder => {
                f.write_str("the expression looks at other rows, and they have no order")
            }
            Self::NoTimes(window) => {
                write!(f, "`{window}` needs to know when each row was, and the rows have no times")
            }
            Self::Unsound => f.write_str(
                "the expression passed its check and then did not fit its operands; \
                 this is a bug in pipe, please report it with the expression",
            ),
        }
    }
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ArgumentCount { function, expected, found } => {
                write!(f, "`{}` takes {expected} arguments, not {found}", function.path())
            }
            Self::Argument { function, position, expected, found } => write!(
                f,
                "argument {} of `{}` is {found} where {expected} is needed",
                position + 1,
                function.path()
            ),
            Self::Operands { operator, found } => {
                let types: Vec<_> = found.iter().map(|ty| ty.name()).collect();
                write!(f, "`{operator}` does not accept {}", types.join(" and "))
            }
            Self::Different { left, right } => {
                write!(f, "one type is needed here, and there are {left} and {right}")
            }
            Self::WindowOperand { window, found } => write!(
                f,
                "`{}` takes {}, and this is {found}",
                window.path(),
                window.accepts().words()
            ),
            Self::Window(name) => write!(
                f,
                "`{name}` has a window without rows or time, or a share that is not between 0 and 1"
            ),
        }
    }
}

impl std::error::Error for RowError {}
impl std::error::Error for TypeError {}

impl From<TypeError> for RowError {
    fn from(error: TypeError) -> Self {
        Self::Type(error)
    }
}
