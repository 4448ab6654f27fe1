//! Elementary functions over whole batches: the bits of the crate `libm`, two values at a time without a branch.
//!
//! `libm` computes one value at a time and branches by its size. Where a pair of values is of ordinary size, the same
//! steps run here for both at once, and every branch is a selection; any other pair goes to `libm`. No step is fused
//! or reordered, so that the bits are those of `libm` on every machine; the tests compare them.

#![expect(
    clippy::excessive_precision,
    clippy::approx_constant,
    reason = "constants as `libm` writes them, of which all digits were compared"
)]

mod circle;
mod exponential;
mod logarithm;
mod pair;

use pair::Pair;

/// A function of one float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Elementary {
    Exp,
    Ln,
    Log1p,
    Log10,
    Sin,
    Cos,
    Tanh,
}

// Closures and function pointers would hide from the compiler that a pair may stay in its register, and results that
// meet behind a branch that it need not be stored in halves.
macro_rules! functions {
    ($($kind:ident $name:ident: $holds:path, $pair:path, $one:path;)*) => {
        $(
            /// Replaces two values by the function of each.
            #[inline(always)]
            pub(crate) fn $name(values: &mut [f64; 2]) {
                let pair = Pair::new(*values);
                if $holds(pair).all() {
                    *values = $pair(pair).lanes();
                } else {
                    one_by_one(values, $one);
                }
            }
        )*

        impl Elementary {
            /// Replaces every value by the function of it.
            pub(crate) fn all(self, values: &mut [f64]) {
                let (pairs, rest) = values.as_chunks_mut::<2>();
                match self {
                    $(Self::$kind => {
                        pairs.iter_mut().for_each($name);
                        one_by_one(rest, $one);
                    })*
                }
            }
        }
    };
}

#[cold]
#[inline(never)]
fn one_by_one(values: &mut [f64], one: fn(f64) -> f64) {
    values.iter_mut().for_each(|value| *value = one(*value));
}

functions! {
    Exp exp: exponential::exp_holds, exponential::exp, libm::exp;
    Ln ln: logarithm::ln_holds, logarithm::ln, libm::log;
    Log1p log1p: logarithm::log1p_holds, logarithm::log1p, libm::log1p;
    Log10 log10: logarithm::ln_holds, logarithm::log10, libm::log10;
    Sin sin: circle::holds, circle::sin, libm::sin;
    Cos cos: circle::holds, circle::cos, libm::cos;
    Tanh tanh: exponential::tanh_holds, exponential::tanh, libm::tanh;
}

#[cfg(test)]
mod tests;
