//! The plan for people and programs.
