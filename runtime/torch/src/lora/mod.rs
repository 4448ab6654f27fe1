//! Low-rank adapters (Hu et al. 2021): a frozen base and, beside chosen linear modules, two small matrices.

pub mod adapter;
pub mod init;
