//! The only files that name the browser. Everything that can be refused (storage, clipboard, history) is allowed to fail.

pub mod address;
pub mod caret;
pub mod expose;
pub mod keys;
pub mod media;
pub mod place;
pub mod store;

use leptos::prelude::*;

/// Milliseconds of real time since the page began.
pub fn clock() -> f64 {
    expose::performance_now()
}

/// Calls back on the next picture.
pub fn next_frame(run: impl FnOnce() + 'static) {
    request_animation_frame(run);
}

/// Calls back when the browser has a moment.
pub fn soon(run: impl FnOnce() + 'static) {
    set_timeout(run, std::time::Duration::ZERO);
}
