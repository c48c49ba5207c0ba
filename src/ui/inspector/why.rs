//! What led to a record, and what it woke.

use crate::model::number::seconds;
use crate::session::use_session;
use engine::ids::EventId;
use leptos::prelude::*;

#[component]
pub fn Why() -> impl IntoView {
    let session = use_session();
    let row = move |id: EventId| {
        let lang = session.lang.get();
        let index = usize::try_from(id.0).ok()?.checked_sub(1)?;
        let (at, words) = session.with_record(index, |r| (r.at, lang.sentence(&r.event)))?;
        Some(view! {
            <li><button class="event" on:click=move |_| session.visit_record(id)>
                <span class="mono">{seconds(at)}</span>{words}
            </button></li>
        })
    };
    let body = move || {
        let Some(id) = session.record.get() else {
            return view! { <p class="hint">{session.t().no_record}</p> }.into_any();
        };
        let (causes, woke) = session.read(|run| (run.recording.causes(id), run.recording.led_to(id)));
        let before: Vec<_> = causes.into_iter().rev().filter(|c| *c != id).filter_map(row).collect();
        let after: Vec<_> = woke.into_iter().filter(|c| *c != id).filter_map(row).collect();
        let none = before.is_empty().then(|| view! { <p class="hint">{session.t().root}</p> });
        view! {
            <h3>{session.t().led_here}</h3>{none}<ol class="chain">{before}</ol>
            <ol class="chain here">{row(id)}</ol>
            <h3>{session.t().woke}</h3><ol class="chain">{after}</ol>
        }
        .into_any()
    };
    view! { <div class="why" data-testid="why">{body}</div> }
}
