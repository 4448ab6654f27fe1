//! `sin` and `cos`, step by step as in the crate `libm`, whose branches are selections here.

use super::pair::{Mask, Pair};

const PER_QUARTER: f64 = 6.366_197_723_675_813_824_33e-1;
const QUARTER: f64 = 1.570_796_326_734_125_614_17;
const QUARTER_REST: f64 = 6.077_100_506_506_192_249_32e-11;

/// A float with this added has its whole part in the lowest bits.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// An angle less whole quarters of the circle.
struct Reduced {
    /// A float with the number of quarters in its lowest bits.
    quarters: Pair,
    rest: Pair,
    /// What `rest` lost by rounding.
    more: Pair,
    /// Whether the angle is its own rest.
    near: Mask,
}

#[inline(always)]
fn reduce(x: Pair) -> Reduced {
    let of = Pair::of;
    let near = x.abs().below(of(f64::from_bits(0x3fe9_21fc << 32)));
    let quarters = near.choose(of(0.0), x * of(PER_QUARTER)) + of(SHIFT);
    let count = quarters - of(SHIFT);
    let r = x - count * of(QUARTER);
    let w = count * of(QUARTER_REST);
    let rest = r - w;
    Reduced { quarters, rest, more: (r - rest) - w, near }
}

/// Where [`sin`] and [`cos`] hold: at angles of moderate size for which one step of reduction is exact enough, and
/// which are not so near to the odd eighths that `libm` counts quarters by a coarser rule.
#[inline(always)]
pub(super) fn holds(x: Pair) -> Mask {
    let of = Pair::of;
    let size = x.abs();
    let rest = reduce(x).rest.abs();
    // The exponents of angle and rest lie at most 16 apart.
    let exponent = |value: Pair| value & of(f64::INFINITY);
    let close = exponent(size) * of(1.0 / 131_072.0);
    let exact = close.below(exponent(rest));
    let clear = rest.below(of(0.785)) | of(8.0).below(size);
    let near = size.below(of(f64::from_bits(0x3fe9_21fc << 32)));
    near | (size.below(of(f64::from_bits(0x4139_21fb << 32))) & exact & clear)
}

#[inline(always)]
fn sine(x: Pair, y: Pair, near: Mask) -> Pair {
    let of = Pair::of;
    let z = x * x;
    let w = z * z;
    let low = of(8.333_333_333_322_489_461_24e-3)
        + z * (of(-1.984_126_982_985_794_931_34e-4) + z * of(2.755_731_370_707_006_767_89e-6));
    let high = of(-2.505_076_025_340_686_341_95e-8) + z * of(1.589_690_995_211_550_102_21e-10);
    let r = low + z * w * high;
    let v = z * x;
    let first = of(-1.666_666_666_666_663_243_48e-1);
    let alone = x + v * (first + z * r);
    let with_more = x - ((z * (of(0.5) * y - v * r) - y) - v * first);
    near.choose(alone, with_more)
}

#[inline(always)]
fn cosine(x: Pair, y: Pair) -> Pair {
    let of = Pair::of;
    let z = x * x;
    let w = z * z;
    let low = of(4.166_666_666_666_660_190_37e-2)
        + z * (of(-1.388_888_888_887_410_957_49e-3) + z * of(2.480_158_728_947_672_941_78e-5));
    let high = of(-2.755_731_435_139_066_330_35e-7)
        + z * (of(2.087_572_321_298_174_827_90e-9) + z * of(-1.135_964_755_778_819_482_65e-11));
    let r = z * low + w * w * high;
    let half = of(0.5) * z;
    let w = of(1.0) - half;
    w + (((of(1.0) - w) - half) + (z * r - x * y))
}

/// The sine of `quarters` more than the rest.
#[inline(always)]
fn turned(quarters: Pair, reduced: &Reduced) -> Pair {
    let (x, y) = (reduced.rest, reduced.more);
    let odd = (quarters.left::<63>() & Pair::of(-0.0)) | Pair::of(1.0);
    let odd = odd.below(Pair::of(0.0));
    let negative = quarters.right::<1>().left::<63>();
    odd.choose(cosine(x, y), sine(x, y, reduced.near)) ^ negative
}

#[inline(always)]
pub(super) fn sin(x: Pair) -> Pair {
    let reduced = reduce(x);
    let value = turned(reduced.quarters, &reduced);
    let tiny = x.abs().below(Pair::of(f64::from_bits(0x3e50_0000 << 32)));
    tiny.choose(x, value)
}

#[inline(always)]
pub(super) fn cos(x: Pair) -> Pair {
    let reduced = reduce(x);
    turned(reduced.quarters.add_bits(1), &reduced)
}
