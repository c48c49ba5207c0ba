//! The history of a set's template, kept as ControllerRevisions.
//!
//! Mirrors `pkg/controller/history/controller_history.go` and `stateful_set_control.go` (getStatefulSetRevisions).

use super::{owned, selects};
use crate::api::message::{Method, Request};
use crate::event::Phase;
use crate::ids::Gvr;
use crate::object::{Object, ObjectView};
use crate::process::context::{Context, Expect, Stop};
use serde_json::{Value, json};

/// Characters that hashes are written in (apimachinery `pkg/util/rand`).
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const KEPT: i64 = 10;

/// The revisions of one pass.
pub struct Revisions {
    pub current: Object,
    pub update: Object,
    /// All, the oldest first.
    all: Vec<Object>,
}

fn resource() -> Gvr {
    Gvr::new("apps", "v1", "controllerrevisions")
}

impl Revisions {
    /// The revision a new pod gets.
    pub fn for_new(&self, set: &Object, ordinal: i64) -> &Object {
        let start = set.int(&["spec", "ordinals", "start"]).unwrap_or(0);
        let strategy = set.at(&["spec", "updateStrategy"]).unwrap_or(&Value::Null);
        let old = match strategy.at(&["rollingUpdate"]).filter(|r| r.is_object()) {
            Some(stanza) => ordinal < start + stanza.int(&["partition"]).unwrap_or(0),
            None if strategy.text(&["type"]) == "OnDelete" => false,
            None => ordinal < start + set.int(&["status", "currentReplicas"]).unwrap_or(0),
        };
        if old { &self.current } else { &self.update }
    }
}

/// The payload of a revision: the template, and that it is replaced as a whole.
fn payload(set: &Object) -> Value {
    let mut template = set.at(&["spec", "template"]).cloned().unwrap_or_else(|| json!({}));
    template["$patch"] = Value::from("replace");
    json!({"spec": {"template": template}})
}

fn hash(payload: &Value, collisions: i64) -> String {
    let text = format!("{payload}{collisions}");
    let hash = text.bytes().fold(0x811c_9dc5_u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    hash.to_string().bytes().map(|c| char::from(ALPHABET[usize::from(c) % ALPHABET.len()])).collect()
}

/// Finds or writes the revision of the template as it is, and finds the one that pods are on.
pub fn find(cx: &mut Context, set: &Object, _pods: &[Object]) -> Result<Revisions, Stop> {
    let list: Object = cx.send(Request::new(Method::Get, resource().collection(set.namespace())))?;
    let mut all: Vec<Object> = Vec::new();
    for item in list.list(&["items"]).iter().filter(|r| selects(set, r)) {
        match item.controller_ref() {
            Some(owner) if owner.text(&["uid"]) == set.uid() => all.push(item.clone().into()),
            None if !set.deleting() => {
                let patch =
                    json!({"metadata": {"ownerReferences": owned(json!({}), set)["metadata"]["ownerReferences"]}});
                all.extend(cx.patch(&resource(), &item.key(), "", patch).or_not_found()?);
            }
            _ => {}
        }
    }
    all.sort_by_key(|r| (r.int(&["revision"]).unwrap_or(0), r.name().to_string()));
    let update = candidate(cx, set, &mut all)?;
    let named = set.text(&["status", "currentRevision"]);
    let current = all.iter().find(|r| r.name() == named).cloned().unwrap_or_else(|| update.clone());
    Ok(Revisions { current, update, all })
}

fn candidate(cx: &mut Context, set: &Object, all: &mut Vec<Object>) -> Result<Object, Stop> {
    let data = payload(set);
    let next = all.last().map_or(0, |r| r.int(&["revision"]).unwrap_or(0)) + 1;
    if let Some(at) = all.iter().rposition(|r| r.get("data") == Some(&data)) {
        if at + 1 == all.len() {
            return Ok(all[at].clone());
        }
        // A template that was there before comes to the front again.
        let old = all.remove(at);
        let patched = cx.patch(&resource(), &old.key(), "", json!({"revision": next}))?;
        all.push(patched.clone());
        return Ok(patched);
    }
    let collisions = set.int(&["status", "collisionCount"]).unwrap_or(0);
    let hash = hash(&data, collisions);
    let mut labels = set.at(&["spec", "template", "metadata", "labels"]).cloned().unwrap_or_else(|| json!({}));
    labels["controller.kubernetes.io/hash"] = Value::from(hash.as_str());
    let mut metadata =
        json!({"name": format!("{}-{hash}", set.name()), "namespace": set.namespace(), "labels": labels});
    if let Some(annotations) = set.at(&["metadata", "annotations"]) {
        metadata["annotations"] = annotations.clone();
    }
    let object = json!({"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "data": data,
        "revision": next});
    cx.at(Phase::Act, "new revision", hash);
    let made = cx.create(&resource(), owned(object, set))?;
    all.push(made.clone());
    Ok(made)
}

/// Forgets the oldest revisions that nothing lives on.
pub fn truncate(cx: &mut Context, set: &Object, revisions: &Revisions, pods: &[Object]) -> Result<(), Stop> {
    let limit = set.int(&["spec", "revisionHistoryLimit"]).unwrap_or(KEPT);
    let live = |r: &Object| {
        r.name() == revisions.current.name()
            || r.name() == revisions.update.name()
            || pods.iter().any(|p| p.label("controller-revision-hash") == Some(r.name()))
    };
    let dead: Vec<&Object> = revisions.all.iter().filter(|r| !live(r)).collect();
    if limit < 0 || set.deleting() {
        return Ok(());
    }
    let surplus = dead.len().saturating_sub(limit as usize);
    for old in dead.into_iter().take(surplus) {
        cx.delete(&resource(), &old.key(), Value::Null).or_not_found()?;
    }
    Ok(())
}
