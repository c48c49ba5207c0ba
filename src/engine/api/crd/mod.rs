//! Custom resource definitions: reading one, its way from accepted names to being served, and conversion between its
//! versions.
//!
//! Divergence from Kubernetes: a conversion webhook is not called; its versions convert by changing `apiVersion` only.

pub mod convert;
mod definition;
pub mod lifecycle;
pub mod validate;

pub use definition::{Definition, Names, Scale, Version};
