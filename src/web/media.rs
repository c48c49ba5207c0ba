//! What the reader's machine prefers, and the marks on the document that follow the page's settings.

use leptos::ev;
use leptos::prelude::*;

#[must_use]
pub fn matches(query: &str) -> bool {
    web_sys::window().and_then(|w| w.match_media(query).ok().flatten()).is_some_and(|m| m.matches())
}

#[must_use]
pub fn reduced_motion() -> bool {
    matches("(prefers-reduced-motion: reduce)")
}

#[must_use]
pub fn prefers_dark() -> bool {
    matches("(prefers-color-scheme: dark)")
}

#[must_use]
pub fn prefers_chinese() -> bool {
    web_sys::window().and_then(|w| w.navigator().language()).is_some_and(|l| l.starts_with("zh"))
}

/// The stage has to fit a phone.
#[must_use]
pub fn narrow() -> bool {
    matches("(max-width: 699px)")
}

/// Calls back when the window's size changes.
pub fn on_resize(run: impl Fn() + 'static) {
    window_event_listener(ev::resize, move |_| run());
}

/// Calls back when nobody sees the page any more.
pub fn on_hidden(run: impl Fn() + 'static) {
    document_event_listener(move || {
        if document().hidden() {
            run();
        }
    });
}

fn document_event_listener(run: impl Fn() + 'static) {
    use wasm_bindgen::JsCast;
    let listener = wasm_bindgen::closure::Closure::<dyn Fn()>::new(run).into_js_value();
    let _ = document().add_event_listener_with_callback("visibilitychange", listener.unchecked_ref());
}

/// Sets an attribute of the document's root.
pub fn mark_root(name: &str, value: &str) {
    if let Some(root) = document().document_element() {
        let _ = root.set_attribute(name, value);
    }
}

pub fn title(text: &str) {
    document().set_title(text);
}
