//! What the reader is told above the stage, with a way out.

use crate::session::use_session;
use leptos::prelude::*;

#[component]
pub fn Bar() -> impl IntoView {
    let session = use_session();
    let offer = move |name: String| {
        view! { <button data-testid="open-without" on:click=move |_| session.load_library(&name)>{session.t().open_without}</button> }
    };
    move || {
        session.notice.get().map(|notice| {
            view! {
                <div class="notice" role="alert" data-testid="notice">
                    <span>{notice.text}</span>
                    {notice.offer.map(offer)}
                    <button aria-label=session.t().close on:click=move |_| session.notice.set(None)>"×"</button>
                </div>
            }
        })
    }
}
