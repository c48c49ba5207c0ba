//! The inspector: the object, the events, the reasons.

mod events;
mod object;
mod why;

use crate::i18n::Text;
use crate::session::use_session;
use leptos::prelude::*;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tab {
    Object,
    Events,
    Why,
}

#[component]
pub fn Inspector() -> impl IntoView {
    let session = use_session();
    let tab = RwSignal::new(Tab::Object);
    let head = move |value: Tab, test: &'static str, words: fn(&Text) -> &'static str| {
        view! {
            <button role="tab" data-testid=test aria-selected=move || (tab.get() == value).to_string()
                on:click=move |_| tab.set(value)>{move || words(session.t())}</button>
        }
    };
    view! {
        <div class="tabs" role="tablist">
            {head(Tab::Object, "tab-object", |t| t.object)}
            {head(Tab::Events, "tab-events", |t| t.log)}
            {head(Tab::Why, "tab-why", |t| t.why)}
        </div>
        {move || match tab.get() {
            Tab::Object => view! { <object::ObjectPane/> }.into_any(),
            Tab::Events => view! { <events::Events/> }.into_any(),
            Tab::Why => view! { <why::Why/> }.into_any(),
        }}
    }
}
