//! The functions that rows may call, one batch at a time. An argument that is missing gives missing.

use crate::elementary::Elementary;
use crate::ir::Function;
use crate::lane::{Data, Lane, both};
use crate::number::{map, zip};
use std::borrow::Cow;

/// Calls `function`. `None` where the arguments are not what it accepts.
pub(crate) fn call<'a>(function: Function, arguments: Vec<Lane<'a>>) -> Option<Lane<'a>> {
    if arguments.iter().any(|lane| matches!(lane.data, Data::Nothing)) {
        return Some(Lane::nothing());
    }
    let mut arguments = arguments.into_iter();
    let first = arguments.next()?;
    match (arguments.next(), arguments.next()) {
        (None, _) => Some(Lane { data: one(function, first.data)?, valid: first.valid }),
        (Some(second), None) => {
            let valid = both(first.valid, second.valid);
            Some(Lane { data: two(function, first.data, second.data)?, valid })
        }
        (Some(low), Some(high)) => {
            let valid = both(both(first.valid, low.valid), high.valid);
            let raised = two(Function::Max, first.data, low.data)?;
            let data = two(Function::Min, raised, high.data)?;
            (function == Function::Clamp).then_some(Lane { data, valid })
        }
    }
}

fn one<'a>(function: Function, data: Data<'a>) -> Option<Data<'a>> {
    match data {
        Data::Number(values) => number(function, values),
        Data::Nanos(values) => match function {
            Function::Abs => {
                Some(Data::nanos(values.iter().map(|value| value.saturating_abs()).collect()))
            }
            Function::Seconds => {
                Some(Data::number(values.iter().map(|value| seconds(*value)).collect()))
            }
            _ => None,
        },
        Data::Truth(values) if function == Function::ToFloat => {
            Some(Data::number(values.iter().map(|value| f64::from(u8::from(*value))).collect()))
        }
        Data::Text(texts) => match function {
            Function::TextLength => Some(Data::number(texts.iter().map(length).collect())),
            Function::TextLower | Function::TextUpper => {
                let change = if function == Function::TextLower {
                    str::to_lowercase
                } else {
                    str::to_uppercase
                };
                let changed = texts.iter().map(|text| Cow::Owned(change(text)));
                Some(Data::owned_text(changed.collect()))
            }
            _ => None,
        },
        Data::Truth(_) | Data::Nothing => None,
    }
}

fn number<'a>(function: Function, values: Cow<'a, [f64]>) -> Option<Data<'a>> {
    let values = match function {
        Function::Abs => map(values, f64::abs),
        Function::Floor => map(values, libm::floor),
        Function::Ceil => map(values, libm::ceil),
        Function::Round => map(values, libm::round),
        Function::Sqrt => map(values, libm::sqrt),
        Function::Exp => elementary(Elementary::Exp, values),
        Function::Ln => elementary(Elementary::Ln, values),
        Function::Log1p => elementary(Elementary::Log1p, values),
        Function::Log10 => elementary(Elementary::Log10, values),
        Function::Sin => elementary(Elementary::Sin, values),
        Function::Cos => elementary(Elementary::Cos, values),
        Function::Tanh => elementary(Elementary::Tanh, values),
        Function::ToFloat => return Some(Data::Number(values)),
        Function::IsNan => {
            return Some(Data::truth(values.iter().map(|value| value.is_nan()).collect()));
        }
        _ => return None,
    };
    Some(Data::number(values))
}

fn elementary(function: Elementary, values: Cow<'_, [f64]>) -> Vec<f64> {
    let mut values = values.into_owned();
    function.all(&mut values);
    values
}

fn two<'a>(function: Function, left: Data<'a>, right: Data<'a>) -> Option<Data<'a>> {
    match (left, right) {
        (Data::Number(a), Data::Number(b)) => match function {
            Function::Min => Some(Data::number(zip(a, b, minimum))),
            Function::Max => Some(Data::number(zip(a, b, maximum))),
            Function::Pow => Some(Data::number(zip(a, b, libm::pow))),
            _ => None,
        },
        (Data::Nanos(a), Data::Nanos(b)) => {
            let pairs = a.iter().copied().zip(b.iter().copied());
            match function {
                Function::Min => Some(Data::nanos(pairs.map(|(a, b)| a.min(b)).collect())),
                Function::Max => Some(Data::nanos(pairs.map(|(a, b)| a.max(b)).collect())),
                _ => None,
            }
        }
        (Data::Text(a), Data::Text(b)) => {
            let pairs = a.iter().zip(b.iter());
            let found = match function {
                Function::TextContains => pairs.map(|(a, b)| a.contains(b)).collect(),
                Function::TextStartsWith => pairs.map(|(a, b)| a.starts_with(b)).collect(),
                Function::TextEndsWith => pairs.map(|(a, b)| a.ends_with(b)).collect(),
                _ => return None,
            };
            Some(Data::truth(found))
        }
        _ => None,
    }
}

/// IEEE 754-2019 `minimum`: NaN wins, and -0.0 lies below 0.0.
fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a < b || (a == b && a.is_sign_negative()) {
        a
    } else {
        b
    }
}

/// IEEE 754-2019 `maximum`: NaN wins, and 0.0 lies above -0.0.
fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a > b || (a == b && a.is_sign_positive()) {
        a
    } else {
        b
    }
}

/// Nanoseconds as seconds.
#[expect(clippy::cast_precision_loss, reason = "the rule: rounds to the nearest float")]
fn seconds(nanos: i64) -> f64 {
    nanos as f64 / 1e9
}

/// The number of Unicode scalar values.
#[expect(clippy::cast_precision_loss, reason = "no text has 2^53 characters")]
fn length(text: &str) -> f64 {
    text.chars().count() as f64
}
