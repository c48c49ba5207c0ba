//! The API server: REST in, REST out, no clock of its own.

pub mod message;
pub mod schema;
pub mod status;
