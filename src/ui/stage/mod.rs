//! The stage: the machine at one instant. Boxes change by event, messages by frame.

mod boxes;
mod cluster;
mod focus;
mod kitchen;
mod messages;
mod text;

use crate::lessons::Part;
use crate::model::objects::ObjectId;
use crate::model::place::{EDGES, Edge, NARROW, Plan, Rect, WIDE};
use crate::session::use_session;
use crate::ui::svg::Svg;
use engine::ids::{GroupResource, Key};
use leptos::ev::MouseEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// How an object is named in an attribute, and read back.
#[must_use]
pub fn name_of((resource, key): &ObjectId) -> String {
    format!("{}|{}|{}|{}", resource.group, resource.resource, key.namespace, key.name)
}

fn object_of(name: &str) -> Option<ObjectId> {
    match name.split('|').collect::<Vec<_>>()[..] {
        [group, resource, namespace, name] => Some((GroupResource::new(group, resource), Key::new(namespace, name))),
        _ => None,
    }
}

/// The object under the pointer, if any.
fn chosen(event: &MouseEvent) -> Option<ObjectId> {
    let target = event.target()?.dyn_into::<web_sys::Element>().ok()?;
    object_of(&target.closest("[data-object]").ok()??.get_attribute("data-object")?)
}

/// Where a part of the machine stands.
fn frame_of(plan: &Plan, part: Part) -> Rect {
    match part {
        Part::Kubectl => plan.kubectl,
        Part::Server => plan.server,
        Part::Informer => plan.informer,
        Part::Queue => plan.queue,
        Part::Reconcile => plan.reconcile,
        Part::Nodes => plan.nodes,
        Part::Outside => plan.outside,
    }
}

/// A frame around the part that the lesson points at.
fn pointed(plan: &Plan, part: Part) -> String {
    let (r, mut svg) = (frame_of(plan, part), Svg::default());
    svg.rect("pointed", (r.x - 6.0, r.y - 6.0), (r.w + 12.0, r.h + 12.0), 16);
    svg.0
}

fn ways(plan: &Plan) -> String {
    let mut svg = Svg::default();
    // The way out of the cluster is drawn with its box, when something goes there.
    for edge in EDGES.into_iter().filter(|edge| *edge != Edge::Outside) {
        svg.path(if (edge as usize) < 2 || edge as usize > 5 { "way" } else { "way loop" }, &plan.curve(edge).path());
    }
    svg.0
}

#[component]
pub fn Stage() -> impl IntoView {
    let session = use_session();
    let plan = move || if session.narrow.get() { &NARROW } else { &WIDE };
    let size = move || format!("0 0 {} {}", plan().size.0 as i32, plan().size.1 as i32);
    let boxes = move || {
        let (scene, words, text) = (session.scene.get(), session.w(), session.t());
        let chosen = session.object.get();
        let foot = (session.lang.get(), session.read(|run| run.recording.trace_hash()));
        boxes::draw(plan(), &scene, words, text, chosen.as_ref(), foot)
    };
    let moving = move || messages::draw(plan(), &session.scene.get(), session.now.get());
    view! {
        <div class="stage" data-testid="stage">
            <svg viewBox=size role="img" aria-label=move || session.t().stage_label
                on:click=move |event| {
                    if let Some(object) = chosen(&event) {
                        session.object.set(Some(object));
                    }
                }>
                <defs>
                    <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
                        <path d="M0 0 8 4 0 8z" class="tip"/>
                    </marker>
                </defs>
                <g inner_html=move || ways(plan())></g>
                <g inner_html=boxes></g>
                <g inner_html=move || session.pointed_at().map_or_else(String::new, |part| pointed(plan(), part))></g>
                <g class="moving" inner_html=moving></g>
            </svg>
            <text::RunAsText/>
        </div>
    }
}
