//! ReplicaSets: so many pods of one template.
//!
//! Mirrors `pkg/controller/replicaset/replica_set.go`: [`manage`] creates and deletes, [`status`] counts.
//!
//! Divergence from Kubernetes: a batch is answered in the order it was sent in; pods on the same node do not count among
//! siblings.

mod manage;
mod status;

use super::claim::{Claim, candidates};
use super::{consistency, core};
use crate::api::selector::LabelSelector;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::process::context::{Action, Context, Stop};
use crate::process::controller::{Caches, Controller, Handler, Notice, Source};
use crate::process::memory::Memory;
use serde_json::Value;

pub struct ReplicaSets;

pub fn replica_sets() -> Gvr {
    Gvr::new("apps", "v1", "replicasets")
}

pub fn selector_of(owner: &Value) -> LabelSelector {
    LabelSelector::from_object(owner.at(&["spec", "selector"]).unwrap_or(&Value::Null))
}

fn ended(pod: &Value) -> bool {
    matches!(pod.text(&["status", "phase"]), "Succeeded" | "Failed")
}

fn active(pod: &Value) -> bool {
    !pod.deleting() && !ended(pod)
}

/// The owner of an object by kind.
fn owner_key(object: &Object, kind: &str) -> Option<Key> {
    let reference = object.controller_ref().filter(|r| r.text(&["kind"]) == kind)?;
    Some(Key::new(object.namespace(), reference.text(&["name"])))
}

/// Keys of the owners of an object by kind, or of those that would take it in.
pub fn owner_keys(notice: &Notice, kind: &str, gvr: &Gvr, caches: &dyn Caches) -> Vec<Key> {
    let object = notice.object();
    let mut keys: Vec<Key> = owner_key(object, kind).into_iter().collect();
    if let Notice::Update { old, .. } = notice {
        keys.extend(owner_key(old, kind).filter(|k| !keys.contains(k)));
    }
    if object.controller_ref().is_none() {
        let all = caches.list(gvr, object.namespace());
        keys.extend(all.iter().filter(|o| selector_of(o).matches_object(object)).map(|o| o.key()));
    }
    keys
}

impl Controller for ReplicaSets {
    fn name(&self) -> &'static str {
        "replicaset-controller"
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source::new(replica_sets(), Handler::ForObject), Source::new(core("pods"), Handler::Map)]
    }

    fn map(&self, _gvr: &Gvr, notice: &Notice, caches: &dyn Caches, _memory: &mut Memory) -> Vec<Key> {
        owner_keys(notice, "ReplicaSet", &replica_sets(), caches)
    }

    fn observe(&self, gvr: &Gvr, notice: &Notice, memory: &mut Memory) {
        let object = notice.object();
        if *gvr == replica_sets() {
            if matches!(notice, Notice::Delete { .. }) {
                memory.expectations.delete(&object.key().to_string());
            }
            return;
        }
        let Some(owner) = owner_key(object, "ReplicaSet") else { return };
        if object.deleting() || matches!(notice, Notice::Delete { .. }) {
            memory.expectations.deletion_observed_of(&owner.to_string(), &object.key().to_string());
        } else if matches!(notice, Notice::Add { .. }) {
            memory.expectations.creation_observed(&owner.to_string());
        }
    }

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        let Some(set) = cx.get(&replica_sets(), key) else {
            consistency::clear(cx, &key.to_string());
            return Ok(Action::done());
        };
        let pods_gvr = core("pods");
        consistency::ensure(cx, &key.to_string(), &[replica_sets(), pods_gvr.clone()])?;
        let now = cx.now();
        let expected = cx.memory(|memory| memory.expectations.satisfied(now, &key.to_string()).into()) == true;
        let selector = selector_of(&set);
        let known = candidates(cx, &pods_gvr, &set);
        let terminating = known.iter().filter(|p| p.deleting() && !ended(p) && p.controller_ref().is_some()).count();
        let candidates = known.into_iter().filter(|p| active(p)).collect();
        let fits = |pod: &Value| selector.matches_object(pod);
        let pods = Claim { owners: &replica_sets(), owner: &set, gvr: &pods_gvr, fits: &fits }.make(cx, candidates)?;
        let managed = if expected && !set.deleting() { manage::replicas(cx, &set, &pods) } else { Ok(()) };
        if matches!(managed, Err(Stop::Pending)) {
            return Err(Stop::Pending);
        }
        status::write(cx, &set, &pods, terminating, managed.as_ref().err())?;
        managed?;
        let soon = pods.iter().filter_map(|p| status::available_in(&set, p, now)).min();
        Ok(soon.map_or_else(Action::done, Action::after))
    }
}
