//! Schemas of custom resources: parsing, pruning, defaulting, validation.

pub mod cel;
pub mod field;
pub mod format;
pub mod names;
pub mod number;
pub mod pattern;
pub mod ratchet;
pub mod structural;
pub mod validate;
