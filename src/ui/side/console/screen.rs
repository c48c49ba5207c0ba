//! What was typed and printed so far.

use super::Desk;
use crate::model::console::{Spoken, Voice, cut};
use crate::web;
use leptos::html::Div;
use leptos::prelude::*;

fn part(spoken: &Spoken) -> (&'static str, String) {
    let (text, more) = cut(&spoken.text);
    let text = if more { format!("{text}\n…") } else { text };
    match spoken.voice {
        Voice::Typed if &*spoken.text == "^C" => ("typed", text),
        Voice::Typed => ("typed", format!("$ kubectl {}", text.trim_start_matches("kubectl "))),
        Voice::Out => ("out", text),
        Voice::Err => ("err", text),
    }
}

pub fn screen(desk: Desk) -> impl IntoView {
    let session = desk.session;
    let list = NodeRef::<Div>::new();
    Effect::new(move |_| {
        desk.said.track();
        web::next_frame(move || {
            if let Some(list) = list.get_untracked() {
                web::caret::to_end(&list);
            }
        });
    });
    let shown = Memo::new(move |_| {
        let (said, cleared) = (desk.said.get(), desk.cleared.get());
        session.edition.track();
        session.read(|run| {
            let (parts, more) = run.transcript.shown(cleared, said);
            (parts.iter().map(part).collect::<Vec<_>>(), more)
        })
    });
    let earlier = move || shown.with(|(_, more)| if *more { session.lang.get().console().earlier } else { "" });
    let parts = move || {
        shown.with(|(parts, _)| {
            parts.iter().map(|(class, text)| view! { <pre class=*class>{text.clone()}</pre> }).collect::<Vec<_>>()
        })
    };
    view! {
        <p class="hint">{earlier}</p>
        <div class="screen" role="log" tabindex="0" node_ref=list data-testid="console-output"
            aria-label=move || session.lang.get().console().output>{parts}</div>
    }
}
