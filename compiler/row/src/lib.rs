//! Row expressions: scalar functions of one row, run over whole columns.
//!
//! The compiler lowers `row => row.cpu / row.limit > 0.9` to a [`RowFn`](ir::RowFn). This crate says which
//! types operators and functions accept ([`typing`]), runs the function over [`Column`]s in batches, and
//! gives the canonical bytes that keys are made of. The interpreter is the definition of what an
//! expression means; `spec/rows.md` states the rules.
//!
//! It reads no files, knows no tables, and is total: evaluation ends, and fails only when the columns do not
//! fit or the expression is not well formed.
//!
//! ```
//! use pipe_row::Column;
//! use pipe_row::ir::{BinaryOp, ColumnRef, Expr, RowFn, Scalar, Ty};
//!
//! let cpu = ColumnRef { name: "cpu".into(), ty: Ty::Float, optional: true };
//! let limit = Box::new(Expr::Literal(Scalar::Float(0.9)));
//! let body = Expr::Binary(BinaryOp::Greater, Box::new(Expr::Column(0)), limit);
//! let busy = RowFn { columns: vec![cpu], body, ty: Ty::Bool, optional: true };
//!
//! let cpu = Column::optional_float([Some(0.95), None, Some(0.2)]);
//! let result = busy.evaluate(&[&cpu], 3)?;
//! assert_eq!(result.get(0), Scalar::Bool(true));
//! assert_eq!(result.get(1), Scalar::None);
//! assert_eq!(result.keep(), Some(&[true, false, false][..]));
//! # Ok::<(), pipe_row::RowError>(())
//! ```

// The random functions of the tests name the crate so.
#[cfg(all(test, feature = "jit"))]
extern crate self as pipe_row;

pub mod chain;
pub mod ir;
pub mod typing;
pub mod window;

pub mod column;
pub mod error;
pub mod print;
pub mod text;

mod builder;
#[cfg(feature = "jit")]
mod choose;
#[cfg(feature = "jit")]
mod compiled;
mod elementary;
mod encode;
mod fill;
mod float;
mod functions;
mod graph;
mod infix;
mod interpret;
#[cfg(feature = "jit")]
mod jit;
mod lane;
mod members;
mod number;
mod program;

#[cfg(feature = "jit")]
pub use choose::forget_kernels;
pub use column::{Column, Values};
pub use encode::ENCODING;
pub use error::{RowError, TypeError};
pub use graph::{MAX_DEPTH, MAX_NODES};
pub use interpret::BATCH;
pub use program::{Engine, Program};
pub use text::Text;
