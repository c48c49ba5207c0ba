//! Who owns which field, and what an apply makes of that.

pub mod set;
pub mod typed;
