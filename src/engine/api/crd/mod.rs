//! Custom resource definitions: what one says, what the server makes of it, and how it lives and dies.
//!
//! Flow: a stored definition is parsed once into a [`Definition`], which routing, decoding and validation read;
//! [`strategy`] fills in what a written one leaves out; [`lifecycle`] says what the server's own controllers do next.
//!
//! Divergence from Kubernetes: no conversion webhook runs inside the model, so each one is as good as dead; a create
//! right after establishing is not held back for two seconds; the check for left-over objects never gives up.

pub mod convert;
mod definition;
pub mod lifecycle;
pub mod names;
pub mod strategy;
pub mod validate;

pub use definition::{Column, Conversion, Definition, Names, Scale, Version};
