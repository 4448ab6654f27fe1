//! The row expression: a scalar function of one row, closed over nothing.
//!
//! The compiler lowers `row => row.cpu > 0.9` to a [`RowFn`]; the interpreter runs it over whole columns.
//! The tree is the canonical form: names of lambda parameters and layout are gone, so it can be hashed.

use crate::window::Window;
use serde::{Deserialize, Serialize};

/// Types of scalars in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ty {
    /// IEEE double.
    Float,
    /// Whole number; carried as `f64`, exact up to 2^53.
    Int,
    /// True or false.
    Bool,
    /// UTF-8 text; also string enumerations and paths.
    Str,
    /// Nanoseconds since 1970-01-01 UTC, `i64`.
    Time,
    /// Nanoseconds, `i64`.
    Duration,
    /// Bytes; carried as `f64`.
    Size,
}

/// A constant in a row expression. Floats compare and hash by bits where keys are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scalar {
    /// Missing.
    None,
    /// Float.
    #[serde(with = "crate::float")]
    Float(f64),
    /// Whole number.
    Int(i64),
    /// True or false.
    Bool(bool),
    /// Text.
    Str(String),
    /// Nanoseconds since the epoch.
    Time(i64),
    /// Nanoseconds.
    Duration(i64),
    /// Bytes.
    Size(i64),
}

/// A column that the function reads. `name` may be a dotted path for `value.compute` nodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ColumnRef {
    /// The column's name.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// Whether values may be missing.
    pub optional: bool,
}

/// A function of one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowFn {
    /// The columns it reads, each once, in the order of [`Expr::Column`]'s numbers.
    pub columns: Vec<ColumnRef>,
    /// What it computes.
    pub body: Expr,
    /// Type of the result.
    pub ty: Ty,
    /// Whether the result may be missing.
    pub optional: bool,
}

/// The expression tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expr {
    /// Column number `n` of [`RowFn::columns`].
    Column(u32),
    /// A constant.
    Literal(Scalar),
    /// Prefix operator.
    Unary(UnaryOp, Box<Expr>),
    /// Infix operator; both sides have one type after the checker's conversions.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `if c { a } else { b }`; a missing condition gives missing.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a ?? b`.
    Coalesce(Box<Expr>, Box<Expr>),
    /// Whether the operand is missing (`x == none`).
    IsNone(Box<Expr>),
    /// `x in [a, b]`.
    In(Box<Expr>, Vec<Scalar>),
    /// Pieces of text joined; numbers print in shortest form.
    Concat(Vec<Expr>),
    /// A function of the closed list.
    Call(Function, Vec<Expr>),
    /// A function of this row and of those before it.
    Window(Window, Box<Expr>),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnaryOp {
    /// `-x`
    Negate,
    /// `not x`, Kleene.
    Not,
}

/// Infix operators. `And` and `Or` are Kleene; comparisons with NaN are false except `NotEqual`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each name says it")]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
}

/// Functions that rows may call: `math.*` and `text.*` (and pipeline-level scalars use the same).
/// The dotted name in `.pipe` is given by [`Function::path`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each name says it")]
pub enum Function {
    Abs,
    Min,
    Max,
    Sqrt,
    Exp,
    Ln,
    Log1p,
    Log10,
    Pow,
    Floor,
    Ceil,
    Round,
    Sin,
    Cos,
    Tanh,
    Clamp,
    IsNan,
    ToFloat,
    TextLength,
    TextLower,
    TextUpper,
    TextContains,
    TextStartsWith,
    TextEndsWith,
    Seconds,
}

impl Function {
    /// The name in `.pipe` programs.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Abs => "math.abs",
            Self::Min => "math.min",
            Self::Max => "math.max",
            Self::Sqrt => "math.sqrt",
            Self::Exp => "math.exp",
            Self::Ln => "math.ln",
            Self::Log1p => "math.log1p",
            Self::Log10 => "math.log10",
            Self::Pow => "math.pow",
            Self::Floor => "math.floor",
            Self::Ceil => "math.ceil",
            Self::Round => "math.round",
            Self::Sin => "math.sin",
            Self::Cos => "math.cos",
            Self::Tanh => "math.tanh",
            Self::Clamp => "math.clamp",
            Self::IsNan => "math.is_nan",
            Self::ToFloat => "math.float",
            Self::TextLength => "text.length",
            Self::TextLower => "text.lower",
            Self::TextUpper => "text.upper",
            Self::TextContains => "text.contains",
            Self::TextStartsWith => "text.starts_with",
            Self::TextEndsWith => "text.ends_with",
            Self::Seconds => "math.seconds",
        }
    }
}

impl Function {
    /// Every function, in the order of the specification.
    pub const ALL: [Self; 25] = [
        Self::Abs,
        Self::Min,
        Self::Max,
        Self::Clamp,
        Self::Floor,
        Self::Ceil,
        Self::Round,
        Self::Sqrt,
        Self::Exp,
        Self::Ln,
        Self::Log1p,
        Self::Log10,
        Self::Sin,
        Self::Cos,
        Self::Tanh,
        Self::Pow,
        Self::IsNan,
        Self::ToFloat,
        Self::Seconds,
        Self::TextLength,
        Self::TextLower,
        Self::TextUpper,
        Self::TextContains,
        Self::TextStartsWith,
        Self::TextEndsWith,
    ];

    /// The function with this dotted name.
    #[must_use]
    pub fn from_path(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.path() == path)
    }
}

impl Ty {
    /// The name in `.pipe` programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Int => "int",
            Self::Bool => "bool",
            Self::Str => "str",
            Self::Time => "time",
            Self::Duration => "duration",
            Self::Size => "size",
        }
    }
}

impl std::fmt::Display for Ty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Scalar {
    /// The type, unless the value is missing.
    #[must_use]
    pub fn ty(&self) -> Option<Ty> {
        match self {
            Self::None => None,
            Self::Float(_) => Some(Ty::Float),
            Self::Int(_) => Some(Ty::Int),
            Self::Bool(_) => Some(Ty::Bool),
            Self::Str(_) => Some(Ty::Str),
            Self::Time(_) => Some(Ty::Time),
            Self::Duration(_) => Some(Ty::Duration),
            Self::Size(_) => Some(Ty::Size),
        }
    }
}

impl BinaryOp {
    /// Every operator.
    pub const ALL: [Self; 13] = [
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::Divide,
        Self::Remainder,
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessEqual,
        Self::Greater,
        Self::GreaterEqual,
        Self::And,
        Self::Or,
    ];

    /// The operator as written in `.pipe` programs.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::And => "and",
            Self::Or => "or",
        }
    }
}

impl Ty {
    /// Every type.
    pub const ALL: [Self; 7] =
        [Self::Float, Self::Int, Self::Bool, Self::Str, Self::Time, Self::Duration, Self::Size];
}
