//! The one trainer: `train.fit`, as steps that a worker takes in turn with those of other members.

pub mod checkpoint;
pub mod curve;
pub mod fit;
pub mod order;
pub mod run;
pub mod settings;
