//! Schemas of custom resources: parsing, pruning, defaulting, validation.

pub mod field;
pub mod pattern;
pub mod structural;
