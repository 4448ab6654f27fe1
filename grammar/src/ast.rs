//! The syntax tree: plain data with spans, nothing resolved yet.
//!
//! Every node knows its place. Broken declarations stay in the tree as [`ItemKind::Broken`] and broken
//! expressions as [`ExprKind::Broken`], so that later stages can stay silent about them.

mod places;

pub(crate) use places::each_place;
pub use places::same;

use crate::source::Span;
use std::sync::Arc;

/// A word with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The word.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Module {
    /// `##` lines at the top of the file, followed by a blank line or another doc comment.
    pub doc: Option<String>,
    /// Declarations in file order; readings of a changed file share those that did not change.
    pub items: Vec<Arc<Item>>,
}

/// One declaration with its attributes and documentation.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// `##` lines directly above, joined with newlines.
    pub doc: Option<String>,
    /// `@gpu(1)`, in source order.
    pub attrs: Vec<Attr>,
    /// What is declared.
    pub kind: ItemKind,
    /// From the first attribute to the end of the declaration.
    pub span: Span,
}

/// The declarations.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `use shop = "shared/shop.pipe"`
    Use {
        /// Name of the module in this file.
        name: Name,
        /// Path of the file, relative to this one.
        path: String,
        /// Where the path stands.
        path_span: Span,
    },
    /// `param rate: float = 3e-4 where rate > 0.0`
    Param {
        /// Name, also the command-line flag.
        name: Name,
        /// Declared type.
        ty: TypeExpr,
        /// Value when none is given.
        default: Option<Expr>,
        /// Condition that a value must meet.
        condition: Option<Expr>,
    },
    /// `let docs = ...`
    Let(Binding),
    /// `output model = trained`
    Output(Binding),
    /// `check f1 = score.f1 >= 0.85`
    Check(Binding),
    /// `fn hot(row: Window) -> bool = row.p99 > 3.0`
    Fn(FnDecl),
    /// `type Verdict = { label: str }`
    Type {
        /// Its name.
        name: Name,
        /// Type parameters.
        params: Vec<Name>,
        /// What it stands for. `None` only with `@native`.
        ty: Option<TypeExpr>,
    },
    /// A declaration that could not be read; its problem is already reported.
    Broken {
        /// The name it binds, when that much could be read.
        name: Option<Name>,
    },
}

/// `name [: type] = value`, shared by let, output and check.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The bound name.
    pub name: Name,
    /// Declared type, if any (never for `check`).
    pub ty: Option<TypeExpr>,
    /// The value.
    pub value: Expr,
}

/// A function. `body` is `None` only for natives.
#[derive(Clone, Debug, PartialEq)]
pub struct FnDecl {
    /// Its name.
    pub name: Name,
    /// Type parameters.
    pub type_params: Vec<Name>,
    /// Value parameters.
    pub params: Vec<FnParam>,
    /// Declared result type.
    pub result: Option<TypeExpr>,
    /// Its body.
    pub body: Option<Block>,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FnParam {
    /// `@nokey` and such.
    pub attrs: Vec<Attr>,
    /// `##` lines above it.
    pub doc: Option<String>,
    /// `..columns: T`: collects every named argument that no other parameter takes.
    pub rest: bool,
    /// Its name, without the leading `_` that lets a caller give it by position.
    pub name: Name,
    /// Written `_name`: may be given by position after the subject.
    pub positional: bool,
    /// Its type.
    pub ty: TypeExpr,
    /// Value when none is given.
    pub default: Option<Expr>,
}

/// `@retry(2)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attr {
    /// `retry`.
    pub name: Name,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// From `@` to the closing parenthesis.
    pub span: Span,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// What is written.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

/// The forms of a type.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// `shop.Window`, `Table<Doc, train>`.
    Named {
        /// `["shop", "Window"]`.
        path: Vec<Name>,
        /// Type arguments.
        args: Vec<TypeExpr>,
    },
    /// `"anomaly"`, one value of a string enumeration.
    Literal(String),
    /// `A | B`.
    Union(Vec<TypeExpr>),
    /// `T?`.
    Optional(Box<TypeExpr>),
    /// `[T]`.
    List(Box<TypeExpr>),
    /// `{ a: T, ..Rest }`.
    Record(Vec<TypeField>),
    /// `(A, B) -> C`.
    Function {
        /// Parameter types.
        params: Vec<TypeExpr>,
        /// Result type.
        result: Box<TypeExpr>,
    },
}

/// A member of a record type.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeField {
    /// `name: T` or `"any name": T`.
    Field {
        /// The field's name.
        name: Name,
        /// Its type.
        ty: TypeExpr,
    },
    /// `..T`.
    Spread(TypeExpr),
}

/// `{ let a = 1  a + 1 }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// `let`s in order, each with attributes and doc.
    pub lets: Vec<Item>,
    /// The value.
    pub value: Box<Expr>,
    /// From brace to brace (of the expression itself when written `= expr`).
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What is written.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// The forms of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `1_000`, `3e-4`, `5m`, `10GiB`.
    Number(Number),
    /// `"a ${b}"`.
    Str(Vec<StrPart>),
    /// `true`.
    Bool(bool),
    /// `none`.
    None,
    /// A name.
    Name(String),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{ a: 1, ..b }`.
    Record(Vec<Entry>),
    /// `base.name`.
    Field {
        /// Left of the dot.
        base: Box<Expr>,
        /// Right of the dot.
        name: Name,
    },
    /// `base[index]`.
    Index {
        /// What is indexed.
        base: Box<Expr>,
        /// With what.
        index: Box<Expr>,
    },
    /// `callee(args)`.
    Call {
        /// What is called: a name or a dotted name.
        callee: Box<Expr>,
        /// Arguments in source order.
        args: Vec<Arg>,
    },
    /// `subject |> callee(args)`; the right side is always a call.
    Pipe {
        /// First argument of the call.
        subject: Box<Expr>,
        /// The call (its kind is `Call`, or `Broken`).
        call: Box<Expr>,
    },
    /// `-x`, `not x`.
    Unary {
        /// Which.
        op: UnaryOp,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// `a + b`.
    Binary {
        /// Which.
        op: BinaryOp,
        /// Where the operator stands.
        op_span: Span,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// `if c { a } else { b }`.
    If {
        /// The condition.
        condition: Box<Expr>,
        /// Value when true.
        then: Block,
        /// Value when false; `else if` nests as a block whose value is an `If`.
        otherwise: Block,
    },
    /// `for a in xs, b in ys if cond { ... }`.
    For {
        /// Binders, outermost first.
        binders: Vec<Binder>,
        /// Filter.
        condition: Option<Box<Expr>>,
        /// Value per element.
        body: Block,
    },
    /// `row => e`, `(a, b) => e`.
    Lambda {
        /// Parameter names.
        params: Vec<Name>,
        /// Its value.
        body: Block,
    },
    /// Something that could not be read; its problem is already reported.
    Broken,
}

/// A number as written and as understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// Digits as written, without the unit.
    pub text: String,
    /// Its value, before the unit.
    pub value: f64,
    /// Its value as an integer when it is integral (`2e9` is) and fits.
    pub integer: Option<i64>,
    /// Its unit, if any.
    pub unit: Option<Unit>,
}

/// Units of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// `ns us ms s m h d w`: nanoseconds per unit.
    Duration(&'static str, i64),
    /// `B KB MB GB TB KiB MiB GiB TiB`: bytes per unit.
    Size(&'static str, i64),
}

/// Part of a string.
#[derive(Clone, Debug, PartialEq)]
pub enum StrPart {
    /// Text with escapes resolved (and `"""` dedented).
    Text(String),
    /// `${expr}`.
    Interpolation(Expr),
}

/// A member of a record expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// `name: value` or `"any name": value`.
    Field {
        /// The field's name.
        name: Name,
        /// Its value.
        value: Expr,
    },
    /// `..value`.
    Spread(Expr),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// Its name; the subject has none.
    pub name: Option<Name>,
    /// Its value.
    pub value: Expr,
}

/// `x in xs`, `(a, b) in pairs`.
#[derive(Clone, Debug, PartialEq)]
pub struct Binder {
    /// Bound names; more than one takes a list of records or pairs apart.
    pub names: Vec<Name>,
    /// What is walked.
    pub list: Expr,
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `not`
    Not,
}

/// Infix operators, loosest first (`|>` is not here: see [`ExprKind::Pipe`]; it binds tighter than comparison).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each name says it")]
pub enum BinaryOp {
    Coalesce,
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    Range,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}
