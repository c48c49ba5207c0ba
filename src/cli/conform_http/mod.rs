//! Plays recorded conformance cases against the model's REST interface in virtual time.
//!
//! A case is a list of steps. [`play`] walks them over a [`Cluster`]: the bare API server here, a whole world with controllers
//! elsewhere. The first difference from the recording fails the case.

mod answer;
mod cluster;
mod path;
mod play;
mod settled;
mod tokens;
mod world;

pub use cluster::Bare;
pub use play::play;
pub use world::Whole;
