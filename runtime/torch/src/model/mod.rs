//! Llama-type decoders: shape, weights, forward and gradient, and the folders that Hugging Face transformers loads.

pub mod block;
pub mod config;
pub mod decoder;
pub mod folder;
pub mod init;
pub mod layout;
pub mod make;
pub mod package;
