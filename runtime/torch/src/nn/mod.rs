//! The pieces of a decoder, each with its gradient in closed form.
//!
//! Training does not record an autograd graph: forward functions return what their backward functions need. That saves the
//! graph's memory and every operation that exists only for generality, and lets a block be recomputed at will. Tests compare
//! each gradient with libtorch's own.

pub mod attention;
pub mod head;
pub mod mlp;
pub mod norm;
pub mod rope;
