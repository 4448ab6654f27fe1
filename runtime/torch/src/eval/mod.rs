//! Judging models.

pub mod perplexity;
