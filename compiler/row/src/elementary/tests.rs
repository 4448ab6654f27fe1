//! Every function gives the bits of `libm`.

use super::Elementary;
use proptest::prelude::*;

/// A function of `libm`.
type One = fn(f64) -> f64;

const FUNCTIONS: [(Elementary, One); 7] = [
    (Elementary::Exp, libm::exp),
    (Elementary::Ln, libm::log),
    (Elementary::Log1p, libm::log1p),
    (Elementary::Log10, libm::log10),
    (Elementary::Sin, libm::sin),
    (Elementary::Cos, libm::cos),
    (Elementary::Tanh, libm::tanh),
];

/// Compares one function over many values; NaN equals NaN.
fn compare(function: Elementary, one: One, values: &[f64]) {
    let mut found = values.to_vec();
    function.all(&mut found);
    for (value, found) in values.iter().zip(found) {
        let expected = one(*value);
        let same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
        assert!(
            same,
            "{function:?}({value:e}) is {found:e} and not {expected:e}: {:#x}",
            value.to_bits()
        );
    }
}

/// The numbers around which the functions change their way, and their neighbours.
fn edges() -> Vec<f64> {
    let words = [
        0x0010_0000_u64,
        0x3c90_0000,
        0x3ca0_0000,
        0x3e30_0000,
        0x3e50_0000,
        0x3fd0_58ae,
        0x3fd2_bec4,
        0x3fd6_2e42,
        0x3fda_827a,
        0x3fe1_93ea,
        0x3fe6_a09e,
        0x3fe9_21fb,
        0x3ff0_0000,
        0x3ff0_a2b2,
        0x3ff6_a09e,
        0x3ff9_21fb,
        0x4002_d97c,
        0x4009_21fb,
        0x400f_6a7a,
        0x4012_d97c,
        0x4015_fdbc,
        0x4019_21fb,
        0x401c_463b,
        0x4034_0000,
        0x4043_687a,
        0x4086_232b,
        0x4086_2e42,
        0x4139_21fb,
        0x7fef_ffff,
        0x7ff0_0000,
        0,
    ];
    let mut edges = Vec::new();
    for word in words {
        for next in [0, 1, u64::MAX] {
            for low in [0, 1, 0x8000_0000, 0xffff_ffff] {
                let high = u64::wrapping_add(word, next) & 0x7fff_ffff;
                edges.push(f64::from_bits((high << 32) | low));
                edges.push(-f64::from_bits((high << 32) | low));
            }
        }
    }
    let multiples = (1..100).map(|count| f64::from(count) * std::f64::consts::FRAC_PI_4);
    edges.extend(multiples.clone());
    edges.extend(multiples.map(f64::next_up));
    edges.extend((-1080..1030).map(|power| libm::ldexp(1.0, power)));
    edges.extend((-1080..1030).map(|power| f64::from(power) * std::f64::consts::LN_2));
    edges
}

#[test]
fn the_bits_are_those_of_libm_where_functions_change() {
    let edges = edges();
    // Each edge in either lane, beside itself and beside an ordinary number.
    let twice: Vec<f64> =
        edges.iter().flat_map(|edge| [*edge, *edge, 0.7, *edge, *edge, 0.7]).collect();
    for (function, one) in FUNCTIONS {
        compare(function, one, &twice);
        compare(function, one, &twice[..3]);
    }
}

proptest! {
    #[test]
    fn the_bits_are_those_of_libm(state in any::<u64>()) {
        let mut state = state | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        // Any bits, sizes between 2^-60 and 2^12, and numbers near zero, one and a hundred.
        let any: Vec<f64> = (0..1000).map(|_| f64::from_bits(next())).collect();
        let sized: Vec<f64> = (0..1000)
            .map(|_| {
                let bits = next();
                let exponent = 1023 - 60 + bits % 72;
                f64::from_bits((bits & 0x800f_ffff_ffff_ffff) | (exponent << 52))
            })
            .collect();
        let unit = |bits: u64| libm::ldexp(1.0, -53) * ((bits >> 11) as f64);
        let near: Vec<f64> = (0..3000)
            .map(|place| [unit(next()) * 4.0 - 2.0, 1.0 + unit(next()) * 1e-3, unit(next()) * 200.0 - 100.0][place % 3])
            .collect();
        for (function, one) in FUNCTIONS {
            compare(function, one, &any);
            compare(function, one, &sized);
            compare(function, one, &near);
        }
    }
}
