//! The manifest editor: several documents, faults with their place.

use crate::session::use_session;
use crate::web::place::point_at;
use engine::command::Command;
use leptos::html::Textarea;
use leptos::prelude::*;

#[component]
pub fn Manifest() -> impl IntoView {
    let session = use_session();
    let area = NodeRef::<Textarea>::new();
    let said = RwSignal::new((String::new(), false));
    let apply = move |_| {
        let Some(area) = area.get_untracked() else { return };
        match engine::manifest::parse_objects(&area.value()) {
            Ok(manifests) => {
                let names: Vec<String> = manifests
                    .iter()
                    .map(|m| {
                        use engine::object::ObjectView;
                        format!("{}/{}", m.kind(), m.name())
                    })
                    .collect();
                said.set((format!("{} {}", session.t().applied, names.join(", ")), false));
                session.submit(Command::Apply { manifests });
                session.play();
            }
            Err(error) => {
                said.set((session.lang.get_untracked().misread(&error), true));
                point_at(&area, error.line, error.column);
            }
        }
    };
    view! {
        <h3>{move || session.t().manifest}</h3>
        <p class="hint">{move || session.t().manifest_hint}</p>
        <textarea node_ref=area data-testid="manifest-editor" spellcheck="false" autocomplete="off" rows="9"
            aria-label=move || session.t().manifest_label></textarea>
        <button class="main" data-testid="manifest-apply" on:click=apply>{move || session.t().apply}</button>
        <p class="said" class:bad=move || said.get().1 role="status" data-testid="manifest-said">{move || said.get().0}</p>
    }
}
