//! Instructions over floats, whole numbers and sizes.

use super::emit::{Data, Emitter, Pair};
use super::outside::Outside;
use crate::infix::Infix;
use crate::ir::Function;
use crate::members::Members;
use crate::number::TWO_POW_53;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value};

impl Emitter<'_, '_> {
    /// What an infix operator does to two numbers.
    pub(super) fn numbers(&mut self, infix: Infix, a: Value, b: Value) -> Option<Pair> {
        if let Infix::CompareNumbers(compare) = infix {
            let data = Data::Truth(self.compare_numbers(compare, a, b));
            return Some(Pair { data, valid: None });
        }
        let (value, whole) = match infix {
            Infix::Add => (self.code.ins().fadd(a, b), false),
            Infix::Subtract => (self.code.ins().fsub(a, b), false),
            Infix::Multiply => (self.code.ins().fmul(a, b), false),
            Infix::Divide => (self.code.ins().fdiv(a, b), false),
            Infix::Remainder => (self.each(Outside::Remainder, &[a, b])?, false),
            Infix::AddWhole => (self.code.ins().fadd(a, b), true),
            Infix::SubtractWhole => (self.code.ins().fsub(a, b), true),
            Infix::MultiplyWhole => (self.code.ins().fmul(a, b), true),
            Infix::RemainderWhole => (self.each(Outside::Remainder, &[a, b])?, true),
            Infix::ScaleSize => {
                let product = self.code.ins().fmul(a, b);
                (self.round(product), true)
            }
            Infix::DivideSize => {
                let quotient = self.code.ins().fdiv(a, b);
                (self.round(quotient), true)
            }
            _ => return None,
        };
        if !whole {
            return Some(Pair { data: Data::Number(value), valid: None });
        }
        // Missing unless below 2^53; `+ 0.0` leaves one zero.
        let (magnitude, edge, zero) =
            (self.code.ins().fabs(value), self.number(TWO_POW_53), self.number(0.0));
        let exact = self.code.ins().fcmp(FloatCC::LessThan, magnitude, edge);
        let value = self.code.ins().fadd(value, zero);
        Some(Pair { data: Data::Number(value), valid: Some(exact) })
    }

    /// A function of one number.
    pub(super) fn number_function(&mut self, function: Function, value: Value) -> Option<Data> {
        let outside = match function {
            Function::ToFloat => return Some(Data::Number(value)),
            Function::IsNan => {
                return Some(Data::Truth(self.code.ins().fcmp(FloatCC::Unordered, value, value)));
            }
            Function::Abs => return Some(Data::Number(self.code.ins().fabs(value))),
            Function::Floor => return Some(Data::Number(self.code.ins().floor(value))),
            Function::Ceil => return Some(Data::Number(self.code.ins().ceil(value))),
            Function::Sqrt => return Some(Data::Number(self.code.ins().sqrt(value))),
            Function::Round => return Some(Data::Number(self.round(value))),
            Function::Exp => Outside::Exp,
            Function::Ln => Outside::Ln,
            Function::Log1p => Outside::Log1p,
            Function::Log10 => Outside::Log10,
            Function::Sin => Outside::Sin,
            Function::Cos => Outside::Cos,
            Function::Tanh => Outside::Tanh,
            _ => return None,
        };
        Some(Data::Number(self.each(outside, &[value])?))
    }

    /// To the nearest whole number, halves away from zero, as `libm::round` does: the largest float below one
    /// half with the sign of the value is added, and the fraction dropped.
    pub(super) fn round(&mut self, value: Value) -> Value {
        let half = self.nanos((0.5 - 0.25 * f64::EPSILON).to_bits().cast_signed());
        let sign = self.nanos(i64::MIN);
        let bits = self.bits(value);
        let sign = self.and(bits, sign);
        let half = self.or(sign, half);
        let half = self.floats(half);
        let sum = self.code.ins().fadd(value, half);
        self.code.ins().trunc(sum)
    }

    /// The smaller or larger of two numbers: NaN wins, and -0.0 lies below 0.0.
    pub(super) fn extreme(
        &mut self,
        minimum: bool,
        (a, a_known): (Value, Option<f64>),
        (b, b_known): (Value, Option<f64>),
    ) -> Value {
        // Against a constant that is neither NaN nor zero, one comparison decides; NaN fails it and stays.
        let plain = |known: Option<f64>| known.is_some_and(|known| !known.is_nan() && known != 0.0);
        let (limit, value) = if plain(b_known) {
            (b, a)
        } else if plain(a_known) {
            (a, b)
        } else if minimum {
            return self.code.ins().fmin(a, b);
        } else {
            return self.code.ins().fmax(a, b);
        };
        let (low, high) = if minimum { (limit, value) } else { (value, limit) };
        let beyond = self.code.ins().fcmp(FloatCC::LessThan, low, high);
        self.choose_number(beyond, limit, value)
    }

    /// Whether a value is in a list.
    pub(super) fn member(&mut self, members: &Members<'_>, data: Data) -> Option<Value> {
        let mut found = self.mask(false);
        match data {
            Data::Nothing => {}
            Data::Number(value) => {
                for item in members.numbers() {
                    let item = self.number(*item);
                    let equal = self.code.ins().fcmp(FloatCC::Equal, value, item);
                    found = self.or(found, equal);
                }
            }
            Data::Nanos(value) => {
                for item in members.nanos() {
                    let item = self.nanos(*item);
                    let equal = self.code.ins().icmp(IntCC::Equal, value, item);
                    found = self.or(found, equal);
                }
            }
            Data::Truth(mask) => {
                if members.truths().contains(&true) {
                    found = self.or(found, mask);
                }
                if members.truths().contains(&false) {
                    let not = self.not(mask);
                    found = self.or(found, not);
                }
            }
        }
        Some(found)
    }
}
