//! The log in words; only what can be seen is built.

use crate::model::number::seconds;
use crate::session::use_session;
use leptos::html::Div;
use leptos::prelude::*;

const ROW: usize = 40;
/// Rows built beyond the visible ones.
const MARGIN: usize = 6;

#[component]
pub fn Events() -> impl IntoView {
    let session = use_session();
    let list = NodeRef::<Div>::new();
    let top = RwSignal::new(None::<usize>);
    let shown = move || {
        session.lanes.track();
        let cursor = session.extent.with(|e| e.cursor);
        session.read(|run| (run.lanes.calm.len(), run.lanes.calm_before(cursor)))
    };
    // Follows the cursor unless the reader scrolls away while nothing plays.
    Effect::new(move |_| {
        let (_, before) = shown();
        if let Some(list) = list.get() {
            let height = usize::try_from(list.client_height()).unwrap_or(0);
            list.set_scroll_top(i32::try_from((before * ROW).saturating_sub(height / 2)).unwrap_or(i32::MAX));
        }
    });
    let rows = move || {
        let (all, before) = shown();
        let height = list.get().map_or(600, |l| usize::try_from(l.client_height()).unwrap_or(600));
        let first = (top.get().unwrap_or(0) / ROW).saturating_sub(MARGIN);
        let last = (first + height / ROW + 2 * MARGIN).min(all);
        let lang = session.lang.get();
        (first..last)
            .filter_map(|place| {
                let index = session.read(|run| run.lanes.calm.get(place).copied())? as usize;
                let (id, at, words) = session.with_record(index, |r| (r.id, r.at, lang.sentence(&r.event)))?;
                let class = if place + 1 == before {
                    "event now"
                } else if place >= before {
                    "event later"
                } else {
                    "event"
                };
                let style = format!("top:{}px", place * ROW);
                Some(view! {
                    <button class=class style=style on:click=move |_| session.visit_record(id)>
                        <span class="mono">{seconds(at)}</span>{words}
                    </button>
                })
            })
            .collect::<Vec<_>>()
    };
    view! {
        <div class="log" data-testid="event-log" node_ref=list aria-label=move || session.t().log_hint tabindex="0"
            on:scroll=move |_| top.set(list.get_untracked().map(|l| usize::try_from(l.scroll_top()).unwrap_or(0)))>
            <div style=move || format!("height:{}px;position:relative", shown().0 * ROW)>{rows}</div>
        </div>
    }
}
