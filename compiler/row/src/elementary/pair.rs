//! Two floats at once, which compilers put into the lanes of one register.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Sub};

/// Two floats.
#[derive(Clone, Copy)]
pub(super) struct Pair([f64; 2]);

/// In each lane all bits or none.
#[derive(Clone, Copy)]
pub(super) struct Mask([u64; 2]);

impl Pair {
    #[inline(always)]
    pub(super) fn new(lanes: [f64; 2]) -> Self {
        Self(lanes)
    }

    #[inline(always)]
    pub(super) fn of(value: f64) -> Self {
        Self([value; 2])
    }

    #[inline(always)]
    pub(super) fn lanes(self) -> [f64; 2] {
        self.0
    }

    #[inline(always)]
    fn both(self, other: Self, join: impl Fn(f64, f64) -> f64) -> Self {
        let ([a, b], [c, d]) = (self.0, other.0);
        Self([join(a, c), join(b, d)])
    }

    #[inline(always)]
    fn bits(self, change: impl Fn(u64) -> u64) -> Self {
        Self(self.0.map(|lane| f64::from_bits(change(lane.to_bits()))))
    }

    /// The bits, moved to the left.
    #[inline(always)]
    pub(super) fn left<const COUNT: u32>(self) -> Self {
        self.bits(|bits| bits << COUNT)
    }

    /// The bits, moved to the right.
    #[inline(always)]
    pub(super) fn right<const COUNT: u32>(self) -> Self {
        self.bits(|bits| bits >> COUNT)
    }

    /// The sum of the bits as whole numbers.
    #[inline(always)]
    pub(super) fn add_bits(self, more: u64) -> Self {
        self.bits(|bits| bits.wrapping_add(more))
    }

    #[inline(always)]
    pub(super) fn abs(self) -> Self {
        self & Self::of(f64::from_bits(u64::MAX >> 1))
    }

    /// The sign alone: zero of that sign.
    #[inline(always)]
    pub(super) fn sign(self) -> Self {
        self & Self::of(-0.0)
    }

    #[inline(always)]
    fn test(self, other: Self, test: impl Fn(f64, f64) -> bool) -> Mask {
        let mask = |a, b| if test(a, b) { u64::MAX } else { 0 };
        let ([a, b], [c, d]) = (self.0, other.0);
        Mask([mask(a, c), mask(b, d)])
    }

    #[inline(always)]
    pub(super) fn below(self, other: Self) -> Mask {
        self.test(other, |a, b| a < b)
    }

    #[inline(always)]
    pub(super) fn equals(self, other: Self) -> Mask {
        self.test(other, |a, b| a == b)
    }
}

impl Mask {
    /// Whether it is set in both lanes.
    #[inline(always)]
    pub(super) fn all(self) -> bool {
        let [a, b] = self.0;
        a & b != 0
    }

    /// `yes` where it is set, else `no`. By bits, since compilers make a branch of a condition.
    #[inline(always)]
    pub(super) fn choose(self, yes: Pair, no: Pair) -> Pair {
        let pick = |mask: u64, yes: f64, no: f64| {
            f64::from_bits((mask & yes.to_bits()) | (!mask & no.to_bits()))
        };
        let ([a, b], [c, d], [e, f]) = (self.0, yes.0, no.0);
        Pair([pick(a, c, e), pick(b, d, f)])
    }
}

impl BitAnd for Mask {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        let ([a, b], [c, d]) = (self.0, other.0);
        Self([a & c, b & d])
    }
}

impl BitOr for Mask {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        let ([a, b], [c, d]) = (self.0, other.0);
        Self([a | c, b | d])
    }
}

macro_rules! lanes {
    ($trait:ident, $method:ident, $one:expr) => {
        impl $trait for Pair {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.both(other, $one)
            }
        }
    };
}

lanes!(Add, add, |a, b| a + b);
lanes!(Sub, sub, |a, b| a - b);
lanes!(Mul, mul, |a, b| a * b);
lanes!(Div, div, |a, b| a / b);
lanes!(BitAnd, bitand, |a, b| f64::from_bits(a.to_bits() & b.to_bits()));
lanes!(BitOr, bitor, |a, b| f64::from_bits(a.to_bits() | b.to_bits()));
lanes!(BitXor, bitxor, |a, b| f64::from_bits(a.to_bits() ^ b.to_bits()));

impl Neg for Pair {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        self ^ Self::of(-0.0)
    }
}
