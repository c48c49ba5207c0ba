//! The timeline: lanes of what happened and what will, the gap, the cursor.

use crate::model::lanes::{Deed, Lanes, Steps, bars, boxes, curve, pixel};
use crate::model::number::coordinate;
use crate::session::use_session;
use crate::ui::svg::Svg;
use crate::web::place::{across, capture};
use engine::time::SimTime;
use leptos::prelude::*;

const WIDTH: f32 = 1000.0;
const LANE: f32 = 22.0;
const GAP_TOP: u32 = 118;
const GAP_HEIGHT: u32 = 30;
const HEIGHT: f32 = 156.0;

/// Thousandths of the width, as the pointer gives them.
const ACROSS: u64 = 100_000;

fn x(at: SimTime, end: SimTime) -> f32 {
    pixel(at, end, WIDTH as u32) as f32
}

fn ready(svg: &mut Svg, steps: &Steps, end: SimTime) {
    let most = steps.iter().map(|(_, v)| *v).max().unwrap_or(0).max(1);
    let ends = steps.iter().skip(1).map(|(at, _)| *at).chain([end]);
    for ((from, value), to) in steps.iter().zip(ends).filter(|((from, v), _)| *v > 0 && *from <= end) {
        let height = 12.0 * *value as f32 / most as f32;
        let top = LANE * 4.0 + 17.0 - height;
        svg.rect("readybar", (x(*from, end), top), (x(to, end) - x(*from, end), height), 1);
    }
}

fn draw(lanes: &Lanes, end: SimTime) -> String {
    let mut svg = Svg::default();
    for lane in 0..5_u8 {
        svg.path("grid", &format!("M0 {}H{WIDTH}", i32::from(lane) * 22 + 21));
    }
    for (at, deed) in &lanes.user {
        let class = if *deed == Deed::Fault { "mark fault" } else { "mark" };
        svg.rect(class, (x(*at, end) - 4.0, 6.0), (8.0, 8.0), if *deed == Deed::Fault { 0 } else { 4 });
    }
    let width = WIDTH as u32;
    svg.path("tick api", &bars(lanes.writes.iter().copied(), end, width, 27, 11));
    svg.path("tick watch", &bars(lanes.watch.iter().copied(), end, width, 49, 11));
    svg.path("spans", &boxes(&lanes.reconciles, end, width, 72, 10));
    ready(&mut svg, &lanes.ready, end);
    svg.path("gapline", &curve(&lanes.gap, end, width, GAP_TOP, GAP_TOP + GAP_HEIGHT));
    svg.0
}

#[component]
pub fn Timeline() -> impl IntoView {
    let session = use_session();
    let end = Memo::new(move |_| session.extent.with(|e| e.end));
    let picture = move || {
        session.lanes.track();
        session.read(|run| draw(&run.lanes, end.get()))
    };
    let cursor = move || coordinate(x(session.now.get(), end.get()));
    let go = move |event: &web_sys::PointerEvent| {
        if let Some(share) = across(event) {
            session.visit(SimTime((u128::from(end.get_untracked().0) * u128::from(share) / u128::from(ACROSS)) as u64));
        }
    };
    let seek = move |event| {
        if let Ok(ms) = event_target_value(&event).parse::<u64>() {
            session.visit(SimTime(ms * 1_000));
        }
    };
    let press = move |event: web_sys::PointerEvent| {
        capture(&event);
        go(&event);
    };
    let drag = move |event: web_sys::PointerEvent| {
        if event.buttons() & 1 == 1 {
            go(&event);
        }
    };
    let names = move || {
        let t = session.t();
        [t.lane_user, t.lane_writes, t.lane_watch, t.lane_reconcile, t.lane_ready, t.gap]
            .map(|name| view! { <li>{name}</li> })
            .into_iter()
            .collect::<Vec<_>>()
    };
    view! {
        <div class="timeline" data-testid="timeline">
            <ul class="lanes" aria-hidden="true">{names}</ul>
            <div class="track">
                <svg viewBox=format!("0 0 {WIDTH} {HEIGHT}") preserveAspectRatio="none" aria-hidden="true"
                    on:pointerdown=press on:pointermove=drag>
                    <rect class="ground" x="0" y="0" width=WIDTH height=HEIGHT/>
                    <g inner_html=picture></g>
                    <rect class="future" x=cursor y="0" height="114"
                        width=move || coordinate(WIDTH - x(session.now.get(), end.get()))/>
                    <path class="cursor" d=move || format!("M{} 0V{HEIGHT}", cursor())/>
                </svg>
                <input type="range" data-testid="seek-input" min="0" step="1" aria-label=move || session.t().seek
                    max=move || (end.get().0 / 1_000).to_string()
                    prop:value=move || (session.now.get().0 / 1_000).to_string()
                    aria-valuetext=move || format!("{} s", crate::model::number::seconds(session.now.get()))
                    on:input=seek/>
            </div>
        </div>
    }
}
