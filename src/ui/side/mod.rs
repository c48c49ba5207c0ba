//! What to look at, and what can be done: one tab a room. A room stays built while another is shown, so that nothing
//! written in it is lost.

mod console;
mod faults;
mod lesson;
mod manifest;

use crate::i18n::Lang;
use crate::session::use_session;
use leptos::prelude::*;

/// A room: its name, and its words on the tab.
type Room = (&'static str, fn(Lang) -> &'static str);

/// In the order of their tabs.
const ROOMS: [Room; 3] =
    [("break", |l| l.text().break_it), ("manifest", |l| l.text().manifest), ("kubectl", |_| "kubectl")];

#[component]
pub fn Side() -> impl IntoView {
    let session = use_session();
    let of_scenario = move |intro: bool| {
        let lang = session.lang.get().code();
        session.edition.track();
        session.read(|run| {
            let text = if intro { &run.scenario.intro } else { &run.scenario.title };
            text.get(lang).to_string()
        })
    };
    let shown = RwSignal::new(ROOMS[0].0);
    let tab = move |(name, words): Room| {
        view! {
            <button role="tab" id=format!("tab-{name}") data-testid=format!("side-{name}") aria-controls=format!("room-{name}")
                aria-selected=move || (shown.get() == name).to_string() on:click=move |_| shown.set(name)>
                {move || words(session.lang.get())}
            </button>
        }
    };
    let room = move |name: &'static str, inside: AnyView| {
        view! {
            <div class="room" role="tabpanel" id=format!("room-{name}") data-room=name aria-labelledby=format!("tab-{name}")
                hidden=move || shown.get() != name>{inside}</div>
        }
    };
    let lesson = Memo::new(move |_| session.lesson().map(|lesson| lesson.number));
    view! {
        {move || match lesson.get() {
            Some(number) => {
                let lesson = crate::lessons::all().find(|lesson| lesson.number == number);
                lesson.map(|lesson| view! { <lesson::LessonPanel lesson/> }).into_any()
            }
            None => view! {
                <h2>{move || of_scenario(false)}</h2>
                <p class="intro">{move || of_scenario(true)}</p>
            }
            .into_any(),
        }}
        {move || (session.skin.get() == crate::i18n::Skin::Kitchen).then(|| view! { <crate::ui::home::TwoViews/> })}
        <div class="tabs" role="tablist" aria-label=move || session.lang.get().console().tabs>
            {ROOMS.map(tab).to_vec()}
        </div>
        {room("break", view! { <faults::Faults/> }.into_any())}
        {room("manifest", view! { <manifest::Manifest/> }.into_any())}
        {room("kubectl", view! { <console::Console/> }.into_any())}
    }
}
