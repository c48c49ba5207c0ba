//! The client side of a cluster: shared informers and the request limiter, as machines without input or output.
//!
//! Divergence from Kubernetes: see each module.

pub mod backoff;
pub mod call;
pub mod fifo;
pub mod flowcontrol;
pub mod handler;
pub mod indexer;
pub mod informer;
pub mod reflector;
#[cfg(test)]
mod tests;
