//! What the page shows to tests and to pages that embed it.

use js_sys::{Object, Reflect};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = mark)]
    fn performance_mark(name: &str) -> JsValue;
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    pub fn performance_now() -> f64;
}

/// Marks that the page answers to input, and puts away what stood there before.
pub fn mark_ready() {
    if let Some(boot) = leptos::prelude::document().get_element_by_id("boot") {
        let _ = boot.set_attribute("hidden", "");
    }
    drop(performance_mark("operatorscope:ready"));
}

/// Makes `window.operatorscope` with the hash and the time at the cursor.
pub fn offer(trace_hash: impl Fn() -> String + 'static, time: impl Fn() -> f64 + 'static) {
    let Some(window) = web_sys::window() else { return };
    let api = Object::new();
    let hash = Closure::<dyn Fn() -> String>::new(trace_hash).into_js_value();
    let time = Closure::<dyn Fn() -> f64>::new(time).into_js_value();
    let _ = Reflect::set(&api, &"traceHash".into(), &hash);
    let _ = Reflect::set(&api, &"time".into(), &time);
    let _ = Reflect::set(&window, &"operatorscope".into(), &api);
}
