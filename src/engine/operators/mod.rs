//! Operators that live in the model. Their code is what learners read, beside the same logic in Go, Rust and Python.

pub mod bucket;
pub mod kitchen;
pub mod lab;
pub mod redis;
mod support;
pub mod webapp;

use crate::process::controller::Controller;
use std::sync::Arc;

/// Names under which scenarios ask for operators.
pub const NAMES: [&str; 4] = ["kitchen", "redis", "webapp", "bucket"];

/// The operator called `name`.
#[must_use]
pub fn named(name: &str) -> Option<Arc<dyn Controller>> {
    match name {
        "kitchen" => Some(Arc::new(kitchen::Kitchen)),
        "redis" => Some(Arc::new(redis::Redis)),
        "webapp" => Some(Arc::new(webapp::WebApps)),
        "bucket" => Some(Arc::new(bucket::Buckets)),
        other => lab::named(other),
    }
}
