//! `pipe watch`: every way of saving is noticed, nothing else is, and what runs is what a change concerns.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

mod busy;
mod edits;
mod saves;
mod watched;
