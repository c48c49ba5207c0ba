//! What every operator needs: owner references, finalizers, children kept as they should be, conditions and status written
//! only when it changed.

use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView, set};
use crate::process::context::{Context, Expect, Stop};
use crate::time::SimTime;
use serde_json::{Value, json};

/// The reference that makes `owner` the controller of another object.
pub fn controller_reference(owner: &Object) -> Value {
    json!([{
        "apiVersion": owner.text(&["apiVersion"]), "kind": owner.kind(), "name": owner.name(), "uid": owner.uid(),
        "controller": true, "blockOwnerDeletion": true
    }])
}

/// Adds a finalizer, with the version that was read as a lock.
pub fn add_finalizer(cx: &mut Context, gvr: &Gvr, object: &Object, finalizer: &str) -> Result<Object, Stop> {
    let mut finalizers = object.finalizers();
    finalizers.push(finalizer);
    patch_finalizers(cx, gvr, object, &finalizers)
}

/// Takes a finalizer away; the object goes with the last one.
pub fn remove_finalizer(cx: &mut Context, gvr: &Gvr, object: &Object, finalizer: &str) -> Result<Object, Stop> {
    let mut finalizers = object.finalizers();
    finalizers.retain(|f| *f != finalizer);
    patch_finalizers(cx, gvr, object, &finalizers)
}

fn patch_finalizers(cx: &mut Context, gvr: &Gvr, object: &Object, finalizers: &[&str]) -> Result<Object, Stop> {
    let metadata = json!({"finalizers": finalizers, "resourceVersion": object.resource_version()});
    cx.patch(gvr, &object.key(), "", json!({"metadata": metadata}))
}

/// Sets a condition as `meta.SetStatusCondition` does: the transition time moves only with the status.
pub fn set_condition(conditions: &mut Vec<Value>, now: SimTime, kind: &str, status: bool, reason: &str, message: &str) {
    let word = if status { "True" } else { "False" };
    let position = conditions.iter().position(|c| c.text(&["type"]) == kind);
    let mut condition = json!({"type": kind, "status": word, "reason": reason, "message": message,
        "lastTransitionTime": now.rfc3339()});
    match position {
        None => conditions.push(condition),
        Some(i) => {
            if conditions[i].text(&["status"]) == word {
                condition["lastTransitionTime"] = conditions[i]["lastTransitionTime"].clone();
            }
            conditions[i] = condition;
        }
    }
}

/// Writes the status if it differs from what the cache has; answers whether it did.
pub fn write_status(cx: &mut Context, gvr: &Gvr, object: &Object, status: Value) -> Result<bool, Stop> {
    if object.at(&["status"]) == Some(&status) {
        return Ok(false);
    }
    let mut changed = (**object).clone();
    set(&mut changed, &["status"], status);
    cx.update_status(gvr, changed)?;
    Ok(true)
}

/// A key in the namespace of `object`.
pub fn beside(object: &Object, name: &str) -> Key {
    Key::new(object.namespace(), name)
}

/// Whether `live` has everything that `wanted` says. What the server filled in beside it is no difference.
pub fn covers(wanted: &Value, live: &Value) -> bool {
    match (wanted, live) {
        (Value::Object(wanted), Value::Object(live)) => {
            wanted.iter().all(|(field, value)| live.get(field).is_some_and(|live| covers(value, live)))
        }
        (Value::Array(wanted), Value::Array(live)) => {
            wanted.len() == live.len() && wanted.iter().zip(live).all(|(wanted, live)| covers(wanted, live))
        }
        _ => wanted == live,
    }
}

/// Makes a child that is missing and mends one that has drifted; answers it as it stood before, for its status.
///
/// A child of somebody else under the same name is left alone: taking it over would start a fight of two owners.
pub fn ensure(cx: &mut Context, gvr: &Gvr, owner: &Object, wanted: Value) -> Result<Option<Object>, Stop> {
    let key = wanted.key();
    let Some(live) = cx.get(gvr, &key) else {
        cx.at(Phase::Act, "create", format!("{} {}", wanted.kind(), key.name));
        cx.create(gvr, wanted).or_already_exists()?;
        return Ok(None);
    };
    if live.controller_ref().is_none_or(|r| r.text(&["uid"]) != owner.uid()) {
        return Err(Stop::Failed(format!("{} {} belongs to somebody else", live.kind(), key.name)));
    }
    let part = |field: &str| wanted.get(field).cloned().unwrap_or_default();
    let patch = json!({"metadata": {"labels": wanted["metadata"]["labels"]}, "spec": part("spec")});
    if live.deleting() || covers(&patch, &live) {
        return Ok(Some(live));
    }
    cx.at(Phase::Act, "mend", format!("{} {}", live.kind(), key.name));
    cx.patch(gvr, &key, "", patch).or_not_found()?;
    Ok(Some(live))
}

/// Deletes a child if the cache still has it.
pub fn dismiss(cx: &mut Context, gvr: &Gvr, key: &Key) -> Result<(), Stop> {
    if let Some(live) = cx.get(gvr, key).filter(|live| !live.deleting()) {
        cx.at(Phase::Act, "remove", format!("{} {}", live.kind(), key.name));
        cx.delete(gvr, key, json!({"preconditions": {"uid": live.uid()}})).or_not_found()?;
    }
    Ok(())
}
