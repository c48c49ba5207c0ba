//! The status a kubelet writes for a pod.

use super::life::{Life, Stage};
use crate::object::{Object, ObjectView};
use serde_json::{Map, Value, json};

/// The whole status; what did not change keeps its transition times.
pub fn of(pod: &Object, life: &Life, node: &str) -> Value {
    let started = pod.at(&["status", "startTime"]).cloned().unwrap_or_else(|| json!(life.since.rfc3339()));
    let (initialized, ready) = (life.stage != Stage::Stopped, life.stage == Stage::Ready);
    let mut status: Map<String, Value> = pod.at(&["status"]).and_then(Value::as_object).cloned().unwrap_or_default();
    let up = matches!(life.stage, Stage::Running | Stage::Ready | Stage::CrashBackOff);
    let phase = match life.stage {
        Stage::Stopped => "Succeeded",
        _ if up => "Running",
        _ => "Pending",
    };
    status.insert("phase".into(), json!(phase));
    status.insert("startTime".into(), started);
    status.insert("hostIP".into(), json!(address("10.0", node)));
    if up {
        status.insert("podIP".into(), json!(address("10.244", pod.uid())));
        status.insert("podIPs".into(), json!([{"ip": address("10.244", pod.uid())}]));
    }
    let mut conditions = pod.list(&["status", "conditions"]).to_vec();
    let at = life.since.rfc3339();
    for (kind, value) in
        [("PodReadyToStartContainers", up), ("Initialized", initialized), ("Ready", ready), ("ContainersReady", ready)]
    {
        set(&mut conditions, kind, value, &at);
    }
    status.insert("conditions".into(), Value::from(conditions));
    let containers =
        pod.list(&["spec", "containers"]).iter().map(|c| container(c, life, pod.uid())).collect::<Vec<_>>();
    status.insert("containerStatuses".into(), Value::from(containers));
    Value::Object(status)
}

fn set(conditions: &mut Vec<Value>, kind: &str, value: bool, at: &str) {
    let word = if value { "True" } else { "False" };
    let mut new = json!({"type": kind, "status": word, "lastProbeTime": null, "lastTransitionTime": at});
    if !value && kind.ends_with("Ready") {
        new["reason"] = json!("ContainersNotReady");
    }
    match conditions.iter_mut().find(|c| c.text(&["type"]) == kind) {
        Some(old) if old.text(&["status"]) == word => {}
        Some(old) => *old = new,
        None => conditions.push(new),
    }
}

fn container(spec: &Value, life: &Life, uid: &str) -> Value {
    let at = life.since.rfc3339();
    let waiting = |message: &str| json!({"waiting": {"reason": life.stage.word(), "message": message}});
    let exited = json!({"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": at}});
    let image = spec.text(&["image"]);
    let state = match life.stage {
        Stage::Creating => json!({"waiting": {"reason": life.stage.word()}}),
        Stage::PullFailed => waiting(&format!("failed to pull and unpack image {image:?}: not found")),
        Stage::PullBackOff => waiting(&format!("Back-off pulling image {image:?}")),
        Stage::CrashBackOff => waiting("back-off restarting failed container"),
        Stage::Running | Stage::Ready => json!({"running": {"startedAt": at}}),
        Stage::Stopped => json!({"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": at}}),
    };
    let restarted = life.restarts > 0 || life.stage == Stage::CrashBackOff;
    let started = matches!(life.stage, Stage::Running | Stage::Ready);
    let mut status = json!({
        "name": spec.text(&["name"]), "image": image, "imageID": "", "ready": life.stage == Stage::Ready,
        "started": started, "restartCount": life.restarts, "state": state,
        "lastState": if restarted { exited } else { json!({}) },
    });
    if started {
        status["containerID"] = json!(format!("containerd://{}-{}", uid.get(..8).unwrap_or(uid), life.restarts));
        status["imageID"] = json!(image);
    }
    status
}

/// An address that is the same for the same name.
fn address(net: &str, name: &str) -> String {
    let sum = name.bytes().fold(0x811c_9dc5_u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    format!("{net}.{}.{}", sum >> 8 & 0xff, 1 + sum % 254)
}
