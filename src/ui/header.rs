//! Name, scenario, language, theme, skin, link.

use crate::i18n::{Lang, Skin, Theme};
use crate::lessons;
use crate::route::Place;
use crate::session::use_session;
use leptos::prelude::*;

#[component]
fn Scenarios() -> impl IntoView {
    let session = use_session();
    let options = move || {
        let lang = session.lang.get().code();
        let title = |text: &str| {
            engine::scenario::Scenario::parse(text).map_or_else(|e| e.to_string(), |s| s.title.get(lang).to_string())
        };
        let library = engine::library::SCENARIOS.iter().map(|(name, text)| (*name, title(text)));
        let list: Vec<(&str, String)> = library.chain([("sandbox", session.t().sandbox.to_string())]).collect();
        let now = (session.edition.get(), session.read(|run| run.library.clone())).1;
        list.into_iter()
            .map(|(name, title)| view! { <option value=name selected=name == now>{title}</option> })
            .collect::<Vec<_>>()
    };
    view! {
        <label class="menu"><span>{move || session.t().scenario}</span>
            <select data-testid="scenario-menu" on:change=move |event| session.load_library(&event_target_value(&event))>
                {options}
            </select>
        </label>
    }
}

#[component]
fn Lessons() -> impl IntoView {
    let session = use_session();
    let options = move || {
        let (lang, here) = (session.lang.get(), session.lesson().map(|lesson| lesson.slug));
        let row = |lesson: &'static lessons::Lesson| {
            let name = format!("{} · {}", lesson.number, lessons::text(&lesson.name, lang));
            view! { <option value=lesson.slug selected=here == Some(lesson.slug)>{name}</option> }
        };
        lessons::all().map(row).collect::<Vec<_>>()
    };
    let none = move || session.lesson().is_none();
    view! {
        <label class="menu"><span>{move || session.h().lessons_menu}</span>
            <select data-testid="lesson-menu" on:change=move |event| session.go(Place::Lesson(event_target_value(&event)))>
                <option value="" disabled selected=none>{move || session.h().lessons_menu}</option>
                {options}
            </select>
        </label>
        <span class="slash" aria-hidden="true">"/"</span>
    }
}

#[component]
pub fn Header() -> impl IntoView {
    let session = use_session();
    let shared = RwSignal::new(false);
    let theme =
        move || if session.theme.get() == Theme::Dark { session.t().theme_light } else { session.t().theme_dark };
    let skin = move |skin: Skin| (session.skin.get() == skin).to_string();
    view! {
        <header>
            <svg width="24" height="24" viewBox="0 0 24 24" fill="none" aria-hidden="true">
                <path d="M4 12a8 8 0 0 1 14-5.3M18.5 2.5v4.6h-4.6" class="logo one"/>
                <path d="M20 12a8 8 0 0 1-14 5.3M5.5 21.5v-4.6h4.6" class="logo two"/>
            </svg>
            <h1>"OperatorScope"</h1>
            <Lessons/>
            <Scenarios/>
            <span class="gap"></span>
            <div class="seg" role="group" aria-label=move || session.t().view>
                <button aria-pressed=move || skin(Skin::Cluster) on:click=move |_| session.set_skin(Skin::Cluster)>
                    {move || session.t().view_cluster}
                </button>
                <button aria-pressed=move || skin(Skin::Kitchen) data-testid="kitchen" on:click=move |_| session.set_skin(Skin::Kitchen)>
                    {move || session.t().view_kitchen}
                </button>
            </div>
            <button data-testid="language" aria-label=move || session.t().language on:click=move |_| {
                session.set_lang(if session.lang.get_untracked() == Lang::Zh { Lang::En } else { Lang::Zh });
            }>{move || if session.lang.get() == Lang::Zh { "EN" } else { "中文" }}</button>
            <button data-testid="theme" on:click=move |_| session.set_theme(session.theme.get_untracked().other())>{theme}</button>
            <button aria-label=move || session.t().help on:click=move |_| session.help.update(|on| *on = !*on)>"?"</button>
            <button class="main" data-testid="share" title=move || session.t().share_hint on:click=move |_| {
                match session.share() {
                    Ok(_) => shared.set(true),
                    Err(error) => {
                        let text = session.lang.get_untracked().refusal(&error);
                        session.notice.set(Some(crate::session::Notice { text, offer: None }));
                    }
                }
            }>{move || if shared.get() { session.t().shared } else { session.t().share }}</button>
        </header>
    }
}
