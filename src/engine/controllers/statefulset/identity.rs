//! Names, pods and claims of a set.
//!
//! Mirrors `stateful_set_utils.go` and `stateful_pod_control.go`.

use super::owned;
use crate::controller::owner_reference::Owner;
use crate::controllers::core;
use crate::ids::Key;
use crate::object::{self, Object, ObjectView};
use crate::process::context::{Context, Expect, Stop};
use serde_json::{Value, json};

const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
const POD_INDEX: &str = "apps.kubernetes.io/pod-index";

/// The number of a pod of this set; `None` for other names.
pub fn ordinal(set: &Value, pod: &str) -> Option<i64> {
    let digits = pod.strip_prefix(set.name())?.strip_prefix('-')?;
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

/// A new pod.
pub fn pod(set: &Object, revision: &Object, ordinal: i64) -> Value {
    let template = revision.at(&["data", "spec", "template"]).unwrap_or(&Value::Null);
    let name = format!("{}-{ordinal}", set.name());
    let mut metadata = json!({"name": name, "generateName": format!("{}-", set.name()), "namespace": set.namespace()});
    for field in ["labels", "annotations"] {
        if let Some(value) = template.at(&["metadata", field]) {
            metadata[field] = value.clone();
        }
    }
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata});
    pod["spec"] = template.get("spec").cloned().unwrap_or_else(|| json!({}));
    for (label, value) in
        [(POD_NAME, name.as_str()), (POD_INDEX, &ordinal.to_string()), ("controller-revision-hash", revision.name())]
    {
        object::set(&mut pod, &["metadata", "labels", label], Value::from(value));
    }
    pod["spec"]["hostname"] = Value::from(name.as_str());
    let service = set.text(&["spec", "serviceName"]);
    if !service.is_empty() {
        pod["spec"]["subdomain"] = Value::from(service);
    }
    let mut volumes: Vec<Value> = pod.list(&["spec", "volumes"]).to_vec();
    for template in templates(set) {
        volumes.retain(|v| v.text(&["name"]) != template.name());
        volumes.push(json!({"name": template.name(),
            "persistentVolumeClaim": {"claimName": claim_name(set, template, &name)}}));
    }
    if !volumes.is_empty() {
        pod["spec"]["volumes"] = Value::from(volumes);
    }
    owned(pod, set)
}

fn templates(set: &Object) -> &[Value] {
    set.list(&["spec", "volumeClaimTemplates"])
}

fn claim_name(_set: &Object, template: &Value, pod: &str) -> String {
    format!("{}-{pod}", template.name())
}

fn policy<'a>(set: &'a Object, when: &str) -> &'a str {
    set.text(&["spec", "persistentVolumeClaimRetentionPolicy", when])
}

/// Makes the claims that are missing; false when one still belongs to a pod that is gone.
pub fn make_claims(cx: &mut Context, set: &Object, pod: &Value) -> Result<bool, Stop> {
    for template in templates(set) {
        let key = Key::new(set.namespace(), &claim_name(set, template, pod.name()));
        if let Some(claim) = cx.live_get(&core("persistentvolumeclaims"), &key).or_not_found()? {
            let stale = claim.owner_references().iter().any(|r| {
                r.text(&["kind"]) == "Pod" && r.text(&["name"]) == pod.name() && r.text(&["uid"]) != pod.uid()
            });
            if pod.uid().is_empty() && (claim.deleting() || (stale && policy(set, "whenScaled") == "Delete")) {
                return Ok(false);
            }
            continue;
        }
        let mut labels = template.at(&["metadata", "labels"]).cloned().unwrap_or_else(|| json!({}));
        for (name, value) in
            set.at(&["spec", "selector", "matchLabels"]).and_then(Value::as_object).into_iter().flatten()
        {
            labels[name] = value.clone();
        }
        let mut claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": &*key.name, "namespace": set.namespace(), "labels": labels}});
        claim["spec"] = template.get("spec").cloned().unwrap_or_else(|| json!({}));
        let references = wanted_owners(set, pod, false);
        if !references.is_empty() {
            object::set(&mut claim, &["metadata", "ownerReferences"], Value::from(references));
        }
        cx.create(&core("persistentvolumeclaims"), claim).or_already_exists()?;
    }
    Ok(true)
}

/// Who should own the claims of a pod.
fn wanted_owners(set: &Object, pod: &Value, condemned: bool) -> Vec<Value> {
    let (deleted, scaled) = (policy(set, "whenDeleted") == "Delete", policy(set, "whenScaled") == "Delete");
    let mut of_set = Owner::of(set).reference();
    of_set["controller"] = json!(true);
    of_set["blockOwnerDeletion"] = json!(true);
    match (deleted, scaled, condemned) {
        (_, true, true) => vec![json!({"apiVersion": "v1", "kind": "Pod", "name": pod.name(), "uid": pod.uid(),
            "controller": true, "blockOwnerDeletion": true})],
        (true, ..) => vec![of_set],
        _ => Vec::new(),
    }
}

/// Brings the owners of a pod's claims up to date.
pub fn own_claims(cx: &mut Context, set: &Object, pod: &Object, condemned: bool) -> Result<(), Stop> {
    for template in templates(set) {
        let key = Key::new(set.namespace(), &claim_name(set, template, pod.name()));
        let Some(claim) = cx.live_get(&core("persistentvolumeclaims"), &key).or_not_found()? else { continue };
        let ours = |r: &Value| {
            (r.text(&["kind"]) == "StatefulSet" && r.text(&["uid"]) == set.uid())
                || (r.text(&["kind"]) == "Pod" && r.text(&["uid"]) == pod.uid())
        };
        let others: Vec<Value> = claim.owner_references().iter().filter(|r| !ours(r)).cloned().collect();
        if others.iter().any(|r| r.get("controller") == Some(&json!(true))) {
            continue;
        }
        let references = [others, wanted_owners(set, pod, condemned)].concat();
        if references.as_slice() != claim.owner_references() {
            let patch = json!({"metadata": {"ownerReferences": references, "uid": claim.uid()}});
            cx.patch(&core("persistentvolumeclaims"), &key, "", patch).or_not_found()?;
        }
    }
    Ok(())
}

/// Writes back the label that carries the name of a pod.
pub fn repair(cx: &mut Context, set: &Object, pod: &Object) -> Result<(), Stop> {
    if pod.label(POD_NAME) == Some(pod.name()) {
        return Ok(());
    }
    let index = ordinal(set, pod.name()).unwrap_or(0).to_string();
    let patch = json!({"metadata": {"labels": {POD_NAME: pod.name(), POD_INDEX: index}}});
    cx.patch(&core("pods"), &pod.key(), "", patch).or_not_found()?;
    Ok(())
}
