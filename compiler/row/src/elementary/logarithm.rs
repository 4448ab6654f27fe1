//! `ln`, `log1p` and `log10`, step by step as in the crate `libm`, whose branches are selections here.

use super::pair::{Mask, Pair};

const LN2_HIGH: f64 = 6.931_471_803_691_238_164_90e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_700_02e-10;

/// The high word of half the root of two, rounded down.
const HALF_ROOT: u64 = 0x3fe6_a09e << 32;

/// `x` as a power of two, and a factor between half the root of two and the root of two, less one.
#[inline(always)]
fn split(x: Pair) -> (Pair, Pair) {
    let raised = x.add_bits((0x3ff0_0000_u64 << 32) - HALF_ROOT);
    // 2^52 with the exponent in its lowest bits.
    let exponent = raised.right::<52>() | Pair::of(f64::from_bits(0x4330_0000_0000_0000));
    let power = exponent - Pair::of(4_503_599_627_370_496.0 + 1023.0);
    let fraction = raised & Pair::of(f64::from_bits(0x000f_ffff_ffff_ffff));
    (power, fraction.add_bits(HALF_ROOT) - Pair::of(1.0))
}

/// `ln(1 + f)` as `s (half square + series) - half square + f`: `s`, the half square and the series.
#[inline(always)]
fn series(f: Pair) -> (Pair, Pair, Pair) {
    let of = Pair::of;
    let half_square = of(0.5) * f * f;
    let s = f / (of(2.0) + f);
    let z = s * s;
    let w = z * z;
    let even = of(2.222_219_843_214_978_396e-1) + w * of(1.531_383_769_920_937_332e-1);
    let even = w * (of(3.999_999_999_940_941_908e-1) + w * even);
    let odd = of(1.818_357_216_161_805_012e-1) + w * of(1.479_819_860_511_658_591e-1);
    let odd = of(2.857_142_874_366_239_149e-1) + w * odd;
    let odd = z * (of(6.666_666_666_666_735_130e-1) + w * odd);
    (s, half_square, odd + even)
}

/// Where [`ln`] and [`log10`] hold: at positive normal numbers.
#[inline(always)]
pub(super) fn ln_holds(x: Pair) -> Mask {
    let (least, end) = (Pair::of(f64::MIN_POSITIVE.next_down()), Pair::of(f64::INFINITY));
    least.below(x) & x.below(end)
}

#[inline(always)]
pub(super) fn ln(x: Pair) -> Pair {
    let (power, f) = split(x);
    let (s, half_square, r) = series(f);
    s * (half_square + r) + power * Pair::of(LN2_LOW) - half_square + f + power * Pair::of(LN2_HIGH)
}

#[inline(always)]
pub(super) fn log10(x: Pair) -> Pair {
    let of = Pair::of;
    let (power, f) = split(x);
    let (s, half_square, r) = series(f);
    let high = (f - half_square) & of(f64::from_bits(u64::MAX << 32));
    let low = f - high - half_square + s * (half_square + r);
    let value = high * of(4.342_944_818_781_688_809_39e-1);
    let whole = power * of(3.010_299_956_636_117_713_06e-1);
    let rest = power * of(3.694_239_077_158_930_786_16e-13)
        + (low + high) * of(2.508_294_671_164_527_522_98e-11)
        + low * of(4.342_944_818_781_688_809_39e-1);
    let sum = whole + value;
    rest + ((whole - sum) + value) + sum
}

/// Where [`log1p`] holds: above -1, below infinity.
#[inline(always)]
pub(super) fn log1p_holds(x: Pair) -> Mask {
    Pair::of(-1.0).below(x) & x.below(Pair::of(f64::INFINITY))
}

#[inline(always)]
pub(super) fn log1p(x: Pair) -> Pair {
    let of = Pair::of;
    let one = of(1.0);
    let sum = one + x;
    let (power, f) = split(sum);
    // What the sum lost by rounding.
    let lost = power.below(of(2.0)).choose(x - (sum - one), one - (sum - x)) / sum;
    let lost = power.below(of(54.0)).choose(lost, of(0.0));
    let near = x.below(of(f64::from_bits(0x3fda_827a << 32)))
        & of(-f64::from_bits(0x3fd2_bec5 << 32)).below(x);
    let zero = of(0.0);
    let (power, f, lost) = (near.choose(zero, power), near.choose(x, f), near.choose(zero, lost));
    let (s, half_square, r) = series(f);
    let value = s * (half_square + r) + (power * of(LN2_LOW) + lost) - half_square
        + f
        + power * of(LN2_HIGH);
    x.abs().below(of(f64::from_bits(0x3ca0_0000 << 32))).choose(x, value)
}
