//! The line being typed: history, completion, Ctrl-C.

use super::Desk;
use crate::model::console::filled;
use crate::web::caret;
use engine::kubectl::complete;
use leptos::ev::KeyboardEvent;
use leptos::html::Input;
use leptos::prelude::*;

/// What a key does to the line.
enum Act {
    Enter,
    Complete,
    Older,
    Newer,
    Interrupt,
    Clear,
    Leave,
}

fn act(event: &KeyboardEvent) -> Option<Act> {
    // A word that an input method is putting together is its own business.
    if event.is_composing() || event.key_code() == 229 || event.alt_key() || event.meta_key() {
        return None;
    }
    Some(match (&*event.key(), event.ctrl_key()) {
        ("Enter", false) => Act::Enter,
        ("Tab", false) if !event.shift_key() => Act::Complete,
        ("ArrowUp", false) => Act::Older,
        ("ArrowDown", false) => Act::Newer,
        ("Escape", false) => Act::Leave,
        ("c", true) => Act::Interrupt,
        ("l", true) => Act::Clear,
        _ => return None,
    })
}

/// Does what a key asks for; answers whether the key was used.
fn carry_out(desk: Desk, offered: RwSignal<Vec<String>>, line: NodeRef<Input>, act: &Act) -> bool {
    let Some(input) = line.get_untracked() else { return false };
    let (text, at, selected) = caret::read(&input);
    match act {
        Act::Enter => {
            caret::write(&input, "", 0);
            offered.set(Vec::new());
            desk.enter(&text);
        }
        Act::Complete if text.is_empty() => return false,
        Act::Complete => {
            let words = desk.session.read(|run| complete(&text, at, &run.recording.world_now()));
            if let Some((text, at)) = filled(&text, at, &words) {
                caret::write(&input, &text, at);
            }
            offered.set(if words.len() > 1 { words } else { Vec::new() });
        }
        Act::Older | Act::Newer => {
            let older = matches!(act, Act::Older);
            let found = desk.history.try_update_value(|h| {
                let found = if older { h.older(&text) } else { h.newer() };
                found.map(ToString::to_string)
            });
            if let Some(text) = found.flatten() {
                caret::write(&input, &text, text.len());
            }
        }
        // With something selected the keys copy.
        Act::Interrupt if selected => return false,
        Act::Interrupt => {
            caret::write(&input, "", 0);
            offered.set(Vec::new());
            desk.interrupt();
        }
        Act::Clear => desk.clear(),
        Act::Leave => {
            offered.set(Vec::new());
            caret::leave(&input);
        }
    }
    true
}

pub fn prompt(desk: Desk) -> impl IntoView {
    let text = move || desk.session.lang.get().console();
    let line = NodeRef::<Input>::new();
    let offered = RwSignal::new(Vec::<String>::new());
    let words = move || offered.with(|words| words.iter().map(|w| view! { <b>{w.clone()}</b> }).collect::<Vec<_>>());
    view! {
        <div class="prompt">
            <span aria-hidden="true">"$"</span>
            <input node_ref=line data-testid="console-line" type="text" placeholder="kubectl get pods" spellcheck="false" autocomplete="off"
                autocapitalize="off" aria-label=move || text().label
                on:keydown=move |event| {
                    if act(&event).is_some_and(|act| carry_out(desk, offered, line, &act)) {
                        event.prevent_default();
                        event.stop_propagation();
                    }
                }/>
            <button class="main" data-testid="console-run" on:click=move |_| {
                carry_out(desk, offered, line, &Act::Enter);
            }>{move || text().run}</button>
        </div>
        <p class="offered" role="status" data-testid="console-offered">
            {move || if offered.with(Vec::is_empty) { "" } else { text().offered }}" "{words}
        </p>
    }
}
