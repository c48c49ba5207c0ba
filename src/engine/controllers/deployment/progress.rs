//! The conditions Progressing and Available.

use super::{Pass, StatusView, spec_replicas};
use crate::object::ObjectView;
use crate::process::context::Context;
use crate::time::{SimTime, Span};
use serde_json::{Value, json};

pub const PROGRESSING: &str = "Progressing";
pub const AVAILABLE: &str = "Available";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";

/// Sets a condition; the time of the change moves with the status, that of the update with the reason.
pub fn set(pass: &mut Pass, now: SimTime, kind: &str, status: &str, reason: &str, message: &str) {
    let mut conditions = pass.status.list(&["conditions"]).to_vec();
    let at = conditions.iter().position(|c| c.text(&["type"]) == kind);
    let old = at.map(|i| conditions[i].clone()).unwrap_or(Value::Null);
    if old.text(&["status"]) == status && old.text(&["reason"]) == reason {
        return;
    }
    let mut since = Value::from(now.rfc3339());
    if old.text(&["status"]) == status {
        since = old["lastTransitionTime"].clone();
    }
    if let Some(index) = at {
        conditions.remove(index);
    }
    conditions.push(json!({"type": kind, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": since, "lastUpdateTime": now.rfc3339()}));
    pass.status["conditions"] = Value::from(conditions);
}

/// Stopping and going on reset the clock of progress.
pub fn note_pause(cx: &mut Context, pass: &mut Pass) {
    let now = cx.now();
    let reason = pass.status.condition_reason(PROGRESSING).to_string();
    if pass.deployment.int(&["spec", "progressDeadlineSeconds"]).is_none() || reason == TIMED_OUT {
        return;
    }
    let was = reason == "DeploymentPaused";
    if pass.paused() && !was {
        set(pass, now, PROGRESSING, "Unknown", "DeploymentPaused", "Deployment is paused");
    } else if !pass.paused() && was {
        set(pass, now, PROGRESSING, "Unknown", "DeploymentResumed", "Deployment is resumed");
    }
}

fn n(status: &Value, field: &str) -> i64 {
    status.int(&[field]).unwrap_or(0)
}

/// Whether the rollout is over.
pub fn complete(pass: &Pass, status: &Value) -> bool {
    let wanted = spec_replicas(&pass.deployment);
    n(status, "updatedReplicas") == wanted
        && n(status, "replicas") == wanted
        && n(status, "availableReplicas") == wanted
        && n(status, "observedGeneration") >= pass.deployment.generation()
}

/// Judges the progress from the counts before to those now; answers when to look again for the deadline.
pub fn judge(pass: &mut Pass, before: &Value, after: &Value, now: SimTime) -> Option<Span> {
    let deadline = Span::secs(pass.deployment.int(&["spec", "progressDeadlineSeconds"])?.max(0) as u64);
    let reason = pass.status.condition_reason(PROGRESSING).to_string();
    let settled = n(after, "replicas") == n(after, "updatedReplicas") && reason == "NewReplicaSetAvailable";
    if pass.paused() || settled {
        return None;
    }
    let name = pass.new.map(|i| pass.sets[i].name().to_string()).unwrap_or_default();
    if complete(pass, after) {
        let text = format!("ReplicaSet {name:?} has successfully progressed.");
        set(pass, now, PROGRESSING, "True", "NewReplicaSetAvailable", &text);
        return None;
    }
    let old = |s: &Value| n(s, "replicas") - n(s, "updatedReplicas");
    let moved = n(after, "updatedReplicas") > n(before, "updatedReplicas")
        || old(after) < old(before)
        || n(after, "readyReplicas") > n(before, "readyReplicas")
        || n(after, "availableReplicas") > n(before, "availableReplicas");
    if moved {
        let text = format!("ReplicaSet {name:?} is progressing.");
        set(pass, now, PROGRESSING, "True", "ReplicaSetUpdated", &text);
        touch(pass, now);
        return Some(deadline);
    }
    if reason == TIMED_OUT {
        return None;
    }
    let conditions = pass.status.list(&["conditions"]);
    let since = conditions.iter().find(|c| c.text(&["type"]) == PROGRESSING)?;
    let since = SimTime::parse_rfc3339(since.text(&["lastUpdateTime"]))?;
    let left = Span((since + deadline).0.saturating_sub(now.0));
    if left == Span::ZERO {
        let text = format!("ReplicaSet {name:?} has timed out progressing.");
        set(pass, now, PROGRESSING, "False", TIMED_OUT, &text);
        return None;
    }
    Some(left)
}

/// Progress was made just now.
fn touch(pass: &mut Pass, now: SimTime) {
    for condition in pass.status.get_mut("conditions").and_then(Value::as_array_mut).into_iter().flatten() {
        if condition.text(&["type"]) == PROGRESSING {
            condition["lastUpdateTime"] = Value::from(now.rfc3339());
        }
    }
}
