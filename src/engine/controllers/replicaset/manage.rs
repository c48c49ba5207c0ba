//! Too few pods are created in growing batches, too many are deleted, the least missed first.
//!
//! Mirrors `manageReplicas` and `slowStartBatch` of `replica_set.go`, `ActivePodsWithRanks` and `RealPodControl` of
//! `controller_utils.go`.

use crate::api::message::{Request, Response};
use crate::api::status::ApiStatus;
use crate::controllers::claim::controlled_by;
use crate::controllers::{consistency, core};
use crate::event::Phase;
use crate::object::{Object, ObjectView};
use crate::process::context::{self, Context, Stop};
use serde_json::{Value, json};
use std::cmp::Reverse;

/// `replica_set.go`, `BurstReplicas`: the most that one sync creates or deletes.
const BURST: usize = 500;
/// `controller_utils.go`, `SlowStartInitialBatchSize`.
const FIRST_BATCH: usize = 1;

/// Brings the number of pods to the wanted one.
pub fn replicas(cx: &mut Context, set: &Object, pods: &[Object]) -> Result<(), Stop> {
    let wanted = usize::try_from(set.int(&["spec", "replicas"]).unwrap_or(1)).unwrap_or(0);
    if pods.len() < wanted {
        grow(cx, set, (wanted - pods.len()).min(BURST))
    } else if pods.len() > wanted {
        shrink(cx, set, pods, (pods.len() - wanted).min(BURST))
    } else {
        Ok(())
    }
}

fn grow(cx: &mut Context, set: &Object, missing: usize) -> Result<(), Stop> {
    let (owner, now) = (set.key().to_string(), cx.now());
    cx.memory(|memory| {
        memory.expectations.expect_creations(now, &owner, count(missing));
        Value::Null
    });
    let request = context::create(&core("pods"), pod(set));
    let (mut left, mut batch) = (missing, FIRST_BATCH);
    while left > 0 {
        let size = batch.min(left);
        cx.at(Phase::Act, "create", format!("{size} of {left}"));
        let answers = cx.send_all(vec![request.clone(); size])?;
        left -= size;
        let (failed, refused) = created(cx, set, &owner, &answers);
        if let Some(status) = failed {
            // The rest of the batches is skipped and not awaited.
            let never = count(refused + left);
            cx.memory(|memory| {
                memory.expectations.lower(&owner, never, 0);
                Value::Null
            });
            return Err(status.into());
        }
        batch = size * 2;
    }
    Ok(())
}

/// Says what became of a batch; answers its first failure and the number of failures.
fn created(cx: &mut Context, set: &Object, owner: &str, answers: &[Response]) -> (Option<ApiStatus>, usize) {
    let (mut first, mut refused) = (None, 0);
    let mut latest = None;
    for answer in answers {
        let Some(status) = answer.status() else {
            cx.event(set, false, "SuccessfulCreate", format!("Created pod: {}", answer.body.name()));
            latest = Some(&answer.body);
            continue;
        };
        if status.causes.iter().any(|cause| cause.reason == "NamespaceTerminating") {
            // Every creation will fail from now on: nothing to report.
            continue;
        }
        cx.event(set, true, "FailedCreate", format!("Error creating: {}", status.message));
        refused += 1;
        first.get_or_insert(status);
    }
    if let Some(pod) = latest {
        consistency::wrote(cx, owner, &core("pods"), pod);
    }
    (first, refused)
}

fn shrink(cx: &mut Context, set: &Object, pods: &[Object], surplus: usize) -> Result<(), Stop> {
    let (owner, now) = (set.key().to_string(), cx.now());
    let mut ranked: Vec<&Object> = pods.iter().collect();
    ranked.sort_by_cached_key(|pod| rank(pod));
    ranked.truncate(surplus);
    cx.memory(|memory| {
        let names = ranked.iter().map(|pod| pod.key().to_string());
        memory.expectations.expect_deletions_of(now, &owner, names);
        Value::Null
    });
    cx.at(Phase::Act, "delete", format!("{} of {}", ranked.len(), pods.len()));
    let requests: Vec<Request> =
        ranked.iter().map(|pod| context::delete(&core("pods"), &pod.key(), Value::Null)).collect();
    let answers = cx.send_all(requests)?;
    let mut first = None;
    for (pod, answer) in ranked.iter().zip(answers.iter()) {
        let Some(status) = answer.status() else {
            cx.event(set, false, "SuccessfulDelete", format!("Deleted pod: {}", pod.name()));
            continue;
        };
        cx.memory(|memory| {
            memory.expectations.deletion_observed_of(&owner, &pod.key().to_string());
            Value::Null
        });
        if !status.is_not_found() {
            cx.event(set, true, "FailedDelete", format!("Error deleting: {}", status.message));
            first.get_or_insert(status);
        }
    }
    first.map_or(Ok(()), |status| Err(status.into()))
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A pod of the template.
fn pod(set: &Object) -> Value {
    let template = set.at(&["spec", "template"]).unwrap_or(&Value::Null);
    let mut metadata = json!({"generateName": format!("{}-", set.name()), "namespace": set.namespace(),
        "ownerReferences": [controlled_by(set)]});
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template.at(&["metadata", field]) {
            metadata[field] = value.clone();
        }
    }
    let spec = template.get("spec").cloned().unwrap_or_else(|| json!({}));
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
}

/// Who goes first, the least first.
fn rank(pod: &Object) -> (bool, u8, bool, i64, Reverse<String>, Reverse<String>, String) {
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
        Reverse(if ready { since } else { String::new() }),
        Reverse(pod.text(&["metadata", "creationTimestamp"]).to_string()),
        pod.name().to_string(),
    )
}
