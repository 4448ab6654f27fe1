//! `exp` and `tanh`, step by step as in the crate `libm`, whose branches are selections here.

use super::pair::{Mask, Pair};

const LN2_HIGH: f64 = 6.931_471_803_691_238_164_90e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_700_02e-10;
const PER_LN2: f64 = 1.442_695_040_888_963_387_00;

/// A float with this added has its whole part in the lowest bits.
const SHIFT: f64 = 6_755_399_441_055_744.0;
/// Floats from here on are whole.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// The number with the high word `high` and zero below it.
const fn at(high: u32) -> f64 {
    f64::from_bits((high as u64) << 32)
}

/// `floor` of what is at least zero and below 2^52.
#[inline(always)]
fn floor(value: Pair) -> Pair {
    let near = value + Pair::of(WHOLE) - Pair::of(WHOLE);
    let over = value.below(near);
    near - over.choose(Pair::of(1.0), Pair::of(0.0))
}

/// Two to a whole power within the range of normal numbers.
#[inline(always)]
pub(super) fn power_of_two(whole: Pair) -> Pair {
    (whole + Pair::of(SHIFT)).add_bits(1023).left::<52>()
}

/// `x` as `k ln 2` and a rest in two pieces, high minus low.
#[inline(always)]
fn reduce(x: Pair) -> (Pair, Pair, Pair) {
    let size = x.abs();
    let turns = floor(Pair::of(PER_LN2) * size + Pair::of(0.5));
    let far = size.below(Pair::of(at(0x3fd6_2e43)));
    let k = far.choose(Pair::of(0.0), turns) | x.sign();
    (k, x - k * Pair::of(LN2_HIGH), k * Pair::of(LN2_LOW))
}

/// Where [`exp`] holds.
#[inline(always)]
pub(super) fn exp_holds(x: Pair) -> Mask {
    x.abs().below(Pair::of(at(0x4086_232b)))
}

#[inline(always)]
pub(super) fn exp(x: Pair) -> Pair {
    let of = Pair::of;
    let (k, high, low) = reduce(x);
    let rest = high - low;
    let square = rest * rest;
    let series =
        of(-1.653_390_220_546_525_153_90e-6) + square * of(4.138_136_797_057_238_460_39e-8);
    let series = of(6.613_756_321_437_934_361_17e-5) + square * series;
    let series = of(-2.777_777_777_701_559_338_42e-3) + square * series;
    let series = of(1.666_666_666_666_660_190_37e-1) + square * series;
    let c = rest - square * series;
    let value = of(1.0) + (rest * c / (of(2.0) - c) - low + high);
    let tiny = x.abs().below(of(at(0x3e30_0001)));
    tiny.choose(of(1.0) + x, value * power_of_two(k))
}

/// Where [`tanh`] holds: everywhere but at NaN.
#[inline(always)]
pub(super) fn tanh_holds(x: Pair) -> Mask {
    x.equals(x)
}

#[inline(always)]
pub(super) fn tanh(x: Pair) -> Pair {
    let of = Pair::of;
    let size = x.abs();
    // From 20 on the result is 1; what stands in its place is never seen.
    let far = of(at(0x4034_0001)).below(size) | size.equals(of(at(0x4034_0001)));
    let small = size.below(of(at(0x3fd0_58af)));
    let doubled = of(2.0) * far.choose(of(20.0), size);
    let t = expm1(small.choose(-doubled, doubled));
    let over = t + of(2.0);
    let ratio = small.choose(-t, t) / over;
    let large = size.below(of(at(0x3fe1_93eb)));
    let value = large.choose(ratio, of(1.0) - of(2.0) / over);
    let value = far.choose(of(1.0), value);
    let subnormal = size.below(of(f64::MIN_POSITIVE));
    subnormal.choose(size, value) | x.sign()
}

/// `exp(x) - 1` for `x` from -0.52 to 40, where `tanh` asks for it.
#[inline(always)]
fn expm1(x: Pair) -> Pair {
    let of = Pair::of;
    let (k, high, low) = reduce(x);
    let rest = high - low;
    let c = (high - rest) - low;
    let half = of(0.5) * rest;
    let square = rest * half;
    let series =
        of(4.008_217_827_329_362_395_52e-6) + square * of(-2.010_992_181_836_243_713_26e-7);
    let series = of(-7.936_507_578_674_879_424_73e-5) + square * series;
    let series = of(1.587_301_587_254_814_601_65e-3) + square * series;
    let series = of(-3.333_333_333_333_313_164_28e-2) + square * series;
    let r1 = of(1.0) + square * series;
    let t = of(3.0) - r1 * half;
    let e = square * ((r1 - t) / (of(6.0) - rest * t));
    let here = rest - (rest * e - square);
    let e = rest * (e - c) - c - square;
    let scale = power_of_two(k);
    let down = power_of_two(-k);
    let few = (rest - e + (of(1.0) - down)) * scale;
    let many = (rest - (e + down) + of(1.0)) * scale;
    let most = (rest - e + of(1.0)) * scale - of(1.0);
    let value = k.below(of(20.0)).choose(few, many);
    let value = k.below(of(57.0)).choose(value, most);
    let one_low = of(-2.0) * (e - (rest + of(0.5)));
    let one = rest.below(of(-0.25)).choose(one_low, of(1.0) + of(2.0) * (rest - e));
    let value = k.equals(of(1.0)).choose(one, value);
    let value = k.equals(of(-1.0)).choose(of(0.5) * (rest - e) - of(0.5), value);
    let value = k.equals(of(0.0)).choose(here, value);
    x.abs().below(of(at(0x3c90_0000))).choose(x, value)
}
