//! Sums of floats without rounding, so that a value that has left a window leaves nothing behind.
//!
//! A number is held as two's complement in 64-bit limbs, its lowest bit worth `2^lowest`. The scale is chosen from the
//! data, so that ordinary columns need two limbs; the widest possible ones need 34, and squares 67.

/// Mantissa and exponent of a finite float: its magnitude is `mantissa * 2^exponent`.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let exponent = i32::try_from(bits >> 52 & 0x7ff).unwrap_or(0);
    let fraction = bits & ((1 << 52) - 1);
    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
}

/// The exponents that sums of some floats need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    lowest: i32,
    bits: usize,
}

impl Scale {
    /// For sums of up to `count` of these values; with `squares` for sums of their squares.
    pub(crate) fn of(values: &[f64], squares: bool) -> Self {
        let finite = values.iter().filter(|value| value.is_finite() && **value != 0.0);
        let mut lowest = i32::MAX;
        let mut highest = i32::MIN;
        for value in finite {
            let (mantissa, exponent) = parts(*value);
            let length = 64 - i32::try_from(mantissa.leading_zeros()).unwrap_or(0);
            lowest = lowest.min(exponent);
            highest = highest.max(exponent + length);
        }
        if lowest > highest {
            return Self { lowest: 0, bits: 64 };
        }
        let times = if squares { 2 } else { 1 };
        let carries = 66 - i32::try_from(values.len().leading_zeros()).unwrap_or(0);
        let bits = usize::try_from((highest - lowest) * times + carries).unwrap_or(0);
        Self { lowest: lowest * times, bits }
    }
}

/// A sum.
#[derive(Clone, Debug)]
pub(crate) enum Exact {
    /// In two limbs, as columns of ordinary numbers need.
    Narrow(Narrow),
    /// In as many limbs as it takes.
    Wide(Wide),
}

impl Exact {
    pub(crate) fn zero(scale: Scale) -> Self {
        match Narrow::zero(scale) {
            Some(narrow) => Self::Narrow(narrow),
            None => Self::Wide(Wide::zero(scale)),
        }
    }

    pub(crate) fn clear(&mut self) {
        match self {
            Self::Narrow(narrow) => narrow.sum = 0,
            Self::Wide(wide) => wide.clear(),
        }
    }

    /// Adds a finite value of the scale, or takes it away.
    pub(crate) fn add(&mut self, value: f64, away: bool) {
        match self {
            Self::Narrow(narrow) => narrow.add(value, away),
            Self::Wide(wide) => wide.add(value, away),
        }
    }

    /// The sum, rounded once to the nearest float, ties to even. Zero is `0.0`.
    pub(crate) fn value(&self) -> f64 {
        match self {
            Self::Narrow(narrow) => narrow.value(),
            Self::Wide(wide) => wide.value(),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "takes the words apart")]
fn limbs(wide: u128) -> [u64; 2] {
    [wide as u64, (wide >> 64) as u64]
}

/// A sum in 128 bits.
#[derive(Clone, Debug)]
pub(crate) struct Narrow {
    sum: i128,
    lowest: i32,
    /// Two factors whose product is the worth of the lowest bit: each one is a normal number.
    worth: [f64; 2],
}

impl Narrow {
    /// Zero; none where the scale needs more bits.
    fn zero(scale: Scale) -> Option<Self> {
        let half = scale.lowest / 2;
        let worth = [half, scale.lowest - half].map(|power| libm::scalbn(1.0, power));
        (scale.bits < 127).then_some(Self { sum: 0, lowest: scale.lowest, worth })
    }

    fn add(&mut self, value: f64, away: bool) {
        let (mantissa, exponent) = parts(value);
        let shift = u32::try_from(exponent - self.lowest).unwrap_or(0);
        let worth = i128::from(mantissa).checked_shl(shift).unwrap_or(0);
        let worth = if value.is_sign_negative() != away { -worth } else { worth };
        self.sum = self.sum.wrapping_add(worth);
    }

    /// Rounds where the sum becomes a float, and no more: a float is a multiple of the lowest bit's worth.
    #[expect(clippy::cast_precision_loss, reason = "the one rounding")]
    fn value(&self) -> f64 {
        let [first, second] = self.worth;
        self.sum as f64 * first * second
    }
}

/// A sum in limbs.
#[derive(Clone, Debug)]
pub(crate) struct Wide {
    limbs: Vec<u64>,
    lowest: i32,
}

impl Wide {
    /// The limbs of the magnitude, without zeros on top.
    fn magnitude(&self) -> Vec<u64> {
        let mut limbs = self.limbs.clone();
        if limbs.last().is_some_and(|top| top >> 63 == 1) {
            negate(&mut limbs);
        }
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        limbs
    }

    pub(crate) fn zero(scale: Scale) -> Self {
        // An addition writes three limbs from the one that its lowest bit lies in.
        Self { limbs: vec![0; scale.bits / 64 + 3], lowest: scale.lowest }
    }

    pub(crate) fn clear(&mut self) {
        self.limbs.fill(0);
    }

    /// Adds a finite value of the scale, or takes it away.
    pub(crate) fn add(&mut self, value: f64, away: bool) {
        let (mantissa, exponent) = parts(value);
        if mantissa != 0 {
            self.put(u128::from(mantissa), exponent, value.is_sign_negative() != away);
        }
    }

    /// Adds the square of a finite value, or takes it away.
    pub(crate) fn add_square(&mut self, value: f64, away: bool) {
        let (mantissa, exponent) = parts(value);
        if mantissa != 0 {
            self.put(u128::from(mantissa) * u128::from(mantissa), 2 * exponent, away);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "takes the words apart")]
    fn put(&mut self, wide: u128, exponent: i32, negative: bool) {
        let shift = usize::try_from(exponent - self.lowest).unwrap_or(0);
        let (limb, bit) = (shift / 64, shift % 64);
        let over = if bit == 0 { 0 } else { (wide >> (128 - bit)) as u64 };
        let low = wide << bit;
        let words = [low as u64, (low >> 64) as u64, over];
        let mut carry = false;
        let limbs = self.limbs.iter_mut().skip(limb);
        for (limb, word) in limbs.zip(words.into_iter().chain(std::iter::repeat(0)).enumerate()) {
            let (at, word) = word;
            if at > 2 && !carry {
                break;
            }
            let (once, first) =
                if negative { limb.overflowing_sub(word) } else { limb.overflowing_add(word) };
            let step = u64::from(carry);
            let (twice, second) =
                if negative { once.overflowing_sub(step) } else { once.overflowing_add(step) };
            *limb = twice;
            carry = first | second;
        }
    }

    /// The sum, rounded once to the nearest float, ties to even. Zero is `0.0`.
    pub(crate) fn value(&self) -> f64 {
        let negative = self.limbs.last().is_some_and(|top| top >> 63 == 1);
        if !negative {
            return rounded(&self.limbs, self.lowest);
        }
        let mut magnitude = self.limbs.clone();
        negate(&mut magnitude);
        -rounded(&magnitude, self.lowest)
    }
}

/// `count * squares - sum^2` rounded once: the sum of squared differences from the mean, times `count`.
pub(crate) fn spread(count: u64, sum: &Exact, squares: &Wide, room: &mut Vec<u64>) -> f64 {
    let (narrow, wide);
    let magnitude: &[u64] = match sum {
        Exact::Narrow(sum) => {
            narrow = limbs(sum.sum.unsigned_abs());
            &narrow
        }
        Exact::Wide(sum) => {
            wide = sum.magnitude();
            &wide
        }
    };
    let length = squares.limbs.len().max(2 * magnitude.len()) + 1;
    room.clear();
    room.resize(2 * length, 0);
    let (value, squared) = room.split_at_mut(length);
    multiply_add(value, 0, &squares.limbs, count);
    for (at, limb) in magnitude.iter().enumerate() {
        multiply_add(squared, at, magnitude, *limb);
    }
    let mut borrow = false;
    for (limb, word) in value.iter_mut().zip(squared) {
        let (once, first) = limb.overflowing_sub(*word);
        let (twice, second) = once.overflowing_sub(u64::from(borrow));
        *limb = twice;
        borrow = first | second;
    }
    // Both have the scale of squares: the sum's lowest bit is worth half as many powers of two.
    rounded(value, squares.lowest)
}

/// `into += limbs * by << 64 * at`.
#[expect(clippy::cast_possible_truncation, reason = "takes the words apart")]
fn multiply_add(into: &mut [u64], at: usize, limbs: &[u64], by: u64) {
    let mut carry = 0_u128;
    let words = limbs.iter().copied().chain(std::iter::repeat(0));
    for (place, (limb, word)) in into.iter_mut().skip(at).zip(words).enumerate() {
        if place >= limbs.len() && carry == 0 {
            break;
        }
        let wide = u128::from(word) * u128::from(by) + u128::from(*limb) + carry;
        *limb = wide as u64;
        carry = wide >> 64;
    }
}

fn negate(limbs: &mut [u64]) {
    let mut carry = true;
    for limb in limbs {
        let (value, over) = (!*limb).overflowing_add(u64::from(carry));
        *limb = value;
        carry = over;
    }
}

/// An unsigned number as the nearest float, ties to even.
#[expect(clippy::cast_precision_loss, reason = "at most 53 bits are left")]
fn rounded(limbs: &[u64], lowest: i32) -> f64 {
    let Some((top, limb)) = limbs.iter().enumerate().rev().find(|(_, limb)| **limb != 0) else {
        return 0.0;
    };
    let length = 64 * top + 64 - usize::try_from(limb.leading_zeros()).unwrap_or(0);
    let highest = i64::from(lowest) + i64::try_from(length).unwrap_or(0) - 1;
    // The exponent of the lowest bit that the float can hold.
    let unit = (highest - 52).max(-1074);
    let dropped = unit - i64::from(lowest);
    let exponent = i32::try_from(unit).unwrap_or(i32::MAX);
    let Ok(dropped) = usize::try_from(dropped) else {
        // All bits fit: fewer than 53 of them.
        let whole = bits(limbs, 0);
        return libm::scalbn(whole as f64, lowest);
    };
    let mut mantissa = bits(limbs, dropped);
    if dropped > 0 {
        let half = bits(limbs, dropped - 1) & 1 == 1;
        let below = dropped - 1;
        let rest = limbs.iter().take(below / 64).any(|limb| *limb != 0)
            || limbs.get(below / 64).is_some_and(|limb| limb & ((1 << (below % 64)) - 1) != 0);
        if half && (rest || mantissa & 1 == 1) {
            mantissa += 1;
        }
    }
    libm::scalbn(mantissa as f64, exponent)
}

/// 64 bits from bit `from` on.
fn bits(limbs: &[u64], from: usize) -> u64 {
    let word = |at: usize| limbs.get(at).copied().unwrap_or(0);
    let (limb, bit) = (from / 64, from % 64);
    let low = word(limb) >> bit;
    if bit == 0 { low } else { low | word(limb + 1) << (64 - bit) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Shewchuk's exact sum as Python's `fsum` computes it, without its overflow handling.
    fn fsum(values: &[f64]) -> f64 {
        let mut partials: Vec<f64> = Vec::new();
        for value in values {
            let mut x = *value;
            let mut kept = Vec::new();
            for partial in &partials {
                let mut y = *partial;
                if x.abs() < y.abs() {
                    std::mem::swap(&mut x, &mut y);
                }
                let high = x + y;
                let low = y - (high - x);
                if low != 0.0 {
                    kept.push(low);
                }
                x = high;
            }
            kept.push(x);
            partials = kept;
        }
        let mut high = 0.0;
        let mut low = 0.0;
        while let Some(x) = partials.pop() {
            let before = high;
            high = before + x;
            low = x - (high - before);
            if low != 0.0 {
                break;
            }
        }
        // Halves are decided by what is left.
        if let Some(next) = partials.last()
            && ((low < 0.0 && *next < 0.0) || (low > 0.0 && *next > 0.0))
        {
            let twice = low * 2.0;
            let up = high + twice;
            if twice == up - high {
                high = up;
            }
        }
        high
    }

    fn floats() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>().prop_map(|value| if value.is_finite() { value / 1024.0 } else { 1.0 }),
            -1e3..1e3,
            (-50_i64..50).prop_map(|value| value as f64),
            Just(5e-324),
            Just(-2.5e-310),
            Just(1e300),
            Just(0.1),
        ]
    }

    proptest! {
        #[test]
        fn both_forms_of_a_sum_are_equal(values in proptest::collection::vec(-1e3..1e3, 0..40), cut in 0_usize..40) {
            let scale = Scale::of(&values, false);
            let (mut narrow, mut wide) = (Narrow::zero(scale).unwrap(), Wide::zero(scale));
            for (place, value) in values.iter().enumerate() {
                narrow.add(*value, false);
                wide.add(*value, false);
                if place >= cut {
                    narrow.add(values[place - cut], true);
                    wide.add(values[place - cut], true);
                }
                prop_assert_eq!(narrow.value().to_bits(), wide.value().to_bits());
            }
        }

        #[test]
        fn a_sum_is_rounded_once(values in proptest::collection::vec(floats(), 0..40)) {
            let mut sum = Exact::zero(Scale::of(&values, false));
            values.iter().for_each(|value| sum.add(*value, false));
            prop_assert_eq!(sum.value() + 0.0, fsum(&values) + 0.0);
        }

        #[test]
        fn what_leaves_leaves_nothing(values in proptest::collection::vec(floats(), 0..40), cut in 0_usize..40) {
            let scale = Scale::of(&values, false);
            let (mut sum, mut fresh) = (Exact::zero(scale), Exact::zero(scale));
            values.iter().for_each(|value| sum.add(*value, false));
            values.iter().take(cut).for_each(|value| sum.add(*value, true));
            values.iter().skip(cut).for_each(|value| fresh.add(*value, false));
            prop_assert_eq!(sum.value().to_bits(), fresh.value().to_bits());
        }

        #[test]
        fn the_spread_of_whole_numbers(values in proptest::collection::vec(-1_000_000_i64..1_000_000, 1..40)) {
            let floats: Vec<f64> = values.iter().map(|value| *value as f64).collect();
            let mut sum = Exact::zero(Scale::of(&floats, false));
            let mut squares = Wide::zero(Scale::of(&floats, true));
            for value in &floats {
                sum.add(*value, false);
                squares.add_square(*value, false);
            }
            let count = values.len() as i128;
            let total: i128 = values.iter().map(|value| i128::from(*value)).sum();
            let squared: i128 = values.iter().map(|value| i128::from(*value).pow(2)).sum();
            let expected = (count * squared - total * total) as f64;
            let found = spread(values.len() as u64, &sum, &squares, &mut Vec::new());
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn ends_of_the_range() {
        for values in [vec![f64::MAX, f64::MAX], vec![f64::MIN, f64::MIN]] {
            let mut sum = Exact::zero(Scale::of(&values, false));
            values.iter().for_each(|value| sum.add(*value, false));
            assert!(sum.value().is_infinite());
        }
        let values = [f64::MAX, 5e-324, f64::MIN];
        let mut sum = Exact::zero(Scale::of(&values, false));
        values.iter().for_each(|value| sum.add(*value, false));
        assert_eq!(sum.value(), 5e-324);
        let tiny = [5e-324, 5e-324, 1e-320];
        let (mut sum, mut squares) =
            (Exact::zero(Scale::of(&tiny, false)), Wide::zero(Scale::of(&tiny, true)));
        tiny.iter().for_each(|value| {
            sum.add(*value, false);
            squares.add_square(*value, false);
        });
        assert_eq!(spread(3, &sum, &squares, &mut Vec::new()), 0.0);
    }
}
