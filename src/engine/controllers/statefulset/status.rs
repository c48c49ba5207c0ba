//! What a set says of itself.

use super::revision::Revisions;
use super::{available, created, ready};
use crate::object::{Object, ObjectView};
use crate::time::SimTime;
use serde_json::{Value, json};

/// The status, counted over the pods at hand; zero counts are left out but for two.
pub fn of(set: &Object, revisions: &Revisions, pods: &[Object], now: SimTime) -> Value {
    let count = |keep: &dyn Fn(&Object) -> bool| pods.iter().filter(|p| keep(p)).count() as i64;
    let update = revisions.update.name();
    let mut current = revisions.current.name();
    let of_revision =
        |name: &str| count(&|p| created(p) && !p.deleting() && p.label("controller-revision-hash") == Some(name));
    let replicas = count(&|p| created(p));
    let ready_count = count(&|p| ready(p));
    let (mut on_current, on_update) = (of_revision(current), of_revision(update));
    let wanted = set.int(&["spec", "replicas"]).unwrap_or(1);
    let rolling = set.text(&["spec", "updateStrategy", "type"]) != "OnDelete";
    if rolling && on_update == replicas && ready_count == replicas && wanted == replicas && !set.deleting() {
        current = update;
        on_current = on_update;
    }
    let mut status = json!({"observedGeneration": set.generation(), "replicas": replicas,
        "availableReplicas": count(&|p| ready(p) && available(set, p, now)), "currentRevision": current,
        "updateRevision": update, "collisionCount": set.int(&["status", "collisionCount"]).unwrap_or(0)});
    for (field, n) in [("readyReplicas", ready_count), ("currentReplicas", on_current), ("updatedReplicas", on_update)]
    {
        if n != 0 {
            status[field] = Value::from(n);
        }
    }
    status
}
