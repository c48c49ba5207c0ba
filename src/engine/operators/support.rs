//! What every operator needs: owner references, finalizers, conditions and status written only when it changed.

use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView, set};
use crate::process::context::{Context, Stop};
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
