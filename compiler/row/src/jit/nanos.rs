//! Instructions over times and durations: sums, differences and products stop at the ends of the range.

use super::emit::{Data, Emitter, NUMBERS, Pair, WIDE};
use super::outside::Outside;
use crate::infix::{Compare, Infix};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};

impl Emitter<'_, '_> {
    /// What an infix operator does to two counts of nanoseconds.
    pub(super) fn nanos_infix(&mut self, infix: Infix, a: Value, b: Value) -> Option<Pair> {
        let data = match infix {
            Infix::AddNanos => {
                let sum = self.code.ins().iadd(a, b);
                let (from_a, from_b) = (self.code.ins().bxor(a, sum), self.code.ins().bxor(b, sum));
                Data::Nanos(self.saturate(sum, from_a, from_b, a))
            }
            Infix::SubtractNanos => {
                let rest = self.code.ins().isub(a, b);
                let (from_a, apart) = (self.code.ins().bxor(a, rest), self.code.ins().bxor(a, b));
                Data::Nanos(self.saturate(rest, from_a, apart, a))
            }
            Infix::NanosRatio => {
                let a = self.code.ins().fcvt_from_sint(NUMBERS, a);
                let b = self.code.ins().fcvt_from_sint(NUMBERS, b);
                Data::Number(self.code.ins().fdiv(a, b))
            }
            Infix::CompareNanos(compare) => {
                let condition = match compare {
                    Compare::Equal => IntCC::Equal,
                    Compare::NotEqual => IntCC::NotEqual,
                    Compare::Less => IntCC::SignedLessThan,
                    Compare::LessEqual => IntCC::SignedLessThanOrEqual,
                    Compare::Greater => IntCC::SignedGreaterThan,
                    Compare::GreaterEqual => IntCC::SignedGreaterThanOrEqual,
                };
                Data::Truth(self.code.ins().icmp(condition, a, b))
            }
            _ => return None,
        };
        Some(Pair { data, valid: None })
    }

    /// `result`, or the end of the range on the side of `a` where both other values are negative.
    fn saturate(&mut self, result: Value, one: Value, other: Value, a: Value) -> Value {
        let zero = self.nanos(0);
        let both = self.and(one, other);
        let overflow = self.code.ins().icmp(IntCC::SignedLessThan, both, zero);
        let negative = self.code.ins().icmp(IntCC::SignedLessThan, a, zero);
        let most = self.nanos(i64::MAX);
        let end = self.code.ins().bxor(negative, most);
        self.code.ins().bitselect(overflow, end, result)
    }

    /// The negative; that of the least is the largest.
    pub(super) fn negate_nanos(&mut self, value: Value) -> Value {
        let (least, most) = (self.nanos(i64::MIN), self.nanos(i64::MAX));
        let at_end = self.code.ins().icmp(IntCC::Equal, value, least);
        let negated = self.code.ins().ineg(value);
        self.code.ins().bitselect(at_end, most, negated)
    }

    /// The magnitude; that of the least is the largest.
    pub(super) fn absolute_nanos(&mut self, value: Value) -> Value {
        let zero = self.nanos(0);
        let negated = self.negate_nanos(value);
        let negative = self.code.ins().icmp(IntCC::SignedLessThan, value, zero);
        self.code.ins().bitselect(negative, negated, value)
    }

    /// Nanoseconds times or over a number.
    pub(super) fn scaled(&mut self, infix: Infix, nanos: Value, number: Value) -> Option<Pair> {
        let float = match infix {
            Infix::MultiplyNanos | Infix::NumberMultiplyNanos => {
                let nanos = self.code.ins().fcvt_from_sint(NUMBERS, nanos);
                self.code.ins().fmul(nanos, number)
            }
            Infix::DivideNanos => {
                let nanos = self.code.ins().fcvt_from_sint(NUMBERS, nanos);
                self.code.ins().fdiv(nanos, number)
            }
            Infix::MultiplyNanosWhole | Infix::WholeMultiplyNanos => {
                let lanes = [0, 1].map(|lane| self.multiply_lane(nanos, number, lane));
                return Some(Pair { data: Data::Nanos(self.join(WIDE, lanes)), valid: None });
            }
            Infix::DivideNanosWhole => {
                let zero = self.number(0.0);
                let valid = self.code.ins().fcmp(FloatCC::NotEqual, number, zero);
                let quotient = self.each(Outside::DivideNanos, &[nanos, number])?;
                return Some(Pair { data: Data::Nanos(quotient), valid: Some(valid) });
            }
            _ => return None,
        };
        // Missing unless finite, else rounded and kept within the range.
        let (magnitude, infinity) = (self.code.ins().fabs(float), self.number(f64::INFINITY));
        let finite = self.code.ins().fcmp(FloatCC::LessThan, magnitude, infinity);
        let rounded = self.round(float);
        let lanes = [0_u8, 1].map(|lane| {
            let value = self.code.ins().extractlane(rounded, lane);
            self.code.ins().fcvt_to_sint_sat(types::I64, value)
        });
        Some(Pair { data: Data::Nanos(self.join(WIDE, lanes)), valid: Some(finite) })
    }

    fn multiply_lane(&mut self, nanos: Value, number: Value, lane: u8) -> Value {
        let a = self.code.ins().extractlane(nanos, lane);
        let b = self.code.ins().extractlane(number, lane);
        let b = self.code.ins().fcvt_to_sint_sat(types::I64, b);
        let (low, high) = (self.code.ins().imul(a, b), self.code.ins().smulhi(a, b));
        let sign = self.code.ins().sshr_imm_u(low, 63);
        let overflow = self.code.ins().icmp(IntCC::NotEqual, high, sign);
        let apart = self.code.ins().bxor(a, b);
        let negative = self.code.ins().sshr_imm_u(apart, 63);
        let most = self.code.ins().iconst(types::I64, i64::MAX);
        let end = self.code.ins().bxor(negative, most);
        self.code.ins().select(overflow, end, low)
    }
}
