//! What an infix operator does to one batch once the types of its operands are known.

use crate::ir::BinaryOp;
use crate::lane::{Data, Lane, both, kleene};
use crate::number::{self, Whole};
use std::borrow::Cow;

/// An infix operator for operands of known types. `Whole` and `Size` results are missing unless exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Infix {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    AddWhole,
    SubtractWhole,
    MultiplyWhole,
    RemainderWhole,
    ScaleSize,
    DivideSize,
    AddNanos,
    SubtractNanos,
    MultiplyNanos,
    MultiplyNanosWhole,
    NumberMultiplyNanos,
    WholeMultiplyNanos,
    DivideNanos,
    DivideNanosWhole,
    NanosRatio,
    CompareNumbers(Compare),
    CompareNanos(Compare),
    CompareText(Compare),
    CompareTruth(Compare),
    And,
    Or,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Compare {
    /// The comparison that an operator makes.
    pub(crate) fn of(op: BinaryOp) -> Option<Self> {
        match op {
            BinaryOp::Equal => Some(Self::Equal),
            BinaryOp::NotEqual => Some(Self::NotEqual),
            BinaryOp::Less => Some(Self::Less),
            BinaryOp::LessEqual => Some(Self::LessEqual),
            BinaryOp::Greater => Some(Self::Greater),
            BinaryOp::GreaterEqual => Some(Self::GreaterEqual),
            _ => None,
        }
    }

    fn batch<T: PartialOrd>(self, pairs: impl Iterator<Item = (T, T)>) -> Vec<bool> {
        match self {
            Self::Equal => pairs.map(|(a, b)| a == b).collect(),
            Self::NotEqual => pairs.map(|(a, b)| a != b).collect(),
            Self::Less => pairs.map(|(a, b)| a < b).collect(),
            Self::LessEqual => pairs.map(|(a, b)| a <= b).collect(),
            Self::Greater => pairs.map(|(a, b)| a > b).collect(),
            Self::GreaterEqual => pairs.map(|(a, b)| a >= b).collect(),
        }
    }
}

impl Infix {
    /// Whether results may be missing where no operand is: those that are not exact, and those that are not finite.
    pub(crate) fn is_partial(self) -> bool {
        matches!(
            self,
            Self::AddWhole
                | Self::SubtractWhole
                | Self::MultiplyWhole
                | Self::RemainderWhole
                | Self::ScaleSize
                | Self::DivideSize
                | Self::MultiplyNanos
                | Self::NumberMultiplyNanos
                | Self::DivideNanos
                | Self::DivideNanosWhole
        )
    }

    /// Runs over one batch. `None` where the operands are not what it is for.
    pub(crate) fn run<'a>(self, left: Lane<'a>, right: Lane<'a>) -> Option<Lane<'a>> {
        match self {
            Self::And => return kleene(left, right, false),
            Self::Or => return kleene(left, right, true),
            _ => {}
        }
        let valid = both(left.valid, right.valid);
        match (left.data, right.data) {
            (Data::Nothing, _) | (_, Data::Nothing) => Some(Lane::nothing()),
            (Data::Number(a), Data::Number(b)) => self.numbers(a, b, valid),
            (Data::Nanos(a), Data::Nanos(b)) => {
                let data = self.nanos(&a, &b)?;
                Some(Lane { data, valid })
            }
            (Data::Nanos(a), Data::Number(b)) => self.scaled(&a, &b, valid),
            (Data::Number(a), Data::Nanos(b)) => self.scaled(&b, &a, valid),
            (Data::Text(a), Data::Text(b)) => {
                let Self::CompareText(compare) = self else { return None };
                Some(Lane { data: Data::truth(compare.batch(a.iter().zip(b.iter()))), valid })
            }
            (Data::Truth(a), Data::Truth(b)) => {
                let Self::CompareTruth(compare) = self else { return None };
                Some(Lane { data: Data::truth(compare.batch(a.iter().zip(b.iter()))), valid })
            }
            _ => None,
        }
    }

    fn numbers<'a>(
        self,
        a: Cow<'a, [f64]>,
        b: Cow<'a, [f64]>,
        valid: Option<Cow<'a, [bool]>>,
    ) -> Option<Lane<'a>> {
        if let Self::CompareNumbers(compare) = self {
            let pairs = a.iter().copied().zip(b.iter().copied());
            return Some(Lane { data: Data::truth(compare.batch(pairs)), valid });
        }
        let (values, whole) = match self {
            Self::Add => (number::zip(a, b, |a, b| a + b), Whole::Any),
            Self::Subtract => (number::zip(a, b, |a, b| a - b), Whole::Any),
            Self::Multiply => (number::zip(a, b, |a, b| a * b), Whole::Any),
            Self::Divide => (number::zip(a, b, |a, b| a / b), Whole::Any),
            Self::Remainder => (number::zip(a, b, libm::fmod), Whole::Any),
            Self::AddWhole => (number::zip(a, b, |a, b| a + b), Whole::Exact),
            Self::SubtractWhole => (number::zip(a, b, |a, b| a - b), Whole::Exact),
            Self::MultiplyWhole => (number::zip(a, b, |a, b| a * b), Whole::Exact),
            Self::RemainderWhole => (number::zip(a, b, libm::fmod), Whole::Exact),
            Self::ScaleSize => (number::zip(a, b, |a, b| libm::round(a * b)), Whole::Exact),
            Self::DivideSize => (number::zip(a, b, |a, b| libm::round(a / b)), Whole::Exact),
            _ => return None,
        };
        Some(number::finish(values, valid, whole))
    }

    fn nanos<'a>(self, a: &[i64], b: &[i64]) -> Option<Data<'a>> {
        let pairs = a.iter().copied().zip(b.iter().copied());
        match self {
            Self::AddNanos => Some(Data::nanos(pairs.map(|(a, b)| a.saturating_add(b)).collect())),
            Self::SubtractNanos => {
                Some(Data::nanos(pairs.map(|(a, b)| a.saturating_sub(b)).collect()))
            }
            Self::NanosRatio => Some(Data::number(pairs.map(|(a, b)| ratio(a, b)).collect())),
            Self::CompareNanos(compare) => Some(Data::truth(compare.batch(pairs))),
            _ => None,
        }
    }

    fn scaled<'a>(
        self,
        nanos: &[i64],
        numbers: &[f64],
        valid: Option<Cow<'a, [bool]>>,
    ) -> Option<Lane<'a>> {
        let one: fn(i64, f64) -> Option<i64> = match self {
            Self::MultiplyNanos | Self::NumberMultiplyNanos => {
                |nanos, by| rounded(as_float(nanos) * by)
            }
            Self::DivideNanos => |nanos, by| rounded(as_float(nanos) / by),
            Self::MultiplyNanosWhole | Self::WholeMultiplyNanos => multiply_whole,
            Self::DivideNanosWhole => divide_whole,
            _ => return None,
        };
        let results: Vec<Option<i64>> =
            nanos.iter().zip(numbers).map(|(nanos, number)| one(*nanos, *number)).collect();
        let values = results.iter().map(|value| value.unwrap_or(0)).collect();
        let finite = results
            .iter()
            .any(Option::is_none)
            .then(|| Cow::Owned(results.iter().map(Option::is_some).collect()));
        Some(Lane { data: Data::nanos(values), valid: both(valid, finite) })
    }
}

#[expect(clippy::cast_precision_loss, reason = "the rule: nanoseconds round to the nearest float")]
fn as_float(nanos: i64) -> f64 {
    nanos as f64
}

fn ratio(a: i64, b: i64) -> f64 {
    as_float(a) / as_float(b)
}

/// The nearest nanosecond, halves away from zero, at most the end of the range; none where not finite.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
fn rounded(nanos: f64) -> Option<i64> {
    nanos.is_finite().then(|| libm::round(nanos) as i64)
}

#[expect(clippy::cast_possible_truncation, reason = "whole numbers lie within 2^53")]
fn multiply_whole(nanos: i64, by: f64) -> Option<i64> {
    Some(nanos.saturating_mul(by as i64))
}

/// Exact quotient, halves away from zero; none for a zero divisor.
#[expect(clippy::cast_possible_truncation, reason = "whole numbers lie within 2^53")]
pub(crate) fn divide_whole(nanos: i64, by: f64) -> Option<i64> {
    let (nanos, by) = (i128::from(nanos), by as i128);
    let quotient = nanos.checked_div(by)?;
    let rest = nanos.checked_rem(by)?;
    let away = if (nanos < 0) == (by < 0) { 1 } else { -1 };
    let rounded = if rest.abs() * 2 >= by.abs() { quotient + away } else { quotient };
    Some(i64::try_from(rounded).unwrap_or(if rounded < 0 { i64::MIN } else { i64::MAX }))
}
