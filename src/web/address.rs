//! The address and the clipboard.

use wasm_bindgen::{JsCast, JsValue};

/// The fragment without its mark.
#[must_use]
pub fn fragment() -> String {
    let hash = web_sys::window().and_then(|w| w.location().hash().ok()).unwrap_or_default();
    hash.trim_start_matches('#').to_string()
}

/// The query without its mark.
#[must_use]
pub fn query() -> String {
    let search = web_sys::window().and_then(|w| w.location().search().ok()).unwrap_or_default();
    search.trim_start_matches('?').to_string()
}

/// Goes to an address with a step in the history, unless it is there already or the view forbids it.
pub fn push(address: &str) {
    if let Some(window) = web_sys::window()
        && window.location().href().is_ok_and(|here| here != address)
        && let Ok(history) = window.history()
    {
        let _ = history.push_state_with_url(&JsValue::NULL, "", Some(address));
    }
}

/// Calls back when the reader goes back or forward, or writes another fragment into the bar.
pub fn on_travel(run: impl Fn() + 'static) {
    leptos::prelude::window_event_listener(leptos::ev::popstate, move |_| run());
}

/// The whole address with another fragment.
#[must_use]
pub fn with_fragment(fragment: &str) -> String {
    let href = web_sys::window().and_then(|w| w.location().href().ok()).unwrap_or_default();
    let base = href.split('#').next().unwrap_or("");
    if fragment.is_empty() { base.to_string() } else { format!("{base}#{fragment}") }
}

/// Puts an address into the bar without a step in the history. Some views forbid it; then the bar stays as it is.
pub fn replace(address: &str) {
    if let Some(history) = web_sys::window().and_then(|w| w.history().ok()) {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(address));
    }
}

/// Asks for the clipboard. Where it is refused the address bar still has the link.
pub fn copy(text: &str) {
    if let Some(window) = web_sys::window()
        && js_sys::Reflect::has(&window.navigator(), &"clipboard".into()).unwrap_or(false)
        && !window.navigator().clipboard().is_undefined()
    {
        // A refusal is an answer, not an error for the console.
        let refused = wasm_bindgen::closure::Closure::once_into_js(|_: JsValue| {});
        let written = window.navigator().clipboard().write_text(text);
        let catch =
            js_sys::Reflect::get(&written, &"catch".into()).ok().and_then(|c| c.dyn_into::<js_sys::Function>().ok());
        if let Some(catch) = catch {
            let _ = catch.call1(&written, &refused);
        }
    }
}
