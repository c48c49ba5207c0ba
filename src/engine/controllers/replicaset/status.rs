//! What a ReplicaSet says of itself: `pkg/controller/replicaset/replica_set_utils.go`.

use super::replica_sets;
use crate::controllers::consistency;
use crate::controllers::deployment::hash::same_labels;
use crate::object::{Object, ObjectView};
use crate::process::context::{Context, Expect, Stop};
use crate::time::{SimTime, Span};
use serde_json::{Value, json};

const FAILURE: &str = "ReplicaFailure";

/// How long until a ready pod is available; `None` when it is, or is not ready.
pub fn available_in(set: &Value, pod: &Value, now: SimTime) -> Option<Span> {
    let least = set.int(&["spec", "minReadySeconds"]).unwrap_or(0).max(0) as u64;
    if least == 0 || pod.condition("Ready") != "True" {
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

/// Writes the status when it differs; once more on a fresh copy when the cached one was old.
pub fn write(
    cx: &mut Context,
    set: &Object,
    pods: &[Object],
    terminating: usize,
    failure: Option<&Stop>,
) -> Result<(), Stop> {
    let now = cx.now();
    let status = of(set, pods, terminating, failure, now);
    if Some(&status) == set.get("status") {
        return Ok(());
    }
    let mut new = Value::clone(set);
    new["status"] = status.clone();
    let written = match cx.update_status(&replica_sets(), new) {
        Err(Stop::Api(refused)) if refused.is_conflict() => {
            let Some(fresh) = cx.live_get(&replica_sets(), &set.key()).or_not_found()? else { return Ok(()) };
            let mut new = Value::clone(&fresh);
            new["status"] = status;
            cx.update_status(&replica_sets(), new)
        }
        other => other,
    };
    if let Some(written) = written.or_not_found()? {
        consistency::wrote(cx, &set.key().to_string(), &replica_sets(), &written);
    }
    Ok(())
}

fn of(set: &Object, pods: &[Object], terminating: usize, failure: Option<&Stop>, now: SimTime) -> Value {
    let labels = set.at(&["spec", "template", "metadata", "labels"]).unwrap_or(&Value::Null);
    let ready = pods.iter().filter(|p| p.condition("Ready") == "True");
    let available = ready.clone().filter(|p| available_in(set, p, now).is_none()).count();
    let labelled = pods.iter().filter(|p| same_labels(labels, p)).count();
    let mut status =
        json!({"observedGeneration": set.generation(), "replicas": pods.len(), "terminatingReplicas": terminating});
    for (field, n) in
        [("fullyLabeledReplicas", labelled), ("readyReplicas", ready.count()), ("availableReplicas", available)]
    {
        if n > 0 {
            status[field] = Value::from(n);
        }
    }
    let mut conditions: Vec<Value> = set.list(&["status", "conditions"]).to_vec();
    match failure {
        Some(stop) if !conditions.iter().any(|c| c.text(&["type"]) == FAILURE) => {
            let wanted = set.int(&["spec", "replicas"]).unwrap_or(1);
            let reason = if (pods.len() as i64) < wanted { "FailedCreate" } else { "FailedDelete" };
            let message = match stop {
                Stop::Api(refused) => refused.message.clone(),
                other => format!("{other:?}"),
            };
            conditions.push(json!({"type": FAILURE, "status": "True", "reason": reason, "message": message,
                "lastTransitionTime": now.rfc3339()}));
        }
        Some(_) => {}
        None => conditions.retain(|c| c.text(&["type"]) != FAILURE),
    }
    if !conditions.is_empty() {
        status["conditions"] = Value::from(conditions);
    }
    status
}
