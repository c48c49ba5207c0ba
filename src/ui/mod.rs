//! What the reader sees. Each file draws one part and reads the session's signals.

pub mod about;
pub mod header;
pub mod help;
pub mod home;
pub mod inspector;
pub mod notice;
pub mod side;
pub mod stage;
pub mod svg;
pub mod timeline;
pub mod transport;
