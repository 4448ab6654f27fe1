//! Functions that kernels call: those of the interpreter, so that results are equal bit for bit. Elementary functions
//! take both rows at once, the others one after the other. None of them panics.

use crate::elementary;
use crate::infix::divide_whole;
use cranelift_codegen::ir::{AbiParam, Signature, Type, types};
use cranelift_codegen::isa::CallConv;

/// A function outside a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outside {
    Exp,
    Ln,
    Log1p,
    Log10,
    Sin,
    Cos,
    Tanh,
    Pow,
    Remainder,
    DivideNanos,
}

impl Outside {
    pub(super) const ALL: [Self; 10] = [
        Self::Exp,
        Self::Ln,
        Self::Log1p,
        Self::Log10,
        Self::Sin,
        Self::Cos,
        Self::Tanh,
        Self::Pow,
        Self::Remainder,
        Self::DivideNanos,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Exp => "exp",
            Self::Ln => "ln",
            Self::Log1p => "log1p",
            Self::Log10 => "log10",
            Self::Sin => "sin",
            Self::Cos => "cos",
            Self::Tanh => "tanh",
            Self::Pow => "pow",
            Self::Remainder => "remainder",
            Self::DivideNanos => "divide_nanos",
        }
    }

    pub(super) fn address(self) -> *const u8 {
        match self {
            Self::Exp => exp as *const u8,
            Self::Ln => ln as *const u8,
            Self::Log1p => log1p as *const u8,
            Self::Log10 => log10 as *const u8,
            Self::Sin => sin as *const u8,
            Self::Cos => cos as *const u8,
            Self::Tanh => tanh as *const u8,
            Self::Pow => pow as *const u8,
            Self::Remainder => remainder as *const u8,
            Self::DivideNanos => divide_nanos as *const u8,
        }
    }

    /// Whether one call takes both rows.
    pub(super) fn takes_both(self) -> bool {
        !matches!(self, Self::Pow | Self::Remainder | Self::DivideNanos)
    }

    /// Types of the arguments, of which the first is that of the result; where it takes both rows, the address of
    /// their two values, which the results replace.
    pub(super) fn arguments(self) -> &'static [Type] {
        match self {
            Self::DivideNanos => &[types::I64, types::F64],
            Self::Pow | Self::Remainder => &[types::F64, types::F64],
            _ => &[types::I64],
        }
    }

    pub(super) fn signature(self, convention: CallConv) -> Signature {
        let mut signature = Signature::new(convention);
        signature.params.extend(self.arguments().iter().map(|ty| AbiParam::new(*ty)));
        if !self.takes_both() {
            signature.returns.extend(signature.params.first().copied());
        }
        signature
    }
}

extern "C" fn exp(both: &mut [f64; 2]) {
    elementary::exp(both);
}

extern "C" fn ln(both: &mut [f64; 2]) {
    elementary::ln(both);
}

extern "C" fn log1p(both: &mut [f64; 2]) {
    elementary::log1p(both);
}

extern "C" fn log10(both: &mut [f64; 2]) {
    elementary::log10(both);
}

extern "C" fn sin(both: &mut [f64; 2]) {
    elementary::sin(both);
}

extern "C" fn cos(both: &mut [f64; 2]) {
    elementary::cos(both);
}

extern "C" fn tanh(both: &mut [f64; 2]) {
    elementary::tanh(both);
}

extern "C" fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

extern "C" fn remainder(x: f64, y: f64) -> f64 {
    libm::fmod(x, y)
}

/// Zero for a zero divisor, where the kernel marks the row as missing.
extern "C" fn divide_nanos(nanos: i64, by: f64) -> i64 {
    divide_whole(nanos, by).unwrap_or(0)
}
