//! Play, step, speed; where the cursor stands.

use crate::model::number::{seconds, speed};
use crate::session::use_session;
use engine::recording::{Direction, Unit};
use engine::time::SimTime;
use leptos::prelude::*;

#[component]
pub fn Transport() -> impl IntoView {
    let session = use_session();
    let unit = RwSignal::new(Unit::Event);
    let step = move |direction: Direction| session.step(direction, unit.get_untracked());
    let play = move || if session.playing.get() { session.t().pause } else { session.t().play };
    let set_speed = move |event| {
        if let Ok(value) = event_target_value(&event).parse() {
            session.speed.set(value);
        }
    };
    let where_it_is = move || {
        let e = session.extent.get();
        format!("{} {}/{}", session.t().event_of, e.cursor, e.known)
    };
    let choice = move |value: Unit, test: &'static str, words: fn(&crate::i18n::Text) -> &'static str| {
        view! {
            <button class="unit" data-testid=test aria-pressed=move || (unit.get() == value).to_string()
                on:click=move |_| unit.set(value)>{move || words(session.t())}</button>
        }
    };
    view! {
        <div class="transport">
            <div class="buttons">
                <button class="round" aria-label=move || session.t().start on:click=move |_| session.visit(SimTime::ZERO)>"|◀"</button>
                <button class="round" data-testid="step-back" aria-label=move || session.t().step_back on:click=move |_| step(Direction::Back)>"◀"</button>
                <button class="round play" data-testid="play" aria-label=play on:click=move |_| session.toggle()>
                    {move || if session.playing.get() { "❚❚" } else { "▶" }}
                </button>
                <button class="round" data-testid="step" aria-label=move || session.t().step on:click=move |_| step(Direction::Forward)>"▶|"</button>
                <label class="speed"><span>{move || speed(session.speed.get())}</span>
                    <input type="range" min="-6" max="6" step="1" data-testid="speed" aria-label=move || session.t().speed
                        prop:value=move || session.speed.get().to_string()
                        on:input=set_speed/>
                </label>
            </div>
            <p class="mono"><span data-testid="status-time">{move || format!("t = {} s", seconds(session.now.get()))}</span>" · "
                <span data-testid="status-event">{where_it_is}</span></p>
            <div class="units" role="group" aria-label=move || session.t().step>
                {choice(Unit::Event, "by-event", |t| t.by_event)}
                {choice(Unit::Reconcile, "by-reconcile", |t| t.by_reconcile)}
                {choice(Unit::Quiet, "until-quiet", |t| t.until_quiet)}
                {move || (session.extent.get().branches > 0).then(|| view! {
                    <button class="unit" data-testid="other-future" on:click=move |_| session.other_future()>{session.t().other_future}</button>
                })}
            </div>
            <p class="mono hash" data-testid="status-hash">{move || { session.extent.track(); session.trace_hash() }}</p>
        </div>
    }
}
