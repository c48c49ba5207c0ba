//! The API server: REST in, REST out, no clock of its own.

pub mod apply;
pub mod crd;
pub mod discovery;
pub mod kinds;
pub mod message;
pub mod meta;
pub mod patch;
pub mod rbac;
pub mod resource;
pub mod route;
pub mod schema;
pub mod selector;
pub mod server;
pub mod status;
