//! Habits around finalizers and owner references.

use super::{child, configs, put_status};
use crate::controller::owner_reference::Owner;
use crate::event::Phase;
use crate::ids::Key;
use crate::object::{Object, ObjectView, set};
use crate::process::context::{Action, Context, Expect, Stop};
use serde_json::{Value, json};

const CLEANUP: &str = "demo.example/cleanup";
const HOLD: &str = "demo.example/hold";
const SHARED: &str = "shared";
/// The other namespace of `lab-foreign-child`.
const ELSEWHERE: &str = "elsewhere";

/// Sees to its finalizer before it looks whether the object is being deleted.
pub fn late_finalizer(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    if !cache.finalizers().contains(&CLEANUP) {
        let all: Vec<&str> = cache.finalizers().into_iter().chain([CLEANUP]).collect();
        let mut changed = Value::clone(cache);
        set(&mut changed, &["metadata", "finalizers"], json!(all));
        cx.at(Phase::Act, "update", "");
        cx.update(&super::caches(), changed)?;
    }
    Ok(Action::done())
}

/// Keeps its finalizer until somebody else takes it away.
pub fn held_cache(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    if cache.deleting() {
        cx.no_write("cleaning up takes for ever");
        return Ok(Action::done());
    }
    late_finalizer(cx, cache)
}

/// Makes one child that has a finalizer of its own and blocks its owner when the owner's label says so.
pub fn held_child(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    if cache.deleting() || cx.get(&configs(), &cache.key()).is_some() {
        return Ok(Action::done());
    }
    let mut made = child(cache, json!({"name": cache.name(), "finalizers": [HOLD]}));
    made["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = json!(cache.label("block") == Some("true"));
    cx.create(&configs(), made).or_already_exists()?;
    Ok(Action::done())
}

/// Makes a child in another namespace and names itself as its owner.
pub fn foreign_child(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    if cache.at(&["status", "phase"]).is_some() {
        return Ok(Action::done());
    }
    let made = child(cache, json!({"name": cache.name(), "namespace": ELSEWHERE}));
    cx.create(&configs(), made).or_already_exists()?;
    put_status(cx, cache, json!({"phase": "Copied"}))?;
    Ok(Action::done())
}

/// Shares one child with other caches: wants to control it, and settles for owning it.
pub fn shared_child(cx: &mut Context, cache: &Object) -> Result<Action, Stop> {
    if cache.deleting() {
        return Ok(Action::done());
    }
    let key = Key::new(cache.namespace(), SHARED);
    let Some(shared) = cx.live_get(&configs(), &key).or_not_found()? else {
        cx.create(&configs(), child(cache, json!({"name": SHARED})))?;
        return Ok(Action::done());
    };
    if shared.owner_references().iter().any(|r| r.text(&["uid"]) == cache.uid()) {
        return Ok(Action::done());
    }
    for controller in [true, false] {
        let mut reference = Owner::of(cache).reference();
        reference["controller"] = json!(controller);
        let all = [shared.owner_references().to_vec(), vec![reference]].concat();
        let mut changed = Value::clone(&shared);
        set(&mut changed, &["metadata", "ownerReferences"], json!(all));
        match cx.update(&configs(), changed) {
            Err(Stop::Api(status)) if status.code == 422 && controller => {
                cx.event(cache, true, "AlreadyOwned", status.message);
            }
            other => return other.map(|_| Action::done()),
        }
    }
    Ok(Action::done())
}
