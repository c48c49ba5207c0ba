//! Keys, and what this is.

use crate::session::use_session;
use leptos::prelude::*;

#[component]
pub fn Help() -> impl IntoView {
    let session = use_session();
    let keys = move || {
        let t = session.t();
        [
            ("Space", t.key_space),
            ("← →", t.key_arrows),
            ("Shift ← →", t.key_shift),
            ("↑ ↓", t.key_speed),
            ("Home End", t.key_ends),
            ("?", t.key_help),
        ]
        .map(|(key, does)| view! { <dt><kbd>{key}</kbd></dt><dd>{does}</dd> })
        .into_iter()
        .collect::<Vec<_>>()
    };
    move || {
        session.help.get().then(|| {
            view! {
                <div class="help" role="dialog" aria-modal="false" aria-label=session.t().help>
                    <h2>{session.t().help}</h2>
                    <p>{session.t().about}</p>
                    <dl>{keys()}</dl>
                    <button data-testid="about-open" on:click=move |_| {
                        session.help.set(false);
                        session.go(crate::route::Place::About);
                    }>{session.h().about}</button>
                    <button autofocus on:click=move |_| session.help.set(false)>{session.t().close}</button>
                </div>
            }
        })
    }
}
