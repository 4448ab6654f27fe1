//! The one table of operand and result types, used by the checker and by the interpreter.

use crate::error::TypeError;
use crate::infix::Infix;
use crate::ir::{BinaryOp, Function, Ty, UnaryOp};

/// What every argument of a function has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepts {
    /// `float` or `int`.
    Number,
    /// `float`, `int`, `size` or `duration`.
    Amount,
    /// `float`, `int`, `size`, `time` or `duration`, the same for every argument.
    Ordered,
    /// `float`, `int`, `size` or `bool`.
    Countable,
    /// `duration`.
    Duration,
    /// `str`.
    Text,
    /// `bool`.
    Truth,
    /// Any type.
    Anything,
}

/// What a function gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// This type.
    Always(Ty),
    /// The type of its arguments; `float` where `int` and `float` are mixed.
    Same,
}

/// Argument and result types of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// How many arguments.
    pub count: usize,
    /// What each of them is.
    pub accepts: Accepts,
    /// What comes out.
    pub gives: Gives,
}

impl Function {
    /// Argument and result types.
    #[must_use]
    pub fn signature(self) -> Signature {
        let (count, accepts, gives) = match self {
            Self::Abs => (1, Accepts::Amount, Gives::Same),
            Self::Min | Self::Max => (2, Accepts::Ordered, Gives::Same),
            Self::Clamp => (3, Accepts::Ordered, Gives::Same),
            Self::Floor | Self::Ceil | Self::Round => (1, Accepts::Number, Gives::Same),
            Self::Sqrt
            | Self::Exp
            | Self::Ln
            | Self::Log1p
            | Self::Log10
            | Self::Sin
            | Self::Cos
            | Self::Tanh => (1, Accepts::Number, Gives::Always(Ty::Float)),
            Self::Pow => (2, Accepts::Number, Gives::Always(Ty::Float)),
            Self::IsNan => (1, Accepts::Number, Gives::Always(Ty::Bool)),
            Self::ToFloat => (1, Accepts::Countable, Gives::Always(Ty::Float)),
            Self::Seconds => (1, Accepts::Duration, Gives::Always(Ty::Float)),
            Self::TextLength => (1, Accepts::Text, Gives::Always(Ty::Int)),
            Self::TextLower | Self::TextUpper => (1, Accepts::Text, Gives::Always(Ty::Str)),
            Self::TextContains | Self::TextStartsWith | Self::TextEndsWith => {
                (2, Accepts::Text, Gives::Always(Ty::Bool))
            }
        };
        Signature { count, accepts, gives }
    }
}

impl Accepts {
    /// The accepted types in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Number => "`float` or `int`",
            Self::Amount => "`float`, `int`, `size` or `duration`",
            Self::Ordered => "`float`, `int`, `size`, `time` or `duration`",
            Self::Countable => "`float`, `int`, `size` or `bool`",
            Self::Duration => "`duration`",
            Self::Text => "`str`",
            Self::Truth => "`bool`",
            Self::Anything => "any type",
        }
    }

    /// Whether an argument may have this type.
    #[must_use]
    pub fn contains(self, ty: Ty) -> bool {
        match self {
            Self::Number => matches!(ty, Ty::Float | Ty::Int),
            Self::Amount => matches!(ty, Ty::Float | Ty::Int | Ty::Size | Ty::Duration),
            Self::Ordered => {
                matches!(ty, Ty::Float | Ty::Int | Ty::Size | Ty::Time | Ty::Duration)
            }
            Self::Countable => matches!(ty, Ty::Float | Ty::Int | Ty::Size | Ty::Bool),
            Self::Duration => ty == Ty::Duration,
            Self::Text => ty == Ty::Str,
            Self::Truth => ty == Ty::Bool,
            Self::Anything => true,
        }
    }
}

/// The result type of a call.
///
/// # Errors
/// When the number or a type of the arguments does not fit.
pub fn result_of(function: Function, arguments: &[Ty]) -> Result<Ty, TypeError> {
    let signature = function.signature();
    check_count(function, arguments.len())?;
    let expected = signature.accepts.words();
    for (position, found) in arguments.iter().copied().enumerate() {
        if !signature.accepts.contains(found) {
            return Err(TypeError::Argument { function, position, expected, found });
        }
    }
    match signature.gives {
        Gives::Always(ty) => Ok(ty),
        Gives::Same => {
            let mut types = arguments.iter().copied();
            let Some(first) = types.next() else { return Ok(Ty::Float) };
            types.try_fold(first, |left, right| {
                alike(left, right).ok_or(TypeError::Different { left, right })
            })
        }
    }
}

/// Checks how many arguments a call has.
pub(crate) fn check_count(function: Function, found: usize) -> Result<(), TypeError> {
    let expected = function.signature().count;
    if expected == found {
        return Ok(());
    }
    Err(TypeError::ArgumentCount { function, expected, found })
}

/// The type that two places share: equal types, or `float` where `int` and `float` meet.
#[must_use]
pub fn alike(left: Ty, right: Ty) -> Option<Ty> {
    match (left, right) {
        (Ty::Int, Ty::Float) | (Ty::Float, Ty::Int) => Some(Ty::Float),
        (left, right) => (left == right).then_some(left),
    }
}

/// The result type of a prefix operator.
#[must_use]
pub fn unary_result(op: UnaryOp, operand: Ty) -> Option<Ty> {
    let fits = match op {
        UnaryOp::Negate => matches!(operand, Ty::Float | Ty::Int | Ty::Duration),
        UnaryOp::Not => operand == Ty::Bool,
    };
    fits.then_some(operand)
}

/// The result type of an infix operator.
#[must_use]
pub fn binary_result(op: BinaryOp, left: Ty, right: Ty) -> Option<Ty> {
    binary(op, left, right).map(|(_, ty)| ty)
}

/// What an infix operator does to operands of these types, and the type of its result.
pub(crate) fn binary(op: BinaryOp, left: Ty, right: Ty) -> Option<(Infix, Ty)> {
    use BinaryOp::{Add, And, Divide, Multiply, Or, Remainder, Subtract};
    match op {
        Add | Subtract => sum(op, left, right),
        Multiply | Divide | Remainder => product(op, left, right),
        And | Or => (left == Ty::Bool && right == Ty::Bool)
            .then_some((if op == And { Infix::And } else { Infix::Or }, Ty::Bool)),
        _ => comparison(op, left, right).map(|infix| (infix, Ty::Bool)),
    }
}

fn sum(op: BinaryOp, left: Ty, right: Ty) -> Option<(Infix, Ty)> {
    use Ty::{Duration, Float, Int, Size, Time};
    let add = op == BinaryOp::Add;
    let float = if add { Infix::Add } else { Infix::Subtract };
    let whole = if add { Infix::AddWhole } else { Infix::SubtractWhole };
    let nanos = if add { Infix::AddNanos } else { Infix::SubtractNanos };
    match (left, right) {
        (Int, Int) => Some((whole, Int)),
        (Size, Size) => Some((whole, Size)),
        (Float | Int, Float | Int) => Some((float, Float)),
        (Duration, Duration) => Some((nanos, Duration)),
        (Time, Duration) => Some((nanos, Time)),
        (Duration, Time) if add => Some((nanos, Time)),
        (Time, Time) if !add => Some((nanos, Duration)),
        _ => None,
    }
}

fn product(op: BinaryOp, left: Ty, right: Ty) -> Option<(Infix, Ty)> {
    use BinaryOp::{Divide, Multiply, Remainder};
    use Ty::{Duration, Float, Int, Size};
    match (op, left, right) {
        (Multiply, Int, Int) => Some((Infix::MultiplyWhole, Int)),
        (Multiply, Float | Int, Float | Int) => Some((Infix::Multiply, Float)),
        (Multiply, Size, Float | Int) | (Multiply, Float | Int, Size) => {
            Some((Infix::ScaleSize, Size))
        }
        (Multiply, Duration, Int) => Some((Infix::MultiplyNanosWhole, Duration)),
        (Multiply, Duration, Float) => Some((Infix::MultiplyNanos, Duration)),
        (Multiply, Int, Duration) => Some((Infix::WholeMultiplyNanos, Duration)),
        (Multiply, Float, Duration) => Some((Infix::NumberMultiplyNanos, Duration)),
        (Divide, Float | Int, Float | Int) | (Divide, Size, Size) => Some((Infix::Divide, Float)),
        (Divide, Size, Float | Int) => Some((Infix::DivideSize, Size)),
        (Divide, Duration, Duration) => Some((Infix::NanosRatio, Float)),
        (Divide, Duration, Int) => Some((Infix::DivideNanosWhole, Duration)),
        (Divide, Duration, Float) => Some((Infix::DivideNanos, Duration)),
        (Remainder, Int, Int) => Some((Infix::RemainderWhole, Int)),
        (Remainder, Float | Int, Float | Int) => Some((Infix::Remainder, Float)),
        _ => None,
    }
}

fn comparison(op: BinaryOp, left: Ty, right: Ty) -> Option<Infix> {
    let compare = crate::infix::Compare::of(op)?;
    match alike(left, right)? {
        Ty::Float | Ty::Int | Ty::Size => Some(Infix::CompareNumbers(compare)),
        Ty::Time | Ty::Duration => Some(Infix::CompareNanos(compare)),
        Ty::Str => Some(Infix::CompareText(compare)),
        Ty::Bool if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) => {
            Some(Infix::CompareTruth(compare))
        }
        Ty::Bool => None,
    }
}
