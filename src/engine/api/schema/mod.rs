//! Schemas of custom resources: parsing, pruning, defaulting, validation.

pub mod field;
