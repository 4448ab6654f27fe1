//! Reports: one HTML file, readable in light and dark, with its pictures inside and nothing from elsewhere.

mod detection;
mod page;
mod plot;
mod show;
mod training;

pub(crate) use detection::detection;
pub(crate) use training::training;
