//! Keys that work everywhere on the page but not while somebody writes.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// A key of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Space,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    Help,
    Escape,
}

/// Elements that use keys themselves.
fn writes(event: &web_sys::KeyboardEvent, key: Key) -> bool {
    let Some(target) = event.target().and_then(|t| t.dyn_into::<web_sys::Element>().ok()) else { return false };
    match &*target.tag_name() {
        "TEXTAREA" | "SELECT" => key != Key::Escape,
        "INPUT" => key != Key::Escape,
        "BUTTON" | "A" | "SUMMARY" => key == Key::Space,
        _ => target.closest("[role=tablist],[role=listbox]").ok().flatten().is_some() && key != Key::Space,
    }
}

fn read(event: &web_sys::KeyboardEvent) -> Option<Key> {
    if event.is_composing() || event.key_code() == 229 || event.ctrl_key() || event.meta_key() || event.alt_key() {
        return None;
    }
    Some(match &*event.key() {
        " " => Key::Space,
        "ArrowLeft" => Key::Left,
        "ArrowRight" => Key::Right,
        "ArrowUp" => Key::Up,
        "ArrowDown" => Key::Down,
        "Home" => Key::Home,
        "End" => Key::End,
        "?" => Key::Help,
        "Escape" => Key::Escape,
        _ => return None,
    })
}

/// Calls back for each key of the page, with shift or without; the answer says whether the key was used.
pub fn listen(on: impl Fn(Key, bool) -> bool + 'static) {
    window_event_listener(ev::keydown, move |event| {
        if let Some(key) = read(&event)
            && !writes(&event, key)
            && on(key, event.shift_key())
        {
            event.prevent_default();
        }
    });
}
