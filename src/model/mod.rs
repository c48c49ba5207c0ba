//! What the page works out from records before it draws: pure, without a browser.

pub mod console;
pub mod diff;
pub mod gauge;
pub mod kitchen;
pub mod lanes;
pub mod number;
pub mod objects;
pub mod place;
pub mod same;
