//! Parts of controllers that need no world: what a result does to the queue, which events pass, what they enqueue,
//! leader election, the event recorder, expectations, conditions, owner references.
//!
//! Divergence from Kubernetes: see each module.

pub mod conditions;
pub mod correlator;
pub mod event_recorder;
pub mod expectations;
pub mod handler;
pub mod leader_election;
pub mod lease;
pub mod lru;
pub mod metrics;
pub mod owner_reference;
pub mod predicate;
pub mod result;
pub mod trigger;
