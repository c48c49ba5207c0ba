//! Processes: programs outside the API server, each with its own identity, caches, queues and workers.

pub mod context;
pub mod controller;
pub mod memory;
