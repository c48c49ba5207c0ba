//! The address and the clipboard.

use wasm_bindgen::{JsCast, JsValue};

/// The fragment without its mark.
#[must_use]
pub fn fragment() -> String {
    let hash = web_sys::window().and_then(|w| w.location().hash().ok()).unwrap_or_default();
    hash.trim_start_matches('#').to_string()
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
