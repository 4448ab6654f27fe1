//! Row expressions: the IR and its batch interpreter, which is the definition of what they mean.
pub mod ir;
