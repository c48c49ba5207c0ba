//! ReplicaSets: so many pods of one template.
//!
//! Mirrors `pkg/controller/replicaset/replica_set.go` and `controller_utils.go` (ActivePodsWithRanks).
//!
//! Divergence from Kubernetes: pods are read from the server at the start of each pass, so nothing is awaited; they are created
//! and deleted one after the other; pods on the same node do not count among siblings.

use super::core;
use super::deployment::hash::same_labels;
use crate::api::message::{Method, Request};
use crate::api::selector::LabelSelector;
use crate::controller::owner_reference::{Owner, is_controlled_by};
use crate::event::Phase;
use crate::ids::{Gvr, Key};
use crate::object::{Object, ObjectView};
use crate::process::context::{Action, Context, Expect, Stop};
use crate::process::controller::{Caches, Controller, Handler, Notice, Source};
use crate::process::memory::Memory;
use crate::time::{SimTime, Span};
use serde_json::{Value, json};
use std::sync::Arc;

pub struct ReplicaSets;

pub fn replica_sets() -> Gvr {
    Gvr::new("apps", "v1", "replicasets")
}

pub fn selects(owner: &Value, object: &Value) -> bool {
    LabelSelector::from_object(owner.at(&["spec", "selector"]).unwrap_or(&Value::Null)).matches_object(object)
}

/// The reference of a controller to itself.
pub fn controlled_by(owner: &Object) -> Value {
    let mut reference = Owner::of(owner).reference();
    reference["controller"] = json!(true);
    reference["blockOwnerDeletion"] = json!(true);
    reference
}

/// The objects of a kind that an owner controls: orphans that fit are taken in, those that no longer fit let go of
/// (`controller_ref_manager.go`).
pub fn claim(cx: &mut Context, gvr: &Gvr, owner: &Object) -> Result<Vec<Object>, Stop> {
    let list: Object = cx.send(Request::new(Method::Get, gvr.collection(owner.namespace())))?;
    let mut mine = Vec::new();
    for item in list.list(&["items"]) {
        let (fits, held) = (selects(owner, item), is_controlled_by(item, owner.uid()));
        if fits && held {
            mine.push(Arc::new(item.clone()));
        } else if held && !owner.deleting() {
            cx.at(Phase::Act, "release", item.name());
            let kept: Vec<&Value> =
                item.owner_references().iter().filter(|r| r.text(&["uid"]) != owner.uid()).collect();
            let patch = json!({"metadata": {"ownerReferences": kept, "uid": item.uid()}});
            cx.patch(gvr, &item.key(), "", patch).or_not_found()?;
        } else if fits && item.controller_ref().is_none() && !item.deleting() && !owner.deleting() && !ended(item) {
            cx.at(Phase::Act, "adopt", item.name());
            let references = [item.owner_references().to_vec(), vec![controlled_by(owner)]].concat();
            let patch = json!({"metadata": {"ownerReferences": references, "uid": item.uid()}});
            mine.extend(cx.patch(gvr, &item.key(), "", patch).or_not_found()?);
        }
    }
    Ok(mine)
}

fn ended(pod: &Value) -> bool {
    pod.kind() == "Pod" && matches!(pod.text(&["status", "phase"]), "Succeeded" | "Failed")
}

/// Keys of the owners of an object by kind, or of those that would take it in.
pub fn owner_keys(notice: &Notice, kind: &str, gvr: &Gvr, caches: &dyn Caches) -> Vec<Key> {
    let object = notice.object();
    let owner = |o: &Object| {
        let reference = o.controller_ref().filter(|r| r.text(&["kind"]) == kind)?;
        Some(Key::new(o.namespace(), reference.text(&["name"])))
    };
    let mut keys: Vec<Key> = owner(object).into_iter().collect();
    if let Notice::Update { old, .. } = notice {
        keys.extend(owner(old).filter(|k| !keys.contains(k)));
    }
    if object.controller_ref().is_none() {
        let all = caches.list(gvr, object.namespace());
        keys.extend(all.iter().filter(|o| selects(o, object)).map(|o| o.key()));
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

    fn reconcile(&self, cx: &mut Context, key: &Key) -> Result<Action, Stop> {
        let Some(set) = cx.live_get(&replica_sets(), key).or_not_found()? else { return Ok(Action::done()) };
        let pods = claim(cx, &core("pods"), &set)?;
        let now = cx.now();
        let active: Vec<&Object> = pods.iter().filter(|p| !p.deleting() && !ended(p)).collect();
        let wanted = set.int(&["spec", "replicas"]).unwrap_or(1).max(0) as usize;
        let status = status(&set, &pods, &active, now);
        if !set.deleting() {
            for _ in active.len()..wanted {
                create(cx, &set)?;
            }
            let surplus = active.len().saturating_sub(wanted);
            let mut ranked = active.clone();
            ranked.sort_by_key(|p| rank(p));
            for pod in ranked.into_iter().take(surplus) {
                cx.at(Phase::Act, "delete", pod.name());
                cx.delete(&core("pods"), &pod.key(), Value::Null).or_not_found()?;
                cx.event(&set, false, "SuccessfulDelete", format!("Deleted pod: {}", pod.name()));
            }
        }
        if Some(&status) != set.get("status") {
            let mut new = Value::clone(&set);
            new["status"] = status;
            cx.update_status(&replica_sets(), new).or_not_found()?;
        }
        Ok(active.iter().filter_map(|p| available_in(&set, p, now)).min().map_or_else(Action::done, Action::after))
    }
}

fn create(cx: &mut Context, set: &Object) -> Result<(), Stop> {
    let template = set.at(&["spec", "template"]).unwrap_or(&Value::Null);
    let mut metadata = json!({"generateName": format!("{}-", set.name()), "namespace": set.namespace(),
        "ownerReferences": [controlled_by(set)]});
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template.at(&["metadata", field]) {
            metadata[field] = value.clone();
        }
    }
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata});
    pod["spec"] = template.get("spec").cloned().unwrap_or_else(|| json!({}));
    cx.at(Phase::Act, "create", set.name());
    let made = cx.create(&core("pods"), pod)?;
    cx.event(set, false, "SuccessfulCreate", format!("Created pod: {}", made.name()));
    Ok(())
}

/// Who goes first, the least first.
fn rank(pod: &Object) -> (bool, u8, bool, i64, std::cmp::Reverse<String>, std::cmp::Reverse<String>, String) {
    let phase = match pod.text(&["status", "phase"]) {
        "Pending" => 0,
        "Unknown" => 1,
        _ => 2,
    };
    let cost = pod.annotation("controller.kubernetes.io/pod-deletion-cost").and_then(|c| c.parse().ok()).unwrap_or(0);
    let ready = pod.condition("Ready") == "True";
    let since = pod.list(&["status", "conditions"]).iter().find(|c| c.text(&["type"]) == "Ready");
    let since = since.map_or("", |c| c.text(&["lastTransitionTime"])).to_string();
    (
        !pod.text(&["spec", "nodeName"]).is_empty(),
        phase,
        ready,
        cost,
        std::cmp::Reverse(if ready { since } else { String::new() }),
        std::cmp::Reverse(pod.text(&["metadata", "creationTimestamp"]).to_string()),
        pod.name().to_string(),
    )
}

/// How long until a ready pod is available; `None` when it is, or is not ready.
fn available_in(set: &Value, pod: &Value, now: SimTime) -> Option<Span> {
    let least = set.int(&["spec", "minReadySeconds"]).unwrap_or(0).max(0) as u64;
    if pod.condition("Ready") != "True" || least == 0 {
        return None;
    }
    let condition = pod.list(&["status", "conditions"]).iter().find(|c| c.text(&["type"]) == "Ready")?;
    let text = condition.text(&["lastTransitionTime"]);
    if text < SimTime::ZERO.rfc3339().as_str() {
        return None;
    }
    let since = SimTime::parse_rfc3339(text).unwrap_or(SimTime::ZERO);
    let left = Span((since + Span::secs(least)).0.saturating_sub(now.0));
    (left > Span::ZERO).then_some(left)
}

fn status(set: &Object, pods: &[Object], active: &[&Object], now: SimTime) -> Value {
    let labels = set.at(&["spec", "template", "metadata", "labels"]).unwrap_or(&Value::Null);
    let ready: Vec<&&Object> = active.iter().filter(|p| p.condition("Ready") == "True").collect();
    let available = ready.iter().filter(|p| available_in(set, p, now).is_none()).count();
    let labelled = active.iter().filter(|p| same_labels(labels, p)).count();
    let terminating = pods.iter().filter(|p| p.deleting() && !ended(p)).count();
    let mut status =
        json!({"observedGeneration": set.generation(), "replicas": active.len(), "terminatingReplicas": terminating});
    for (field, n) in
        [("fullyLabeledReplicas", labelled), ("readyReplicas", ready.len()), ("availableReplicas", available)]
    {
        if n > 0 {
            status[field] = Value::from(n);
        }
    }
    status
}
