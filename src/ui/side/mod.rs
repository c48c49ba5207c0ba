//! What to look at, what to break, what to apply.

mod faults;
mod manifest;

use crate::session::use_session;
use leptos::prelude::*;

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
    view! {
        <h2>{move || of_scenario(false)}</h2>
        <p class="intro">{move || of_scenario(true)}</p>
        {move || (session.skin.get() == crate::i18n::Skin::Kitchen).then(|| view! { <crate::ui::home::TwoViews/> })}
        <faults::Faults/>
        <manifest::Manifest/>
    }
}
