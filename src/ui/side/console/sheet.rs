//! The text that a line waits for: manifests for `-f`, or the object that `edit` opened.

use super::{Desk, Sheet};
use crate::model::console::edited;
use crate::web::place::point_at;
use leptos::html::Textarea;
use leptos::prelude::*;

pub fn sheet(desk: Desk, sheet: Sheet) -> impl IntoView {
    let lang = desk.session.lang;
    let area = NodeRef::<Textarea>::new();
    let said = RwSignal::new(String::new());
    let edits = sheet.before.is_some();
    let (text, line, before) = (sheet.text, sheet.line.clone(), sheet.before.unwrap_or_default());
    area.on_load(move |area| {
        area.set_value(&text);
        // An editor opens at the first line.
        point_at(&area, 1, 1);
    });
    let named = line.trim_start_matches("kubectl ").to_string();
    let close = move || desk.sheet.set(None);
    let done = move |_| {
        let Some(area) = area.get_untracked() else { return };
        match engine::manifest::parse_objects(&area.value()) {
            Ok(after) if edits => {
                close();
                // An empty file aborts the edit.
                if let Some(objects) = edited(before.clone(), after) {
                    desk.give(&line, objects);
                }
            }
            Ok(objects) if objects.is_empty() => said.set(lang.get_untracked().console().empty.to_string()),
            Ok(objects) => {
                close();
                desk.give(&line, objects);
            }
            Err(error) => {
                said.set(lang.get_untracked().misread(&error));
                point_at(&area, error.line, error.column);
            }
        }
    };
    let title = Signal::derive(move || {
        let text = lang.get().console();
        if edits { text.edit.to_string() } else { format!("{}: kubectl {}", text.paste, named) }
    });
    view! {
        <div class="sheet" role="group" aria-label=title>
            <p class="hint">{title}</p>
            <textarea node_ref=area data-testid="console-text" spellcheck="false" autocomplete="off" aria-label=title></textarea>
            <p class="said bad" role="alert">{move || said.get()}</p>
            <div class="row">
                <button class="main" data-testid="console-save" on:click=done>
                    {move || if edits { lang.get().console().save } else { lang.get().console().send }}
                </button>
                <button data-testid="console-cancel" on:click=move |_| close()>{move || lang.get().console().cancel}</button>
            </div>
        </div>
    }
}
