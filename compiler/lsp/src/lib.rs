//! The language server of `.pipe` files: editor requests answered from grammar and compiler.
//!
//! It reads files through the compiler's `Host`, runs nothing, and knows no store: what is cached it learns from a
//! [`CacheView`] that the program around it implements.

/// What an editor may show of the store beside each node.
pub trait CacheView {}
