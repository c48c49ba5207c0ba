//! The chosen object: its YAML, and what its last write changed.

use crate::model::diff::{Mark, lines};
use crate::model::objects::{ObjectId, first, readable, rows, slug, state};
use crate::session::{Session, use_session};
use engine::event::{Event, Write};
use engine::object::ObjectView;
use leptos::prelude::*;
use std::sync::Arc;

/// The object looked at: the chosen one, else the first wish.
fn looked_at(session: &Session) -> Option<ObjectId> {
    session.object.get().or_else(|| first(&session.scene.get()))
}

/// The last write of an object up to the cursor.
fn last_write(session: &Session, id: &ObjectId) -> Option<Arc<Write>> {
    session.read(|run| {
        let known = &run.recording.records()[..run.recording.cursor()];
        known.iter().rev().find_map(|record| match &record.event {
            Event::Wrote { write } if write.resource == id.0 && write.key == id.1 => Some(write.clone()),
            _ => None,
        })
    })
}

fn difference(write: &Write) -> impl IntoView + use<> {
    let text = |o: &Option<engine::object::Object>| o.as_ref().map_or(String::new(), |o| readable(o));
    let (old, new) = (text(&write.old), text(&write.new));
    let rows = lines(&old, &new).into_iter().map(|(mark, line)| {
        let (class, sign) = match mark {
            Mark::Kept => ("kept", "  "),
            Mark::Added => ("add", "+ "),
            Mark::Removed => ("del", "- "),
        };
        view! { <span class=class>{format!("{sign}{line}\n")}</span> }
    });
    rows.collect::<Vec<_>>()
}

#[component]
fn List() -> impl IntoView {
    let session = use_session();
    let list = move || {
        let chosen = looked_at(&session);
        rows(&session.scene.get())
            .into_iter()
            .map(|(id, object)| {
                let state = state(&object);
                let pressed = (chosen.as_ref() == Some(&id)).to_string();
                let test = format!("list-{}", slug(object.kind(), object.name()));
                let words = format!("{}/{} {}", object.kind(), object.name(), state.mark());
                view! {
                    <button class=format!("object {}", state.class()) data-testid=test aria-pressed=pressed
                        on:click=move |_| session.object.set(Some(id.clone()))>{words}</button>
                }
            })
            .collect::<Vec<_>>()
    };
    view! { <h3>{move || session.t().objects}</h3><div class="objects">{list}</div> }
}

#[component]
pub fn ObjectPane() -> impl IntoView {
    let session = use_session();
    let body = move || {
        let Some(id) = looked_at(&session) else {
            return view! { <p class="hint">{session.t().no_object}</p> }.into_any();
        };
        session.scene.track();
        let Some(write) = last_write(&session, &id) else {
            return view! { <p class="hint">{session.t().no_write_yet}</p> }.into_any();
        };
        let head = format!("# {} {}   rv {}   {} {}", id.0, id.1, write.revision, session.t().by_user, write.user);
        view! { <pre data-testid="object-yaml" tabindex="0"><span class="c">{head}"\n"</span>{difference(&write)}</pre> }.into_any()
    };
    view! { {body} <List/> }
}
