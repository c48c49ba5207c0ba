//! The first minute: what this is in one line, over a run that is already alive, and three ways on.

use crate::route::Place;
use crate::session::use_session;
use leptos::prelude::*;

#[component]
pub fn Hero() -> impl IntoView {
    let session = use_session();
    move || {
        (session.place.get() == Place::Home).then(|| {
            let h = session.h();
            let way = |test: &'static str, name: &'static str, hint: &'static str, go: fn(crate::session::Session)| {
                view! {
                    <button class="way-on" data-testid=test on:click=move |_| go(session)><b>{name}</b><small>{hint}</small></button>
                }
            };
            view! {
                <section class="hero" data-testid="home">
                    <div><h2>{h.headline}</h2><p>{h.promise}</p></div>
                    <nav>
                        {way("home-lessons", h.lessons, h.lessons_hint, |s| s.go(Place::Lesson("control-loop".to_string())))}
                        {way("home-sandbox", h.sandbox, h.sandbox_hint, |s| s.go(Place::Sandbox))}
                        {way("home-break", h.break_it, h.break_hint, |s| s.break_something())}
                    </nav>
                </section>
            }
        })
    }
}

/// The machine and the kitchen, word by word.
#[component]
pub fn TwoViews() -> impl IntoView {
    let session = use_session();
    move || {
        let h = session.h();
        let rows = h
            .two_views
            .iter()
            .map(|row| view! { <tr><th scope="row">{row[1]}</th><td>{row[0]}</td><td>{row[2]}</td></tr> });
        view! {
            <details class="views" data-testid="two-views">
                <summary>{h.views_title}</summary>
                <table>
                    <thead><tr><th>{h.kitchen}</th><th>{h.machine}</th><th>{h.meaning}</th></tr></thead>
                    <tbody>{rows.collect::<Vec<_>>()}</tbody>
                </table>
            </details>
        }
    }
}
