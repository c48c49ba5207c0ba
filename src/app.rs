//! The page: header, lesson and faults, stage, inspector, timeline.

use crate::session::Session;
use crate::ui::{about, header, help, home, inspector, notice, side, stage, timeline, transport};
use crate::web;
use leptos::prelude::*;

#[component]
pub fn App() -> impl IntoView {
    let session = Session::boot();
    provide_context(session);
    Effect::new(move |_| {
        let name = session.edition.get();
        let title = session.read(|run| run.scenario.title.get(session.lang.get().code()).to_string());
        web::media::title(&format!("{title} · OperatorScope"));
        if name > 0 {
            web::next_frame(web::expose::mark_ready);
        }
    });
    view! {
        <header::Header/>
        <notice::Bar/>
        <home::Hero/>
        <div class="page">
            <aside class="side" aria-label=move || session.t().side><side::Side/></aside>
            <main><stage::Stage/></main>
            <aside class="inspector" data-testid="inspector" aria-label=move || session.t().inspector>
                <inspector::Inspector/>
            </aside>
            <footer><transport::Transport/><timeline::Timeline/></footer>
        </div>
        <help::Help/>
        <about::About/>
    }
}
