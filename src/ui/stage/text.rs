//! The instant as a list that can be read aloud.

use crate::model::objects::{rows, state};
use crate::session::use_session;
use engine::object::ObjectView;
use leptos::prelude::*;

#[component]
pub fn RunAsText() -> impl IntoView {
    let session = use_session();
    let lines = move || {
        let (scene, text) = (session.scene.get(), session.t());
        rows(&scene)
            .iter()
            .map(|(_, object)| {
                let word = match state(object).class() {
                    "ready" => text.ready,
                    "starting" => text.starting,
                    "leaving" => text.leaving,
                    "failed" => text.failed,
                    _ => text.plain,
                };
                view! { <li>{format!("{} {}: {word}", object.kind(), object.name())}</li> }
            })
            .collect::<Vec<_>>()
    };
    view! { <ul class="aloud" aria-label=move || session.t().run_as_text>{lines}</ul> }
}
